"""No card reaches anybody before the rules give it: every byte of every answer is looked at.

What a caller may know is worked out here from the logged events alone; what the service holds is
looked for in whatever it answers. Beside it stand services that leak, and are caught.

Spec: HAND-7, AZI-3, AZI-5, AZI-15, KOZ-15, KOZ-17, MUS-21, PLAY-7.
"""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from fairdeal.cards import CARDS, Card, french_deck
from fairdeal.codecs import Place
from fairdeal_api import board, lookup, play, views
from fairdeal_api.players import action_of, greedy, random_player
from fairdeal_api.routes import hands as hand_routes
from fairdeal_api.routes import seats as seat_routes
from tests.api.play import bearer, event_types, expect, idempotency
from tests.api.refereed import Refereed

NAME = re.compile(r'"((?:[0-9]{1,2}|[JQKA])[CDHSoceb])\\?"')
PUBLIC, OPERATOR = "public", "operator"


class LeakError(AssertionError):
    """Something left the service that the caller may not know yet."""


class Known:
    """What everybody may know of one hand, from its events so far."""

    def __init__(self, terms, events):
        self.seats = terms["seats"]
        self.given = {seat: set() for seat in range(self.seats)}
        self.public = set()
        self.turned = set()
        self.open_seed = False
        pile = []
        blind = terms["ruleset"].get("blind")
        looked = set()
        players = None
        for event in events:
            kind = event["type"]
            if kind == "hand.opened":
                players = event["match"].get("players", range(self.seats))
            elif kind == "hand.dealt":
                for seat, positions in event["positions"].items():
                    self.given[int(seat)] |= {Place(0, p) for p in positions}
                self.turned = {event["indicator"]} - {None}
                self.public |= {Place(s["epoch"], s["position"]) for s in event["shown"]}
                # A turned ace makes its six the highest card, wherever that is (AZI-4).
                self.turned |= {"6" + s["card"][-1] for s in event["shown"] if s["card"][0] == "A"}
            elif kind == "cards.drawn":
                for seat, epoch, position in event["draws"]:
                    self.given[seat].add(Place(epoch, position))
            elif kind in ("cards.shown", "cards.given"):
                found = event["shown" if kind == "cards.shown" else "given"]
                places = [Place(s["epoch"], s["position"]) for s in found]
                self.public |= set(places)
                pile += places
            elif kind == "cards.looked":
                looked.add(event["seat"])
            elif kind == "hand.disclosed":
                self.open_seed = True
        for seat in range(self.seats):
            if (blind and seat not in looked) or seat not in players:
                self.given[seat] = set()

    def by(self, caller):
        """The places whose cards a caller may know."""
        return self.public | (self.given[caller] if isinstance(caller, int) else set())


class Watched:
    """The test's client: after every answer it compares what was said with what may be known."""

    def __init__(self, site):
        self.site, self.client = site, site.client
        self.callers = {}
        self.table = None
        self.secrets = {}
        self.answers = 0
        self.kinds = set()

    def post(self, url, *, json, headers):
        return self.seen(self.client.post(url, json=json, headers=headers), headers)

    def put(self, url, *, json, headers):
        return self.seen(self.client.put(url, json=json, headers=headers), headers)

    def get(self, url, *, headers=None):
        return self.seen(self.client.get(url, headers=headers or {}), headers or {})

    def seen(self, response, headers):
        if self.table is not None:
            secret = headers.get("Authorization", "").removeprefix("Bearer ")
            self.check(response.text, self.callers.get(secret, PUBLIC))
        return response

    def check(self, text, caller):
        slot = self.site.service.dealer.slots.get(self.table)
        if slot.dealing is not None and slot.dealing.decks:
            self.secrets[slot.dealing.hand.number] = slot.dealing
        rows = self.site.service.reader.events(self.table, -1, 100_000)
        events = [json.loads(row.body) for row in rows]
        terms = events[0]
        self.answers += 1
        names = set()
        for number, dealing in self.secrets.items():
            known = Known(terms, [e for e in events if e.get("hand") == number])
            if known.open_seed:
                continue
            may = known.by(caller)
            names |= known.turned
            for deck in dealing.decks:
                for position, card in enumerate(deck.order):
                    place = Place(deck.epoch, position)
                    if place in may:
                        names.add(card)
                    elif deck.salt(position).hex() in text:
                        raise LeakError(f"{caller} gets the salt of {place}")
            if dealing.server_seed.hex() in text:
                raise LeakError(f"{caller} gets the server seed")
            for seat in range(terms["seats"]):
                k = len(dealing.thrown.get(seat, ()))
                for number_of in range(k + 1):
                    if seat != caller and dealing.discard_salt(seat, number_of).hex() in text:
                        raise LeakError(f"{caller} gets a salt of seat {seat}'s discards")
        if slot.next_seed is not None and slot.next_seed.hex() in text:
            raise LeakError(f"{caller} gets the next server seed")
        said = {name for name in NAME.findall(text) if name in CARDS}
        if not said <= names:
            raise LeakError(f"{caller} is told {sorted(said - names)}")


