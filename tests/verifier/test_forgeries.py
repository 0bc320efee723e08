"""A cheating service with the log key: for each check a hand that it is the first to find.

Everything is chained, sealed and signed again after the change, so nothing but the change is wrong.
"""

import re

import pytest

from fairdeal_verifier.verify import verify
from tests.verifier import builder as B  # noqa: N812
from tests.verifier.test_hands import svoi_salt

CASES: list = []


def case(expected: str, **options):
    """Registers a function that builds a file (or a builder of one)."""

    def register(function):
        CASES.append(
            pytest.param(function, expected, options, id=f"{expected}-{function.__name__}")
        )
        return function

    return register


def on(kind: str, change, nth: int = 1):
    """Gives a forger that changes the n-th event of a type before it is written."""
    seen = []

    def forge(body):
        if body["type"] == kind:
            seen.append(1)
            if len(seen) == nth:
                change(body)

    return forge


def sets(kind: str, nth: int = 1, **fields):
    return on(kind, lambda body: body.update(fields), nth)


def text(kind: str, rewrite):
    """Gives a forger that writes an event in another form."""
    return on(kind, lambda body: body.update(text=rewrite(B.canonical(body))))


def file_with(b: B.Builder, change) -> bytes:
    return b.file(change)


@pytest.mark.parametrize(("build", "expected", "options"), CASES)
def test_forgery(build, expected, options):
    built = build()
    data = built.file() if isinstance(built, B.Builder) else built
    report = verify(data, **({"key": B.VKEY} | options))
    assert report.failed == expected, [
        (c.id, c.status, c.note) for c in report if c.status == "FAIL"
    ]
    assert report.verdict == "FAILED"
    assert report.exit == 1
    assert next(c.note for c in report if c.id == expected)


def test_each_check_that_can_fail_has_a_forgery():
    wanted = {
        "format", "chain", "terms", "server.commitment", "seal", "chain.E.N", "order", "shuffle",
        "deck.cards", "deck.root", "first", "deal", "pick.first", "pick.indicator", "draw",
        "discard", "show", "reshuffle", "end", "disclosure", "log.inclusion", "log.signature",
        "receipt", "seat.signature", "mine",
    }  # fmt: skip
    got = set()
    for one in CASES:
        expected = one.values[1]
        got.add("chain.E.N" if re.match(r"chain\.\d", expected) else re.sub(r"\.\d+", "", expected))
    assert got == wanted


# format


def simple(**options) -> B.Builder:
    return B.azi(**options)


for kind, fields in [
    ("table.opened", {"more": 1}),
    ("table.opened", {"seats": 11}),
    ("table.opened", {"contribute": [1, 0]}),
    ("table.opened", {"contribute": [0, 0]}),
    ("table.opened", {"contribute": [3]}),
    ("table.opened", {"keys": {"3": "00" * 32}}),
    ("table.opened", {"keys": {"00": "00" * 32}}),
    ("table.opened", {"custody": "mine"}),
    ("table.opened", {"disclosure": "never"}),
    ("table.opened", {"timeouts": {"seal": 0, "open": 1, "hand": 1, "table": 1}}),
    ("table.opened", {"timeouts": {"seal": 1, "open": 1, "hand": 1}}),
    ("table.opened", {"beacon": "x"}),
    ("table.opened", {"ruleset": {"A": 1}}),
    ("table.opened", {"ruleset": [1]}),
    ("table.opened", {"log_key": "x+00000000+AAAA"}),
    ("table.opened", {"game": 7}),
    ("hand.opened", {"first": 3}),
    ("hand.opened", {"first": True}),
    ("hand.opened", {"hand": 0}),
    ("hand.opened", {"hand": 2**32}),
    ("hand.opened", {"round": 1}),
    ("hand.opened", {"terms": "AB" * 32}),
    ("hand.opened", {"terms": "ab" * 31}),
    ("hand.opened", {"terms": "ab" * 31 + "a "}),
    ("hand.opened", {"at": "2025-02-30T00:00:00.000Z"}),
    ("hand.opened", {"at": "1999-01-01T00:00:00.000Z"}),
    ("hand.opened", {"at": "2025-12-01T00:00:60.000Z"}),
    ("hand.opened", {"at": "2025-12-01T24:00:00.000Z"}),
    ("hand.opened", {"at": "2025-12-01T00:00:00Z"}),
    ("hand.opened", {"table": "tbl_" + "0" * 25 + "i"}),
    ("hand.opened", {"seq": 2**53}),
    ("hand.opened", {"seq": -1}),
    ("hand.opened", {"prev": "x"}),
    ("hand.opened", {"v": None}),
    ("seeds.sealed", {"seals": {}}),
    ("seeds.sealed", {"sigs": {"0": "00" * 63}}),
    ("seeds.opened", {"epoch": 33}),
    ("hand.dealt", {"indicator": "1C"}),
    ("hand.dealt", {"positions": {"0": [256]}}),
    ("hand.dealt", {"beacon": 0}),
    ("cards.shown", {"shown": []}),
    ("hand.closed", {"hand": None}),
    ("hand.closed", {"type": "hand.finished"}),
    ("hand.closed", {"type": "hand.opened"}),
    ("hand.closed", {"type": "seat.reissued", "seat": 0}),
]:
    case("format")(lambda kind=kind, fields=fields: simple(forge=sets(kind, **fields)))


VERSION = ',"v":"fairdeal/1"'


