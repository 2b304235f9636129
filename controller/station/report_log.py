"""What the log says of a driver's report that is no input, or not alone one."""

from __future__ import annotations

import logging

from controller.station.device_talk import DeviceTalk, Saying
from drivers.contract import DeviceReported, Garbage, Report

log = logging.getLogger("station")


def log_report(scanner: str, report: Report, talk: DeviceTalk) -> None:
    """Log bytes without a read; of any other report only the kind: it may hold a face-down card's code."""
    if isinstance(report, Garbage):
        saying = Saying("bytes without a read", logging.WARNING, ("hint", report.hint))
        talk.say(("scanner", scanner), saying, report.count)
        return
    said = report.state if isinstance(report, DeviceReported) else type(report).__name__
    log.warning("device reports", extra={"facts": {"scanner": scanner, "state": said}})
