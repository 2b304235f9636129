"""Commitments: what binds the table to a face-down card without telling it.

A commitment is HMAC-SHA256 with a key of 32 random bytes, drawn for that read alone. Whoever is given
card and key later can check that the card has not been changed since it was laid.
"""

from __future__ import annotations

import hashlib
import hmac


def commitment_text(
    *, table: str, roundid: str, deal: int, place: str, n: int, reading: int, card: str
) -> str:
    """Return the text that a commitment signs. `deal` counts redeals, `reading` corrected readings."""
    return f"tablectl:1|{table}|{roundid}|{deal}|{place}|{n}|{reading}|{card}"


def commit(key: str, text: str) -> str:
    """Return the commitment to `text` in lower-case hex; `key` is 64 hex digits."""
    return hmac.new(bytes.fromhex(key), text.encode("ascii"), hashlib.sha256).hexdigest()
