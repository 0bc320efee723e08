"""The valid hands among the vectors: one function a game, played by a fixed plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fairdeal.codecs import Place
from fairdeal.errors import StateError
from fairdeal.events import Timeouts
from fairdeal.hand import Phase
from seeds.local import Book, LocalTable

_ORIGIN = "vectors.example/log"


class Vector(NamedTuple):
    """A hand's file and what a verifier must say of it."""

    name: str
    file: bytes
    table: LocalTable
    """Where it was played; it may have gone on since."""
    verdict: str
    """First word of the verdict."""
    exit: int


def new_table(game: str, name: str, **terms: Any) -> LocalTable:  # noqa: ANN401
    """A table on a log that already has a few entries of others."""
    book = Book(_ORIGIN)
    for i in range(5):
        book.append(f"another table's event {i}".encode())
    return LocalTable(book, game, name=name, **terms)


def play_kozel(table: LocalTable, tricks: int = 99, pull: bool = False) -> None:
    """One-card tricks; odd seats throw face down where they may; the taker is as good as any."""
    hidden = table.hand.table.ruleset["discards"] == "hidden"
    trick = 0
    while any(table.hand.playing.counts()) and trick < tricks:
        if pull and trick == 0:
            table.show(0, table.secrets.holding(0)[:1])
            if hidden:
                table.discard({1: table.secrets.holding(1)[:1]})
            table.give_back()
        for step in range(4):
            seat = (trick + step) % 4
            cards = table.secrets.holding(seat)[:1]
            if hidden and seat % 2:
                table.discard({seat: cards})
            else:
                table.show(seat, cards)
        if table.hand.playing.stock:
            table.draw(trick % 4)
        trick += 1
    if not any(table.hand.playing.counts()):
        for seat, places in enumerate(table.hand.playing.received):
            if places:
                table.show(seat, places)


def mus_round(table: LocalTable, sizes: tuple[int, int, int, int]) -> None:
    """A round of discards, of these sizes from the round's first seat on; reshuffles included."""
    layout = table.hand.playing
    corrido = bool(table.hand.table.ruleset["mus_corrido"]) and layout.hand == 1
    start = layout.first + (layout.rounds if corrido else 0)
    for step, size in enumerate(sizes):
        seat = (start + step) % 4
        table.discard({seat: table.secrets.holding(seat)[-size:]})
    while table.hand.phase is Phase.REOPENING:
        due = table.hand.missing_seeds
        for portion in (due[::2], due[1::2]):
            if portion:
                table.open_seeds(portion)


def play_mus(table: LocalTable, rounds: tuple[tuple[int, int, int, int], ...]) -> None:
    """Rounds of discards, then all hands are shown."""
    for sizes in rounds:
        mus_round(table, sizes)
    for seat in range(4):
        table.show(seat, table.secrets.holding(seat))


def play_azi(table: LocalTable, rounds: int = 2) -> None:
    """Discards where there are four cards, a look where the table is blind, a few rounds."""
    rules, seats = table.hand.table.ruleset, table.hand.table.seats
    if rules["blind"]:
        for seat in range(seats - 1):
            table.look(seat)
    if rules["cards"] == 4:
        for seat in range(seats):
            table.discard({seat: table.secrets.holding(seat)[1:2]})
    first = table.hand.playing.first
    for _ in range(rounds):
        for step in range(seats):
            seat = (first + step) % seats
            table.show(seat, table.secrets.holding(seat)[:1])


def _svoi_with_exchange(name: str) -> LocalTable:
    """A hand in which sixes change hands: names are tried until one has it."""
    for attempt in range(64):
        table = new_table("svoi", f"{name}{attempt}", ruleset={"sixes": "exchange"})
        table.deal(trumps={0: "C", 1: "D"})
        if table.hand.shown:
            return table
    raise StateError("not_found", "no hand with an exchange")


def _azi_with_ace(name: str) -> LocalTable:
    """A hand whose trump card is an ace."""
    for attempt in range(256):
        table = new_table("azi", f"{name}{attempt}", seats=3)
        table.deal()
        if table.hand.shown[0][1].startswith("A"):
            return table
    raise StateError("not_found", "no hand with an ace turned")


def _closed(table: LocalTable, play: Callable[[LocalTable], None]) -> LocalTable:
    table.deal()
    play(table)
    table.close()
    return table


def valid_hands() -> Iterator[Vector]:
    """Every valid hand, the smallest of each game first."""
    yield from _kozel()
    yield from _mus()
    yield from _azi()
    yield from _svoi()


def _vector(name: str, table: LocalTable, verdict: str = "VERIFIED", exit_code: int = 0) -> Vector:
    return Vector(name, table.transcript().encode(), table, verdict, exit_code)


