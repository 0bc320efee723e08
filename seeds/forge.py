"""The broken hands among the vectors: what a cheating service that holds the log key could write.

Unless a case says otherwise, everything after the lie is made to fit again: sequence numbers, the
chain, heads, terms, the proof. So each file fails by the one check that is there for its lie.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fairdeal.codecs import Place
from fairdeal.encoding import encode, format_time, parse_time
from fairdeal.hashing import Digest, digest
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey
from fairdeal.log.proof import Receipt
from fairdeal.merkle import leaf_hash, node_hash
from fairdeal.seeds import Commitment, SeatSeed, seal
from seeds.hands import Vector, new_table, play_azi, play_kozel
from seeds.local import Book, named

Events = list[dict[str, Any]]
File = dict[str, Any]


class Broken(NamedTuple):
    """A file, and the first check that must fail (None: the file is unreadable)."""

    name: str
    data: bytes
    failed: str | None
    receipt: str | None = None
    """A receipt that the player kept, to be given with the file."""
    checks: Mapping[str, str] = MappingProxyType({})
    """What else must be found, by check."""


def _load(vector: Vector) -> tuple[File, Events]:
    file = json.loads(vector.file)
    return file, [json.loads(raw) for raw in file["events"]]


def _mend(old: list[str], events: Events) -> list[str]:
    """Write changed events with their references to one another made right."""
    renamed: dict[str, str] = {}
    originals = {json.loads(raw)["seq"]: digest(raw.encode()).hex() for raw in old}
    written: list[str] = []
    for i, event in enumerate(events):
        was = originals.get(event["seq"], "")
        if i > 1:
            event["seq"] = events[i - 1]["seq"] + 1
            event["prev"] = digest(written[-1].encode()).hex()
        for name in ("prev", "head", "terms"):
            if name in event:
                event[name] = renamed.get(event[name], event[name])
        written.append(encode(event).decode())
        renamed[was] = digest(written[-1].encode()).hex()
    return written


def _prove(file: File, key: SigningKey | None = None) -> None:
    """A proof for the last event, in a log that has it and a few others."""
    book = Book()
    for i in range(9):
        book.append(f"another entry {i}".encode())
    index = book.append(file["events"][-1].encode())
    book.append(b"one more")
    receipt = book.receipt(index)
    if key is not None:
        size = len(book.entries)
        note = Checkpoint(key.name, size, book.tree.root()).sign(key)
        receipt = Receipt(index, receipt.path, note)
    file["proof"] = receipt.text()


def _shorten(file: File) -> None:
    """A checkpoint whose root is what an inclusion path that is one hash too short leads to."""
    _prove(file)
    receipt, key = Receipt.parse(file["proof"]), Book().key
    left, right = receipt.path[:2]
    # Index 9 of 11: the right one of a pair, which is the left one of a node.
    root = node_hash(node_hash(left, leaf_hash(file["events"][-1].encode())), right)
    note = Checkpoint(key.name, 11, root).sign(key)
    file["proof"] = Receipt(receipt.index, receipt.path[:2], note).text()


def _forged(vector: Vector, change: Callable[[Events, File], None]) -> bytes:
    file, events = _load(vector)
    change(events, file)
    file["events"] = _mend(file["events"], events)
    _prove(file)
    return encode(file)


def _edited(vector: Vector, change: Callable[[File], None]) -> bytes:
    """The file changed after everything was signed."""
    file, _ = _load(vector)
    change(file)
    return encode(file)


def _of(events: Events, kind: str, k: int = 0) -> dict[str, Any]:
    return [event for event in events if event["type"] == kind][k]


def _flip(text: str) -> str:
    """Other hex of the same length."""
    return ("1" if text[0] == "0" else "0") + text[1:]


def _before(closing: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
    """An event made up to stand before the end of a hand."""
    common = {name: closing[name] for name in ("at", "hand", "prev", "table", "v")}
    return common | {"seq": -1} | event


def _set(kind: str, k: int, change: Callable[[dict[str, Any]], object]) -> Callable[..., None]:
    def apply(events: Events, _: File) -> None:
        change(_of(events, kind, k))

    return apply


def _exchanged(one: tuple[str, int], other: tuple[str, int]) -> Callable[..., None]:
    """Two events, each the k-th of its type, change places; times and numbers stay."""

    def apply(events: Events, _: File) -> None:
        a, b = (events.index(_of(events, *which)) for which in (one, other))
        for name in ("at", "seq"):
            events[a][name], events[b][name] = events[b][name], events[a][name]
        events[a], events[b] = events[b], events[a]

    return apply


def broken_hands(valid: dict[str, Vector]) -> Iterator[Broken]:
    """Every broken hand."""
    yield from _format(valid)
    yield from _beginning(valid)
    yield from _dealing(valid)
    yield from _play(valid)
    yield from _ending(valid)
    yield from _undealt(valid)


def _format(valid: dict[str, Vector]) -> Iterator[Broken]:
    short = valid["kozel-short"]
    data = short.file

    def raw_event(change: Callable[[str], str]) -> bytes:
        return _edited(short, lambda f: f["events"].__setitem__(2, change(f["events"][2])))

    yield Broken("kozel-cut_off_fail", data[:-200], None)
    yield Broken("kozel-space_fail", data.replace(b'"openings":[', b'"openings": ['), "format")
    yield Broken("kozel-newline_fail", data + b"\n", "format")
    yield Broken(
        "kozel-member_fail", _edited(short, lambda f: f.__setitem__("comment", "")), "format"
    )
    yield Broken(
        "kozel-version_fail",
        _edited(short, lambda f: f.__setitem__("format", "fairdeal-hand/2")),
        None,
    )

    def typeless(file: File) -> None:
        event = json.loads(file["events"][2]) | {"type": 0, "v": "fairdeal/2"}
        file["events"][2] = encode(event).decode()

    yield Broken("kozel-typeless_version_fail", _edited(short, typeless), None)

    def beside(file: File) -> None:
        typeless(file)
        file["events"][3] = 0

    yield Broken("kozel-version_beside_fail", _edited(short, beside), None)
    yield Broken("kozel-hex_case_fail", raw_event(lambda e: e.replace("a", "A", 1)), "format")
    yield Broken(
        "kozel-duplicate_key_fail", raw_event(lambda e: e[:-1] + ',"v":"fairdeal/1"}'), "format"
    )
    yield Broken(
        "kozel-extra_line_fail",
        _edited(
            short,
            lambda f: f.__setitem__("proof", f["proof"].replace("\nindex", "\nextra AAAA\nindex")),
        ),
        "format",
    )


def _beginning(valid: dict[str, Vector]) -> Iterator[Broken]:
    kozel, mus, svoi = valid["kozel-short"], valid["mus-reshuffled"], valid["svoi-same_trumps"]

    def later(file: File) -> None:
        event = json.loads(file["events"][3])
        event["at"] = event["at"][:-2] + "9Z"
        file["events"][3] = encode(event).decode()

    yield Broken("kozel-chain_fail", _edited(kozel, later), "chain")

    def drop(file: File) -> None:
        del file["events"][-3]

    yield Broken("kozel-dropped_fail", _edited(kozel, drop), "chain")

    def rules(events: Events, _: File) -> None:
        events[0]["ruleset"]["indicator"] = "top"

    yield Broken("kozel-ruleset_fail", _forged(kozel, rules), "terms")
    yield Broken(
        "kozel-terms_fail",
        _forged(kozel, _set("hand.opened", 0, lambda e: e.update(terms=_flip(e["terms"])))),
        "terms",
    )
    yield Broken(
        "kozel-commitment_fail",
        _forged(kozel, _set("hand.opened", 0, lambda e: e.update(commitment="00" * 32))),
        "terms",
    )

    def seed(_: Events, file: File) -> None:
        file["disclosed"]["server_seed"] = _flip(file["disclosed"]["server_seed"])

    yield Broken("kozel-server_seed_fail", _forged(kozel, seed), "server.commitment")
    yield Broken(
        "kozel-seat_seed_fail",
        _forged(kozel, _set("seeds.opened", 0, lambda e: e["seeds"].update({"2": "22" * 32}))),
        "seal.2",
    )
    yield Broken(
        "mus-chain_seed_fail",
        _forged(mus, _set("seeds.opened", 2, lambda e: e["seeds"].update({"3": "33" * 32}))),
        "chain.1.3",
    )

    # One seed is opened before the last seal: the hidden order of a service that peeks.
    peek = _exchanged(("seeds.sealed", 1), ("seeds.opened", 0))
    yield Broken("svoi-peek_fail", _forged(svoi, peek), "order")
    late = _exchanged(("trumps.declared", 1), ("seeds.sealed", 0))
    yield Broken("svoi-late_trump_fail", _forged(svoi, late), "order")
    yield Broken(
        "kozel-head_fail",
        _forged(kozel, _set("seeds.opened", 0, lambda e: e.update(head="ab" * 32))),
        "order",
    )


def _dealing(valid: dict[str, Vector]) -> Iterator[Broken]:
    azi, mus, kozel = valid["azi-two_seats"], valid["mus-no_round"], valid["kozel-short"]
    table = azi.table
    turned = table.hand.shown[0][1]
    other = next(card for card in table.secrets.decks[0].order if card != turned)
    yield Broken(
        "azi-trump_card_fail",
        _forged(azi, _set("hand.dealt", 0, lambda e: e["shown"][0].update(card=other))),
        "shuffle",
    )

    undisclosed = valid["kozel-undisclosed"]

    def twice(events: Events, file: File) -> None:
        shows = [event for event in events if event["type"] == "cards.shown"]
        shows[1]["shown"][0]["card"] = shows[0]["shown"][0]["card"]
        file["openings"][1]["card"] = file["openings"][0]["card"]

    yield Broken("kozel-twice_fail", _forged(undisclosed, twice), "deck.cards")
    yield Broken(
        "mus-root_fail",
        _forged(mus, _set("hand.dealt", 0, lambda e: e.update(deck_root=_flip(e["deck_root"])))),
        "deck.root",
    )

    def rotated(events: Events, _: File) -> None:
        dealt = _of(events, "hand.dealt")
        seats = events[0]["seats"]
        dealt["first"] = (dealt["first"] + 1) % seats
        dealt["positions"] = {
            str((int(seat) + 1) % seats): places for seat, places in dealt["positions"].items()
        }

    yield Broken("mus-drawn_first_fail", _forged(mus, rotated), "pick.first")
    yield Broken("kozel-given_first_fail", _forged(valid["kozel-second_hand"], rotated), "first")

    def chosen(events: Events, _: File) -> None:
        _of(events, "hand.opened")["first"] = _of(events, "hand.dealt")["first"]

    yield Broken("kozel-chosen_first_fail", _forged(kozel, chosen), "first")

    def swapped(events: Events, _: File) -> None:
        positions = _of(events, "hand.dealt")["positions"]
        positions["0"], positions["1"] = positions["1"], positions["0"]

    yield Broken("kozel-swapped_fail", _forged(kozel, swapped), "deal")
    indicator = kozel.table.hand.dealt
    wrong = "6C" if indicator is None or indicator.indicator != "6C" else "6D"
    yield Broken(
        "kozel-indicator_fail",
        _forged(kozel, _set("hand.dealt", 0, lambda e: e.update(indicator=wrong))),
        "pick.indicator",
    )

    yield from _indicators()

    def kept(events: Events, _: File) -> None:
        at = next(i for i, event in enumerate(events) if event["type"] == "cards.given")
        del events[at]

    yield Broken("svoi-six_kept_fail", _forged(valid["svoi-exchange"], kept), "deal")


def _undealt(valid: dict[str, Vector]) -> Iterator[Broken]:
    """What a hand can be used for that ends before it is dealt."""
    # The next hand begins with what this one was given: the service chooses who is first in it.
    yield Broken(
        "kozel-first_undealt_fail",
        _forged(valid["kozel-aborted_seal"], _set("hand.opened", 0, lambda e: e.update(first=2))),
        "first",
    )
    # In the same way it chooses the score.
    table = new_table("kozel", "k00", referee=True)
    table.open_hand()
    table.abort()
    refereed = Vector("kozel-undealt", table.transcript().encode(), table, "VERIFIED", 0)

    def ahead(event: dict[str, Any]) -> None:
        event["match"]["score"] = [4, 0]

    yield Broken(
        "kozel-match_undealt_fail", _forged(refereed, _set("hand.opened", 0, ahead)), "play"
    )

    # A seat's seed is what the service has announced for the next hand: nobody drew it.
    def public(events: Events, _: File) -> None:
        opened = _of(events, "hand.opened")
        told = _of(events, "seeds.opened")["seeds"]
        seat = min(told)
        told[seat] = opened["next_commitment"]
        terms = Digest(digest(encode(events[0])))
        commitment = Commitment(bytes.fromhex(opened["commitment"]))
        seed = SeatSeed(bytes.fromhex(told[seat]))
        sealed = seal(terms, opened["hand"], int(seat), commitment, seed).hex()
        for event in events:
            if event["type"] == "seeds.sealed" and seat in event["seals"]:
                event["seals"][seat] = sealed

    yield Broken("kozel-public_seed_fail", _forged(valid["kozel-aborted_open"], public), "order")

    # A key of small order, of a seat that never had to sign.
    yield Broken(
        "kozel-weak_key_fail",
        _forged(
            valid["kozel-aborted_seal"],
            _set("table.opened", 0, lambda e: e["keys"].update({"2": "01" + "00" * 31})),
        ),
        "terms",
    )

    # The secret of hand 1, which everybody knows, is to be that of hand 3 again.
    def again(events: Events, _: File) -> None:
        _of(events, "hand.opened")["next_commitment"] = events[0]["next_commitment"]

    yield Broken("kozel-old_secret_fail", _forged(valid["kozel-second_hand"], again), "terms")


def _indicators() -> Iterator[Broken]:
    """The indicator is shown, with its proof, at another place than the one drawn. Spec: KOZ-1."""
    for name, disclosure, failed in (
        ("kozel-indicator_place_fail", "hand", "pick.indicator"),
        ("kozel-indicator_edge_fail", "table", "deal"),
    ):
        rules = {"indicator": "interior", "indicator_place": "bottom"}
        table = new_table("kozel", "k01", ruleset=rules, disclosure=disclosure)
        table.deal()
        table.close()
        shown = table.hand.shown[0][0].position
        # The last place of the stock is none where `interior` can be.
        other = 35 if disclosure == "table" else 20 + (shown == 20)
        opening = table.secrets.opening(Place(0, other)).to_dict()
        one = {key: value for key, value in opening.items() if key != "path"}

        def elsewhere(events: Events, file: File, one: File = one, opening: File = opening) -> None:
            dealt = _of(events, "hand.dealt")
            dealt["indicator"] = one["card"]
            dealt["shown"] = [{**one, "seat": None}]
            file["openings"] = [opening] if file["openings"] else []

        vector = Vector(name, table.transcript().encode(), table, "FAILED", 1)
        yield Broken(name, _forged(vector, elsewhere), failed)


def _play(valid: dict[str, Vector]) -> Iterator[Broken]:
    kozel, mus = valid["kozel-whole"], valid["mus-reshuffled"]

    def skip(event: dict[str, Any]) -> None:
        draws = event["draws"]
        draws[0][2], draws[1][2] = draws[1][2], draws[0][2]

    yield Broken("kozel-draw_fail", _forged(kozel, _set("cards.drawn", 1, skip)), "draw.2")
    yield Broken("mus-service_fail", _forged(mus, _set("cards.drawn", 0, skip)), "draw.1")
    yield Broken(
        "mus-lock_fail",
        _forged(
            mus,
            _set(
                "cards.discarded",
                2,
                lambda e: next(iter(e["discards"].values())).update(lock="0f" * 32),
            ),
        ),
        "discard.3",
    )

    def rechosen(_: Events, file: File) -> None:
        discards = file["disclosed"]["discards"]["1"]
        discards[0], discards[1] = discards[1], discards[0]

    yield Broken("kozel-rechosen_fail", _forged(kozel, rechosen), "discard.1")

    yield _rechosen_in_play(valid["kozel-played"])
    # A discard that is disclosed with a card too few: what the reshuffle took is not known, nor is
    # where any of its cards lay. That says nothing about the shuffle.

    def fewer(_: Events, file: File) -> None:
        file["disclosed"]["discards"]["1"][0].pop()

    unknown = {"shuffle": "SKIP", "reshuffle.1": "SKIP", "disclosure": "FAIL"}
    yield Broken(
        "mus-unknown_pool_fail", _forged(mus, fewer), _discard_of(mus, 1, 0), None, unknown
    )

    def foreign(events: Events, _: File) -> None:
        shown = _of(events, "cards.shown")["shown"][0]
        shown["seat"] = (shown["seat"] + 1) % 4

    yield Broken("kozel-foreign_fail", _forged(valid["kozel-index10"], foreign), "show.1")
    yield Broken(
        "mus-salt_fail",
        _forged(mus, _set("cards.shown", 0, lambda e: e["shown"][0].update(salt="00" * 16))),
        "show.1",
    )

    def shown_early(events: Events, _: File) -> None:
        # A card that was dealt, and shown at the end, is shown before the discards instead.
        dealt = _of(events, "hand.dealt")
        last = _of(events, "cards.shown")
        seat = str(last["shown"][0]["seat"])
        early = next(
            s
            for s in last["shown"]
            if s["epoch"] == 0 and s["position"] in dealt["positions"][seat]
        )
        last["shown"].remove(early)
        at = events.index(dealt) + 1
        events.insert(at, {**last, "shown": [early], "at": dealt["at"], "seq": -1})

    yield Broken(
        "mus-discard_after_show_fail", _forged(valid["mus-one_round"], shown_early), "discard.1"
    )
    blind = valid["azi-blind"].table.secrets
    place = blind.holding(2)[0]
    opening = blind.opening(place).to_dict()
    del opening["path"]

    def unseen(events: Events, _: File) -> None:
        show = {"type": "cards.shown", "shown": [{**opening, "seat": 2}]}
        events.insert(len(events) - 1, _before(events[-1], show))

    yield Broken("azi-unseen_play_fail", _forged(valid["azi-blind"], unseen), "show.1")

    def late_pull(events: Events, _: File) -> None:
        events.insert(len(events) - 1, _before(events[-1], {"type": "cards.returned"}))

    yield Broken("kozel-late_pull_fail", _forged(valid["kozel-whole"], late_pull), "end")
    yield Broken(
        "mus-pool_fail",
        _forged(mus, _set("stock.reshuffled", 0, lambda e: e.update(count=e["count"] - 1))),
        "reshuffle.1",
    )
    yield Broken(
        "mus-new_root_fail",
        _forged(mus, _set("stock.reshuffled", 0, lambda e: e.update(deck_root="00" * 32))),
        "reshuffle.1",
    )


def _rechosen_in_play(vector: Vector) -> Broken:
    """At a table with a referee: two hidden discards of a seat change places once all is played."""
    _, events = _load(vector)
    throws = [event["discards"] for event in events if event["type"] == "cards.discarded"]
    sizes = [[(seat, lock["count"]) for seat, lock in one.items()] for one in throws]
    first, second = next(
        (i, sizes.index(size, i + 1)) for i, size in enumerate(sizes) if size in sizes[i + 1 :]
    )
    seat = next(iter(throws[first]))
    ks = [i for i, one in enumerate(throws) if seat in one]

    def rechosen(_: Events, file: File) -> None:
        discards = file["disclosed"]["discards"][seat]
        a, b = ks.index(first), ks.index(second)
        discards[a], discards[b] = discards[b], discards[a]

    return Broken("kozel-played_rechosen_fail", _forged(vector, rechosen), f"discard.{first + 1}")


def _ending(valid: dict[str, Vector]) -> Iterator[Broken]:
    kozel, mus = valid["kozel-short"], valid["mus-no_round"]

    def early(event: dict[str, Any]) -> None:
        event["at"] = format_time(parse_time(event["at"]) - 1000)

    yield Broken(
        "kozel-early_abort_fail",
        _forged(valid["kozel-aborted_open"], _set("hand.aborted", 0, early)),
        "end",
    )
    yield Broken(
        "kozel-blamed_fail",
        _forged(
            valid["kozel-aborted_seal"], _set("hand.aborted", 0, lambda e: e.update(missing=[1, 2]))
        ),
        "end",
    )

    def withheld(_: Events, file: File) -> None:
        del file["disclosed"]

    yield Broken(
        "kozel-withheld_fail", _forged(valid["kozel-aborted_seal"], withheld), "disclosure"
    )

    yield from _lost()

    def path(file: File) -> None:
        lines = file["proof"].split("\n")
        lines[2], lines[3] = lines[3], lines[2]
        file["proof"] = "\n".join(lines)

    yield Broken("mus-path_fail", _edited(mus, path), "log.inclusion")

    yield Broken("mus-short_path_fail", _edited(mus, _shorten), "log.inclusion")

    def stranger(file: File) -> None:
        _prove(file, SigningKey("vectors.example/log", named("another log key")))

    yield Broken("mus-stranger_fail", _edited(mus, stranger), "log.signature")

    def unsigned(events: Events, _: File) -> None:
        opened = _of(events, "seeds.opened")
        opened["sigs"]["0"] = opened["sigs"]["1"]

    yield Broken("svoi-signature_fail", _forged(valid["svoi-keyed"], unsigned), "seat.signature.0")
    yield _sibling(kozel)


def _discard_of(vector: Vector, seat: int, k: int) -> str:
    """The check of the event that has a seat's k-th discard."""
    _, events = _load(vector)
    throws = [event["discards"] for event in events if event["type"] == "cards.discarded"]
    numbers = [number for number, one in enumerate(throws, 1) if str(seat) in one]
    return f"discard.{numbers[k]}"