for name, kind, rewrite in [
    ("a space", "hand.closed", lambda t: t.replace(":", ": ", 1)),
    ("a space at the end", "hand.closed", lambda t: t + " "),
    ("keys out of order", "hand.closed", lambda t: f"{{{VERSION[1:]},{t[1:].replace(VERSION, '')}"),
    ("a key twice", "hand.closed", lambda t: t.replace('"hand":1', '"hand":1,"hand":1')),
    ("an escape", "hand.closed", lambda t: t.replace("hand.closed", "hand.\\u0063losed")),
    ("a float", "hand.closed", lambda t: t.replace('"hand":1', '"hand":1.0')),
    ("an exponent", "hand.closed", lambda t: t.replace('"hand":1', '"hand":1e0')),
    ("a huge integer", "hand.closed", lambda t: t.replace('"hand":1', '"hand":' + "1" * 5000)),
    ("minus zero", "hand.opened", lambda t: t.replace('"first":null', '"first":-0')),
    ("NaN", "hand.closed", lambda t: t.replace('"hand":1', '"hand":NaN')),
    ("no JSON", "hand.closed", lambda t: t[:-1]),
    ("a list", "hand.closed", lambda t: "[1]"),
    ("a string", "hand.closed", lambda t: '"x"'),
    ("two values", "hand.closed", lambda t: t + "," + t),
    ("nothing", "hand.closed", lambda t: " "),
    ("deep", "table.opened", lambda t: t.replace("false", "[" * 15 + "]" * 15)),
    ("long", "table.opened", lambda t: t.replace("false", f'"{"x" * 66_000}"')),
    ("an escape that needs none", "table.opened", lambda t: t.replace('"DHS"', '"DHS\\t"')),
    ("a character", "table.opened", lambda t: t.replace('"DHS"', '"DH\u007f"')),
    ("a solidus", "table.opened", lambda t: t.replace('"DHS"', '"D\\/S"')),
]:  # fmt: skip

    def broken_form(kind=kind, rewrite=rewrite):
        return simple(forge=text(kind, rewrite))

    broken_form.__name__ = name
    case("format")(broken_form)


def change_file(function):
    case("format")(lambda: file_with(simple(), function))
    return function


@change_file
def one_member_too_many(value):
    value["more"] = 1


@change_file
def no_proof(value):
    del value["proof"]


@change_file
def events_of_numbers(value):
    value["events"][1] = 1


@change_file
def no_events(value):
    value["events"] = []


@change_file
def only_the_table(value):
    value["events"] = value["events"][:1]


@change_file
def no_table(value):
    value["events"] = value["events"][1:]


@change_file
def an_event_after_the_end(value):
    value["events"].append(value["events"][-2])


@change_file
def disclosed_null(value):
    value["disclosed"] = None


@change_file
def disclosed_with_more(value):
    value["disclosed"]["more"] = 1


@change_file
def an_opening_with_a_wrong_path(value):
    value["openings"] = [
        {"card": "6D", "epoch": 0, "path": ["x"], "position": 0, "salt": "00" * 16}
    ]


@change_file
def the_proof_has_an_extra_line(value):
    value["proof"] = value["proof"].replace("index", "extra AAAA\nindex")


@change_file
def the_proof_has_an_index_with_a_zero(value):
    value["proof"] = value["proof"].replace("index ", "index 0")


@change_file
def the_proof_has_two_signatures(value):
    value["proof"] += value["proof"].split("\n")[-2] + "\n"


@change_file
def the_proof_has_a_witness_signature(value):
    value["proof"] += "— witness.example " + B.b64(bytes(68)) + "\n"


@change_file
def the_proof_is_signed_under_another_name(value):
    value["proof"] = value["proof"].replace("— deal", "— real")


@change_file
def the_proof_ends_without_a_newline(value):
    value["proof"] = value["proof"][:-1]


@change_file
def the_checkpoint_has_an_extension(value):
    head, tail = value["proof"].split("\n\n—")
    value["proof"] = head + "\nmore\n\n—" + tail


@change_file
def the_proof_has_base64_of_another_form(value):
    lines = value["proof"].split("\n")
    at = next(i for i, line in enumerate(lines) if len(line) == 44)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = letters[letters.index(lines[at][-2]) + 1]
    lines[at] = lines[at][:-2] + last + "="
    value["proof"] = "\n".join(lines)


@case("format")
def the_file_has_a_space():
    return simple().file().replace(b",", b", ", 1)


@case("format")
def the_file_has_a_newline_at_the_end():
    return simple().file() + b"\n"


@case("format")
def the_file_has_a_member_twice():
    return simple().file().replace(b'"openings":[]', b'"openings":[],"openings":[]')


@case("format")
def the_file_has_an_escape_that_needs_none():
    return simple().file().replace(b"events", rb"\u0065vents", 1)


@case("format")
def the_file_has_a_lone_surrogate():
    return simple().file().replace(b'"openings":[]', rb'"openings":["\ud800"]')


@case("format")
def the_file_has_a_float():
    return simple().file().replace(b'"openings":[]', b'"openings":[1.5]')


@case("format")
def the_file_has_a_huge_integer():
    return simple().file().replace(b'"openings":[]', b'"openings":[' + b"9" * 100_000 + b"]")


# chain

for change in [
    {"prev": "00" * 32},
    {"prev": ""},
    {"seq": 9},
    {"table": "tbl_" + "0" * 26},
    {"hand": 2},
    {"at": "2025-11-29T20:30:00.500Z"},
]:
    case("chain")(lambda change=change: simple(forge=sets("seeds.sealed", **change)))

case("chain")(lambda: simple(forge=sets("hand.opened", prev="00" * 32)))
case("chain")(lambda: simple(forge=sets("hand.opened", seq=0)))
case("chain")(lambda: simple(forge=sets("hand.opened", at="2020-01-01T00:00:00.000Z")))
case("chain")(lambda: simple(forge=sets("hand.opened", table="tbl_" + "0" * 26)))


# terms

case("terms")(lambda: simple(forge=sets("hand.opened", terms="00" * 32)))
case("terms")(lambda: simple(forge=sets("hand.opened", commitment="00" * 32)))
case("terms")(
    lambda: simple(forge=on("hand.opened", lambda b: b.update(next_commitment=b["commitment"])))
)
case("terms")(lambda: simple(forge=sets("table.opened", seq=1)))
case("terms")(lambda: simple(forge=sets("table.opened", prev="00" * 32)))
case("terms")(lambda: simple(forge=sets("table.opened", seats=7)))
case("terms")(lambda: simple(forge=sets("table.opened", contribute=[])))
case("terms")(lambda: simple(forge=sets("table.opened", origin="other.example/log")))
case("terms")(lambda: B.kozel(forge=sets("table.opened", seats=5)))
for rules in [
    {"more": 1},
    {"cards": 5},
    {"cards": "3"},
    {"blind": 0},
    {"suits": "DSH"},
    {"trump": None},
]:
    case("terms")(
        lambda rules=rules: simple(forge=on("table.opened", lambda b: b["ruleset"].update(rules)))
    )
