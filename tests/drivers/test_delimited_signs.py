"""What the bytes of a delimited scanner show: every configured end against every end that arrives."""

from __future__ import annotations

import pytest

from drivers.contract import Signs
from drivers.delimited_signs import signs

SENT = {
    "LF": b"\n",
    "CR": b"\r",
    "CR LF": b"\r\n",
    "TAB": b"\t",
    "ETX (0x03)": b"\x03",
    "nothing at all": b"",
}
READ = {"lf": {"LF", "CR LF"}, "cr": {"CR", "CR LF"}, "cr-lf": {"CR LF"}}


@pytest.mark.parametrize("configured", READ)
@pytest.mark.parametrize("sent", SENT)
def test_another_terminator_is_named_with_the_one_that_arrives(configured: str, sent: str) -> None:
    found = signs({"terminator": configured}, [(0, b"1010" + SENT[sent]), (9, b"2020" + SENT[sent])])
    assert found.seen == (f"frames end with {sent}",)
    assert len(found.wrong) == (0 if sent in READ[configured] else 1)
    for text in found.wrong:
        assert f'(terminator = "{configured}"); the scanner ends its frames with {sent}: ' in text
        assert ("or set terminator" in text) == (sent in ("LF", "CR", "CR LF"))


@pytest.mark.parametrize(
    ("options", "data", "expected"),
    [
        ({"prefix": "<"}, b"1010\n2020\n", "prefix: no frame begins with '<'"),
        ({"postfix": ">"}, b"1010\n2020\n", "postfix: no frame ends with '>'"),
        ({}, b"\x021010\n\x022020\n", "prefix: every frame begins with the byte 0x02"),
    ],
)
def test_what_every_frame_has_and_should_not(options: dict[str, str], data: bytes, expected: str) -> None:
    (text,) = signs(options, [(0, data)]).wrong
    assert text.startswith(expected)


@pytest.mark.parametrize("data", [b"", bytes(range(0x80, 0xC0)) + b"\n1010\n"])
def test_what_is_no_text_shows_nothing(data: bytes) -> None:
    assert signs({"terminator": "cr"}, [(0, data)]) == Signs()


def test_frames_as_they_should_be() -> None:
    assert signs({"envelope": "stx-etx", "terminator": "none"}, [(0, b"\x021010\x03")]) == Signs()
    assert signs({"prefix": "<", "postfix": ">"}, [(0, b"<1010>\n<2020>\n")]).wrong == ()