def ask_everything(table):
    """Everybody reads what there is to read, and tries what is not allowed."""
    client, operator = table.client, table.operator
    tokens = [None, table.key, *table.devices.tokens]
    for token in tokens:
        headers = bearer(token) if token else {}
        for url in (
            operator.url(),
            operator.url("/events"),
            f"/v1/tables/{operator.table}/events",
            operator.url("/transcript"),
            f"/v1/tables/{operator.table}",
        ):
            client.get(url, headers=headers)
        for seat in range(table.seats):
            client.get(operator.url(f"/seats/{seat}/cards"), headers=headers)
    for seat in range(table.seats):
        positions = table.answer.get("positions") or operator.state()["positions"]
        mine = [[0, position] for position in (positions or {}).get(str(seat), [0])]
        for action in (
            {"type": "call", "seat": seat, "call": "nonsense"},
            {"type": "show", "seat": seat, "cards": mine},
            {"type": "show", "seat": seat, "cards": [[0, 30]]},
            {"type": "pull", "seat": seat, "cards": mine},
            {"type": "discard", "seat": seat, "cards": [*mine, *mine]},
            {"type": "return"},
            {"type": "draw", "first": seat},
        ):
            for secret in (table.devices.tokens[seat], table.key, table.devices.tokens[0]):
                client.post(
                    operator.url("/actions"),
                    json={"actions": [action]},
                    headers={**bearer(secret), **idempotency()},
                )
    for rest in ("/close", "/deal"):
        operator.post(operator.url(rest), {})
    # A try may have been a legal move.
    table.answer = {**table.answer, **operator.state()}


def watch(site, key, game, *, hands, often=1, players=None, seed=1, **terms):
    """Whole hands, every answer looked at; gives the client and the table."""
    client = Watched(site)
    rng = Random(seed)
    table = Refereed(client, key, game, custody="seats", rng=rng, disclosure="table", **terms)
    table.players = players or [greedy, random_player(rng)] * 3
    client.callers = {token: seat for seat, token in enumerate(table.devices.tokens)}
    client.callers[key] = OPERATOR
    client.table = table.operator.table
    count = 0

    def each(table):
        nonlocal count
        client.kinds |= set(event_types(table.answer))
        count += 1
        if count % often == 0:
            ask_everything(table)

    for _ in range(hands):
        table.play_hand(each)
        ask_everything(table)
    return client, table


GAMES = {
    "kozel": ({}, {"cards.discarded", "cards.drawn", "cards.shown", "hand.closed"}),
    "mus": ({}, {"cards.discarded", "cards.drawn", "play.declared", "cards.shown"}),
    "azi": ({"blind": True, "cards": 4}, {"cards.discarded", "cards.looked", "cards.shown"}),
    "svoi": ({"sixes": "exchange"}, {"cards.given", "cards.shown", "play.called"}),
}


@pytest.fixture(scope="module")
def key(shared):
    return shared.key()


def wants_mus(rng):
    """Talks on most of the time, so that cards are thrown and served."""

    def choose(view):
        calls = {move["call"]: move for move in view.moves if move["type"] == "call"}
        return action_of(calls["mus"]) if "mus" in calls and rng.random() < 0.9 else greedy(view)

    return choose


@pytest.mark.parametrize("game", list(GAMES))
def test_no_answer_tells_a_card_too_early(shared, key, game):
    ruleset, kinds = GAMES[game]
    often = 20 if game == "svoi" else 4
    seen = set()
    for seed in range(8):
        players = [wants_mus(Random(seed))] * 4 if game == "mus" else None
        client, _ = watch(
            shared, key, game, hands=1, often=often, seed=seed, ruleset=ruleset, players=players
        )  # fmt: skip
        assert client.answers > 100
        seen |= client.kinds
        if kinds <= seen:
            return
    raise AssertionError(f"not seen: {kinds - seen}")


def never_folds(view):
    """Calls, checks and bets, so that azi comes about."""
    calls = {move["call"]: move for move in view.moves if move["type"] == "call"}
    for wish in ("check", "bet", "call", "all_in"):
        if wish in calls:
            return action_of(calls[wish])
    return greedy(view)


@pytest.fixture
def nobody_wins(monkeypatch):
    """Decks that give the first three seats one trick each."""
    hands = ("AD 7H 6H", "6D AH 7D", "8D 8H AS", "9D 9H 10D")
    deck = french_deck("DHS")
    dealt = [Card(hands[i].split()[j]) for j in range(3) for i in range(4)] + [Card("6S")]
    rest = [card for card in deck if card not in dealt]
    monkeypatch.setattr("fairdeal.sealed_deck.shuffle", lambda _deck, _key: (*dealt, *rest))


