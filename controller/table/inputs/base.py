"""What every input is."""

from __future__ import annotations

import msgspec


def snake(name: str) -> str:
    """Return the tag of a class on record and on the wire: `CardRead` is `card_read`."""
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name).lstrip("_")


class Input(msgspec.Struct, frozen=True, kw_only=True, tag_field="input", tag=snake):
    """Base of all inputs."""

    at: int
