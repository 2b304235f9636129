"""The device families by the name that a table's config uses; an installed package may bring more of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from drivers import angel_eye, delimited, delimited_signs, rdm6300, rdm6300_signs, zebra_ssi
from drivers.contract import Framer, Signs, unknown_name
from drivers.feig_obid import framer as feig_obid

GROUP = "tablectl.drivers"
"""The entry-point group of drivers from other packages; see `drivers/README.md`."""

FAMILIES: Mapping[str, Callable[[Mapping[str, object]], Framer]] = {
    angel_eye.FAMILY: angel_eye.open_angel_eye,
    delimited.FAMILY: delimited.open_delimited,
    feig_obid.FAMILY: feig_obid.open_feig,
    rdm6300.FAMILY: rdm6300.open_rdm6300,
    zebra_ssi.FAMILY: zebra_ssi.open_zebra_ssi,
}
"""Family name to the factory that takes the options of one device. No package can take one of these over."""

CODE_FORMS: Mapping[str, str] = {
    angel_eye.FAMILY: "[0-9A-F]{2}",
    delimited.FAMILY: "[ -~]+",
    feig_obid.FAMILY: "[0-9A-F]{16}",
    rdm6300.FAMILY: "[0-9A-F]{10}",
}
"""What the codes of a family look like, as a regular expression, where its device knows one form alone."""

SIGNS: Mapping[str, Callable[[Mapping[str, object], Sequence[tuple[int, bytes]]], Signs]] = {
    delimited.FAMILY: delimited_signs.signs,
    rdm6300.FAMILY: rdm6300_signs.signs,
}
"""For `tablectl doctor`: a device's options and its chunks with their times, to what they show of its set-up;
only for families in which they can."""


def open_framer(family: str, options: Mapping[str, object]) -> Framer:
    """Build the framer of one device.

    Raises ValueError, with the nearest valid name, for an unknown family or option, and for a driver of
    another package that does not work; the caller adds the file and the key.
    """
    return FAMILIES[family](options) if family in FAMILIES else _open_foreign(family, options)


def _open_foreign(family: str, options: Mapping[str, object]) -> Framer:
    """Open a driver that another package brings; what is wrong with it is said with the package's name."""
    found = [entry for entry in entry_points(group=GROUP) if entry.name == family]
    if not found:
        known = (*FAMILIES, *(entry.name for entry in entry_points(group=GROUP)))
        raise ValueError(f"driver {unknown_name(family, known)}")
    if len({entry.value for entry in found}) > 1:
        packages = " and ".join(_package(entry) for entry in found)
        raise ValueError(f"driver {family}: brought by {packages}; remove all but one of them")
    try:
        framer = found[0].load()(options)
    except ValueError:
        raise
    except Exception as error:
        wrong = f"{_package(found[0])} can't open it: got {error!r}; mend or remove that package"
        raise ValueError(f"driver {family}: {wrong}") from error
    _check_framer(family, framer, found[0])
    return framer  # type: ignore[no-any-return]  # The check above is all that can be known of it.


def _check_framer(family: str, framer: Any, entry: EntryPoint) -> None:
    wanted = [name for name in vars(Framer) if not name.startswith("_")]
    missing = [name for name in wanted if not hasattr(framer, name)]
    if missing:
        wrong = f"{_package(entry)} gave no framer: it lacks {', '.join(missing)} (drivers/contract.py)"
        raise ValueError(f"driver {family}: {wrong}")


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name if entry.dist is not None else 'a package'} ({entry.value})"
