"""A table at every stage that a hand can be in, and one event of each type to try there."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fairdeal.cards import Card
from fairdeal.codecs import Given, Lock, Place, Shown
from fairdeal.dealing import Dealing
from fairdeal.errors import StateError, VerificationError
from fairdeal.events import EVENTS, Event, HandDealt, HandEvent, HandOpened, TableOpened
from fairdeal.hand import Hand, Phase
from fairdeal.hashing import Digest
from fairdeal.seeds import Seal, SeatSeed, commit, seal
from seeds.local import Book, LocalTable
from tests.core import naive

NOTHING = Digest(bytes(32))
SALT = bytes(16)


def key_of(table: LocalTable, epoch: int = 0) -> bytes:
    """K_e, computed apart from the core."""
    hand = table.hand
    return naive.deal_key(
        table.table.terms,
        hand.number,
        epoch,
        [table.chain(seat, hand.number)[epoch] for seat in hand.table.contribute],
        table.server_seed(hand.number),
    )


class SlowTable(LocalTable):
    """A table on which nothing follows by itself: neither what is due, nor the disclosure."""

    def log(self, event: Event) -> None:
        self.table = self.table.apply(event)
        self.events.append(event)
        self.indices.append(self.book.append(event.raw))
        if isinstance(event, HandOpened):
            self.hand_events = []
            self.dealing = Dealing(self.hand, self.server_seed(event.hand), {})
        if isinstance(event, HandEvent) and self.table.hand is not None:
            self.hand_events.append(event)
            self.dealing = self.secrets.after(self.hand, event)

    def finish(self, event: HandEvent) -> None:
        self.log(event)

    def follow(self) -> None:
        """Log what is due now."""
        due = self.secrets.due(self.header())
        assert due is not None
        self.log(due)

    def lock(self, *sizes: int) -> None:
        """The next seats in turn from the first one throw so many of their newest cards."""
        layout = self.hand.playing
        for step, size in enumerate(sizes, len(layout.locked)):
            seat = (layout.first + step) % 4
            self.discard({seat: self.secrets.holding(seat)[-size:]})


def _sealing(table: SlowTable) -> None:
    table.open_hand()


def _half_sealed(table: SlowTable) -> None:
    table.open_hand()
    table.seal((1, 3))


def _opening(table: SlowTable) -> None:
    table.open_hand()
    table.seal()


def _half_opened(table: SlowTable) -> None:
    _opening(table)
    table.open_seeds((0, 2))


def _dealing(table: SlowTable) -> None:
    _opening(table)
    table.open_seeds()


def _playing(table: SlowTable) -> None:
    _dealing(table)
    table.follow()


def _half_locked(table: SlowTable) -> None:
    _playing(table)
    table.lock(4, 4)


def _serving(table: SlowTable) -> None:
    _playing(table)
    table.lock(4, 4, 4, 4)


def _short(table: SlowTable) -> None:
    """Sixteen cards are owed, and the stock has eight."""
    _serving(table)
    table.follow()
    table.lock(4, 4, 4, 4)


def _reopening(table: SlowTable) -> None:
    _short(table)
    table.follow()


def _half_reopened(table: SlowTable) -> None:
    _reopening(table)
    table.open_seeds((1,))


def _restocking(table: SlowTable) -> None:
    _reopening(table)
    table.open_seeds()


def _restocked(table: SlowTable) -> None:
    _restocking(table)
    table.follow()


def _exhausted(table: SlowTable) -> None:
    """A reshuffle is due, and the seats' chains have ended."""
    _playing(table)
    discard_until(table, lambda hand: hand.phase is Phase.RESTOCKING and hand.head is None)


def discard_until(table: SlowTable, reached: Callable[[Hand], bool]) -> None:
    """Play a hand of Mus in which everybody throws everything, up to somewhere."""
    while not reached(table.hand):
        match table.hand.phase:
            case Phase.PLAYING:
                table.lock(4, 4, 4, 4)
            case Phase.REOPENING:
                table.open_seeds()
            case _:
                table.follow()


def _shown(table: SlowTable) -> None:
    _playing(table)
    table.show(0, table.secrets.holding(0)[:1])


def _closed(table: SlowTable) -> None:
    _playing(table)
    table.close()


def _aborted(table: SlowTable) -> None:
    _half_sealed(table)
    table.abort("operator")


def _lost(table: SlowTable) -> None:
    _playing(table)
    table.abort("lost")


def _disclosed(table: SlowTable) -> None:
    _closed(table)
    table.disclose()


def _over(table: SlowTable) -> None:
    _disclosed(table)
    table.close_table()


STAGES: dict[str, Callable[[SlowTable], None]] = {
    "new": lambda table: None,
    "sealing": _sealing,
    "half sealed": _half_sealed,
    "opening": _opening,
    "half opened": _half_opened,
    "dealing": _dealing,
    "playing": _playing,
    "half locked": _half_locked,
    "serving": _serving,
    "short": _short,
    "reopening": _reopening,
    "half reopened": _half_reopened,
    "restocking": _restocking,
    "restocked": _restocked,
    "exhausted": _exhausted,
    "shown": _shown,
    "closed": _closed,
    "aborted": _aborted,
    "lost": _lost,
    "disclosed": _disclosed,
    "over": _over,
}


