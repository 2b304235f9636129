"""Everything that people read is there in every language, with the same gaps to fill."""

from __future__ import annotations

import re
from enum import StrEnum
from importlib.resources import files

import pytest

from controller.bus.wire import Reason
from controller.games.combinations import Kind
from controller.games.published import Comparison, Winner
from controller.station.pages.frames import Refused
from controller.station.pages.sessions import Ended
from controller.station.pages.texts import LANGUAGES, table_of_texts
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import IncidentKind, Refusal, Verdict
from controller.table.events.reasons import BlockReason, HaltReason, ShoeEnd
from controller.table.inputs import PRESS_NAMES
from controller.table.texts import DECISIONS, PLACES, PROMPTS

STATIC = files("controller.station.pages").joinpath("static")
NEEDED: dict[str, list[type[StrEnum] | tuple[str, ...]]] = {
    "prompt": [tuple(PROMPTS)],
    "button": [(*PRESS_NAMES, "log_out")],
    "refusal": [Refusal, Reason, Refused],
    "incident": [IncidentKind],
    "verdict": [Verdict],
    "reason": [i.CancelReason, HaltReason, BlockReason, ShoeEnd, i.ChangeReason, i.CorrectionReason],
    "announce": [i.CancelReason],
    "phase": [Phase],
    "overlay": [Phase],
    "kind": [Kind],
    "comparison": [Comparison],
    "winner": [Winner],
    "over": [Ended],
    "decision": [tuple(name for name in DECISIONS if name is not None)],
    **{form: [tuple(PLACES)] for form in ("place", "to", "of", "name")},
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_table_has_a_text(language: str) -> None:
    texts = table_of_texts(language)
    wanted = {
        f"{section}.{name}"
        for section, kinds in NEEDED.items()
        for kind in kinds
        for name in ((one.value for one in kind) if isinstance(kind, type) else kind)
    }
    assert not wanted - texts.keys()
    assert all(text.strip() for text in texts.values())


def test_the_languages_have_the_same_texts_with_the_same_numbers_in_them() -> None:
    english, russian = (table_of_texts(language) for language in LANGUAGES)
    assert english.keys() == russian.keys()

    def gaps(text: str) -> set[str]:
        return {"place" if gap in ("to", "of") else gap for gap in re.findall(r"\{(\w+)\}", text)}

    differing = [key for key, text in english.items() if gaps(text) != gaps(russian[key])]
    assert not differing
    letters = [
        key
        for key, text in russian.items()
        if re.search("[а-яё]", text.lower()) is None and re.sub(r"PIN|\{\w+\}|\W", "", text)
    ]
    assert not letters, "texts that nobody has translated"


def test_every_text_that_a_page_asks_for_is_there() -> None:
    texts = table_of_texts("en")
    for item in STATIC.iterdir():
        if item.name.endswith(".js"):
            asked = set(re.findall(r"""\bt\(["']([a-z]+\.\w+)["']""", item.read_text(encoding="utf-8")))
            assert not asked - texts.keys(), item.name
