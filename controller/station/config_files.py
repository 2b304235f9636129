"""The files of a config: each read once, its text kept, and every key and word in it one that is known."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import msgspec

from controller.station.errors import ConfigError
from drivers.contract import unknown_name

ReadText = Callable[[Path], str]
"""Gives the text of a file. Raises OSError or UnicodeDecodeError."""


class Files:
    """The files of one config as they are read, each once."""

    def __init__(self, read: ReadText) -> None:
        self._read = read
        self.documents: dict[str, str] = {}

    def text(self, path: Path) -> str:
        name = document_name(path)
        if name not in self.documents:
            self.documents[name] = self._read(path)
        return self.documents[name]


def document_name(path: Path) -> str:
    """Return folder and name: a table and a deck may have files of one name."""
    return f"{path.absolute().parent.name}/{path.name}"


def from_disk(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def read_as(path: Path, model: type[Any], files: Files) -> Any:
    found = read_toml(path, files)
    _check_names(path, "", found, model)
    _check_choices(path, "", found, model)
    _check_missing(path, found, model)
    try:
        return msgspec.convert(found, model)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}") from None


def _check_missing(path: Path, found: Mapping[str, Any], model: type[Any]) -> None:
    """Refuse a file without its keys, and name all that are missing at once."""
    fields = msgspec.structs.fields(model)
    missing = [f"`{field.name}`" for field in fields if field.required and field.name not in found]
    if missing:
        keys = "required key is" if len(missing) == 1 else "required keys are"
        raise ConfigError(
            f"{path}: {keys} missing: {', '.join(missing)}; the files shipped in config/ have each"
        )


def _check_choices(path: Path, where: str, found: Mapping[str, Any], model: type[Any]) -> None:
    """Refuse a word that is none of a key's choices, and name the choices and the nearest one."""
    for field in msgspec.structs.fields(model):
        value, kind = found.get(field.name), field.type
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
            _check_choices(path, f"{where}{field.name}.", value, kind)
        elif isinstance(kind, type) and issubclass(kind, StrEnum):
            _check_choice(path, f"{where}{field.name}", value, kind)
        elif isinstance(value, dict):
            choices = [
                kind for kind in get_args(kind) if isinstance(kind, type) and issubclass(kind, StrEnum)
            ]
            for name, word in value.items() if choices else ():
                _check_choice(path, f"{where}{field.name}.{name}", word, choices[-1])


def _check_choice(path: Path, where: str, word: object, choices: type[StrEnum]) -> None:
    words = [choice.value for choice in choices]
    if isinstance(word, str) and word not in words:
        raise ConfigError(f"{path}: {where}: {unknown_name(word, words)}")


def read_toml(path: Path, files: Files) -> dict[str, Any]:
    try:
        return tomllib.loads(files.text(path))
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: is no TOML of a table: its values are nested too deep") from None


def _check_names(path: Path, where: str, found: Mapping[str, Any], model: type[Any]) -> None:
    """Refuse keys that nobody reads, in this table and in the tables inside it."""
    fields = {field.name: field.type for field in msgspec.structs.fields(model)}
    for name, value in found.items():
        if name not in fields:
            raise ConfigError(f"{path}: {where}{unknown_name(name, fields)}")
        kind = fields[name]
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
            _check_names(path, f"{where}{name}.", value, kind)
        elif isinstance(value, dict) and (inside := _struct_inside(kind)) is not None:
            for key, inner in value.items():
                if isinstance(inner, dict):
                    _check_names(path, f"{where}{name}.{key}.", inner, inside)


def _struct_inside(kind: object) -> type[msgspec.Struct] | None:
    """Return what a mapping of names maps to, where that is a table of its own."""
    inside = get_args(kind)[-1] if get_args(kind) else None
    return inside if isinstance(inside, type) and issubclass(inside, msgspec.Struct) else None
