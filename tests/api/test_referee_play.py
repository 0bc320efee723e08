"""Tables with a referee over REST: whole hands and matches, refusals, restarts.

Spec: PLAY-1..7.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from fairdeal.games import GAMES, rules_of
from fairdeal_api.client import Api, CheckError, SeatClient
from fairdeal_api.fsck import check
from fairdeal_api.players import action_of, greedy, view_of
from fairdeal_api.service import initialise
from fairdeal_verifier.verify import verify
from tests.api.conftest import Site
from tests.api.play import Operator, bearer, event_types, expect, idempotency
from tests.api.refereed import Refereed, follow_each_other, judge, mixed, one, play_match

RULESETS = {
    "kozel": ({}, {"discards": "open", "must_beat": True, "indicator_place": "bottom"}),
    "mus": ({}, {"mus_corrido": True, "reshuffle": "previous", "raises": "fixed2"}),
    "azi": ({}, {"cards": 4, "blind": True, "azi": "half_bank", "stack": 100}),
    "svoi": ({}, {"sixes": "exchange", "pick_up": "strict", "repetition": 3}),
}
CUSTODIES = ("operator", "seats")
CASES = [(g, c, n) for g in RULESETS for c in CUSTODIES for n in range(2)]


@pytest.fixture(scope="module")
def key(shared):
    return shared.key()


@pytest.fixture(scope="module")
def vkey(shared):
    return str(shared.service.verifier_key)


def refereed(site, key, game, **terms):
    rng = Random(f"{game} {terms.get('ruleset')}")
    seats = 4 if game == "azi" else GAMES[game].seats[0]
    return Refereed(site.client, key, game, rng=rng, players=mixed(seats, rng), **terms)


def check_file(content, vkey):
    report = verify(content, key=vkey)
    assert report.exit == 0, [c for c in report.checks if c.status not in ("PASS", "N/A")]
    assert {check.id: check.status for check in report.checks}["play"] == "PASS"


# --- whole hands --------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "custody", "case"), CASES)
def test_hands_of_each_game(shared, key, vkey, game, custody, case):
    """PLAY-2..5: bots play three hands; what is in the files follows from the rules."""
    table = refereed(shared, key, game, custody=custody, ruleset=RULESETS[game][case])
    for _ in range(3):
        result = table.play_hand()
        assert result.keys() == {"first", "match", "score", "winner"}
        assert table.answer["transcript"] == table.operator.url("/transcript")
        assert table.answer["turn"] == []
        assert table.answer["play"] is None
        assert table.answer["deadline"] is None
        assert event_types(table.answer)[-2:] == ["hand.closed", "hand.disclosed"]
        state = table.operator.state()
        assert (state["result"], state["turn"], state["play"]) == (result, [], None)
        assert judge(table.files[-1]).result == result
        check_file(table.files[-1], vkey)
    follow_each_other(table.files)


@pytest.mark.parametrize("custody", CUSTODIES)
@pytest.mark.parametrize("game", ["kozel", "mus"])
def test_a_match_to_its_end(shared, key, vkey, game, custody):
    """PLAY-2, PLAY-5: each hand is a file; the hand after the last one begins a fresh match."""
    table = refereed(shared, key, game, custody=custody)
    files = play_match(table)
    follow_each_other(files)
    for content in files:
        check_file(content, vkey)
    dealt = table.deal()
    match = expect(shared.client.get(table.operator.url()))["match"]
    terms = expect(shared.client.get(f"/v1/tables/{table.operator.table}"))
    assert match == rules_of(GAMES[game]).fresh(terms["ruleset"], 4)
    assert terms["referee"] is True
    assert dealt["turn"]


def test_a_match_of_azi_is_won_by_who_has_all_chips(shared, key):
    table = refereed(shared, key, "azi", seats=2, ruleset={"stack": 40})
    table.players = mixed(2, table.rng)
    follow_each_other(play_match(table))


def test_the_stock_runs_out_in_mus(shared, key, vkey):
    """HAND-12, PLAY-4: seeds are due in the middle of a service, and it goes on by itself."""

    def changes(view):
        calls = {move.get("call"): move for move in view.moves}
        return action_of(calls["mus"] if "mus" in calls else view.moves[-1])

    for custody in CUSTODIES:
        table = Refereed(shared.client, key, "mus", custody=custody, players=[changes] * 4)
        table.deal()
        heads = 0
        for _ in range(60):
            if table.answer["state"] == "reopening":
                heads += 1
                assert table.answer["due_head"] == table.operator.state()["due_head"]
                assert (table.answer["turn"], table.answer["play"]) == ([], None)
                refused = table.act({"type": "call", "seat": 0, "call": "mus"})
                expect(refused, 409, "wrong_phase")
            table.step()
        assert heads >= 2
        table.players = [greedy] * 4
        while table.answer["state"] not in ("closed", "aborted"):
            table.step()
        content = shared.client.get(table.operator.url("/transcript")).content
        judge(content)
        check_file(content, vkey)


class Noted:
    """The test's client; it remembers each POST that was done, and its answer."""

    def __init__(self, client):
        self.get, self.put, self._post = client.get, client.put, client.post
        self.done = []

    def post(self, url, *, json, headers):
        answer = self._post(url, json=json, headers=headers)
        if answer.is_success:
            self.done.append((url, json, headers, answer.content))
        return answer

    def repeat(self):
        for url, body, headers, content in self.done:
            again = self._post(url, json=body, headers=headers)
            assert again.headers["idempotent-replayed"] == "true"
            assert again.content == content