case("terms")(lambda: simple(forge=on("table.opened", lambda b: b["ruleset"].pop("blind"))))
case("terms")(
    lambda: B.mus((), forge=on("table.opened", lambda b: b["ruleset"].update(min_discard=True)))
)


# server.commitment


@case("server.commitment")
def another_server_seed():
    return file_with(simple(), lambda v: v["disclosed"].update(server_seed="00" * 32))


# seal.N


@case("seal.1")
def another_seat_seed():
    return simple(forge=on("seeds.opened", lambda b: b["seeds"].update({"1": "00" * 32})))


@case("seal.2")
def another_seal():
    return simple(forge=on("seeds.sealed", lambda b: b["seals"].update({"2": "00" * 32})))


@case("seal.0")
def two_seats_change_seals():
    def swap(body):
        seals = body["seals"]
        seals["0"], seals["1"] = seals["1"], seals["0"]

    return simple(forge=on("seeds.sealed", swap))


# chain.E.N


@case("chain.1.2")
def a_seed_off_the_chain():
    return B.mus(forge=on("seeds.opened", lambda b: b["seeds"].update({"2": "00" * 32}), nth=2))


# order


@case("order")
def a_seed_before_the_last_seal():
    return (
        B.Builder("azi")
        .open()
        .seal([0, 1])
        .open_seeds([0])
        .seal([2])
        .open_seeds([1, 2])
        .deal()
        .close()
    )


@case("order")
def a_seat_seals_twice():
    return B.Builder("azi").open().seal([0, 1]).seal([1, 2]).open_seeds().deal().close()


@case("order")
def a_seat_opens_twice():
    return B.Builder("azi").open().seal().open_seeds([0, 1]).open_seeds([1, 2]).deal().close()


@case("order")
def a_seat_that_does_not_contribute_seals():
    return B.Builder("azi", contribute=[0, 1]).open().seal([0, 1, 2]).open_seeds().deal().close()


@case("order")
def a_seed_under_another_head():
    return simple(forge=sets("seeds.opened", head="00" * 32))


@case("order")
def a_seed_of_another_epoch():
    def forge(body):
        if body["type"] == "seeds.opened" and body["epoch"] == 1:
            body["epoch"] = 2
            body["seeds"] = {s: b.chains[int(s)][2].hex() for s in body["seeds"]}

    b = B.Builder("mus", hand=2, first=0, forge=forge).start()
    short_of_stock(b).open_seeds(epoch=1)
    # x_2 is no link of x_1 here, since x_1 was never opened; so the chain tells first.
    report = verify(b.abort("operator").file(), key=B.VKEY)
    assert report.failed == "chain.2.0"
    assert report.status("order") == "FAIL"
    return B.Builder("azi").open().seal().open_seeds().deal().open_seeds().close()


def short_of_stock(b: B.Builder) -> B.Builder:
    b.discard({s: b.hold[s][:4] for s in range(4)}).draw([s for s in range(4) for _ in range(4)])
    return b.discard({s: b.hold[s][:3] for s in range(4)}).draw([0, 0, 0, 1, 1, 1, 2, 2])


@case("order")
def the_deal_before_the_last_seed():
    return B.Builder("azi").open().seal().open_seeds([0, 1]).deal().close()


@case("order")
def a_card_before_the_deal():
    return (
        B.Builder("azi").open().add_first("cards.looked", seat=0).seal().open_seeds().deal().close()
    )


@case("order")
def a_declaration_in_a_game_without():
    return B.Builder("azi").open().declare({0: "H"}).seal().open_seeds().deal().close()


@case("order")
def no_declaration():
    return B.Builder("svoi").open().seal().open_seeds().deal().close()


@case("order")
def the_second_declares_first():
    b = B.Builder("svoi").open().declare({1: "H"}).declare({0: "S"})
    return b.seal().open_seeds().deal().close()


@case("order")
def a_seat_declares_twice():
    b = B.Builder("svoi").open().declare({0: "H"}).declare({0: "S"}).declare({1: "S"})
    return b.seal().open_seeds().deal().close()


@case("order")
def a_declaration_after_the_seals():
    b = B.Builder("svoi").open().declare({0: "H"}).seal().declare({1: "S"})
    return b.open_seeds().deal().close()


@case("order")
def one_trump_for_both():
    return B.Builder("svoi").open().declare({0: "H", 1: "H"}).seal().open_seeds().deal().close()


@case("order")
def a_suit_of_another_game():
    return B.Builder("svoi").open().declare({0: "H", 1: "o"}).seal().open_seeds().deal().close()


@case("order")
def equal_seeds_of_two_seats():
    b = B.Builder("azi")
    b.chains[1] = b.chains[0]
    return b.start().close()


@case("order")
def an_event_of_another_game():
    return B.Builder("azi").start().add_first("cards.returned").close()


@case("order")
def a_card_shown_where_seeds_are_due():
    b = B.Builder("mus", hand=2, first=0).start()
    return short_of_stock(b).show((0, b.hold[0][0])).abort("operator")


@case("order")
def a_card_shown_where_a_new_stock_is_due():
    b = B.Builder("mus", hand=2, first=0).start()
    return short_of_stock(b).open_seeds(epoch=1).show((0, b.hold[0][0])).abort("operator")


@case("order")
def a_reshuffle_under_another_head():
    b = B.Builder("mus", hand=2, first=0).start()
    short_of_stock(b)
    b.head_of_epoch = b.sealed_head
    return b.open_seeds(epoch=1).abort("operator")