def _kozel() -> Iterator[Vector]:
    yield _vector("kozel-short", _closed(new_table("kozel", "k0"), lambda t: play_kozel(t, 1)))
    yield _vector("kozel-whole", _closed(new_table("kozel", "k1"), play_kozel))
    yield _vector(
        "kozel-pull", _closed(new_table("kozel", "k2"), lambda t: play_kozel(t, 2, pull=True))
    )
    rules = {"indicator_place": "bottom", "indicator": "all"}
    yield _vector("kozel-bottom", _closed(new_table("kozel", "k3", ruleset=rules), play_kozel))
    rules = {"indicator": "index10", "discards": "open"}
    yield _vector("kozel-index10", _closed(new_table("kozel", "k4", ruleset=rules), play_kozel))

    table = new_table("kozel", "k5", timeouts=Timeouts(seal=5, open=5, hand=60, table=600))
    table.open_hand()
    table.seal((0, 1, 3))
    table.abort("seal_timeout")
    yield _vector("kozel-aborted_seal", table)
    table.open_hand()
    table.seal((0, 2))
    table.seal((1, 3))
    table.open_seeds((0, 1, 2))
    table.abort("open_timeout")
    yield _vector("kozel-aborted_open", table)
    table.deal()
    play_kozel(table, 1)
    table.abort("idle")
    yield _vector("kozel-aborted_idle", table)

    table = new_table("kozel", "k6", disclosure="table")
    table.deal()
    play_kozel(table, 2)
    table.close()
    yield _vector("kozel-undisclosed", table, "INCOMPLETE", 3)

    table = new_table("kozel", "k7", custody="operator", contribute=(1, 2))
    table.deal()
    play_kozel(table, 1)
    table.close()
    yield _vector("kozel-operator", table)
    table.deal()
    play_kozel(table, 1)
    table.close()
    yield _vector("kozel-second_hand", table)


def _mus() -> Iterator[Vector]:
    yield _vector("mus-no_round", _closed(new_table("mus", "m0"), lambda t: play_mus(t, ())))
    yield _vector(
        "mus-one_round", _closed(new_table("mus", "m1"), lambda t: play_mus(t, ((1, 2, 3, 4),)))
    )
    two = ((4, 4, 4, 4), (3, 3, 3, 3), (4, 4, 4, 4), (1, 2, 3, 4), (4, 4, 4, 4), (4, 4, 3, 4))
    yield _vector("mus-reshuffled", _closed(new_table("mus", "m2"), lambda t: play_mus(t, two)))
    short = ((4, 4, 4, 4), (3, 3, 2, 4), (3, 3, 2, 2))
    for name, at, reshuffle in (
        ("mus-previous", "m3", "previous"),
        ("mus-own_last", "m4", "all_but_own_last"),
    ):
        table = new_table("mus", at, ruleset={"reshuffle": reshuffle})
        yield _vector(name, _closed(table, lambda t: play_mus(t, short)))
    rules = {"mus_corrido": True, "service": "one_by_one_if_all_four"}
    table = new_table("mus", "m5", ruleset=rules, keyed=(1,))
    yield _vector(
        "mus-corrido", _closed(table, lambda t: play_mus(t, ((4, 4, 4, 4), (1, 1, 1, 1))))
    )
    exhausted = new_table("mus", "m6")
    exhausted.deal()
    mus_round(exhausted, (4, 4, 4, 4))
    mus_round(exhausted, (2, 2, 2, 2))  # the stock is empty now, and nobody is owed a card
    mus_round(exhausted, (1, 1, 1, 1))
    exhausted.close()
    yield _vector("mus-exhausted", exhausted)
    table = new_table("mus", "m7")
    table.deal()
    mus_round(table, (4, 4, 4, 4))
    for step in range(4):
        seat = (table.hand.playing.first + step) % 4
        table.discard({seat: table.secrets.holding(seat)[:3]})
    table.open_seeds((3,))
    table.abort("open_timeout")
    yield _vector("mus-aborted_reshuffle", table)


def _azi() -> Iterator[Vector]:
    yield _vector("azi-two_seats", _closed(new_table("azi", "a0", seats=2), play_azi))
    rules: dict[str, Any] = {"cards": 4}
    yield _vector(
        "azi-four_cards", _closed(new_table("azi", "a1", seats=6, ruleset=rules), play_azi)
    )
    rules = {"trump": "dealer_last", "suits": "CDS", "blind": True, "cards": 4}
    yield _vector(
        "azi-blind",
        _closed(new_table("azi", "a2", seats=3, ruleset=rules), lambda t: play_azi(t, 0)),
    )
    table = _azi_with_ace("as")
    play_azi(table, 3)
    table.close()
    yield _vector("azi-six_on_stage", table)
    table.deal(first=2)
    play_azi(table)
    table.close()
    yield _vector("azi-given_first", table)


def _svoi() -> Iterator[Vector]:
    table = new_table("svoi", "s0", keyed=(0, 1))
    table.deal()
    table.show(0, table.secrets.holding(0)[:1])
    table.close()
    yield _vector("svoi-keyed", table)
    table = _svoi_with_exchange("sx")
    for seat in (0, 1):
        table.show(seat, [p for p in table.secrets.holding(seat) if p != Place(0, 99)][:1])
    table.close()
    yield _vector("svoi-exchange", table)
    table = new_table("svoi", "s1", ruleset={"distinct_trumps": False})
    table.open_hand()
    table.declare({0: "H"})
    table.declare({1: "H"})
    table.seal((1,))
    table.seal((0,))
    table.open_seeds((1,))
    table.open_seeds((0,))
    table.close()
    yield _vector("svoi-same_trumps", table)
    # One trump for both: no six can be due, and that is known before the cards are.
    rules = {"distinct_trumps": False, "sixes": "exchange"}
    table = new_table("svoi", "s2", ruleset=rules, disclosure="table")
    table.deal(trumps={0: "D", 1: "D"})
    table.close()
    yield _vector("svoi-one_trump", table, "INCOMPLETE", 3)
