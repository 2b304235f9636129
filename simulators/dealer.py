"""The simulated dealer: does what the prompt of the station says, with a shoe and a scanner at hand.

One prompt, one action, after a delay that depends on seed, round and prompt alone; and the card to scan
is the one that the shoe holds after those that are out. So a dealer whose table was killed and recovered
deals the same cards at the same times. What a dealer does wrong is in `misdeeds`.
"""

from __future__ import annotations

import msgspec

from controller.cards import DECK, Card
from controller.table import inputs as i
from controller.table.charts import Phase
from controller.table.events import IncidentKind
from controller.table.picture import Picture
from simulators import decks
from simulators.actor import Act, Feed, Planned, Press, Scan, Wake
from simulators.devices.families import Mishap
from simulators.duty import Unlocker, log_in
from simulators.faults.catalogue import Case, Plan
from simulators.faults.garbled import DOUBLED, Garbled, Misread
from simulators.faults.hands import Hardware
from simulators.faults.misdeeds import WINDOW_MOMENTS, Misdeeds, fault_round
from simulators.onlookers import Onlookers
from simulators.pace import AT_ONCE, delay_us
from simulators.shoe import Shoe, shuffled

LOOK_AGAIN_US = 4_000_000
NOT_THE_DEALERS = frozenset(
    {
        "UNBLOCK",
        "PAUSED",
        "PLACE_BETS",
        "WAIT_FOR_FACTS",
        "WAIT_FOR_PLAYERS",
        "SCANNER_GONE",
        "GONE_TOO_LONG",
        "ACCEPT_DECK",
        "SUPERVISOR_VERIFIES",
        "COUNT_AGAIN",
    }
)


WITHDRAWS = ("report-withdrawn", "read-in-hold")
"""Faults whose report the dealer takes back."""


def _is_shuffled_again(before: Picture, picture: Picture) -> bool:
    """Whether a card came out of the deck that was ready: what was done already takes its time again."""
    is_same_life = before.epoch == picture.epoch
    return is_same_life and (before.phase, picture.phase) == (Phase.READY, Phase.SHUFFLING)