@pytest.mark.parametrize("custody", CUSTODIES)
@pytest.mark.parametrize("game", list(RULESETS))
def test_every_post_gives_its_bytes_again(shared, key, game, custody):
    """Deals, moves, refusals in between: from the table in memory and from the database alone."""
    client = Noted(shared.client)
    rng = Random(game)
    ruleset = RULESETS[game][1] if game == "azi" else {}
    table = Refereed(client, key, game, custody=custody, rng=rng, ruleset=ruleset)
    table.play_hand()
    table.deal()
    table.step()
    assert len(client.done) > 8
    for forgotten in (False, True):
        if forgotten:
            shared.service.dealer.slots._slots.clear()
        client.repeat()
    while table.answer["state"] != "closed":
        table.step()


# --- by itself ----------------------------------------------------------------------------------


def test_first_and_match_follow(shared, key):
    """PLAY-2: `first` may be left out, in each game; another one is refused."""
    for game in GAMES:
        table = refereed(shared, key, game)
        result = table.play_hand()
        body = table.operator.hand_body()
        url = f"/v1/tables/{table.operator.table}/hands"
        seats = set(range(table.seats)) - {result["first"]}
        wrong = {**body, "first": seats.pop()}
        expect(table.operator.post(url, wrong), 422, "first_not_allowed")
        body.pop("first", None)
        opened = expect(table.operator.post(url, body), 201)
        event = json.loads(opened["events"][0]["event"])
        assert event["first"] == result["first"]
        assert event["match"] == opened["match"]
        if result["winner"] is None:
            assert event["match"] == result["match"]


def test_an_aborted_hand_counts_for_nothing(shared, key):
    table = refereed(shared, key, "kozel")
    result = table.play_hand()
    table.deal()
    table.step()
    aborted = expect(table.operator.post(table.operator.url("/abort"), {}))
    assert aborted["state"] == "aborted"
    state = table.operator.state()
    assert (state["match"], state["result"], state["turn"]) == (result["match"], None, [])
    opened = table.deal()
    event = json.loads(opened["events"][0]["event"])
    assert event["type"] == "seeds.opened"
    state = table.operator.state()
    assert (state["match"], state["first"]) == (result["match"], result["first"])


