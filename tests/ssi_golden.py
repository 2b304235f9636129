"""Zebra SSI packets typed from the hardware notes, section 3, in hex; none comes from the encoder."""

from __future__ import annotations

from drivers.contract import (
    CodeRead,
    DeviceReported,
    DeviceState,
    FailedReadCause,
    Framer,
    ReadFailed,
    Report,
)

GAP_US = 200_000
ACK = "04D00400FF28"
NAK_RESEND = "05D1040001FF25"
NAK_DENIED = "05D1040006FF20"
SCANNER_ACK = "04D00000FF2C"
ACE = "09F300000331303130FE3F"
ACE_AGAIN = "09F300010331303130FE3E"
KING = "09F300001B34313330FE21"
BROKEN_ACE = "09F300000331303131FE3F"
BROKEN_ACE_AGAIN = "09F300010331303131FE3E"
POWER_UP = "05F6000003FF02"
POWER_UP_AGAIN = "05F6000103FF01"
PACKETED = "07C60400FFEE01FD41"
PACKETED_AGAIN = "07C60401FFEE01FD40"
PACKETED_FOR_GOOD = "07C60408FFEE01FD39"
BOOT_EVENT = "08C60400FFF00201FD3C"
BOOT_EVENT_FOR_GOOD = "08C60408FFF00201FD34"
ENABLE, DISABLE = "04E90400FF0F", "04EA0400FF0E"

KEPT: dict[str, object] = {"set_up": "none"}
DAMAGED = ReadFailed(FailedReadCause.DAMAGED)
WRONG_LENGTH = ReadFailed(FailedReadCause.WRONG_LENGTH)
RESTARTED = DeviceReported(DeviceState.RESTARTED)


A, K = CodeRead("1010"), CodeRead("4130")

PACKETS = {
    # Hardware notes, 3.3, line by line: opcode, source, status, data.
    ACK: (0xD0, 4, 0, ""),
    NAK_RESEND: (0xD1, 4, 0, "01"),
    "05D1040002FF24": (0xD1, 4, 0, "02"),
    NAK_DENIED: (0xD1, 4, 0, "06"),
    SCANNER_ACK: (0xD0, 0, 0, ""),
    ACE: (0xF3, 0, 0, "0331303130"),
    ACE_AGAIN: (0xF3, 0, 1, "0331303130"),
    "09F30000014431320DFE4F": (0xF3, 0, 0, "014431320D"),
    KING: (0xF3, 0, 0, "1B34313330"),
    "04E40400FF14": (0xE4, 4, 0, ""),
    "04E50400FF13": (0xE5, 4, 0, ""),
    ENABLE: (0xE9, 4, 0, ""),
    DISABLE: (0xEA, 4, 0, ""),
    # 3.3's check of the formula: ENABLE with status 08.
    "04E90408FF07": (0xE9, 4, 8, ""),
    "04A30400FF55": (0xA3, 4, 0, ""),
    "04D30400FF25": (0xD3, 4, 0, ""),
    "05E6040001FF10": (0xE6, 4, 0, "01"),
    "05E7040001FF0F": (0xE7, 4, 0, "01"),
    PACKETED: (0xC6, 4, 0, "FFEE01"),
    PACKETED_FOR_GOOD: (0xC6, 4, 8, "FFEE01"),
    POWER_UP: (0xF6, 0, 0, "03"),
}

RANKS = range(1, 14)
DIGITS = [f"{suit}{rank:02}0" for suit in "1234" for rank in RANKS]
LETTERS = [f"{suit}{rank:02}" for suit in "AHCD" for rank in RANKS]


def drain(framer: Framer) -> list[Report]:
    reports = []
    while (report := framer.next_report()) is not None:
        reports.append(report)
    return reports