every_stage = pytest.mark.parametrize("stage", STAGES)


def table_at(stage: str, game: str = "mus", **terms: Any) -> SlowTable:
    """A new table that has come to a stage."""
    table = SlowTable(Book(), game, **terms)
    STAGES[stage](table)
    return table


def _cards(table: SlowTable) -> Mapping[str, Any]:
    """Fields that name cards: of the seat whose turn it is, as far as a hand is dealt."""
    layout = table.table.hand.layout if table.table.hand else None
    place, stock = Place(0, 0), Place(0, 16)
    shown = Shown(0, place, Card("6S"), SALT)
    if layout is not None:
        place = (layout.received[0] or (place,))[-1]
        opening = table.secrets.opening(place)
        shown = Shown(0, place, opening.card, opening.salt)
        stock = (layout.stock or (stock,))[0]
    return {"shown": (shown,), "draws": ((0, stock),)}


def _discards(table: SlowTable) -> Mapping[int, Lock]:
    hand = table.table.hand
    if hand is None or hand.phase is not Phase.PLAYING:
        return {0: Lock(1, SALT + SALT)}
    seat = (hand.playing.first + len(hand.playing.locked)) % table.table.terms_event.seats
    chosen = {seat: table.secrets.holding(seat)[:1]}
    return table.secrets.discard(table.header(), chosen, {})[0].discards


def _seals(table: SlowTable) -> dict[int, Seal]:
    terms, hand = table.table.terms, table.table.hand
    if hand is None:
        return {0: Seal(NOTHING)}
    return {
        seat: seal(terms, hand.number, seat, hand.commitment, table.chain(seat, hand.number)[0])
        for seat in hand.missing_seals or hand.table.contribute
    }


def _opened(table: SlowTable) -> dict[str, Any]:
    hand = table.table.hand
    if hand is None:
        return {"epoch": 0, "head": NOTHING, "seeds": {0: SeatSeed(NOTHING)}}
    return {
        "epoch": hand.epoch,
        "head": hand.head or NOTHING,
        "seeds": {
            seat: table.chain(seat, hand.number)[hand.epoch]
            for seat in hand.missing_seeds or hand.table.contribute
        },
    }


def _dealt(table: SlowTable) -> dict[str, Any]:
    dealt = table.table.hand.dealt if table.table.hand else None
    if dealt is None:
        return {
            "deck_root": NOTHING,
            "first": 0,
            "positions": {0: (0,)},
            "indicator": None,
            "shown": (),
        }
    return {name: getattr(dealt, name) for name in HandDealt.CODECS}


def attempt(table: SlowTable, name: str) -> Event:
    """An event of this type, as right as it can be made now: what is due, if that is its type."""
    hand = table.table.hand
    number = hand.number if hand else 1
    if hand and not hand.is_final:
        due = table.secrets.due(table.header())
        if due is not None and name == due.TYPE:
            return due
    coming = number + 1 if hand else 1
    exhausted = hand is not None and hand.phase is Phase.RESTOCKING and hand.head is None
    fields: dict[str, Any]
    match name:
        case "table.opened":
            fields = {field: getattr(table.events[0], field) for field in TableOpened.CODECS}
        case "hand.opened":
            fields = {
                "hand": coming,
                "terms": table.table.terms,
                "commitment": table.table.next_commitment,
                "next_commitment": commit(table.server_seed(coming + 1)),
                "first": table.table.first_choices()[0],
            }
        case "trumps.declared":
            fields = {"trumps": {0: "H", 1: "S"}}
        case "seeds.sealed":
            fields = {"seals": _seals(table)}
        case "seeds.opened":
            fields = _opened(table)
        case "hand.dealt":
            fields = _dealt(table)
        case "cards.drawn":
            fields = {"draws": _cards(table)["draws"]}
        case "cards.discarded":
            fields = {"discards": _discards(table)}
        case "cards.shown":
            fields = {"shown": _cards(table)["shown"]}
        case "cards.given":
            fields = {"given": (Given(0, 1, Place(0, 0), Card("6S"), SALT),)}
        case "play.called":
            fields = {"seat": 0, "call": "take", "amount": 1}
        case "play.declared":
            fields = {"what": "pares", "seats": ()}
        case "stock.reshuffled":
            fields = {"epoch": 1, "count": 28, "deck_root": NOTHING}
        case "hand.aborted":
            fields = {"reason": "epochs" if exhausted else "operator", "missing": ()}
        case "hand.disclosed":
            thrown = table.dealing.thrown if table.dealing else {}
            fields = {"server_seed": table.server_seed(number), "discards": thrown}
        case "table.closed":
            fields = {"unused_seed": table.server_seed(coming)}
        case _:
            fields = {"seat": 0} if "seat" in EVENTS[name].CODECS else {}
    if "hand" in EVENTS[name].CODECS:
        fields = {"hand": number} | fields
    return EVENTS[name](header=table.header(), **fields)


def outcome(table: LocalTable, event: Event) -> str:
    """`legal`, or the code of the refusal. The table stays as it is."""
    try:
        table.table.apply(event)
    except (StateError, VerificationError) as error:
        return error.code
    return "legal"
