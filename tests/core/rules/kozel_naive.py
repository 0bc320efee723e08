"""Kozel's play a second time, from the page alone: sets of cards, every subset, every pairing."""

from itertools import combinations, permutations

RANKS = ["6", "7", "8", "9", "J", "Q", "K", "10", "A"]
POINTS = {"J": 2, "Q": 3, "K": 4, "10": 10, "A": 11}


def card_beats(card: str, other: str, trump: str) -> bool:
    """KOZ-9."""
    if card[-1] == other[-1]:
        return RANKS.index(card[:-1]) > RANKS.index(other[:-1])
    return card[-1] == trump


def set_beats(cards, best, trump: str) -> bool:
    """KOZ-12, the sentence with the pairing."""
    return len(cards) == len(best) and any(
        all(card_beats(card, other, trump) for card, other in zip(cards, order, strict=True))
        for order in permutations(best)
    )


def subsets(cards):
    for size in range(1, len(cards) + 1):
        yield from map(frozenset, combinations(sorted(cards), size))


class Naive:
    """A game; it knows the order of the stock."""

    def __init__(self, rules, match, first, trump, hands, stock):
        self.rules, self.match, self.first, self.trump = rules, match, first, trump
        self.hands = [set(hand) for hand in hands]
        self.stock = list(stock)
        self.leader = match["leader"]
        if self.leader is None:
            self.leader = {"dealer_left": first, "dealer": first + 3}[rules["first_leader"]] % 4
        self.trick = []  # (seat, cards, face down)
        self.pullers = []
        self.piles = ([], [])
        self.tricks = [0, 0]
        self.down = {}

    def turn(self) -> int:
        return (self.trick[0][0] + len(self.trick)) % 4 if self.trick else self.leader

    def best(self):
        """KOZ-12: who has the best cards, and these."""
        seat, best, _ = self.trick[0]
        for other, cards, hidden in self.trick[1:]:
            if not hidden and set_beats(cards, best, self.trump):
                seat, best = other, cards
        return seat, best

    def pulls(self, seat: int) -> bool:
        """KOZ-14."""
        hand = self.hands[seat]
        suits = {card[-1] for card in hand}
        wanted = {"any_suit": suits, "trumps_only": {self.trump}, "off": set()}[self.rules["pull"]]
        if len(hand) != 4 or len(suits) != 1 or suits != wanted:
            return False
        if self.pullers:
            nearer = (seat - self.leader) % 4 < (self.pullers[-1] - self.leader) % 4
            return len(self.trick) == 1 and nearer
        if not self.trick:
            return seat != self.leader
        return len(self.trick[0][1]) < 4

    def legal(self) -> set:
        """Seat, kind and cards of every legal move."""
        moves = {(s, "pull", frozenset(self.hands[s])) for s in range(4) if self.pulls(s)}
        seat = self.turn()
        if not self.trick:
            leads = [c for c in subsets(self.hands[seat]) if len({card[-1] for card in c}) == 1]
            return moves | {(seat, "show", cards) for cards in leads}
        _, best = self.best()
        answers = [c for c in subsets(self.hands[seat]) if len(c) == len(best)]
        beating = {cards for cards in answers if set_beats(cards, best, self.trump)}
        moves |= {(seat, "show", cards) for cards in beating}
        if not (beating and self.rules["must_beat"]):
            if self.rules["discards"] == "hidden":
                moves |= {(seat, "throw", cards) for cards in answers}
            else:
                moves |= {(seat, "show", cards) for cards in answers}
        return moves

    def move(self, seat: int, kind: str, cards: frozenset) -> None:
        if kind == "pull":
            for owner, laid, _ in self.trick:
                self.hands[owner] |= laid
            self.trick = []
            self.pullers.append(seat)
        self.hands[seat] -= cards
        self.trick.append((seat, cards, kind == "throw"))

    def over(self) -> int | None:
        """KOZ-16: the taker, if the trick is over; its cards are on the pile then."""
        if len(self.trick) < 4:
            return None
        taker, _ = self.best()
        self.tricks[taker % 2] += 1
        for seat, cards, hidden in self.trick:
            self.piles[taker % 2].extend(cards)
            if hidden:
                self.down.setdefault(seat, set()).update(cards)
        self.trick, self.pullers, self.leader = [], [], taker
        return taker

    def draw(self) -> list:
        """KOZ-5."""
        drawn = []
        while self.stock and any(len(hand) < 4 for hand in self.hands):
            for step in range(4):
                seat = (self.leader + step) % 4
                if self.stock and len(self.hands[seat]) < 4:
                    drawn.append((seat, self.stock.pop(0)))
                    self.hands[seat].add(drawn[-1][1])
        return drawn

    def result(self) -> dict:
        """KOZ-18, KOZ-19."""
        points = [sum(POINTS.get(card[:-1], 0) for card in pile) for pile in self.piles]
        penalty = []
        for team in range(2):
            worth = 0
            if points[team] < 60:
                worth = 2
            if points[team] < 31:
                worth = 4
            if not self.tricks[team]:
                worth = 6
            penalty.append(worth * (2 if self.match["doubled"] else 1))
        defeat = [self.match["defeat"][team] + penalty[team] for team in range(2)]
        level = points == [60, 60]
        winner = None
        for team in range(2):
            if defeat[team] >= self.rules["target"]:
                winner = {0: 1, 1: 0}[team]
        return {
            "first": (self.first + 1) % 4,
            "match": {
                "defeat": defeat,
                "doubled": level and self.rules["eggs"] == "double_next",
                "eggs": level or self.match["eggs"],
                "leader": self.leader,
            },
            "score": {"penalty": penalty, "points": points, "tricks": self.tricks},
            "winner": winner,
        }
