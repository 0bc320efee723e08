"""Hands as an honest service deals them: what each must give."""

import itertools

import pytest

from fairdeal_verifier.verify import verify
from tests.verifier import builder as B  # noqa: N812


def found(report, *statuses):
    return {c.id: str(c.note) for c in report if c.status in statuses}


def assert_verified(b: B.Builder, **options):
    report = verify(b.file(), key=B.VKEY, **options)
    assert found(report, "FAIL", "SKIP") == {}
    assert report.verdict.startswith("VERIFIED")
    assert report.exit == 0
    return report


@pytest.mark.parametrize("reshuffle", ["all", "previous", "all_but_own_last"])
@pytest.mark.parametrize("service", ["block", "one_by_one_if_all_four"])
@pytest.mark.parametrize("corrido", [False, True])
@pytest.mark.parametrize(
    "throws",
    [
        ((4, 4, 4, 4), (3, 3, 3, 3)),
        ((4, 4, 4, 4), (3, 3, 2, 4)),
        ((4, 4, 4, 4), (2, 2, 2, 2), (1, 4, 1, 1), (4, 4, 4, 4)),
        ((1, 2, 3, 4),),
        (),
    ],
)
def test_mus(reshuffle, service, corrido, throws):
    rules = {"reshuffle": reshuffle, "service": service, "mus_corrido": corrido}
    report = assert_verified(B.mus(throws, rules=rules))
    ids = [c.id for c in report]
    rounds = len(throws)
    assert sum(one.startswith("discard.") for one in ids) == 4 * rounds


def test_mus_with_the_locks_of_a_round_in_one_event():
    b = B.Builder("mus", hand=2, first=3).start()
    b.discard({s: b.hold[s][:4] for s in (3, 0, 1)}).discard({2: b.hold[2][:2]})
    b.draw([3] * 4 + [0] * 4 + [1] * 4 + [2] * 2)
    assert_verified(b.close())


def test_mus_reshuffles_again_and_again():
    report = assert_verified(B.mus(((4, 4, 4, 4),) * 9))
    assert max(int(c.id.split(".")[1]) for c in report if c.id.startswith("reshuffle")) >= 4


def test_mus_ends_when_a_33rd_reshuffle_would_be_due():
    b = B.Builder("mus", hand=2, first=0).start()
    heap = []
    while True:
        this_round = {s: b.hold[s][:4] for s in range(4)}
        b.discard(this_round)
        owed = [s for s in range(4) for _ in range(4)]
        now, owed = owed[: len(b.stock)], owed[len(b.stock) :]
        if now:
            b.draw(now)
        if owed:
            if b.epoch == 32:
                break
            pool = heap + [p for places in this_round.values() for p in places]
            heap, this_round = [], {}
            b.open_seeds(epoch=b.epoch + 1).reshuffle(pool)
            b.draw(owed)
        heap += [p for places in this_round.values() for p in places]
    report = assert_verified(b.abort("epochs"))
    assert report.verdict == "VERIFIED (aborted: epochs, no seat)"


@pytest.mark.parametrize("indicator", ["interior", "all", "index10"])
@pytest.mark.parametrize("place", ["stays", "bottom"])
@pytest.mark.parametrize("discards", ["hidden", "open"])
def test_kozel(indicator, place, discards):
    rules = {"indicator": indicator, "indicator_place": place, "discards": discards}
    for first in (None, 2):
        report = assert_verified(B.kozel(rules=rules, hand=1 if first is None else 7, first=first))
        assert report.status("pick.indicator") == "PASS"
        assert report.status("first") == ("PASS" if first is None else "N/A")
        assert report.status("pick.first") == ("PASS" if first is None else "N/A")


def test_kozel_thrown_cards_may_be_thrown_again_after_a_pull():
    b = B.Builder("kozel", hand=2, first=0).start()
    for _ in range(3):
        card = b.hold[1][0]
        b.discard({1: [card]})
        b.hold[1].append(card)
        b.add("cards.returned")
    b.discard({1: b.hold[1][:3]})
    assert_verified(b.close())


@pytest.mark.parametrize(
    ("seats", "cards", "trump", "blind", "suits"),
    [
        *[(n, 3, "next_card", False, "DHS") for n in range(2, 7)],
        *[(n, 4, "dealer_last", True, "CHS") for n in range(2, 7)],
        (4, 4, "next_card", False, "CDH"),
        (3, 3, "dealer_last", False, "CDS"),
    ],
)
def test_azi(seats, cards, trump, blind, suits):
    rules = {"cards": cards, "trump": trump, "blind": blind, "suits": suits}
    assert_verified(B.azi(seats=seats, rules=rules))