def test_what_follows_by_itself_is_not_asked_for(shared, key):
    """PLAY-4: draws, returns and the close are the service's."""
    for custody in CUSTODIES:
        table = refereed(shared, key, "kozel", custody=custody)
        table.deal()
        actions = table.operator.url("/actions")
        for action in ({"type": "draw", "first": 0}, {"type": "return"}):
            refused = table.operator.post(actions, one(action))
            expect(refused, 409, "action_not_allowed")
        for body in ({}, {"next": {}}):
            refused = table.operator.post(table.operator.url("/close"), body)
            expect(refused, 409, "wrong_phase")
        before = table.operator.state()["seq"]
        while table.answer["state"] != "closed":
            table.step()
        assert table.operator.state()["seq"] > before
        refused = table.operator.post(table.operator.url("/close"), {})
        expect(refused, 409, "already_final")


def test_a_dealing_only_table_knows_no_moves(shared, key):
    table = Operator(shared.client, key, "mus")
    table.open()
    dealt = table.deal()
    assert "turn" not in dealt
    page = expect(table.client.get(f"/v1/tables/{table.table}/events"))
    assert page.keys() == {"events", "has_more"}
    assert table.state().keys().isdisjoint({"turn", "match", "play", "result"})
    assert "moves" not in table.cards(0)
    place = [[dealt["cards"]["0"][0]["epoch"], dealt["cards"]["0"][0]["position"]]]
    for action in (
        {"type": "call", "seat": 0, "call": "mus"},
        {"type": "pull", "seat": 0, "cards": place},
    ):
        refused = table.post(table.url("/actions"), one(action))
        expect(refused, 409, "action_not_allowed")
    body = {"game": "mus", "custody": "operator", "ruleset": {"target": 30}}
    made = shared.client.post("/v1/tables", json=body, headers={**bearer(key), **idempotency()})
    expect(made, 422, "option_unknown")


@pytest.mark.parametrize("custody", CUSTODIES)
def test_the_last_page_of_events_tells_whose_turn_it_is(shared, key, custody):
    """As the hand itself does at that event. Control: a page that is not the last says nothing."""
    table = refereed(shared, key, "kozel", custody=custody, ruleset={"target": 6})
    url = f"/v1/tables/{table.operator.table}/events"
    assert expect(shared.client.get(url)).keys() == {"events", "has_more"}  # there is no hand yet
    turns = set()

    def compare(table):
        state, seq = table.operator.state(), table.answer["seq"]
        told = {name: state[name] for name in ("turn", "play", "result")}
        of_hand = table.operator.url("/events")
        for page in (f"{url}?after={seq}", f"{url}?after={seq - 1}", of_hand):
            assert expect(shared.client.get(page)).items() >= {"has_more": False, **told}.items()
        for page in (f"{url}?limit={seq}", f"{of_hand}?limit=1"):
            first = expect(shared.client.get(page))
            assert first["has_more"]
            assert first.keys() == {"events", "has_more"}
        turns.add(tuple(told["turn"]))

    for _ in range(2):
        result = table.play_hand(compare)
        page = expect(shared.client.get(url))
        assert (page["turn"], page["play"], page["result"]) == ([], None, result)
    assert turns == {(), (0,), (1,), (2,), (3,)}
    # Of a hand that is over it stands in the hand, and in its last event.
    table.operator.number = 1
    assert expect(shared.client.get(table.operator.url("/events"))).keys() == {"events", "has_more"}


def test_who_waits_for_an_event_is_told_whose_turn_it_is_then(shared, key):
    table = refereed(shared, key, "kozel", custody="seats")
    table.deal()
    before, seq = table.answer["turn"], table.answer["seq"]
    url = f"/v1/tables/{table.operator.table}/events?after={seq}&wait=25"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: expect(shared.client.get(url)))
        table.step()
        page = waiting.result()
    for name in ("events", "turn", "play"):
        assert page[name] == table.answer[name]
    assert page["turn"] != before


def test_the_games_tell_their_play(shared):
    """PLAY-1: options with their values, a fresh match, the calls."""
    for game in expect(shared.client.get("/v1/games"))["games"]:
        rules = rules_of(GAMES[game["game"]])
        assert game["play"]["options"].keys() == rules.options.keys()
        assert game["play"]["rules"]
        assert game["play"]["match"]
        assert game["options"].keys().isdisjoint(game["play"]["options"])
    azi = expect(shared.client.get("/v1/games/azi"))["play"]
    assert azi["options"]["stack"] == {"default": 1000, "low": 1, "high": 1_000_000_000}
    assert azi["options"]["azi"][0] == "all_ante"


