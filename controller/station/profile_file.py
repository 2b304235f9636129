"""A procedure profile's TOML file: every key and word in it is known, or the error names the nearest one.

What the cells say together is proven in `table/profile`; here each is read by itself, so that an error names
file, row and cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import msgspec

from controller.station.errors import ConfigError
from controller.table.cells import Cell
from controller.table.limits import Limits
from controller.table.profile import ProfileFile, RowFile
from drivers.contract import unknown_name


def profile_file(path: Path, found: Mapping[str, Any]) -> ProfileFile:
    """Make a profile of a TOML file's content. Raises ConfigError."""
    _check_names(str(path), found, ProfileFile)
    limits = _table(f"{path}: limits", found.get("limits", {}))
    _check_names(f"{path}: limits", limits, Limits)
    for name, value in limits.items():
        if isinstance(value, int) and value < 0:
            raise ConfigError(f"{path}: limits.{name}: expected 0 or more, got {value}")
    rows = _table(f"{path}: rows", found.get("rows", {}))
    told = {number: _row(f"{path}: rows.{number}", row) for number, row in rows.items()}
    _convert(f"{path}: limits", limits, Limits)
    head: ProfileFile = _convert(str(path), {**found, "limits": {}, "rows": {}}, ProfileFile)
    return msgspec.structs.replace(head, limits=dict(limits), rows=told)


def _row(where: str, found: Any) -> RowFile:
    row = _table(where, found)
    _check_names(where, row, RowFile)
    cells = row.get("cells", [])
    if not isinstance(cells, list):
        raise ConfigError(f"{where}.cells: expected a list of cells, got {cells!r}")
    told = tuple(_cell(where, number, cell) for number, cell in enumerate(cells, 1))
    head: RowFile = _convert(where, {**row, "cells": []}, RowFile)
    return msgspec.structs.replace(head, cells=told)


def _cell(row: str, number: int, found: Any) -> Cell:
    cell = _table(f"{row}: cell {number}", found)
    where = f"{row}: cell {cell['id']!r}" if "id" in cell else f"{row}: cell {number}"
    _check_names(where, cell, Cell)
    for field in msgspec.structs.fields(Cell):
        _check_words(where, field.name, cell.get(field.name), field.type)
    made: Cell = _convert(where, cell, Cell)
    return made


def _table(where: str, found: Any) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise ConfigError(f"{where}: expected keys with values, got {found!r}")
    return found


def _check_names(where: str, found: Mapping[str, Any], model: type[msgspec.Struct]) -> None:
    names = [field.name for field in msgspec.structs.fields(model)]
    for name in found:
        if name not in names:
            raise ConfigError(f"{where}: {unknown_name(name, names)}")


def _check_words(where: str, name: str, value: Any, kind: Any) -> None:
    """Refuse a word that is none of a key's choices; also in a list of such words."""
    choices = next(_choices(kind), None)
    for word in value if isinstance(value, list) else (value,):
        if choices is not None and isinstance(word, str) and word not in list(choices):
            raise ConfigError(f"{where}: {name}: {unknown_name(word, [choice.value for choice in choices])}")


def _choices(kind: Any) -> Iterator[type[StrEnum]]:
    """Yield the enumeration that a key's type holds, however it is wrapped."""
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        yield kind
    for inner in get_args(kind):
        yield from _choices(inner)


def _convert(where: str, found: Mapping[str, Any], model: type[Any]) -> Any:
    try:
        return msgspec.convert(found, model)
    except msgspec.ValidationError as error:
        text = str(error).replace(" - at `$.", ", at `").replace("`$`", "the top")
        raise ConfigError(f"{where}: {text}") from None