def _lost() -> Iterator[Broken]:
    """The service has lost its secret after a card was shown. So it can open none. Spec: FILE-4."""
    table = new_table("azi", "a9", disclosure="table")
    table.deal()
    play_azi(table, 1)
    table.abort("lost")
    vector = Vector("azi-lost", table.transcript().encode(), table, "FAILED", 1)
    untold = {"server.commitment": "N/A", "deal": "SKIP", "show.1": "SKIP"}
    yield Broken("azi-lost_fail", vector.file, "end", None, untold | {"disclosure": "SKIP"})

    def opened(file: File) -> None:
        shown = [place for place, _, _ in table.hand.shown]
        file["openings"] = [table.secrets.opening(place).to_dict() for place in shown]

    yield Broken(
        "azi-lost_opened_fail",
        _edited(vector, opened),
        "end",
        None,
        untold | {"disclosure": "FAIL"},
    )


def _sibling(vector: Vector) -> Broken:
    """A sealed event with another time stamp, as a service would write that wants another deck.

    The deck is the same, and the receipt that a seat kept for the head it opened under is of none
    of the file's steps.
    """
    table = new_table("kozel", "k0")
    table.open_hand()
    table.seal()
    receipt = table.book.receipt(table.indices[-1]).text()
    table.open_seeds()
    play_kozel(table, 1)
    table.close()

    def shifted(events: Events, _: File) -> None:
        sealed = _of(events, "seeds.sealed")
        sealed["at"] = sealed["at"][:-2] + "1Z"

    data = _forged(vector._replace(file=table.transcript().encode()), shifted)
    if vector.table.hand.roots != table.hand.roots:
        raise ValueError("the sibling is not of this hand")
    return Broken("kozel-sibling_fail", data, "receipt", receipt)