# --- refusals -----------------------------------------------------------------------------------


def size_of(site):
    return site.service.ledger.size


@pytest.mark.parametrize("custody", CUSTODIES)
def test_an_illegal_move_is_refused_with_its_rule(shared, key, custody):
    """PLAY-7: nothing is logged; the rule is named; the legal moves are the seat's own."""
    table = refereed(shared, key, "mus", custody=custody)
    turn = table.deal()["turn"]
    (seat,) = turn
    other = (seat + 1) % 4
    card = [[0, table.answer["positions"][str(seat)][0]]]
    others = [[0, table.answer["positions"][str(other)][0]]]
    size = size_of(shared)
    legal = table.own(seat)["moves"]
    assert [move["call"] for move in legal] == ["mus", "no_mus"]
    for action, rule in (
        ({"type": "call", "seat": seat, "call": "envido", "amount": 2}, "MUS-11"),
        ({"type": "call", "seat": seat, "call": "mus", "amount": 2}, "MUS-18"),
        ({"type": "call", "seat": seat, "call": "nonsense"}, "MUS-11"),
        ({"type": "discard", "seat": seat, "cards": card}, "MUS-13"),
        ({"type": "show", "seat": seat, "cards": card}, "MUS-21"),
        ({"type": "pull", "seat": seat, "cards": card}, "PLAY-3"),
        ({"type": "look", "seat": seat}, "PLAY-3"),
        ({"type": "call", "seat": other, "call": "mus"}, "MUS-11"),
        ({"type": "discard", "seat": other, "cards": others}, "MUS-11"),
    ):
        problem = expect(table.act(action), 409, "illegal_move")
        assert problem["rule"] == rule, (action, problem)
        assert problem["legal"] == (legal if action["seat"] == seat else [])
        assert "nonsense" not in json.dumps(problem)
        assert problem["state"] == "playing"
    expect(table.act({"type": "show", "seat": seat, "cards": others}), 409, "not_in_holding")
    assert size_of(shared) == size
    assert table.operator.state()["turn"] == turn


def test_only_the_seat_moves(shared, key):
    table = refereed(shared, key, "mus", custody="seats")
    (seat,) = table.deal()["turn"]
    action = {"type": "call", "seat": seat, "call": "mus"}
    devices = table.devices
    refused = devices.act((seat + 1) % 4, action)
    assert "legal" not in expect(refused, 403, "not_your_seat")
    pull = {"type": "pull", "seat": seat, "cards": [[0, 0]]}
    for wrong in (action, pull):
        refused = table.operator.post(table.operator.url("/actions"), one(wrong))
        expect(refused, 403, "not_your_seat")
    expect(table.act(action))


def test_several_moves_in_one_request(shared, key):
    """All or nothing; and only up to what follows by itself."""
    table = refereed(shared, key, "mus")
    (mano,) = table.deal()["turn"]
    order = [(mano + step) % 4 for step in range(4)]

    def said(call, *seats):
        return [{"type": "call", "seat": seat, "call": call} for seat in seats]

    actions = table.operator.url("/actions")
    size = size_of(shared)
    refused = table.operator.post(actions, {"actions": said("mus", order[0], order[1], order[3])})
    assert expect(refused, 409, "illegal_move")["rule"] == "MUS-11"
    assert size_of(shared) == size
    lances = said("no_mus", mano) + said("paso", *order) + said("paso", *order)
    # After chica it is declared who has pares: what comes after that is another request.
    refused = table.operator.post(actions, {"actions": [*lances, *said("paso", mano)]})
    expect(refused, 409, "wrong_phase")
    assert size_of(shared) == size
    done = expect(table.operator.post(actions, {"actions": lances}))
    assert event_types(done)[:10] == ["play.called"] * 9 + ["play.declared"]
    assert [result["type"] for result in done["results"]] == ["call"] * 9