def svoi_salt(wanted: int, sixes: str = "exchange", **options) -> str:
    """Finds a deal in which so many sixes lie with the wrong seat."""
    for i in itertools.count():
        b = B.Builder("svoi", salt=str(i), rules={"sixes": sixes}, **options).open()
        b.declare({0: "H"}).declare({1: "S"}).seal().open_seeds().deal()
        if len(B.sixes(b)) == wanted:
            return str(i)
    raise AssertionError


@pytest.mark.parametrize("count", [0, 1, 2])
def test_svoi_exchanges_sixes(count):
    b = B.svoi(rules={"sixes": "exchange"}, salt=svoi_salt(count))
    report = assert_verified(b)
    assert sum(body["type"] == "cards.given" for body in b.bodies) == (count > 0)
    assert report.hand.trumps == {0: "H", 1: "S"}


def test_svoi_keeps_sixes():
    assert_verified(B.svoi(salt=svoi_salt(2, "keep")))


def test_svoi_with_one_trump_for_both():
    assert_verified(B.svoi(("H", "H"), rules={"distinct_trumps": False, "sixes": "exchange"}))


def test_svoi_declares_in_one_event():
    b = (
        B.Builder("svoi", hand=4, first=1)
        .open()
        .declare({0: "C", 1: "D"})
        .seal()
        .open_seeds()
        .deal()
    )
    assert_verified(b.close())


@pytest.mark.parametrize("play", [B.mus, B.kozel, B.azi, B.svoi])
def test_every_seat_has_a_key(play):
    seats = {B.mus: 4, B.kozel: 4, B.azi: 3, B.svoi: 2}[play]
    b = play(keys=tuple(range(seats)))
    report = assert_verified(b)
    assert all(report.status(f"seat.signature.{s}") == "PASS" for s in range(seats))


def test_some_seats_contribute_and_speak_one_by_one():
    b = B.Builder("kozel", contribute=[1, 3], keys=(3,)).open()
    b.seal([3]).seal([1]).open_seeds([1]).open_seeds([3]).deal()
    report = assert_verified(b.close())
    assert [c.id for c in report if c.id.startswith("seal.")] == ["seal.1", "seal.3"]


def test_one_operator_for_all_seats_is_said():
    report = assert_verified(B.kozel(custody="operator"))
    note = next(str(c.note) for c in report if c.id == "seats")
    assert "one party may have held all seats" in note


# Hands that end early.


def test_sealing_too_late():
    b = B.Builder("kozel").open().seal([0, 2])
    report = assert_verified(b.abort("seal_timeout", [1, 3], wait=59_000))
    assert report.verdict == "VERIFIED (aborted: seal_timeout, seats 1, 3)"
    for check_id in (
        "shuffle",
        "deck.root",
        "first",
        "deal",
        "pick.first",
        "pick.indicator",
        "seal.0",
    ):
        assert report.status(check_id) == "N/A"


def test_declaring_too_late():
    b = B.Builder("svoi").open().declare({0: "H"})
    assert_verified(b.abort("seal_timeout", [0, 1], wait=60_000))


def test_opening_too_late():
    b = B.Builder("kozel").open().seal().open_seeds([0, 1])
    report = assert_verified(b.abort("open_timeout", [2, 3], wait=60_000))
    assert report.status("seal.0") == "PASS"
    assert report.status("seal.2") == "N/A"


def test_opening_too_late_for_a_reshuffle():
    b = B.Builder("mus", hand=2, first=0).start()
    b.discard({s: b.hold[s][:4] for s in range(4)}).draw([s for s in range(4) for _ in range(4)])
    b.discard({s: b.hold[s][:3] for s in range(4)}).draw([0, 0, 0, 1, 1, 1, 2, 2])
    b.open_seeds([0, 1, 3], epoch=1)
    report = assert_verified(b.abort("open_timeout", [2], wait=60_000))
    assert report.status("chain.1.3") == "PASS"


def test_idle():
    b = B.kozel()
    b.raw.pop(), b.bodies.pop()
    assert_verified(b.abort("idle", wait=600_000))


