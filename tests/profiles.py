"""The shipped procedure profiles, for tests that build a table without its config."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from controller.table.profile import Profile, ProfileFile, read_profile

PROFILES = Path(__file__).parents[1] / "config" / "profiles"


def profile(name: str, **limits: int) -> Profile:
    """Return a shipped profile, with other limits."""
    layers: list[ProfileFile] = []
    wanted: str | None = name
    while wanted is not None:
        found = tomllib.loads((PROFILES / f"{wanted}.toml").read_text())
        layers.insert(0, msgspec.convert(found, ProfileFile))
        wanted = layers[0].base
    return read_profile([*layers, ProfileFile(name=name, limits=limits)])