# shuffle


@case("shuffle")
def two_cards_change_places():
    b = B.Builder("azi", hand=2, first=0)
    derive = b.derive

    def cheat(epoch, cards):
        derive(epoch, cards)
        order = b.orders[epoch]
        order[8], order[9] = order[9], order[8]
        return B.mth(b.leaves(epoch))

    b.derive = cheat
    return b.start().close()


@case("shuffle")
def a_card_shown_from_the_wrong_place():
    def swap(body):
        one, other = body["shown"][:2]
        one["card"], other["card"] = other["card"], one["card"]

    return simple(forge=on("cards.shown", swap))


@case("shuffle")
def a_card_from_a_position_beyond_the_deck():
    return simple(forge=on("cards.shown", lambda b: b["shown"][0].update(position=200)))


@case("shuffle")
def a_reshuffle_in_another_order():
    b = B.Builder("mus", hand=2, first=0).start()
    short_of_stock(b).open_seeds(epoch=1)
    derive = b.derive

    def cheat(epoch, cards):
        derive(epoch, cards)
        b.orders[epoch].reverse()
        return B.mth(b.leaves(epoch))

    b.derive = cheat
    heap = [p for s in range(4) for one in b.discards[s] for p in one]
    b.reshuffle(heap).draw([2, 3, 3, 3])
    return b.show((3, b.hold[3][-1])).close()


# deck.cards


@case("deck.cards")
def an_indicator_of_another_deck():
    return B.kozel(forge=sets("hand.dealt", indicator="1o"))


@case("deck.cards")
def a_card_at_two_positions():
    b = B.Builder("azi", hand=2, first=0, disclosure="table")
    derive = b.derive

    def cheat(epoch, cards):
        derive(epoch, cards)
        b.orders[epoch][0] = b.orders[epoch][1]
        return B.mth(b.leaves(epoch))

    b.derive = cheat
    b.start().show((0, (0, 0)), (1, (0, 1)))
    b.disclosed = False
    return b.close()


@case("deck.cards")
def a_position_with_two_cards():
    b = B.Builder("mus", hand=2, first=0, disclosure="table").start()
    b.show((0, b.hold[0][0]))
    b.disclosed = False

    def change(value):
        opening = value["openings"][0]
        value["openings"].append(opening | {"card": "1o" if opening["card"] != "1o" else "2o"})

    return b.close().file(change)


# deck.root


@case("deck.root")
def another_root():
    return simple(forge=sets("hand.dealt", deck_root="00" * 32))


# first


@case("first")
def another_first_seat_than_given():
    b = B.Builder("azi", hand=2, first=0).open().seal().open_seeds()
    b.given_first = 1
    return b.deal().close()


# deal


@case("deal")
def two_seats_change_cards():
    def swap(body):
        p = body["positions"]
        p["0"], p["1"] = p["1"], p["0"]

    return simple(forge=on("hand.dealt", swap))


@case("deal")
def a_seat_without_cards():
    return simple(forge=on("hand.dealt", lambda b: b["positions"].pop("2")))


@case("deal")
def no_indicator():
    return B.kozel(forge=sets("hand.dealt", indicator=None))


@case("deal")
def an_indicator_in_mus():
    return B.mus((), forge=sets("hand.dealt", indicator="1o"))


@case("deal")
def a_card_shown_in_mus():
    b = B.Builder("mus", hand=2, first=0)
    b.forge = on("hand.dealt", lambda body: body.update(shown=[b.entry(0, (0, 0))]))
    return b.start().close()


@case("deal")
def the_place_of_the_indicator_told_too_soon():
    def show(body):
        place = b.orders[0].index(body["indicator"])
        body["shown"] = [b.entry(None, (0, place))]

    b = B.Builder("kozel")
    b.forge = on("hand.dealt", show)
    return b.start().close()


@case("deal")
def the_indicator_in_a_hand():
    rules = {"indicator_place": "bottom"}
    return B.kozel(rules=rules, forge=on("hand.dealt", lambda b: b["shown"][0].update(seat=0)))


@case("deal")
def another_card_shown_than_the_indicator():
    b = B.Builder("kozel", rules={"indicator_place": "bottom"})
    b.forge = on("hand.dealt", lambda body: body.update(indicator=b.orders[0][0]))
    return b.start().close()


@case("deal")
def another_card_turned():
    b = B.Builder("azi")
    b.forge = on("hand.dealt", lambda body: body.update(shown=[b.entry(None, (0, 10))]))
    return b.start().close()


@case("deal")
def nothing_turned():
    return simple(forge=sets("hand.dealt", shown=[]))


@case("deal")
def an_indicator_in_azi():
    return simple(forge=sets("hand.dealt", indicator="6D"))


@case("deal")
def the_dealers_card_shown_for_another_seat():
    rules = {"trump": "dealer_last"}
    change = on("hand.dealt", lambda b: b["shown"][0].update(seat=b["first"]))
    return simple(rules=rules, forge=change)


@case("deal")
def a_salt_of_the_turned_card():
    return simple(forge=on("hand.dealt", lambda b: b["shown"][0].update(salt="00" * 16)))


@case("deal")
def a_look_without_blind_play():
    return B.Builder("azi").start().add_first("cards.looked", seat=0).close()


@case("deal")
def a_seat_looks_twice():
    b = B.Builder("azi", rules={"blind": True}).start()
    return b.add_first("cards.looked", seat=0).add_first("cards.looked", seat=0).close()


def svoi_dealt(count: int, sixes: str = "exchange") -> B.Builder:
    b = B.Builder("svoi", salt=svoi_salt(count, sixes), rules={"sixes": sixes})
    return b.open().declare({0: "H"}).declare({1: "S"}).seal().open_seeds().deal()


@case("deal")
def no_exchange_of_sixes():
    return svoi_dealt(1).close()


@case("deal")
def no_exchange_of_sixes_before_a_card():
    b = svoi_dealt(1)
    return b.show((0, b.hold[0][0])).close()