def test_a_request_does_not_tell_what_comes(shared, key):
    """Cards that a refused request would have drawn are not told by the refusal."""
    table = refereed(shared, key, "kozel", ruleset={"pull": "off"})
    (leader,) = table.deal()["turn"]
    moves = []
    for step in range(4):
        seat = (leader + step) % 4
        held = [c for c in table.own(seat)["cards"] if c["state"] == "held"]
        place = [held[0]["epoch"], held[0]["position"]]
        kind = "discard" if step else "show"
        moves.append({"type": kind, "seat": seat, "cards": [place]})
    new = [[0, 16], [0, 17], [0, 18], [0, 19]]
    size = size_of(shared)
    answers = [
        table.operator.post(
            table.operator.url("/actions"),
            {"actions": [*moves, {"type": "show", "seat": leader, "cards": [place]}]},
        )
        for place in new
    ]
    for answer in answers:
        assert "legal" not in expect(answer, 409, "wrong_phase")
    assert len({a.text.replace(a.json()["instance"], "") for a in answers}) == 1
    assert size_of(shared) == size


PULLER = 2
"""Whose four cards are of one suit in `one_can_pull`: the third from the first leader."""


@pytest.fixture
def one_can_pull(monkeypatch):
    """Decks in which the third seat is dealt four hearts, and the others four suits each."""
    suits = ["CDSH", "DSHC", "HHHH", "SCDD"]
    left = list(GAMES["kozel"].deck({}))
    order = []
    for j in range(4):
        for receiver in range(4):
            card = next(card for card in left if card[-1] == suits[receiver][j])
            left.remove(card)
            order.append(card)
    monkeypatch.setattr("fairdeal.sealed_deck.shuffle", lambda _deck, _key: (*order, *left))


def lead_one(table):
    """The leader shows its first card; gives the seats in order from it."""
    (leader,) = table.deal()["turn"]
    single = [move for move in table.own(leader)["moves"] if len(move["cards"]) == 1]
    expect(table.act(action_of(single[0])))
    return [(leader + step) % 4 for step in range(4)]


def test_a_refused_pull_does_not_tell_who_could(shared, key, one_can_pull):
    """KOZ-15: whether some other seat may pull is nobody's business."""
    for rules in ({}, {"pull": "off"}):
        table = Refereed(shared.client, key, "kozel", custody="seats", ruleset=rules)
        order = lead_one(table)
        held = [table.own(seat)["moves"] for seat in order]
        may = [any(move["type"] == "pull" for move in moves) for moves in held]
        assert may == [not rules and place == PULLER for place in range(4)]
        for place in (0, 1, 3):
            own = table.own(order[place])
            cards = [[c["epoch"], c["position"]] for c in own["cards"] if c["state"] == "held"]
            problem = expect(
                table.act({"type": "pull", "seat": order[place], "cards": cards}),
                409,
                "illegal_move",
            )
            assert problem["rule"] == "KOZ-14"
            assert problem["legal"] == own["moves"]


@pytest.mark.parametrize("custody", CUSTODIES)
def test_a_pull_is_one_request(shared, key, one_can_pull, custody):
    """KOZ-15: the trick goes back, face-down cards unseen, and four of a suit come in, together."""
    table = Refereed(shared.client, key, "kozel", custody=custody)
    order = lead_one(table)
    down = [move for move in table.own(order[1])["moves"] if move["type"] == "discard"]
    thrown = expect(table.act(action_of(down[0])))
    assert thrown["play"]["table"][1] == {"seat": order[1], "cards": [], "down": 1}
    assert thrown["play"]["points"] is None
    puller = order[PULLER]
    (pull,) = [move for move in table.own(puller)["moves"] if move["type"] == "pull"]
    done = expect(table.act(action_of(pull)))
    assert event_types(done) == ["cards.returned", "cards.shown"]
    assert done["results"][0]["type"] == "pull"
    assert [card["card"] for card in done["results"][0]["shown"]] == pull["names"]
    play = done["play"]
    assert play["pulled"]
    assert play["table"] == [{"seat": puller, "cards": pull["names"], "down": 0}]
    assert done["turn"] == [(puller + 1) % 4]
    assert table.operator.state()["holdings"] == [0 if seat == puller else 4 for seat in range(4)]


