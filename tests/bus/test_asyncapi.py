"""The AsyncAPI document is valid by the public JSON Schema of AsyncAPI 3.0, and its references hold."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from contract import DOCS, published

from controller.bus.asyncapi import SCHEMAS_FILE, asyncapi
from controller.bus.endpoints import Endpoints
from controller.bus.schema import COMMANDERS

ASYNCAPI = Path(__file__).parents[1] / "third_party" / "asyncapi-specs" / "3.0.0.json.gz"
ASYNCAPI_SHA256 = "d4571a420e6ffb7fcc7066c95a6db1202f299a3c51daa103d0706bf30f95e626"


@pytest.fixture(scope="module")
def public_schema() -> jsonschema.Draft7Validator:
    raw = gzip.decompress(ASYNCAPI.read_bytes())
    assert hashlib.sha256(raw).hexdigest() == ASYNCAPI_SHA256
    return jsonschema.Draft7Validator(json.loads(raw))


@pytest.fixture
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / "asyncapi.json").read_text())
    return found


def references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def test_the_document_is_what_the_types_say(document: dict[str, Any]) -> None:
    assert document == asyncapi()


def test_the_document_is_valid_by_the_public_schema(
    public_schema: jsonschema.Draft7Validator, document: dict[str, Any]
) -> None:
    public_schema.validate(document)


@pytest.mark.parametrize("part", ["server", "operation", "reply", "message"])
def test_the_public_schema_finds_what_is_wrong(
    public_schema: jsonschema.Draft7Validator, document: dict[str, Any], part: str
) -> None:
    match part:
        case "server":
            del document["servers"]["table"]["host"]
        case "operation":
            document["operations"]["send.live.public"]["action"] = "publish"
        case "reply":
            document["operations"]["answer.commands.betting"]["reply"] = "commands.betting"
        case "message":
            document["components"]["messages"]["Alive"]["payload"]["schemaFormat"] = 2020
    assert not public_schema.is_valid(document)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    files = {"": document, SCHEMAS_FILE: published()}
    found = list(references(document))
    assert len(found) > 500
    for reference in found:
        file, _, pointer = reference.partition("#/")
        place: Any = files[file]
        for step in pointer.split("/"):
            place = place[step]


def test_the_channels_are_the_endpoints_of_a_table(document: dict[str, Any]) -> None:
    known = Endpoints.ipc(Path("/run"), "rp1")
    commands = (getattr(known, role) for role in COMMANDERS)
    served = {*known.live.values(), *known.replay.values(), *commands}
    assert {f"ipc:///run/rp1/{channel['address']}" for channel in document["channels"].values()} == served