@case("deal")
def an_exchange_of_one_six_of_two():
    b = svoi_dealt(2)
    return b.give(B.sixes(b)[0]).close()


@case("deal")
def an_exchange_in_another_order():
    b = svoi_dealt(2)
    return b.give(*reversed(B.sixes(b))).close()


@case("deal")
def an_exchange_of_another_card():
    b = svoi_dealt(1)
    seat, to, place = B.sixes(b)[0]
    other = next(p for p in b.hold[seat] if p != place)
    return b.give((seat, to, other)).close()


@case("deal")
def an_exchange_although_sixes_are_kept():
    b = svoi_dealt(1, "keep")
    return b.give(*B.sixes(b)).close()


@case("deal")
def an_exchange_although_none_is_due():
    b = svoi_dealt(0)
    return b.give((0, 1, b.hold[0][0])).close()


@case("deal")
def an_exchange_that_comes_twice():
    b = svoi_dealt(1)
    seat, to, place = B.sixes(b)[0]
    return b.give((seat, to, place)).give((to, seat, place)).close()


@case("deal")
def cards_dealt_after_a_deal_that_was_wrong():
    return simple(forge=on("hand.dealt", lambda b: b["positions"]["0"].reverse()))


# pick.first, pick.indicator


@case("pick.first")
def another_first_seat_than_drawn():
    b = B.Builder("azi").open().seal().open_seeds()
    key_first = B.Builder("azi").start().first
    b.given_first = (key_first + 1) % 3
    return b.deal().close()


@case("pick.indicator")
def another_indicator():
    def forge(body):
        if body["type"] == "hand.dealt":
            body["indicator"] = next(c for c in b.orders[0][17:35] if c != body["indicator"])

    b = B.Builder("kozel", forge=forge)
    return b.start().close()


@case("pick.indicator")
def the_indicator_shown_at_another_place_of_the_stock():
    def forge(body):
        if body["type"] == "hand.dealt":
            place = next(p for p in range(17, 35) if b.orders[0][p] != body["indicator"])
            body["shown"] = [b.entry(None, (0, place))]
            body["indicator"] = b.orders[0][place]

    b = B.Builder("kozel", rules={"indicator_place": "bottom"}, forge=forge)
    return b.start().close()


# draw.K


def kozel_trick(**options) -> B.Builder:
    b = B.Builder("kozel", hand=2, first=0, **options).start()
    return b.show(*[(s, b.hold[s][0]) for s in range(4)])


@case("draw.1")
def a_draw_from_the_middle():
    b = kozel_trick()
    b.stock.pop(0)
    return b.draw([0, 1, 2, 3]).close()


@case("draw.1")
def a_draw_out_of_turn():
    return kozel_trick().draw([0, 2, 1, 3]).close()


@case("draw.1")
def a_draw_of_too_few():
    return kozel_trick().draw([0, 1, 2]).close()


@case("draw.1")
def a_draw_with_full_hands():
    return B.Builder("kozel").start().draw([0, 1, 2, 3]).close()


@case("draw.1")
def a_draw_with_unequal_hands():
    b = B.Builder("kozel", hand=2, first=0).start()
    return b.show((0, b.hold[0][0])).draw([0]).close()


@case("draw.1")
def the_indicator_drawn_before_its_turn():
    b = kozel_trick(rules={"indicator_place": "bottom"})
    b.stock.insert(0, b.stock.pop())
    return b.draw([0, 1, 2, 3]).close()


@case("draw.1")
def a_draw_in_mus_without_discards():
    return B.Builder("mus").start().draw([0]).close()


@case("draw.1")
def a_service_out_of_order():
    b = B.Builder("mus", hand=2, first=0).start()
    b.discard({s: b.hold[s][:1] for s in range(4)})
    return b.draw([1, 0, 2, 3]).close()


@case("draw.1")
def a_service_one_by_one_where_blocks_are_the_rule():
    b = B.Builder("mus", hand=2, first=0).start()
    b.discard({s: b.hold[s][:4] for s in range(4)})
    return b.draw([0, 1, 2, 3] * 4).close()


@case("draw.2")
def a_second_card_for_nothing():
    b = B.Builder("mus", hand=2, first=0).start()
    b.discard({s: b.hold[s][:1] for s in range(4)}).draw([0, 1, 2, 3])
    return b.draw([0]).close()


@case("draw.2")
def a_service_that_leaves_cards():
    b = B.Builder("mus", hand=2, first=0).start()
    b.discard({s: b.hold[s][:4] for s in range(4)}).draw([s for s in range(4) for _ in range(4)])
    return (
        b.discard({s: b.hold[s][:2] for s in range(4)})
        .draw([0, 0, 1, 1])
        .draw([2, 2, 3, 3])
        .close()
    )


@case("draw.1")
def a_pull_of_nothing():
    b = B.Builder("kozel", hand=2, first=0).start()
    b.add("cards.returned")
    # Full hands make the draw illegal as well; what counts is that the pull is told here.
    report = verify(kozel_trick().draw([0, 1, 2, 3]).close().file(), key=B.VKEY)
    assert report.exit == 0
    return b.draw([0]).close()


@case("discard.1")
def a_pull_after_a_draw():
    b = kozel_trick().draw([0, 1, 2, 3]).add_first("cards.returned")
    return b.discard({0: b.hold[0][:1]}).close()


# discard.K


def mus_dealt(**options) -> B.Builder:
    return B.Builder("mus", hand=2, first=1, **options).start()


@case("discard.1")
def another_lock():
    def change(body):
        body["discards"]["1"]["lock"] = "00" * 32

    b = mus_dealt(forge=on("cards.discarded", change))
    b.discard({s: b.hold[s][:1] for s in range(4)}).draw([1, 2, 3, 0])
    return b.close()


@case("discard.1")
def other_cards_disclosed():
    b = mus_dealt()
    b.discard({s: b.hold[s][:1] for s in range(4)}).draw([1, 2, 3, 0])
    b.discards[2] = [[b.hold[2][0]]]
    return b.close()