# --- restarts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("custody", CUSTODIES)
@pytest.mark.parametrize("game", list(RULESETS))
def test_a_hand_goes_on_after_a_restart(settings, game, custody):
    """The referee's view is made again from the events, at several points of a hand."""
    initialise(settings)
    rng = Random(game)
    seats = 4 if game == "azi" else GAMES[game].seats[0]
    ruleset = RULESETS[game][1] if game == "azi" else {}
    with Site(settings) as site:
        key, vkey = site.key(), str(site.service.verifier_key)
        table = Refereed(
            site.client, key, game, custody=custody, rng=rng, players=mixed(seats, rng),
            ruleset=ruleset,
        )  # fmt: skip
        table.deal()
        if game != "svoi":
            table.step()
        before = everything(table)
    for pause in (3, 4, 400):
        with Site(settings) as site:
            table.client = table.operator.client = site.client
            if table.devices:
                table.devices.client = site.client
            assert everything(table) == before
            for _ in range(pause):
                if table.answer["state"] == "closed":
                    break
                table.step()
            before = everything(table)
            if table.answer["state"] == "closed":
                content = site.client.get(table.operator.url("/transcript")).content
                assert judge(content).result == table.answer["result"]
                check_file(content, vkey)
                break
    report = check(settings)
    assert report.faults == []
    assert report.hands == (table.answer["state"] == "closed")


def everything(table):
    """What the table shows, deadlines apart."""
    state = table.operator.state()
    return {**state, "deadline": None}, [table.own(seat) for seat in range(table.seats)]


def test_hands_that_this_versions_rules_do_not_allow_can_only_be_aborted(settings, monkeypatch):
    """Rules that were mended between two versions must not leave a table stuck."""
    initialise(settings)
    with Site(settings) as site:
        table = Refereed(site.client, site.key(), "kozel", timeouts={"turn": 1000})
        table.deal()
        table.step()
    monkeypatch.setattr(
        "fairdeal.games.rules.kozel._one_suit", lambda cards: len(cards) > len(set(cards))
    )
    with Site(settings) as site:
        table.client = table.operator.client = site.client
        state = table.operator.state()
        assert (state["state"], state["turn"], state["play"]) == ("playing", [], None)
        refused = table.act({"type": "show", "seat": 0, "cards": [[0, 0]]})
        expect(refused, 503, "unavailable")
        expect(table.operator.post(table.operator.url("/abort"), {}))
        assert table.deal()["turn"]


# --- fsck, policies -----------------------------------------------------------------------------


def test_fsck_plays_disclosed_hands_again(settings, monkeypatch):
    """PLAY-8: beside a hand that is right, one that the rules do not allow is found."""
    initialise(settings)
    with Site(settings) as site:
        for disclosure in ("hand", "table"):
            table = Refereed(site.client, site.key(), "kozel", disclosure=disclosure)
            table.play_hand()
            table.play_hand()
        expect(table.operator.post(f"/v1/tables/{table.operator.table}/close", {}))
    assert check(settings).faults == []
    real = rules_of(GAMES["kozel"]).start

    def other(self, rules, match, deal):
        return real({**rules, "discards": "open"}, match, deal)

    monkeypatch.setattr("fairdeal.games.rules.kozel.KozelRules.start", other)
    faults = check(settings).faults
    assert len(faults) == 4
    assert all("not played by the rules" in fault for fault in faults)


def test_policy_table_tells_the_result_and_no_seed(shared, key):
    table = refereed(shared, key, "kozel", disclosure="table")
    result = table.play_hand()
    assert result
    assert "server_seed" not in table.answer
    assert event_types(table.answer)[-1] == "hand.closed"
    assert "disclosed" not in json.loads(table.files[0])
    expect(table.operator.post(table.operator.url("/disclose"), {}))
    judge(shared.client.get(table.operator.url("/transcript")).content)


