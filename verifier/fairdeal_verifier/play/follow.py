"""Follows the play of a hand through its events, with every card known.

Here is what all games share: which events are moves, which were due, and how the hand may end.

Spec: PLAY-1 to PLAY-6, PLAY-8
"""

from collections.abc import Callable

from fairdeal_verifier.events import Step
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.games.base import Place
from fairdeal_verifier.hand import Replay
from fairdeal_verifier.outcome import Told
from fairdeal_verifier.play import PLAYS, Deal, Play, in_one_form, is_same
from fairdeal_verifier.play.base import CLOSED, DECLARED, DRAWN, SHOWN
from fairdeal_verifier.words import Said, Value, say

# Legal only when they are due; SHOWN may be a move as well. Spec: PLAY-4
_DUE_ONLY = frozenset((DRAWN, DECLARED, CLOSED))


class Following:
    """A hand that has been followed to its end.

    Attributes:
        fault: The first thing that was wrong, or "".
        unknown: Why the play could not be followed, or None.
        story: The play in words.
    """

    def __init__(self, file: HandFile, replay: Replay) -> None:
        """Follows a hand.

        Args:
            file: The hand's file, of a table with a referee and with everything disclosed.
            replay: Its replay. Every seed is the one that was committed to.
        """
        self.fault = replay.match_fault
        self.unknown: Said | None = None
        self.story: list[Told] = []
        self._file = file
        self._replay = replay
        self._disclosed = file.disclosed["discards"] if file.disclosed else {}
        self._locks = [0] * file.seats
        self._judges: dict[str, Callable[[Step], str]] = {
            SHOWN: self._shown,
            DRAWN: self._drawn,
            "cards.discarded": self._discarded,
            "cards.returned": self._returned,
            "cards.looked": self._looked,
            "play.called": self._called,
            DECLARED: self._declared,
            CLOSED: self._closed,
        }
        deal = None if self.fault else self._deal()
        if deal is not None:
            play = PLAYS[file.game.id]
            self._play: Play = play(file.table.body["ruleset"], file.opened.body["match"], deal)
            self._follow()

    def _deal(self) -> Deal | None:
        """Gives the deal, if all went well that other checks see to."""
        replay, game = self._replay, self._replay.game
        deck = replay.decks.used.get(0)
        faulty = [
            check
            for check in replay.findings.faults
            if check in ("order", "deal") or check.startswith(("draw.", "reshuffle."))
        ]
        if faulty or deck is None or replay.dealt is None:
            self.unknown = say("note.play_failed", check=(faulty or ["shuffle"])[0])
            return None
        body, n, k = replay.dealt.body, self._file.seats, game.cards_each
        hands = [deck.order[(seat - body["first"]) % n : n * k : n] for seat in range(n)]
        for step in self._file.steps:
            for one in step.body["given"] if step.type == "cards.given" else ():
                # After a fault of another check nobody has looked if the seat held it. Spec: VER-9
                place = (one["epoch"], one["position"])
                for _, card in self._named([(one["to"], place)]):
                    hands = [[held for held in hand if held != card] for hand in hands]
                    hands[one["to"]].append(card)
        if self.unknown:
            return None
        turned = body["indicator"]
        if turned is None and body["shown"]:
            turned = replay.decks.card_at((0, body["shown"][0]["position"]))
        if turned is not None and turned not in deck.order:
            self.unknown = say("note.play_turned")
            return None
        stock = len(deck.order) - n * k if "cards.drawn" in game.types else 0
        return Deal(self._file.hand, n, body["first"], hands, stock, turned, dict(game.trumps))

    def _follow(self) -> None:
        """Goes through the events after the deal; new seeds and stocks are no play."""
        steps = self._file.steps
        start = next(at for at, step in enumerate(steps) if step is self._replay.dealt) + 1
        for before, step in zip(steps[start - 1 :], steps[start:], strict=False):
            if step.type == "hand.aborted":
                self.fault = self._aborted(step, before)
            elif step.type in self._judges:
                told = len(self._play.story)
                self.fault = self._due_fault(step.type) or self._judges[step.type](step)
                self.story += [Told(said, is_indented=True) for said in self._play.story[told:]]
            if self.fault or self.unknown:
                return

    def _due_fault(self, kind: str) -> str:
        """Says if an event of another kind was due, or none of this kind. Spec: PLAY-3, PLAY-4."""
        due = self._play.due
        if due and kind != due:
            return f"{kind} stands where {due} was due (PLAY-3)"
        if kind != due and kind in _DUE_ONLY:
            return f"{kind} stands where it was not due (PLAY-4)"
        return ""

    # The events. Each gives "" or the fault.

    def _named(self, places: list[tuple[int, Place]]) -> list[tuple[int, str]]:
        """Names cards; if one is not known the play cannot be followed any further."""
        named = [(seat, self._replay.decks.card_at(place)) for seat, place in places]
        if any(card is None for _, card in named):
            self.unknown = say("note.play_card")
            return []
        return [(seat, card) for seat, card in named if card is not None]

    def _tell(self, key: str, **values: Value) -> None:
        self.story.append(Told(say(key, **values)))

    def _tell_cards(self, key: str, cards: list[tuple[int, str]]) -> None:
        for seat in dict.fromkeys(seat for seat, _ in cards):
            self._tell(key, seat=seat, cards=[card for one, card in cards if one == seat])

    def _shown(self, step: Step) -> str:
        shown = [(one["seat"], (one["epoch"], one["position"])) for one in step.body["shown"]]
        if any(seat is None for seat, _ in shown):
            return "a card was shown that belongs to no seat (PLAY-3)"
        if self._play.due and shown != sorted(set(shown)):
            return "the cards are not shown by seat, each seat's by their places (PLAY-4)"
        cards = self._named(shown)
        self._tell_cards("story.shows", cards)
        return self._play.shown(cards) if cards else ""

    def _drawn(self, step: Step) -> str:
        cards = self._named([(seat, (epoch, at)) for seat, epoch, at in step.body["draws"]])
        self._tell_cards("story.draws", cards)
        return self._play.drawn(cards) if cards else ""

    def _discarded(self, step: Step) -> str:
        """Follows discards; of several in one event, that of a seat on turn comes first."""
        left = [int(seat) for seat in step.body["discards"]]
        if len(left) > 1 and not self._play.throws_together:
            return "two seats threw cards in one event (PLAY-3)"
        fault = ""
        while left and not fault:
            seat = next((one for one in left if one in self._play.turn), left[0])
            left.remove(seat)
            listed = self._disclosed.get(str(seat), [])
            k = self._locks[seat]
            self._locks[seat] += 1
            places = [(seat, (epoch, at)) for epoch, at in listed[k]] if k < len(listed) else []
            cards = self._named(places)
            if not cards:
                self.unknown = say("note.play_discard")
                return ""
            self._tell_cards("story.throws", cards)
            fault = self._play.thrown(seat, [card for _, card in cards])
        return fault

    def _returned(self, _step: Step) -> str:
        self._tell("story.returned")
        return self._play.returned()

    def _looked(self, step: Step) -> str:
        self._tell("story.looks", seat=step.body["seat"])
        return self._play.looked(step.body["seat"])

    def _called(self, step: Step) -> str:
        seat, call, amount = (step.body[x] for x in ("seat", "call", "amount"))
        if amount is None:
            self._tell("story.says", seat=seat, call=call)
        else:
            self._tell("story.says_amount", seat=seat, call=call, n=amount)
        return self._play.called(seat, call, amount)

    def _declared(self, step: Step) -> str:
        what, seats = step.body["what"], step.body["seats"]
        if seats:
            self._tell("story.declared", lance=what, seats=seats)
        else:
            self._tell("story.declared_none", lance=what)
        return self._play.declared(what, seats)

    def _closed(self, step: Step) -> str:
        """Spec: PLAY-1, PLAY-5."""
        right, stated = self._play.result(), step.body["result"] or {}
        for name in ("score", "match"):
            self._tell(f"story.{name}", json=in_one_form(right[name]))
        if is_same(right, stated):
            return ""
        wrong = [x for x in sorted(right) if x not in stated or not is_same(right[x], stated[x])]
        return f"the result is wrong in {', '.join(wrong) or 'saying too much'} (PLAY-5)"

    def _aborted(self, step: Step, before: Step) -> str:
        """Spec: PLAY-6."""
        reason, missing = step.body["reason"], step.body["missing"]
        # What the game itself makes due, new seeds above all, is no seat's turn to play.
        turn = sorted(() if self._replay.game.due else self._play.turn)
        if reason == "idle" and turn:
            return "the hand was aborted as idle while a seat was on turn (PLAY-6)"
        if reason != "turn_timeout":
            return ""
        if not turn or missing != turn:
            return "the seats named as missing are not those on turn (PLAY-6)"
        if step.at - before.at < self._file.table.body["timeouts"]["turn"] * 1000:
            return "there was no turn_timeout: the time was not over (PLAY-6)"
        return ""