@case("discard.1")
def a_card_of_another_seat_thrown():
    b = mus_dealt()
    b.discard({1: [b.hold[2][0]]} | {s: b.hold[s][:1] for s in (2, 3, 0)}).draw([1, 2, 3, 0])
    return b.close()


@case("discard.2")
def a_card_thrown_twice():
    b = B.Builder("kozel", hand=2, first=0).start()
    card = b.hold[0][0]
    return b.discard({0: [card]}).discard({0: [card]}).close()


@case("discard.1")
def a_lock_out_of_turn():
    b = mus_dealt()
    b.discard({2: b.hold[2][:1]}).discard({1: b.hold[1][:1]})
    return b.discard({s: b.hold[s][:1] for s in (3, 0)}).draw([1, 2, 3, 0]).close()


@case("discard.2")
def a_lock_where_service_is_due():
    b = mus_dealt()
    b.discard({s: b.hold[s][:1] for s in range(4)})
    return b.discard({1: b.hold[1][:1]}).draw([1, 2, 3, 0]).close()


@case("discard.1")
def a_discard_where_they_are_open():
    b = B.Builder("kozel", rules={"discards": "open"}).start()
    return b.discard({0: b.hold[0][:1]}).close()


@case("discard.1")
def a_discard_in_azi_with_three_cards():
    b = B.Builder("azi").start()
    return b.discard({s: b.hold[s][:1] for s in range(3)}).close()


@case("discard.1")
def two_cards_thrown_in_azi():
    b = B.Builder("azi", rules={"cards": 4}).start()
    return b.discard({s: b.hold[s][:2] for s in range(3)}).close()


@case("discard.2")
def a_seat_throws_twice_in_azi():
    b = B.Builder("azi", rules={"cards": 4}).start()
    return b.discard({0: b.hold[0][:1]}).discard({0: b.hold[0][:1]}).abort("operator")


@case("discard.1")
def another_count():
    def change(body):
        body["discards"]["1"]["count"] = 2

    b = mus_dealt(forge=on("cards.discarded", change))
    return b.discard({1: b.hold[1][:1]}).abort("operator")


@case("discard.2", key=B.VKEY)
def more_cards_thrown_than_held_before_disclosure():
    b = B.Builder("kozel", hand=2, first=0, disclosure="table").start()
    b.discard({0: b.hold[0][:3]})
    b.hold[0] = [(0, 0), (0, 4)]
    b.discard({0: b.hold[0][:2]})
    b.disclosed = False
    return b.close()


# show.K


@case("show.1")
def a_card_of_another_seat_shown():
    b = B.Builder("azi", hand=2, first=0).start()
    return b.show((0, b.hold[1][0])).close()


@case("show.1")
def a_card_of_nobody_shown():
    b = B.Builder("azi", hand=2, first=0).start()
    return b.show((None, b.hold[1][0])).close()


@case("show.1")
def a_card_shown_from_the_stock():
    b = B.Builder("kozel", hand=2, first=0).start()
    return b.show((0, (0, 20))).close()


@case("show.2")
def a_card_shown_twice():
    b = B.Builder("azi", hand=2, first=0).start()
    card = b.hold[0][0]
    return b.show((0, card)).show((0, card)).close()


@case("show.2")
def a_card_shown_twice_in_svoi():
    b = svoi_dealt(0)
    card = b.hold[0][0]
    return b.show((0, card)).show((0, card)).close()


@case("show.2")
def a_given_six_shown_again():
    b = svoi_dealt(1)
    seat, to, place = B.sixes(b)[0]
    return b.give((seat, to, place)).show((to, place)).close()


@case("show.1")
def another_salt():
    return simple(forge=on("cards.shown", lambda b: b["shown"][0].update(salt="00" * 16)))


@case("show.1")
def a_thrown_card_shown():
    b = B.Builder("kozel", hand=2, first=0).start()
    card = b.hold[0][0]
    return b.discard({0: [card]}).show((0, card)).close()


@case("show.1")
def a_card_shown_before_all_have_thrown():
    b = B.Builder("azi", hand=2, first=0, rules={"cards": 4}).start()
    b.discard({0: b.hold[0][:1]})
    return b.show((0, b.hold[0][0])).abort("operator")


@case("show.1")
def a_card_shown_in_a_half_locked_round():
    b = mus_dealt()
    return b.discard({1: b.hold[1][:1]}).show((2, b.hold[2][0])).abort("operator")


@case("show.1")
def a_card_shown_where_service_is_due():
    b = mus_dealt()
    b.discard({s: b.hold[s][:1] for s in range(4)})
    return b.show((2, b.hold[2][0])).draw([1, 2, 3, 0]).close()


@case("show.1")
def an_opening_of_another_card():
    b = B.Builder("azi", hand=2, first=0, disclosure="table").start()
    b.show((0, b.hold[0][0]))
    b.disclosed = False

    def change(value):
        value["openings"][1]["path"][0] = "00" * 32

    return b.close().file(change)


@case("show.1")
def an_opening_for_another_position():
    b = B.Builder("azi", hand=2, first=0, disclosure="table").start()
    b.forge = on("cards.shown", lambda body: body["shown"][0].update(position=3))
    b.show((0, b.hold[0][0]))
    b.disclosed = False
    b.shown[-1]["position"] = 0

    def change(value):
        value["openings"][1]["position"] = 3

    return b.close().file(change)


@case("show.1")
def an_opening_that_is_missing():
    b = B.Builder("azi", hand=2, first=0, disclosure="table").start()
    b.show((0, b.hold[0][0]))
    b.disclosed = False
    return b.close().file(lambda value: value["openings"].pop())


@case("show.2")
def more_cards_shown_than_held_before_disclosure():
    b = B.Builder("kozel", hand=2, first=0, disclosure="table").start()
    cards = list(b.hold[0])
    b.discard({0: cards[:2]})
    b.show((0, cards[0]), (0, cards[1])).show((0, cards[2]))
    b.disclosed = False
    return b.close()


