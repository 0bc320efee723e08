"""What a hand of Mus is worth in each lance. Everywhere the greater is the better."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fairdeal_verifier.play.base import rank_of

_FACES = {str(rank): rank for rank in (1, 2, 3, 4, 5, 6, 7, 10, 11, 12)}
_LIKE_OTHERS = {3: 12, 2: 1}
_BEST_JUEGO_LAST = (33, 34, 35, 36, 37, 40, 32, 31)
_REAL_31 = [7, 7, 7, 10]


def ranks_of(hand: list[str], kings: int) -> list[int]:
    """Lists a hand's ranks in ascending order. Spec: MUS-6."""
    ranks = [_FACES.get(rank_of(card), 0) for card in hand]
    return sorted(_LIKE_OTHERS.get(rank, rank) if kings == 8 else rank for rank in ranks)


def grande(ranks: list[int]) -> tuple[int, ...]:
    """Compares the highest cards first. Spec: MUS-7."""
    return tuple(reversed(ranks))


def chica(ranks: list[int]) -> tuple[int, ...]:
    """Compares the lowest cards first, and the lower wins. Spec: MUS-7."""
    return tuple(-rank for rank in ranks)


def pares(ranks: list[int]) -> tuple[int, ...]:
    """Gives 3 for duples, 2 for medias, 1 for par, 0 for none, and what decides. Spec: MUS-8."""
    counts = Counter(ranks)
    pairs = [rank for rank in sorted(counts, reverse=True) for _ in range(counts[rank] // 2)]
    if len(pairs) > 1:
        return (3, *pairs)
    if pairs:
        return (2 if counts[pairs[0]] > 2 else 1, *pairs)
    return (0,)


def punto(ranks: list[int]) -> int:
    """Gives the sum of a hand. Spec: MUS-6, MUS-9."""
    return sum(min(rank, 10) for rank in ranks)


def juego(ranks: list[int], *, real31: bool) -> int:
    """Gives 0 to a hand without juego. Spec: MUS-9."""
    if real31 and ranks == _REAL_31:
        return len(_BEST_JUEGO_LAST) + 1
    total = punto(ranks)
    return _BEST_JUEGO_LAST.index(total) + 1 if total in _BEST_JUEGO_LAST else 0


def strength(lance: str, hand: list[str], ruleset: Mapping[str, Any]) -> tuple[int, ...]:
    """Gives what hands are compared by in a lance. Spec: MUS-7 to MUS-9."""
    ranks = ranks_of(hand, ruleset["kings"])
    if lance == "juego":
        return (juego(ranks, real31=ruleset["real31"]),)
    if lance == "punto":
        return (punto(ranks),)
    return {"grande": grande, "chica": chica, "pares": pares}[lance](ranks)


def bonus(lance: str, hand: list[str], ruleset: Mapping[str, Any]) -> int:
    """Gives what a hand adds in pares or juego: 0 if it has none. Spec: MUS-23."""
    ranks = ranks_of(hand, ruleset["kings"])
    if lance == "pares":
        return pares(ranks)[0]
    if lance == "juego" and juego(ranks, real31=False):
        return 3 if punto(ranks) == 31 else 2
    return 0