def test_who_sits_out_gets_no_cards(shared, key, nobody_wins):
    """AZI-5, AZI-17: dealt cards that nobody sees, in answers of all kinds."""
    client, table = watch(
        shared,
        key,
        "azi",
        hands=1,
        often=9,
        ruleset={"azi": "three_only"},
        players=[never_folds] * 4,
    )
    assert table.answer["result"]["score"]["azi"]
    players = table.answer["result"]["match"]["players"]
    (out,) = {0, 1, 2, 3} - set(players)
    assert len(players) == 3
    table.deal()
    while table.answer["state"] != "closed":
        own = table.own(out)
        assert (own["cards"], own["moves"]) == ([], [])
        assert len(table.own(players[0])["cards"]) == 3
        ask_everything(table)
        table.step()
    ask_everything(table)
    assert table.own(out)["cards"] == []
    assert client.answers > 100


def test_an_operator_that_holds_the_seats_sees_no_cards_of_who_has_not_looked(shared, key):
    """AZI-3: places only, in deals, moves and refusals."""
    table = Refereed(shared.client, key, "azi", ruleset={"blind": True, "cards": 4}, rng=Random(3))
    table.deal()
    assert table.answer["cards"] == {}
    for seat in range(4):
        own = table.own(seat)
        assert own["cards"] == []
        assert [move["type"] for move in own["moves"]] == ["discard"] * 4 + ["look"]
        assert not any("names" in move for move in own["moves"])
        refused = table.act({"type": "call", "seat": seat, "call": "fold"})
        assert expect(refused, 409, "illegal_move")["legal"] == own["moves"]
    looked = expect(table.act({"type": "look", "seat": 2}))
    assert {seat: len(cards) for seat, cards in looked["cards"].items()} == {"2": 4}
    own = table.own(2)
    assert [move["names"] for move in own["moves"]] == [[c["card"]] for c in own["cards"]]
    # Looking and throwing in one request would try a throw with a look that can be taken back.
    seat = 0
    thrown = table.own(seat)["moves"][0]
    both = [{"type": "look", "seat": seat}, {key: thrown[key] for key in ("type", "seat", "cards")}]
    expect(table.act(*both), 409, "wrong_phase")
    assert table.own(seat)["cards"] == []


# --- services that leak -------------------------------------------------------------------------


def leaky(site, key, game, **more):
    """The same watch, which must end in a leak."""
    ruleset, _ = GAMES[game]
    for seed in range(6):
        try:
            watch(site, key, game, hands=2, seed=seed, ruleset=ruleset, **more)
        except LeakError as leak:
            return str(leak)
    raise AssertionError("the leak was not seen")


def test_control_a_table_that_shows_face_down_cards(shared, key, monkeypatch):
    real = board.of

    def leaking(state):
        value = real(state)
        thrown = {seat: list(cards) for seat, cards in state.trick.thrown}
        for laid in value["table"]:
            laid["cards"] = laid["cards"] or thrown[laid["seat"]]
        return value

    monkeypatch.setattr(board, "of", leaking)
    assert "is told" in leaky(shared, key, "kozel")


def test_control_a_hand_that_shows_what_the_seats_hold(shared, key, monkeypatch):
    real = play.shown_hand

    def leaking(hand, dealing):
        value = real(hand, dealing)
        if dealing is not None and hand.layout is not None:
            value["held"] = [dealing.opening(p).to_dict() for p in dealing.holding(1)]
        return value

    monkeypatch.setattr(play, "shown_hand", leaking)
    for game in ("mus", "azi"):
        assert "salt of" in leaky(shared, key, game)


def test_control_a_page_of_events_that_shows_what_the_seats_hold(shared, key, monkeypatch):
    real = lookup.events

    def leaking(service, table, *page):
        value = real(service, table, *page)
        dealing = service.dealer.slots.get(table).dealing
        if "turn" in value and dealing is not None and dealing.hand.layout is not None:
            value["held"] = [dealing.opening(p).to_dict() for p in dealing.holding(1)]
        return value

    monkeypatch.setattr(lookup, "events", leaking)
    assert "salt of" in leaky(shared, key, "kozel")


def test_control_cards_of_a_seat_that_has_not_looked(shared, key, monkeypatch):
    monkeypatch.setattr(views, "may_see", lambda _hand, _seat: True)
    assert "salt of" in leaky(shared, key, "azi")


def test_control_moves_that_name_cards_of_a_seat_that_has_not_looked(shared, key, monkeypatch):
    real = play._move
    monkeypatch.setattr(
        play, "_move", lambda seat, choice, held, named: real(seat, choice, held, named=True)
    )
    assert "is told" in leaky(shared, key, "azi")


def test_control_cards_and_refusals_for_any_seat(shared, key, monkeypatch):
    for routes in (seat_routes, hand_routes):
        with monkeypatch.context() as patch:
            patch.setattr(routes, "check_seat", lambda _slot, _caller, _seat: None)
            assert leaky(shared, key, "kozel")