# --- the reference client -----------------------------------------------------------------------


class Calls:
    """The test's client, for an `Api`: it keeps to no time."""

    def __init__(self, client):
        self.client = client
        self.sent = []

    def stream(self, method, url, *, timeout, **sent):
        self.sent.append(f"{method} {url.removeprefix('http://test')}")
        return self.client.stream(method, url, **sent)


@pytest.mark.parametrize(
    ("game", "ruleset"),
    [("kozel", {}), ("mus", {}), ("azi", {"blind": True, "cards": 4}), ("svoi", {})],
)
def test_the_reference_client_plays(shared, key, vkey, tmp_path, game, ruleset):
    """Every card that a seat is dealt, draws or picks up is proved to it, by its own client.

    Whose turn it is each has been told with the events, and need not ask.
    """
    operator = Operator(shared.client, key, game, custody="seats", referee=True, ruleset=ruleset)
    calls = Calls(shared.client)
    api = Api("http://test", client=calls)
    seats = [
        SeatClient.claim(api, code, log_key=vkey, folder=tmp_path / seat)
        for seat, code in operator.opened["claim_codes"].items()
    ]
    for _ in range(2):
        expect(operator.post(f"/v1/tables/{operator.table}/hands", {}), 201)
        operator.number += 1

        def each(seats=seats):
            for seat in seats:
                seat.sync()
            return seats

        if game == "svoi":
            first = each()[0].hand.first or 0
            for seat in (first, 1 - first):
                seats[seat].declare("HC"[seat])
        for seat in each():
            seat.seal()
        for seat in each():
            seat.open_seed()
        for _ in range(3000):
            state = operator.state()
            if state["state"] == "closed":
                break
            if state["state"] == "reopening":
                for seat in each():
                    seat.open_seed()
                continue
            for seat in each():
                asked = len(calls.sent)
                standing = seat.standing()
                assert (list(standing.turn), standing.play) == (state["turn"], state["play"])
                assert len(calls.sent) == asked
            seat = seats[state["turn"][0]]
            held = [card for card in seat.cards() if card.state == "held"]
            own = {
                "seat": seat.seat,
                "cards": [{"card": card.card, "state": "held"} for card in held],
                "moves": seat.moves(),
            }
            asked = len(calls.sent)
            seat.play(greedy(view_of(game, own, seat.standing().play)))
            # Its cards were just asked for: what locks a discard is known.
            assert not [sent for sent in calls.sent[asked:] if sent.endswith("/cards")]
            # The answer to its move has told it, too.
            asked = len(calls.sent)
            state = operator.state()
            assert (list(seat.standing().turn), seat.standing().play) == (
                state["turn"],
                state["play"] or {},
            )
            assert len(calls.sent) == asked
        files = {seat.finish() for seat in each()}
        assert len(files) == 1
        judge(files.pop())
    assert f"GET {operator.url()}" not in calls.sent


def test_a_move_that_names_another_card_stops_the_client(shared, key, vkey, tmp_path, monkeypatch):
    operator = Operator(shared.client, key, "kozel", custody="seats", referee=True)
    api = Api("http://test", client=Calls(shared.client))
    seats = [
        SeatClient.claim(api, code, log_key=vkey, folder=tmp_path / seat)
        for seat, code in operator.opened["claim_codes"].items()
    ]
    expect(operator.post(f"/v1/tables/{operator.table}/hands", {}), 201)
    for step in (SeatClient.seal, SeatClient.open_seed):
        for seat in seats:
            seat.sync()
            step(seat)
    operator.number = 1
    seat = seats[operator.state()["turn"][0]]
    fetch = seat._talk.cards

    def other():
        answer = fetch()
        answer["moves"][0]["names"] = ["nothing"]
        return answer

    assert seat.moves()
    monkeypatch.setattr(seat._talk, "cards", other)
    with pytest.raises(CheckError):
        seat.moves()
    assert seat.stopped is not None
