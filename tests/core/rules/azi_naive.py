"""Azi once more, written from the page as one long story. Slow, plain, and only for tests.

It asks for every move by yielding the turn and the legal moves of all seats (a bet for each
amount), and returns the result of the hand.
"""

from fractions import Fraction

from fairdeal.games.rules.base import Move

RANKS = ["6", "7", "8", "9", "10", "J", "Q", "K", "A"]


def story(rules, match, deal):
    """A hand of Azi. Spec: AZI-5..18."""
    n = deal.seats
    order = [(deal.first + i) % n for i in range(n)]
    players = [s for s in order if s in match["players"]]
    chips = list(match["stacks"])
    put = [match["contributions"].get(str(s), 0) for s in range(n)]
    hands = [list(cards) for cards in deal.hands]
    looked, folded = set(), set()

    def pay(seat, amount):
        assert 0 <= amount <= chips[seat]
        chips[seat] -= amount
        put[seat] += amount

    def ask(turn, legal):
        """One move of the turn; before it anybody may look."""
        while True:
            looks = [
                Move(s, "look")
                for s in players
                if rules["blind"] and s not in looked and s not in folded
            ]
            move = yield sorted(turn), [*legal(), *looks]
            if move.kind != "look":
                return move
            looked.add(move.seat)

    # antes
    if rules["azi"] == "all_ante" or not match["bank"]:
        for seat in players:
            pay(seat, min(chips[seat], rules["ante"]))

    # throws
    waiting = set(players) if rules["cards"] == 4 else set()
    while waiting:
        move = yield from ask(
            waiting, lambda: [Move(s, "throw", (c,)) for s in waiting for c in hands[s]]
        )
        hands[move.seat].remove(move.cards[0])
        waiting.remove(move.seat)

    # bidding: each round of the loop works out from the history who is next
    poor = {s for s in players if not chips[s]}
    bids = dict.fromkeys(players, 0)
    history = []  # seat, call, whether the highest bid went up
    while len(players) - len(poor) >= 2 and len(players) - len(folded) >= 2:
        ups = [i for i, entry in enumerate(history) if entry[2]]
        answered = {entry[0] for entry in history[ups[-1] if ups else 0 :]}
        begin = order.index(history[-1][0]) + 1 if history else 0
        asked = [
            s
            for s in order[begin:] + order[:begin]
            if s in players and s not in folded and chips[s] and s not in answered
        ]
        if not asked:
            break
        seat = asked[0]
        top, all_chips = max(bids.values()), bids[seat] + chips[seat]
        legal = []
        if not top:
            legal += [
                Move(seat, "call", (), "bet", a) for a in range(rules["min_bet"], all_chips + 1)
            ]
            legal += [Move(seat, "call", (), "all_in")] * (all_chips < rules["min_bet"])
            legal += [Move(seat, "call", (), "check")] * (rules["opener"] == "may_check")
        else:
            legal += [Move(seat, "call", (), "fold")]
            legal += [Move(seat, "call", (), "call" if all_chips >= top else "all_in")]
            raised = [entry[0] for entry in history if entry[1] in {"bet", "raise"}]
            used = {
                "three_per_player": raised.count(seat),
                "three_total": len(raised),
                "three_actions": [entry[0] for entry in history].count(seat),
            }[rules["raises"]]
            if used < 3:
                low = max(top + 1, rules["min_bet"])
                legal += [Move(seat, "call", (), "raise", a) for a in range(low, all_chips + 1)]
        move = yield from ask([seat], lambda legal=legal: legal)
        to = {
            "bet": move.amount,
            "raise": move.amount,
            "call": top,
            "all_in": all_chips,
        }.get(move.call, bids[seat])
        pay(seat, to - bids[seat])
        bids[seat] = to
        if move.call == "fold":
            folded.add(seat)
        history.append((seat, move.call, to > top))

    active = [s for s in players if s not in folded]
    top = max(bids.values())
    short = {
        s
        for s in active
        if s in poor
        or (s, "all_in") in {entry[:2] for entry in history}
        or (not chips[s] and bids[s] < top)
    }

    # tricks
    trump, six = deal.turned[-1], rules["six_on_stage"] and deal.turned[:-1] == "A"
    raised = [entry[0] for entry in history if entry[1] in {"bet", "raise"}]
    leader, tricks = None, []
    winner = active[0] if len(active) == 1 else None
    if winner is None:
        leader = (raised[-1:] or [s for s in active if s not in short] or active)[0]
    while winner is None and len(tricks) < 3:
        begin = order.index(tricks[-1] if tricks else leader)
        table = []
        for seat in order[begin:] + order[:begin]:
            if seat not in active:
                continue

            def legal(seat=seat, table=table):
                if rules["blind"] and seat not in looked:
                    return []
                allowed = []
                for card in hands[seat]:
                    if table:
                        led = table[0][1][-1]
                        suits = {c[-1] for c in hands[seat]}
                        if led in suits and card[-1] != led:
                            continue
                        if (
                            led not in suits
                            and trump in suits
                            and rules["must_trump"]
                            and card[-1] != trump
                        ):
                            continue
                    allowed.append(Move(seat, "show", (card,)))
                return allowed

            move = yield from ask([seat], legal)
            hands[seat].remove(move.cards[0])
            table.append((seat, move.cards[0]))
        ladder = [r + table[0][1][-1] for r in RANKS]
        ladder += [r + trump for r in RANKS]
        ladder += ["6" + trump] * six
        height = {card: i for i, card in enumerate(ladder)}
        tricks.append(max(table, key=lambda shown: height.get(shown[1], -1))[0])
        if tricks.count(tricks[-1]) == 2:
            winner = tricks[-1]

    # the bank
    bank, contributions = sum(put), list(put)
    paid, bought = [0] * n, []
    players_next = None
    if winner is None:
        if rules["azi"] == "half_bank":
            for seat in players:
                if seat not in tricks and chips[seat] >= bank // 2:
                    calls = [Move(seat, "call", (), c) for c in ("buy_in", "stay_out")]
                    move = yield from ask([seat], lambda calls=calls: calls)
                    if move.call == "buy_in":
                        pay(seat, bank // 2)
                        bought.append(seat)
        players_next = {*tricks, *bought}
        if rules["azi"] == "all_ante":
            players_next = {s for s in range(n) if chips[s] or put[s]}
    else:
        paid = settled(contributions, winner, active, rules["all_in"] if winner in short else None)
        chips = [a + b for a, b in zip(chips, paid, strict=True)]
        put = [0] * n
        players_next = {s for s in range(n) if chips[s]}
    last = match["winner"] if winner is None else winner
    assert sum(chips) + sum(put) == n * rules["stack"]
    return {
        "first": None if last is None else (last + 1) % n,
        "match": {
            "bank": sum(put),
            "contributions": {str(s): put[s] for s in range(n) if put[s]},
            "players": sorted(players_next),
            "stacks": chips,
            "winner": last,
        },
        "score": {
            "azi": winner is None,
            "bank": bank,
            "bought": sorted(bought),
            "contributions": {str(s): contributions[s] for s in range(n) if contributions[s]},
            "folded": sorted(folded),
            "leader": leader,
            "paid": {str(s): paid[s] for s in range(n) if paid[s]},
            "tricks": tricks,
            "winner": winner,
        },
        "winner": winner if winner is not None and sum(c > 0 for c in chips) == 1 else None,
    }


def settled(put, winner, active, how):
    """Chips by seat, with exact fractions. Spec: AZI-16."""
    bank, paid = sum(put), [0] * len(put)
    if how is None:
        paid[winner] = bank
    elif how == "capped":
        for seat, chips in enumerate(put):
            for number in range(chips):
                paid[winner if number < put[winner] else seat] += 1
    else:
        paid[winner] = int(bank * Fraction(put[winner], max(put)))
        rest = bank - paid[winner]
        others = [s for s in range(len(put)) if s != winner and put[s]]
        for seat in others:
            paid[seat] = int(rest * Fraction(put[seat], sum(put[s] for s in others)))
        takers = [s for s in sorted(active) if s != winner] or [winner]
        while sum(paid) < bank:
            paid[takers[0]] += 1
            takers.append(takers.pop(0))
    return paid
