"""The device families by the name that a table's config uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drivers import angel_eye, delimited, zebra_ssi
from drivers.contract import Framer, unknown_name

FAMILIES: Mapping[str, Callable[[Mapping[str, object]], Framer]] = {
    angel_eye.FAMILY: angel_eye.open_angel_eye,
    delimited.FAMILY: delimited.open_delimited,
    zebra_ssi.FAMILY: zebra_ssi.open_zebra_ssi,
}
"""Family name to the factory that takes the options of one device."""


def open_framer(family: str, options: Mapping[str, object]) -> Framer:
    """Build the framer of one device.

    Raises ValueError, with the nearest valid name, for an unknown family or option; the caller adds
    the file and the key.
    """
    if family not in FAMILIES:
        raise ValueError(f"driver {unknown_name(family, FAMILIES)}")
    return FAMILIES[family](options)