@pytest.mark.parametrize("missing", [[], [1], [0, 1, 2, 3]])
def test_the_operator_may_abort_at_any_time(missing):
    b = B.Builder("kozel").open()
    report = assert_verified(b.abort("operator", missing))
    named = f"seats {', '.join(map(str, missing))}" if missing else "no seat"
    assert report.verdict == f"VERIFIED (aborted: operator, {named})"


def test_a_lost_hand_fails():
    b = B.Builder("kozel").start().abort("lost")
    b.disclosed = False
    report = verify(b.file(), key=B.VKEY)
    assert report.failed == "end"
    assert report.status("server.commitment") == "N/A"


@pytest.mark.parametrize("disclosure", ["hand", "table"])
def test_of_a_lost_hand_no_card_can_be_proved(disclosure):
    b = B.Builder("azi", disclosure=disclosure).start()
    b.show((0, b.hold[0][0])).abort("lost")
    b.disclosed = False
    untold = {"deal": "SKIP", "show.1": "SKIP"}
    for openings, status in (([], "SKIP"), (b.value()["openings"], "FAIL")):
        report = verify(b.file(lambda v, o=openings: v.update(openings=o)), key=B.VKEY)
        assert report.failed == "end"
        assert {check: report.status(check) for check in untold} == untold
        # Policy `hand` asks for the secret, whatever has become of it.
        assert report.status("disclosure") == ("FAIL" if disclosure == "hand" else status)
    # The control: of a hand that was not lost, the openings are asked for.
    b = B.Builder("azi", disclosure="table").start().abort("operator")
    b.disclosed = False
    assert verify(b.file(), key=B.VKEY).exit == 3
    assert verify(b.file(lambda v: v.update(openings=[])), key=B.VKEY).failed == "deal"


# Hands that are not disclosed, or not over.


@pytest.mark.parametrize("play", [B.mus, B.kozel, B.azi, B.svoi])
def test_disclosure_at_the_end_of_the_table(play):
    b = play(disclosure="table")
    b.disclosed = False
    if play is B.kozel:
        b = B.kozel(disclosure="table", rules={"indicator_place": "bottom"})
        b.disclosed = False
    report = verify(b.file(), key=B.VKEY)
    assert found(report, "FAIL") == {}
    assert report.verdict == "INCOMPLETE"
    assert report.exit == 3
    assert report.status("server.commitment") == "SKIP"
    assert report.status("disclosure") == "SKIP"
    shows = [c for c in report if c.id.startswith("show.")]
    assert shows
    assert all(c.status == "PASS" for c in shows)
    b.disclosed = True
    assert_verified(b)


def test_the_exchange_of_sixes_before_disclosure():
    b = B.svoi(
        rules={"sixes": "exchange"}, salt=svoi_salt(1, disclosure="table"), disclosure="table"
    )
    b.disclosed = False
    report = verify(b.file(), key=B.VKEY)
    assert found(report, "FAIL") == {}
    assert report.status("deal") == "SKIP"


@pytest.mark.parametrize("play", [B.mus, B.kozel, B.azi, B.svoi])
def test_a_hand_that_is_not_over(play):
    whole = play()
    for length in range(2, len(whole.raw)):
        b = play()
        del b.raw[length:], b.bodies[length:]
        b.disclosed = False
        shown = [x for body in b.bodies for x in body.get("shown", body.get("given", []))]
        b.shown = shown
        report = verify(b.file(), key=B.VKEY)
        assert found(report, "FAIL") == {}, length
        assert report.exit == 3
        assert report.status("end") == "SKIP"


def test_without_a_key_nothing_is_proved():
    report = verify(B.azi().file())
    assert report.verdict == "CONSISTENT, log key unknown: this proves nothing about the service"
    assert report.exit == 3
    assert found(report, "SKIP", "FAIL").keys() == {"log.signature"}


def test_the_checks_stand_in_the_order_of_the_table():
    report = assert_verified(B.mus(keys=(0,)))
    ids = [c.id for c in report]
    families = [
        "format", "chain", "terms", "server.commitment", "seal.0", "chain.1.0", "order", "beacon",
        "shuffle", "deck.cards", "deck.root", "first", "deal", "pick.first", "discard.1", "seats",
        "play", "end", "disclosure", "log.inclusion", "log.signature", "log.witness", "receipt",
        "seat.signature.0", "mine",
    ]  # fmt: skip
    assert [one for one in ids if one in families] == families
    assert len(ids) == len(set(ids))
