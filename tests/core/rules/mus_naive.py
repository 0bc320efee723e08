"""Mus once more, read from play-mus.md as a story: one function that asks and is answered."""

from itertools import combinations

VALUES = {10: 10, 11: 10, 12: 10}


def ranks(hand, kings):
    """MUS-6."""
    found = []
    for card in hand:
        written = int(card[:-1])
        if kings == 8 and written == 3:
            written = 12
        if kings == 8 and written == 2:
            written = 1
        found.append(written)
    return sorted(found)


def total(hand, kings):
    """MUS-6."""
    return sum(VALUES.get(r, r) for r in ranks(hand, kings))


def figure(hand, kings):
    """MUS-8: name and what decides, or None."""
    have = ranks(hand, kings)
    pairs = [
        r for r in sorted(set(have), reverse=True) for _ in range(have.count(r) // 2)
    ]  # four alike are a pair twice
    if len(pairs) == 2:
        return "duples", pairs
    if pairs:
        return ("medias" if have.count(pairs[0]) == 3 else "par"), pairs
    return None


def beats(lance, rules, a, b):
    """MUS-7..9: whether hand a is strictly better than hand b."""
    kings = rules["kings"]
    if lance in ("grande", "chica"):
        high = lance == "grande"
        one, two = (sorted(ranks(h, kings), reverse=high) for h in (a, b))
        for x, y in zip(one, two, strict=True):
            if x != y:
                return (x > y) is high
        return False
    if lance == "pares":
        order = ["par", "medias", "duples"]
        (one, x), (two, y) = figure(a, kings), figure(b, kings)
        return order.index(one) > order.index(two) or (one == two and x > y)
    if lance == "juego":
        order = [31, 32, 40, 37, 36, 35, 34, 33]
        x, y = (order.index(total(h, kings)) for h in (a, b))
        real = [sorted(c[:-1] for c in h) == ["10", "7", "7", "7"] for h in (a, b)]
        return x < y or (x == y and rules["real31"] and real[0] and not real[1])
    return total(a, kings) > total(b, kings)


def bonus(lance, kings, hand):
    """MUS-23."""
    if lance == "pares":
        what = figure(hand, kings)
        return {"par": 1, "medias": 2, "duples": 3}[what[0]] if what else 0
    points = total(hand, kings)
    return 0 if points < 31 else 3 if points == 31 else 2


def subsets(hand):
    return {frozenset(part) for n in (1, 2, 3, 4) for part in combinations(hand, n)}


def tell(rules, match, number, first, hands):
    """Yields ("turn", seat, legal) and ("due", what, ...); is sent the answer; ends with a result.

    `legal` is a set of (call, amount), or of sets of cards.
    """
    hands = [list(hand) for hand in hands]
    score, points, ended = list(match["score"]), [0, 0], {}
    moving = rules["mus_corrido"] and number == 1
    mano, target = first, rules["target"]

    def pay(team, n):
        score[team] += n
        points[team] += n
        return score[team] >= target

    cut = False
    while not cut:
        for step in range(4):
            seat = (mano + step) % 4
            call, _ = yield "turn", seat, {("mus", None), ("no_mus", None)}
            if call == "no_mus":
                cut = True
                mano = seat if moving else mano
                break
        if not cut:
            order = [(mano + step) % 4 for step in range(4)]
            for seat in order:
                thrown = yield "turn", seat, subsets(hands[seat])
                hands[seat] = [card for card in hands[seat] if card not in thrown]
            while any(len(hand) < 4 for hand in hands):
                for seat, card in (yield "due", "serve"):
                    hands[seat].append(card)
            mano = (mano + 1) % 4 if moving else mano

    order = [(mano + step) % 4 for step in range(4)]

    def best(lance, seats):
        top = seats[0]
        for seat in seats[1:]:
            if beats(lance, rules, hands[seat], hands[top]):
                top = seat
        return top

    def finish():
        lances = {}
        for lance in ("grande", "chica", "pares", "juego", "punto"):
            if lance in ended:
                found = ended[lance]
                keys = ("bonus", "end", "seat", "stake", "team")
                lances[lance] = {key: found[key] for key in keys}
            else:
                lances[lance] = None
        games, left, winner = list(match["games"]), list(score), None
        for team in (0, 1):
            if score[team] >= target:
                games[team] += 1
                if games[team] > rules["games"] // 2:
                    winner = team
                else:
                    left = [0, 0]
        return {
            "first": (mano + 1) % 4,
            "match": {"games": games, "score": left},
            "score": {"lances": lances, "mano": mano, "points": points},
            "winner": winner,
        }

    have = {}
    for lance in ("grande", "chica", "pares", "juego", "punto"):
        seats = order
        if lance == "pares":
            seats = [s for s in order if figure(hands[s], rules["kings"])]
        if lance == "juego":
            seats = [s for s in order if total(hands[s], rules["kings"]) >= 31]
        if lance == "punto" and have["juego"]:
            continue
        have[lance] = seats
        if lance in ("pares", "juego"):
            yield "due", "declare", lance, tuple(sorted(seats))
            if not seats:
                continue
        entry = {"bonus": 0, "end": None, "seat": None, "stake": 0, "team": None}
        ended[lance] = entry
        entry["level"], entry["bettor"] = 0, None
        if len({s % 2 for s in seats}) == 1:  # never so in the lances of all four
            entry["end"] = "uncontested"
            continue
        agreed = level = 0
        waiting, raiser, all_in = list(seats), None, False
        while True:
            seat = waiting.pop(0)
            legal = set()
            if raiser is None:
                legal |= {("paso", None)}
                legal |= {("envido", n) for n in range(2, target + 1)}
            else:
                legal |= {("quiero", None), ("no_quiero", None)}
                if not all_in:
                    legal |= {("raise", n) for n in range(2, target + 1) if level + n <= target}
            if rules["raises"] == "fixed2":
                legal = {(c, n) for c, n in legal if n in (None, 2)}
            if rules["ordago"] and not all_in:
                legal |= {("ordago", None)}
            call, amount = yield "turn", seat, legal
            if call in ("envido", "raise", "ordago"):
                agreed, level = level, level + (amount or 0)
                raiser, all_in = seat, call == "ordago"
                waiting = [s for s in ((seat + 1) % 4, (seat + 3) % 4) if s in seats]
            elif call == "quiero":
                entry["end"] = "ordago" if all_in else "accepted"
                entry["level"] = level
                break
            elif not waiting:
                entry["end"] = "paso" if raiser is None else "refused"
                break
        if entry["end"] == "refused":
            entry["bettor"] = entry["team"] = raiser % 2
            entry["stake"] = max(1, agreed)
            if pay(raiser % 2, entry["stake"]):
                return finish()
        if entry["end"] == "ordago":
            yield "due", "show", [tuple(hand) for hand in hands]
            top = best(lance, seats)
            entry["seat"], entry["team"] = top, top % 2
            entry["stake"] = target - score[top % 2]
            pay(top % 2, entry["stake"])
            return finish()

    yield "due", "show", [tuple(hand) for hand in hands]
    for lance, entry in ended.items():
        end = entry["end"]
        if end == "refused":
            team = entry["bettor"]
        else:
            entry["seat"] = best(lance, have[lance])
            team = entry["team"] = entry["seat"] % 2
            entry["stake"] = {"paso": int(lance not in ("pares", "juego"))}.get(end, entry["level"])
        if lance in ("pares", "juego"):
            entry["bonus"] = sum(bonus(lance, rules["kings"], hands[s]) for s in (team, team + 2))
        if lance == "punto" and rules["punto"] == "plus_one" and end != "paso":
            entry["bonus"] = 1
        if pay(team, entry["bonus"] + (0 if end == "refused" else entry["stake"])):
            break
    return finish()
