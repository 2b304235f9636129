"""The catalogue of reasons: why a command, a read or a replay request was refused.

The table's own reasons are `Refusal`, those of the bus and the station `Reason`. What each means stands below
it in its enumeration; answers carry that text, the schemas and the page `docs/reasons.md` show it.
"""

from __future__ import annotations

from controller.bus.schema_docs import docs_below, one_line
from controller.bus.wire import Reason
from controller.table.events import Refusal

OF_THE_TABLE = {Refusal(word): one_line(text) for word, text in docs_below(Refusal).items()}
OF_THE_BUS = {Reason(word): one_line(text) for word, text in docs_below(Reason).items()}


def text_of(refusal: Refusal | None) -> str | None:
    """Return the text of a table's refusal for the answer, None where nothing was refused."""
    return None if refusal is None else OF_THE_TABLE[refusal]


def page() -> str:
    """Return the catalogue as a page in Markdown."""
    lines = [
        "# Why something was refused",
        "",
        "The `reason` of an answer, of a replay marker, and of `input.refused` in `audit`. A refused command",
        "has changed nothing, and the same request id gets the same answer.",
    ]
    tables = (
        ("By the table", [(reason.value, text) for reason, text in OF_THE_TABLE.items()]),
        ("By the bus and the station", [(reason.value, text) for reason, text in OF_THE_BUS.items()]),
    )
    for title, rows in tables:
        lines += ["", f"## {title}", "", "| reason | what it says |", "|---|---|"]
        lines += [f"| `{reason}` | {text} |" for reason, text in rows]
    return "\n".join(lines) + "\n"
