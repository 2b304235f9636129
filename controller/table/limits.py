"""The numbers of a procedure profile: how often, how many, how long."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one procedure profile; seconds, minutes and days are in the names."""

    read_tries: int = 3
    """How often a card may be scanned again after the initial deal (row 1)."""
    count_every_rounds: int = 5
    """The stub of a one-deck game is counted every so many rounds; 1: before each settlement; 0: never."""
    order_run: int = 7
    """So many cards in new-deck order, or as they lay in the last round, are an order alarm (row 26)."""
    deck_age_days: int = 30
    """A deck older than this is closed after the round (row 38)."""
    scanner_gone_s: int = 120
    """After this a lost scanner is a supervisor's matter (row 30)."""
    escalate_after_s: int = 60
    """A supervisor who has not answered after this is called once more, louder (row 40)."""
    give_up_after_s: int = 180
    """After this the round is cancelled and the table blocked (row 40)."""
    approve_within_s: int = 600
    """The second person approves a correction within this, or it is proposed anew (row 36)."""
    breaker_cases: int = 3
    """More of the same case within `breaker_minutes` block the table (row 42)."""
    breaker_minutes: int = 30
    login_tries: int = 5
    """So many wrong PINs or badges in a row lock a person out."""
    login_locked_s: int = 300
    burn_at_dealer_change: bool = False
    """A new dealer burns the first card (row 31)."""
    stand_by_needed: bool = False
    """No round opens before a shoe that knows the order of drawing says that it waits for one."""
    burn_at_shoe_start: bool = False
    """The first card of a fresh shoe is burned (row 8)."""
    second_capture_agrees: bool = False
    """RESULT waits until a second capture has read every card as it was dealt (row 3)."""
    position_readers_agree: bool = False
    """RESULT waits until each position reader has read every card of its place (rows 3 and 11)."""
    acknowledged_before_start: bool = False
    """No round opens while a consumer that must acknowledge has not."""
    retire_rescans_per_10_000: int = 50
    """A card, scanner or dealer with more re-scans than this in 10,000 reads is named (worn cards)."""
    disk_free_mb: int = 500
    """No round opens with less room for the journal."""
    clock_step_ms: int = 500
    """A wall clock that moves against the table's by more than this at once was set: an incident."""
