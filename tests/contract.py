"""The published schemas as validators, and the program that makes what stands in `docs/bus`."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

DOCS = Path(__file__).parents[1] / "docs" / "bus"
_spec = importlib.util.spec_from_file_location("rebuild_docs", DOCS / "rebuild.py")
assert _spec is not None and _spec.loader is not None
rebuild = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(rebuild)


@cache
def published() -> dict[str, Any]:
    """Return the committed schemas."""
    document: dict[str, Any] = json.loads((DOCS / "schemas.json").read_text())
    return document


@cache
def strict(name: str) -> jsonschema.Draft202012Validator:
    """Return the validator of a definition that allows no field which is not in it."""
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _strict_definitions()})


@cache
def _strict_definitions() -> dict[str, Any]:
    return {
        name: {**schema, "additionalProperties": False}
        if "properties" in schema and "x-audiences" not in schema
        else schema
        for name, schema in published()["$defs"].items()
    }


def check(name: str, raw: bytes) -> Any:
    """Fail unless these bytes are what the definition says; returns them read."""
    value = json.loads(raw)
    strict(name).validate(value)
    return value


def check_message(raw: bytes) -> dict[str, Any]:
    """Fail unless this is a message by the definition that its `type` names."""
    message: dict[str, Any] = json.loads(raw)
    strict(message["type"]).validate(message)
    return message
