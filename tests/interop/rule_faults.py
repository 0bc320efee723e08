"""Mistakes that somebody could have made in the core's rules, one by one.

Each is a text of `fairdeal/games/rules/GAME.py` and what stands there instead. The text must occur
exactly once, so that a fault whose place has changed is noticed. The changed source is compiled as
a module of its own: the real one stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from fairdeal.games.rules.base import Rules
from tests.interop.play_pair import DisagreementError, tables

MOST_GAMES = 600
"""A fault that so many games do not show is not caught."""


class Fault(NamedTuple):
    """A mistake. With the `fixed` options it has to do with more often."""

    game: str
    name: str
    old: str
    new: str
    fixed: Mapping[str, Any] = {}


def compiled(game: str, fault: Fault | None = None) -> Rules:
    """The rules of a game, with a fault in them if one is given."""
    source = Path(str(import_module(f"fairdeal.games.rules.{game}").__file__))
    text = source.read_text("utf-8")
    if fault is not None:
        if text.count(fault.old) != 1:
            raise ValueError(f"{game}, {fault.name}: its text is there {text.count(fault.old)} x")
        text = text.replace(fault.old, fault.new)
    module = ModuleType(f"tests.interop.faulty_{game}")
    sys.modules[module.__name__] = module  # where `dataclass` looks annotations up
    try:
        exec(compile(text, str(source), "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    rules: Rules = getattr(module, f"{game.capitalize()}Rules")()
    return rules


def hunt(game: str, fault: Fault | None = None, most: int = MOST_GAMES) -> tuple[int, list[str]]:
    """Plays until core and verifier differ.

    Returns:
        How many games it took, and how they differ; nothing if they did not in `most` games.
    """
    fixed = fault.fixed if fault else {}
    played = tables(game, "faults", rules=compiled(game, fault), fixed=fixed)
    for number in range(1, most + 1):
        try:
            next(played)
        except DisagreementError as difference:
            return number, [str(difference).partition("\n")[0]]
    return most, []


KOZEL = (
    Fault(
        "kozel",
        "one card that beats is enough",
        "return mine is not None and all([high > low for",
        "return mine is not None and any([high > low for",
    ),
    Fault(
        "kozel",
        "ten below jack",
        '"9", "J", "Q", "K", "10", "A")',
        '"9", "10", "J", "Q", "K", "A")',
    ),
    Fault(
        "kozel",
        "only the lead has to be beaten",
        "after = changed(after, best=best, taker=move.seat)",
        "after = changed(after, taker=move.seat)",
    ),
    Fault("kozel", "a small penalty from 30", "LOW: Final = 31", "LOW: Final = 30"),
    Fault("kozel", "a penalty at 60", "HALF: Final = 60", "HALF: Final = 61"),
    Fault("kozel", "no tricks is no worse than few points", "else 4 if tricks else 6", "else 4"),
    Fault(
        "kozel",
        "the farther seat pulls",
        "trick.distance(seat) < trick.distance(trick.opener)",
        "trick.distance(seat) > trick.distance(trick.opener)",
    ),
    Fault(
        "kozel",
        "a pull after a pull was answered",
        "return len(trick.laid) == 1 and trick.distance",
        "return trick.distance",
    ),
    Fault(
        "kozel",
        "a pull on four cards",
        "return trick.size < HAND",
        "return trick.size <= HAND",
        {"pull": "any_suit"},
    ),
    Fault(
        "kozel",
        "a pull of any suit always",
        'if self.terms.pull == "trumps_only" and _SUIT[hand[0]] != self.trump:',
        'if self.terms.pull == "trump" and _SUIT[hand[0]] != self.trump:',
        {"pull": "trumps_only"},
    ),
    Fault(
        "kozel",
        "open discards need not beat",
        "if not beaten and self.terms.must_beat:",
        "if hidden and self.terms.must_beat:",
    ),
    Fault(
        "kozel",
        "beating needs one strong card",
        "return all([high > low for high, low in zip(mine[-len(best) :], best, strict=True)])",
        "return mine[-1] > best[-1]",
        {"must_beat": True},
    ),
    Fault(
        "kozel",
        "the leader draws first",
        "return changed(play, pending=Draw(trick.taker))",
        "return changed(play, pending=Draw(trick.leader))",
    ),
    Fault(
        "kozel",
        "the lead goes round",
        "trick=Trick(trick.taker, self.hands),",
        "trick=Trick((trick.leader + 1) % SEATS, self.hands),",
    ),
    Fault(
        "kozel",
        "the dealer never leads",
        'back = 1 if rules["first_leader"] == "dealer" else 0',
        "back = 0",
    ),
    Fault(
        "kozel",
        "a double game counts once",
        "return 2 * penalty if doubled else penalty",
        "return penalty",
    ),
    Fault(
        "kozel",
        "the goats win",
        '"winner": 1 - lost[0] if lost else None,',
        '"winner": lost[0] if lost else None,',
    ),
    Fault(
        "kozel",
        "eggs are forgotten",
        '"eggs": self.match["eggs"] or level,',
        '"eggs": level,',
    ),
    Fault(
        "kozel",
        "discards are not shown at the count",
        "if self.down:\n            return changed(self, pending=Show(",
        "if self.down and self.stock:\n            return changed(self, pending=Show(",
    ),
)

MUS = (
    Fault(
        "mus",
        "chica is grande backwards",
        "return tuple([-low for low in sorted([rank(card, kings) for card in hand])])",
        "return tuple([-one for one in grande(hand, kings)])",
    ),
    Fault("mus", "a refusal pays one", "paid = max(1, bet.agreed)", "paid = 1"),
    Fault("mus", "a refusal pays the bet", "paid = max(1, bet.agreed)", "paid = max(1, bet.level)"),
    Fault(
        "mus",
        "of equals the last is best",
        "return max(self.order(), key=lambda seat",
        "return max(self.order()[::-1], key=lambda seat",
    ),
    Fault(
        "mus",
        "of equals the lowest seat is best",
        "return max(self.order(), key=lambda seat",
        "return max(range(_SEATS), key=lambda seat",
    ),
    Fault(
        "mus",
        "the count goes on after the target",
        'if max(score) >= self.terms.target or (ordago and over.end != "ordago"):',
        'if ordago and over.end != "ordago":',
    ),
    Fault(
        "mus",
        "what was accepted before an ordago counts",
        'if max(score) >= self.terms.target or (ordago and over.end != "ordago"):',
        "if max(score) >= self.terms.target:",
    ),
    Fault(
        "mus",
        "thirty-two is the worst juego",
        "(31, 32, 40, 37, 36, 35, 34, 33)",
        "(31, 40, 37, 36, 35, 34, 33, 32)",
    ),
    Fault(
        "mus",
        "any ten makes the real 31",
        "sorted([int(rank_of(card)) for card in hand]) == _REAL",
        "sorted([min(int(rank_of(card)), 10) for card in hand]) == _REAL",
        {"real31": True},
    ),
    Fault(
        "mus",
        "four of a rank are medias",
        "return 3, alike[0], alike[0]",
        "return 2, alike[0]",
        {"kings": 8},
    ),
    Fault(
        "mus",
        "a raise is the new level",
        "level = agreed + (amount or 0)",
        "level = amount or agreed",
    ),
    Fault(
        "mus",
        "a raise may pass the target",
        "LEAST if self.terms.fixed else self.terms.target - level",
        "LEAST if self.terms.fixed else self.terms.target",
    ),
    Fault(
        "mus",
        "the left-hand seat answers first",
        "others = [(seat + 1) % _SEATS, (seat + 3) % _SEATS]",
        "others = [(seat + 3) % _SEATS, (seat + 1) % _SEATS]",
    ),
    Fault(
        "mus",
        "who passed does not answer",
        "answer = tuple([other for other in others if other in self.speakers])",
        "answer = tuple([o for o in others if o in self.speakers[self.said :]]) or (others[0],)",
    ),
    Fault(
        "mus",
        "a refused punto has no bonus",
        'return int(self.terms.plus_one and over.end != "paso")',
        'return int(self.terms.plus_one and over.end == "accepted")',
    ),
    Fault(
        "mus",
        "every juego is worth two",
        "return 3 if total(hand, self.kings) == 31 else 2",
        "return 2",
    ),
    Fault(
        "mus",
        "mano always moves on",
        "mano = (self.mano + 1) % _SEATS if self.corrido else self.mano",
        "mano = (self.mano + 1) % _SEATS",
    ),
    Fault(
        "mus",
        "who cuts is not mano",
        "cut = changed(self, mano=seat) if self.corrido else self",
        "cut = self",
        {"mus_corrido": True},
    ),
    Fault(
        "mus",
        "half of the games win the match",
        "if 2 * games[team] > self.terms.games:",
        "if 2 * games[team] >= self.terms.games - 1:",
    ),
    Fault(
        "mus",
        "the best hand gets the bonus of a refused bet",
        "return over._replace(bonus=self._bonus(over, over.bettor))",
        "return over._replace(bonus=self._bonus(over, self._best(over.lance) % 2))",
    ),
    Fault(
        "mus",
        "partners bid against each other",
        "if len({seat % 2 for seat in have}) == 1:",
        "if len(have) == 1:",
    ),
    Fault(
        "mus",
        "twos and threes are what they say",
        "return {2: 1, 3: 12}.get(written, written) if kings == 8 else written",
        "return {3: 12}.get(written, written) if kings == 8 else written",
    ),
)

AZI = (
    Fault(
        "azi",
        "no duty to trump",
        "return trumps if trumps and must_trump else hand",
        "return hand",
    ),
    Fault("azi", "the first raiser leads", "leader = self.raisers[-1]", "leader = self.raisers[0]"),
    Fault(
        "azi",
        "a short winner keeps the others' rest",
        "paid[winner] = sum([min(chips, most) for chips in contributions])",
        "paid = [0 for _ in paid]\n    paid[winner] = sum(contributions)",
        {"all_in": "capped", "stack": 25, "ante": 5, "min_bet": 5},
    ),
    Fault(
        "azi",
        "the rest of a part goes by seats",
        "takers = sorted(set(active) - {winner}) or [winner]",
        "takers = sorted(set(range(len(paid))) - {winner}) or [winner]",
        {"all_in": "proportional", "stack": 25, "ante": 3, "min_bet": 2},
    ),
    Fault(
        "azi",
        "azi loses the bank",
        "kept = self.contributions if azi else (0,) * len(stacks)",
        "kept = (0,) * len(stacks)",
    ),
    Fault(
        "azi",
        "the folded are asked again",
        "return frozenset([seat for seat in self.active if self.stacks[seat]])",
        "return frozenset([seat for seat in self.players if self.stacks[seat]])",
    ),
    Fault(
        "azi",
        "every six is on stage",
        "        if suit == trump:\n",
        '        if suit == trump or (six_on_stage and rank == "6"):\n',
        {"six_on_stage": True},
    ),
    Fault(
        "azi",
        "the six is on stage without an ace",
        'six_on_stage=bool(rules["six_on_stage"]) and rank_of(deal.turned) == "A",',
        'six_on_stage=bool(rules["six_on_stage"]),',
    ),
    Fault("azi", "a fourth raise", "_MOST_RAISES: Final = 3", "_MOST_RAISES: Final = 4"),
    Fault(
        "azi",
        "three in all are three for each",
        "return len(self.raisers) < _MOST_RAISES",
        "return self.raisers.count(seat) < _MOST_RAISES",
    ),
    Fault(
        "azi",
        "buying in is dearer by one",
        "price = self.bank // 2",
        "price = (self.bank + 1) // 2",
        {"azi": "half_bank", "stack": 100, "ante": 3, "min_bet": 2},
    ),
    Fault(
        "azi",
        "the folded do not buy in",
        "seat for seat in self.players.difference(self.tricks) if",
        "seat for seat in self.active.difference(self.tricks) if",
        {"azi": "half_bank", "stack": 1000, "ante": 3, "min_bet": 2},
    ),
    Fault("azi", "a raise is the bet again", "low = max(low, highest + 1)", "low = low + highest"),
    Fault(
        "azi",
        "the winner deals",
        '"first": None if last is None else (last + 1) % len(stacks),',
        '"first": None if last is None else last,',
    ),
    Fault(
        "azi",
        "antes are paid after every azi",
        'if self.match["bank"] == 0 or self.rules["azi"] == "all_ante":',
        "if True:",
        {"stack": 1000},
    ),
    Fault(
        "azi",
        "the folded look",
        'self.rules["blind"]) and seat in self.active and',
        'self.rules["blind"]) and seat in self.players and',
    ),
    Fault(
        "azi",
        "the short lead",
        "leader = self._next(self.first, (self.active - self.short) or self.active)",
        "leader = self._next(self.first, self.active)",
    ),
    Fault(
        "azi",
        "whoever is raised past is not short",
        "play, short=play.short | (self.active - rich - {seat}), owing=rich - {seat}",
        "play, owing=rich - {seat}",
        {"stack": 25, "ante": 5, "min_bet": 5},
    ),
    Fault(
        "azi",
        "after azi all come back",
        'if self.winner is None and self.rules["azi"] != "all_ante":',
        'if self.winner is None and self.rules["azi"] == "three_only":',
        {"azi": "half_bank"},
    ),
)

SVOI = (
    Fault(
        "svoi",
        "five on an ace too",
        'return len(pile) if rank_of(top) == "A" else min(5, len(pile))',
        "return min(5, len(pile))",
    ),
    Fault(
        "svoi",
        "the other's trumps beat",
        "return beats(card, self.pile[-1], self.trumps[seat])",
        "return beats(card, self.pile[-1], self.trumps[1 - seat])",
    ),
    Fault(
        "svoi",
        "taking by the other's trumps",
        'does not take")\n        count = taken(self.pile, self.trumps[seat])',
        'does not take")\n        count = taken(self.pile, self.trumps[1 - seat])',
    ),
    Fault(
        "svoi",
        "several cards can make a draw",
        "if len(last) == 1 and all(",
        "if last and any(",
    ),
    Fault(
        "svoi",
        "a repetition too late",
        "self.seen[self._position()] == self.repetition",
        "self.seen[self._position()] > self.repetition",
        {"repetition": 3, "pick_up": "voluntary"},
    ),
    Fault(
        "svoi",
        "a repetition too early",
        "self.seen[self._position()] == self.repetition",
        "self.seen[self._position()] == self.repetition - 1",
        {"repetition": 3, "pick_up": "voluntary"},
    ),
    Fault(
        "svoi",
        "the last card cannot beat alone",
        "elif len(cards) != min(2, len(holding)):",
        "elif len(cards) != 2:",
    ),
    Fault(
        "svoi",
        "any trump beats a trump",
        "    if suit_of(card) == suit_of(top):\n",
        "    if suit_of(card) == suit_of(top) != trump:\n",
    ),
    Fault("svoi", "a move too few", "MOVES: Final = 1000", "MOVES: Final = 999"),
    Fault("svoi", "a move too many", "MOVES: Final = 1000", "MOVES: Final = 1001"),
    Fault(
        "svoi",
        "after a draw the other begins",
        '"first": self.first if end.winner is None else end.winner,',
        '"first": 1 - self.first if end.winner is None else end.winner,',
    ),
    Fault(
        "svoi",
        "the loser begins",
        '"first": self.first if end.winner is None else end.winner,',
        '"first": self.first if end.winner is None else 1 - end.winner,',
    ),
    Fault(
        "svoi",
        "taking from below",
        "return self._after(holding.union(self.pile[left:]), self.pile[:left])",
        "return self._after(holding.union(self.pile[:count]), self.pile[count:])",
    ),
    Fault(
        "svoi",
        "taking less",
        "if type(amount) is not int or amount != count:",
        "if type(amount) is not int or not 0 < amount <= count:",
    ),
    Fault(
        "svoi",
        "taking is always free",
        "if self.strict and any(self._beats(seat, card) for card in holding):",
        "if self.strict and all(self._beats(seat, card) for card in holding):",
    ),
)

FAULTS = (*KOZEL, *MUS, *AZI, *SVOI)
