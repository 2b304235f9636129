"""The one table of texts: everything that people read on a page, in each language, by a dotted key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from controller.table.texts import PROMPTS

LANGUAGES = ("en", "ru")
PROMPT = "prompt"


@cache
def table_of_texts(language: str) -> Mapping[str, str]:
    """Return all texts of a language, by keys such as `refusal.WRONG_PHASE`."""
    sections: dict[str, dict[str, Any]] = tomllib.loads(
        files(__package__).joinpath("texts.toml").read_text(encoding="utf-8")
    )
    russian = {f"{PROMPT}.{code}": text for code, text in sections.pop(PROMPT).items()}
    prompts = {f"{PROMPT}.{code}": text for code, text in PROMPTS.items()}
    if language == "ru":
        prompts = russian
    others = {
        f"{section}.{name}": text[language]
        for section, texts in sections.items()
        for name, text in texts.items()
    }
    return {**prompts, **others}