@case("show.2")
def a_discard_that_went_back_shown_at_the_count():
    b = B.Builder("kozel", hand=2, first=0).start()
    card = b.hold[0][0]
    b.discard({0: [card]})
    b.hold[0].insert(0, card)
    b.add("cards.returned")
    b.show((0, card))
    return b.show((0, card)).close()


# reshuffle.K


def reshuffled(**options) -> B.Builder:
    b = B.Builder("mus", hand=2, first=0, **options).start()
    short_of_stock(b).open_seeds(epoch=1)
    return b.reshuffle([p for s in range(4) for one in b.discards[s] for p in one])


@case("reshuffle.1")
def another_root_of_the_new_stock():
    return (
        reshuffled(forge=sets("stock.reshuffled", deck_root="00" * 32)).draw([2, 3, 3, 3]).close()
    )


@case("reshuffle.1")
def another_count_of_the_new_stock():
    return reshuffled(forge=sets("stock.reshuffled", count=27)).draw([2, 3, 3, 3]).close()


@case("reshuffle.1")
def another_epoch_of_the_new_stock():
    return reshuffled(forge=sets("stock.reshuffled", epoch=2)).abort("operator")


@case("reshuffle.1")
def a_pool_without_this_round():
    b = B.Builder("mus", hand=2, first=0).start()
    short_of_stock(b).open_seeds(epoch=1)
    return b.reshuffle([p for s in range(4) for p in b.discards[s][0]]).draw([2, 3, 3, 3]).close()


@case("reshuffle.1")
def a_pool_with_this_round_where_it_stays_out():
    return reshuffled(rules={"reshuffle": "previous"}).draw([2, 3, 3, 3]).close()


@case("reshuffle.1")
def a_reshuffle_where_none_is_due():
    b = mus_dealt()
    b.add("stock.reshuffled", epoch=1, count=4, deck_root="00" * 32)
    return b.close()


# end


case("end")(lambda: B.Builder("azi").open().close())
case("end")(lambda: B.Builder("azi").open().seal().open_seeds([0]).close())
case("end")(lambda: B.Builder("azi").open().abort("seal_timeout", [0, 1, 2], wait=59_999))
case("end")(lambda: B.Builder("azi").open().abort("seal_timeout", [0, 1], wait=60_000))
case("end")(lambda: B.Builder("azi").open().seal().abort("seal_timeout", [], wait=60_000))
case("end")(lambda: B.Builder("azi").open().seal().abort("open_timeout", [0, 1, 2], wait=59_999))
case("end")(
    lambda: (
        B.Builder("azi").open().seal().open_seeds([0]).abort("open_timeout", [0, 1, 2], wait=60_000)
    )
)
case("end")(lambda: B.Builder("azi").open().abort("open_timeout", [0, 1, 2], wait=60_000))
case("end")(lambda: B.Builder("azi").start().abort("idle", wait=599_999))
case("end")(lambda: B.Builder("azi").start().abort("idle", [1], wait=600_000))
case("end")(lambda: B.Builder("azi").open().seal().open_seeds().abort("idle", wait=600_000))
case("end")(lambda: B.Builder("azi").start().abort("epochs"))
case("end")(lambda: B.Builder("azi").start().abort("operator", [1]))
case("end")(lambda: B.Builder("azi").start().abort("lost"))


@case("end")
def closed_with_service_due():
    b = mus_dealt()
    return b.discard({s: b.hold[s][:1] for s in range(4)}).close()


@case("end")
def closed_with_a_round_half_locked():
    b = mus_dealt()
    return b.discard({1: b.hold[1][:1]}).close()


@case("end")
def closed_with_a_reshuffle_due():
    return short_of_stock(B.Builder("mus", hand=2, first=0).start()).close()


@case("end")
def closed_after_a_pull_of_nothing():
    return B.Builder("kozel").start().add_first("cards.returned").close()


@case("end")
def idle_while_seeds_are_due():
    return short_of_stock(B.Builder("mus", hand=2, first=0).start()).abort("idle", wait=600_000)


# disclosure


@case("disclosure")
def nothing_disclosed_at_the_end():
    b = simple()
    b.disclosed = False
    return b


@case("disclosure")
def one_discard_too_many():
    return file_with(simple(), lambda v: v["disclosed"].update(discards={"0": [[[0, 0]]]}))


@case("disclosure")
def an_empty_list_of_discards():
    return file_with(simple(), lambda v: v["disclosed"].update(discards={"0": []}))


@case("disclosure")
def a_discard_in_descending_order():
    def change(value):
        for listed in value["disclosed"]["discards"].values():
            for one in listed:
                one.reverse()

    return file_with(B.mus(), change)


@case("disclosure")
def openings_although_disclosed():
    b = simple()
    return file_with(b, lambda v: v.update(openings=[b.opening(b.shown[0])]))


@case("disclosure")
def one_opening_too_many():
    b = B.Builder("azi", hand=2, first=0, disclosure="table").start()
    b.disclosed = False
    return b.close().file(lambda v: v["openings"].append(v["openings"][0]))


# log.inclusion, log.signature


@case("log.inclusion")
def the_proof_of_another_event():
    b = simple()
    return file_with(b, lambda v: v.update(proof=b.receipt(b.sealed_head)))


@case("log.inclusion")
def the_last_event_is_not_in_the_log():
    b = simple()
    entries = [one if one != b.raw[-1] else b"another" for one in b.entries()]
    return file_with(
        b, lambda v: v.update(proof=B.receipt(entries, len(b.before) + len(b.raw) - 1))
    )


@case("log.inclusion")
def an_index_beyond_the_tree():
    b = simple()
    return file_with(b, lambda v: v.update(proof=re.sub(r"index \d+", "index 99", v["proof"])))


@case("log.inclusion")
def a_path_too_long():
    b = simple()
    extra = B.b64(bytes(32))
    return file_with(b, lambda v: v.update(proof=v["proof"].replace("\n\n", f"\n{extra}\n\n", 1)))