class Dealer:
    """The person at the table."""

    feed = Feed.STATION

    def __init__(
        self,
        name: str,
        *,
        seed: int,
        plan: Plan,
        rounds: int,
        scanner: str,
        onlookers: Onlookers,
        hardware: Hardware,
        shoe: Shoe = shuffled,
    ) -> None:
        self.name = name
        self.seed = seed
        self.plan = plan
        self.rounds = rounds
        self.scanner = scanner
        self.onlookers = onlookers
        self.hardware = hardware
        self._shoe = shoe
        self.picture: Picture | None = None
        self.committed: dict[int, Case] = {}
        """The faults that have been carried out, by round."""
        self.out: dict[int, tuple[int, frozenset[int]]] = {}
        """How many cards left the shoe in a round's last deal, and which of them, from 0, were burned."""
        self.deals: dict[int, int] = {}
        """How often each round was dealt."""
        self.misreads: dict[int, Misread] = {}
        """What was misread unnoticed, by round."""
        self.garbled: dict[int, Garbled] = {}
        """What the line has made of a code, by round."""
        self._mistyped: set[int] = set()
        self._misdeeds = Misdeeds(self)
        self._unlocker = Unlocker(name)
        self._key: tuple[object, ...] = ()
        self._turn = 0
        """Counts the prompts, so that one that comes again before its time is not acted on twice."""
        self._planned_at: dict[tuple[object, ...], int] = {}
        """When each prompt of this round is acted on; it keeps its time when a restart brings it again."""
        self._scanned: tuple[int, int, int] | None = None
        """Round, deal and place in the shoe of the card that was scanned last."""
        self._sent_away: set[int] = set()
        """The rounds before which a bad set has been found out."""

    # Seeing.

    def heard(self, message: bytes, now_us: int) -> list[Planned]:
        """Look at the picture; a new prompt is acted on once."""
        before, picture = self.picture, msgspec.json.decode(message, type=Picture)
        self.picture = picture
        if before is not None and (
            before.round_no != picture.round_no or _is_shuffled_again(before, picture)
        ):
            self._planned_at.clear()
        prompt = picture.prompt
        self._count(picture)
        planned = self._unlocker.look(picture, now_us)
        planned += self._misdeeds.plan_in_window(picture, now_us)
        planned += self._misdeeds.plan_return(picture, now_us)
        planned += self.onlookers.laid(picture, now_us)
        key = (
            picture.epoch,
            picture.round_no,
            picture.deal,
            picture.phase,
            prompt.code,
            prompt.place,
            prompt.n,
            prompt.incident,
            picture.entered_by,
            picture.last_round,
        )
        if key != self._key:
            self._key = key
            self._turn += 1
            planned += self._plan(picture, now_us)
        return planned

    def woken(self, note: str, now_us: int) -> list[Planned]:
        """Do what was planned; other readers see the card that is scanned."""
        if self.picture is None:
            return []
        planned = self._due(self.picture, note, now_us)
        return self.onlookers.beside(planned, self.scanner, self.picture)

    def _due(self, picture: Picture, note: str, now_us: int) -> list[Planned]:
        """Return what was planned, if the prompt is still the same; look again later in case it got lost."""
        if note in WINDOW_MOMENTS:
            return self._misdeeds.in_window(picture, note, now_us)
        if note == "scan":
            return [Planned(now_us, self.scan(picture))]
        if note != str(self._turn):
            return []
        case = self.due_fault(picture)
        planned = self._misdeeds.at_prompt(picture, case, now_us) if case is not None else None
        if planned is None:
            planned = [Planned(now_us, act) for act in self._act(picture)]
        return [*planned, Planned(now_us + LOOK_AGAIN_US, Wake(note))]

    def answered(self, press: Press, accepted: bool, reason: str | None, now_us: int) -> list[Planned]:
        """What was refused shows in the prompt, which stays; a slip that did not count comes again."""
        entered = press.command.card if isinstance(press.command, i.EnterCard) else None
        if not accepted and self.picture is not None and entered == str(self.last_of_shoe(self.picture)):
            self._mistyped.discard(press.round_no)
        return []

    def _count(self, picture: Picture) -> None:
        """Note what is out of the shoe; a card that was burned is the last that came out."""
        if picture.roundid is None:
            return
        _, burned = self.out.get(picture.round_no, (0, frozenset()))
        if self.deals.get(picture.round_no, 1) != picture.deal:
            burned = frozenset()
        self.deals[picture.round_no] = picture.deal
        out = decks.lying(picture)
        if picture.burned_count > len(burned):
            burned |= {out - 1}
        self.out[picture.round_no] = (out, burned)

    def is_done(self) -> bool:
        """Whether all rounds are played and the table is clear."""
        picture = self.picture
        return picture is not None and picture.round_no >= self.rounds and picture.roundid is None

    def due_fault(self, picture: Picture) -> Case | None:
        """Return the fault of this round (of the next one, before START) that is still to be committed."""
        round_no = fault_round(picture)
        return None if round_no in self.committed else self.plan.of(round_no)

    def committed_fault(self, picture: Picture) -> str | None:
        """Return the id of the fault that was committed in this round."""
        case = self.committed.get(fault_round(picture))
        return case.fault.id if case is not None else None

    # Planning.

    def _plan(self, picture: Picture, now_us: int) -> list[Planned]:
        code = picture.prompt.code
        if code == "SHUFFLE" and picture.round_no >= self.rounds:
            return []
        if code in NOT_THE_DEALERS:
            return []
        if code == "CALL_SUPERVISOR" and self.committed_fault(picture) not in WITHDRAWS:
            return []
        start = max(now_us, picture.prompt.not_before_us or 0)
        at_us = start + delay_us(self.seed, picture)
        if code not in AT_ONCE:
            prompt = (picture.deal, picture.phase, code, picture.prompt.place, picture.prompt.n)
            at_us = max(now_us, self._planned_at.setdefault(prompt, at_us))
        return [Planned(max(at_us, self.onlookers.free_us), Wake(str(self._turn)))]

    # Acting.

    def _act(self, picture: Picture) -> list[Act]:
        fault = self.committed_fault(picture)
        match picture.prompt.code:
            case "LOG_IN":
                return [log_in(picture, self.name, i.Role.DEALER)]
            case (
                "DEAL_CARD"
                | "SHOW_FIRST_CARD"
                | "BURN_NEXT"
                | "BURN_CARD"
                | "SCAN_DRAWN_CARD"
                | "SCAN_TO_BURN"
            ):
                return [self.scan(picture)]
            case "SCAN_AGAIN":
                is_unreadable = fault in ("no-read-twice", "unreadable")
                return [self.show(None) if is_unreadable else self._scan_again(picture)]
            case "SCAN_FROM_FIRST":
                return [self.show(self.hardware.spell(self._lies_at(picture)))]
            case "SHOW_CARD":
                return self.onlookers.show(picture, self.hardware.spell(self._lies_at(picture)))
            case "ENTER_CARD":
                return [] if picture.entered_by == self.name else self._enter(picture)
            case "WAS_DEALT":
                return [self._answer(picture, False)]
            case "LOAD_DECK" | "SCAN_DECK":
                return [self._load(picture)]
            case "COUNT_STUB":
                return [self.press(picture, i.CountStub(self.stub_count(picture)))]
            case "SAME_CARD":
                return [self._answer(picture, self._is_same(picture, fault))]
            case "FACE_SEEN":
                return [self._answer(picture, fault in ("early-draw-seen", "surplus-called-seen"))]
            case "CARD_DRAWN":
                # The table knows already of a card that can't be read; it did not come meanwhile.
                is_known = fault in ("no-read-twice", "unreadable")
                drawn = (
                    self._scanned == (picture.round_no, picture.deal, decks.lying(picture)) and not is_known
                )
                return [self._answer(picture, drawn or fault == "unplugged-card-drawn")]
            case "CONFIRM_PICTURE":
                return [self.press(picture, i.ConfirmPicture(picture.lies or ""))]
            case "MOVE_CARD":
                moved = self.onlookers.show(picture, self.hardware.spell(self._lies_at(picture)))
                return [*moved, self._answer(picture, yes=True)]
            case "CARD_READ_MEANWHILE" | "ORDER_CERTAIN":
                return [self._answer(picture, yes=True)]
            case _:
                return [self.press(picture, self._command(picture))]

    def _command(self, picture: Picture) -> i.AnyCommand:
        code, place = picture.prompt.code, picture.prompt.place
        presses: dict[str, i.AnyCommand] = {
            "OPEN_TABLE": i.OpenTable(),
            "VERIFY_DECK": i.VerifyDeck(self.whole_count(picture)),
            "SHUFFLE": i.ConfirmShuffle(),
            "REDEAL": i.ConfirmShuffle(),
            "START": i.OpenBetting(),
            "TURN": i.TurnCards(place or ""),
            "LAY_ASIDE": i.LayCardAside(),
            "CONFIRM_RESULT": i.ConfirmResult(),
            "CLEAR_TABLE": i.ClearTable(),
            "CALL_SUPERVISOR": i.WithdrawReport(),
        }
        return presses[code]

    def _load(self, picture: Picture) -> Act:
        """Scan the next card of the set in, or enter the receipt of a sealed deck."""
        number = fault_round(picture)
        fault = self.committed_fault(picture) if number not in self._sent_away else None
        if picture.prompt.code == "LOAD_DECK" and not decks.is_scanned_in(picture, fault):
            return self.press(picture, decks.receipt(picture, self.hardware.deck))
        if decks.is_found_out(picture, fault):
            self._sent_away.add(number)
        card = self.set_card(picture, fault)
        if card is None:
            return self.press(picture, i.VerifyDeck((picture.prompt.n or 1) - 1))
        spell = self.hardware.spell_foreign if decks.is_foreign(picture, fault) else self.hardware.spell
        return self.show(spell(card))

    def set_card(self, picture: Picture, fault: str | None) -> Card | None:
        """Return the card of the set that is scanned next, None when there is none left in a short one."""
        return decks.set_card(picture, fault)

    def whole_count(self, picture: Picture) -> int:
        """Return how many cards the deck has that is verified."""
        return len(DECK)

    def stub_count(self, picture: Picture) -> int:
        """Return how many cards really are not out."""
        return decks.stub_count(picture, self.committed_fault(picture))

    def press(self, picture: Picture, command: i.AnyCommand, request: str | None = None) -> Press:
        """Press a button of the page."""
        return Press("operator", self.name, picture.round_no, command, request)

    def _answer(self, picture: Picture, yes: bool) -> Press:
        return self.press(picture, i.AnswerQuestion(picture.prompt.incident or 0, yes))

    def show(self, code: str | None, mishap: Mishap | None = None) -> Scan:
        """Let a card with this code pass the scanner; None can't be read."""
        return Scan(self.scanner, code, mishap)

    def shoe_of(self, round_no: int, deal: int) -> tuple[Card, ...]:
        """Return the cards of a deal in the order in which they lie in the shoe."""
        case = self.committed.get(round_no)
        if case is not None and case.fault.id == "unshuffled":
            return DECK
        return self._shoe(self.seed, round_no, deal)

    def card(self, picture: Picture, back: int = 0) -> Card:
        """Return the card that leaves the shoe next, or one that came out `back` cards before it."""
        return self.shoe_of(picture.round_no, picture.deal)[decks.lying(picture) - back]

    def drawn(self, picture: Picture) -> tuple[Card, ...]:
        """Return the cards that have left the shoe in this deal, in order."""
        return self.shoe_of(picture.round_no, picture.deal)[: decks.lying(picture)]

    def _is_same(self, picture: Picture, fault: str | None) -> bool:
        """Whether a code that came again was the same card: not if the first one was another, misread."""
        misread = self.misreads.get(picture.round_no)
        if misread is not None and misread.read_as == self.card(picture):
            del self.misreads[picture.round_no]
            card = self.committed[picture.round_no].card
            self.committed[picture.round_no] = self.plan.course.case(DOUBLED, card)
            return False
        return fault not in (DOUBLED, "set-doubled")

    def _lies_at(self, picture: Picture) -> Card:
        """Return the card that lies where the prompt says: the order of drawing is that of the course."""
        places, asked = picture.places, (picture.prompt.place or "", picture.prompt.n or 0)
        drawn = [(place, n) for place, n in self.plan.course.order if n <= len(places.get(place, ()))]
        _, burned = self.out[picture.round_no]
        laid = [card for at, card in enumerate(self.drawn(picture)) if at not in burned]
        return laid[drawn.index(asked)]

    def in_question(self, picture: Picture) -> Card:
        """Return the card that can't be read, or that lies there as another one than was read."""
        return self.card(picture, back=int(picture.incident_kind == IncidentKind.DISPUTED_READ))

    def last_of_shoe(self, picture: Picture) -> Card:
        """Return a card that never leaves the shoe in this deal."""
        return self.shoe_of(picture.round_no, picture.deal)[-1]

    def hold(self, picture: Picture) -> str:
        """Take the next card out of the shoe and under the scanner; returns its code."""
        self._scanned = (picture.round_no, picture.deal, decks.lying(picture))
        return self.hardware.spell(self.card(picture))

    def scan(self, picture: Picture, mishap: Mishap | None = None) -> Scan:
        """Scan the next card."""
        return self.show(self.hold(picture), mishap)

    def misread(self, picture: Picture, wrong: Card) -> Scan:
        """Scan the next card, which is read as another one."""
        code = picture.prompt
        self.misreads[picture.round_no] = Misread(
            code.place or "", code.n or 0, decks.lying(picture), self.card(picture), wrong
        )
        self.hold(picture)
        return self.show(self.hardware.spell(wrong))

    def shows(self, picture: Picture) -> Card | None:
        """Return the card that two people are to enter; none when the scanner is plugged in again."""
        return None if self._misdeeds.has_returned(picture) else self.in_question(picture)

    def _enter(self, picture: Picture) -> list[Act]:
        """Enter the card that can't be read; mistyped the first time, so that both enter again."""
        card = self.shows(picture)
        if card is None:
            return []
        if picture.round_no not in self._mistyped:
            self._mistyped.add(picture.round_no)
            card = self.last_of_shoe(picture)
        return [self.press(picture, i.EnterCard(picture.prompt.incident or 0, str(card)))]

    def _scan_again(self, picture: Picture) -> Scan:
        if picture.incident_kind == IncidentKind.DISPUTED_READ:
            return self.show(self.hardware.spell(self.in_question(picture)))
        return self.scan(picture)