@case("log.signature")
def signed_with_another_key():
    b = simple()
    return file_with(b, lambda v: v.update(proof=b.receipt(signer="other")))


@case("log.signature")
def signed_under_another_origin():
    b = simple()
    return file_with(b, lambda v: v.update(proof=b.receipt(name="other.example/log")))


@case("log.signature")
def a_bit_of_the_signature():
    def change(value):
        head, _, line = value["proof"].rpartition(" ")
        data = bytearray(B.base64.b64decode(line))
        data[-20] ^= 1
        value["proof"] = f"{head} {B.b64(data)}\n"

    return file_with(simple(), change)


case("log.signature", key=B.vkey("other"))(simple)
case("log.signature", key=B.vkey("log", "other.example/log"))(simple)
case("log.signature", key=None)(signed_with_another_key)


# receipt, seat.signature.N, mine: more of them in test_evidence.py

case("receipt", receipts=[b"not a receipt"])(simple)
case("mine", mine={0: "00" * 32})(simple)


@case("seat.signature.1")
def a_seat_that_did_not_sign():
    return simple(keys=(0, 1), forge=on("seeds.sealed", lambda b: b["sigs"].pop("1")))


# More of one kind: bounds of the games.


def recount(count):
    def change(body):
        body["discards"][min(body["discards"])]["count"] = count

    return on("cards.discarded", change)


@case("discard.1")
def five_cards_thrown_in_kozel():
    b = B.Builder("kozel", hand=2, first=0, forge=recount(5)).start()
    b.discard({0: [(0, 0), (0, 4), (0, 8), (0, 12)]})
    b.discards[0] = [[*b.discards[0][0], (0, 16)]]
    return b.close()


@case("discard.1")
def five_cards_thrown_in_mus():
    b = B.Builder("mus", hand=2, first=0, forge=recount(5)).start()
    b.discard({0: b.hold[0][:4]})
    b.discards[0] = [[*b.discards[0][0], (0, 16)]]
    return b.abort("operator")


@case("draw.6")
def a_draw_from_an_empty_stock():
    b = B.Builder("kozel", hand=2, first=0).start()
    for _ in range(5):
        b.show(*[(s, b.hold[s][0]) for s in range(4)]).draw([0, 1, 2, 3])
    b.show(*[(s, b.hold[s][0]) for s in range(4)])
    b.add("cards.drawn", draws=[[0, 0, 35]])
    return b.close()


def at_the_count() -> B.Builder:
    """A Kozel hand played out; seat 0 has thrown one card face down, all others were shown."""
    b = B.Builder("kozel", hand=2, first=0).start()
    b.discard({0: b.hold[0][:1]})
    b.show(*[(s, b.hold[s][0]) for s in (1, 2, 3)])
    while b.stock:
        b.draw([0, 1, 2, 3])
        b.show(*[(s, b.hold[s][0]) for s in range(4)])
    for _ in range(3):
        b.show(*[(s, b.hold[s][0]) for s in range(4)])
    return b


def test_the_count_itself_is_fine():
    b = at_the_count()
    report = verify(b.show((0, b.discards[0][0][0])).close().file(), key=B.VKEY)
    assert report.exit == 0


@case("show.10")
def a_card_shown_at_the_count_that_was_not_thrown():
    return at_the_count().show((1, (0, 1))).close()


@case("show.11")
def a_card_shown_at_the_count_twice():
    b = at_the_count()
    card = b.discards[0][0][0]
    return b.show((0, card)).show((0, card)).close()


@case("order")
def a_second_deal():
    b = B.Builder("azi", hand=2, first=0).start()
    dealt = {k: v for k, v in b.bodies[-1].items() if k in DEALT}
    b.add("hand.dealt", **dealt)
    return b.close()


DEALT = ("deck_root", "first", "positions", "indicator", "shown", "beacon")


def test_wrong_terms_do_not_hide_the_rest():
    forge = sets("table.opened", origin="other.example/log")
    report = verify(simple(forge=forge).file(), key=B.VKEY)
    assert report.failed == "terms"
    assert report.status("shuffle") == "PASS"
    report = verify(B.kozel(forge=sets("table.opened", seats=5)).file(), key=B.VKEY)
    assert report.status("shuffle") == "SKIP"
    assert report.status("log.inclusion") == "PASS"


def test_after_a_wrong_secret_the_checks_that_need_it_are_not_made():
    report = verify(another_server_seed(), key=B.VKEY)
    for check_id in ("shuffle", "deck.root", "pick.first"):
        assert report.status(check_id) == "SKIP"
    data = B.mus().file(lambda v: v["disclosed"].update(server_seed="00" * 32))
    report = verify(data, key=B.VKEY)
    for check_id in ("shuffle", "discard.1", "reshuffle.1"):
        assert report.status(check_id) == "SKIP"


def test_a_pool_that_is_not_known_says_nothing_about_the_shuffle():
    b = B.mus()
    data = b.file(lambda v: v["disclosed"]["discards"]["1"][0].pop())
    report = verify(data, key=B.VKEY)
    assert report.failed.startswith("discard.")
    for check_id in ("shuffle", "reshuffle.1"):
        assert report.status(check_id) == "SKIP"
    # A card of the first deck that is not where it is said to be is found all the same.
    place = next(p for s in range(4) for p in b.hold[s] if p[0] == 0)

    def forge(body):
        for one in body.get("shown", []):
            if (one["epoch"], one["position"]) == place:
                one["card"] = "1o" if one["card"] != "1o" else "2o"

    b = B.mus(forge=forge)
    data = b.file(lambda v: v["disclosed"]["discards"]["1"][0].pop())
    assert verify(data, key=B.VKEY).failed == "shuffle"


def test_disclosed_before_the_end_is_no_pass():
    b = B.Builder("azi").start()
    report = verify(b.file(), key=B.VKEY)
    assert report.exit == 3
    assert report.status("disclosure") == "SKIP"
