"""Bots: seats that programs play. Each is a client of its own, with secrets of its own.

    bot = Bot(api, code, log_key=log_key, folder=folder, player=greedy)
    bot.start()             # it sits down and plays, hand after hand, until the table closes
    bot.wait_for_end(1)     # hand 1 has ended, and the bot has checked its file

A bot follows the table as any device does: it seals, checks the head before it opens its seed,
proves each card that comes, and then picks one of the moves that the service lists for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from fairdeal.cards import suit_of
from fairdeal.errors import FairdealError
from fairdeal.events import TableClosed
from fairdeal.hand import Phase
from fairdeal_api.client import Api, ApiError, HeldCard, SeatClient, Standing
from fairdeal_api.players import Player, View
from fairdeal_api.terminal.processes import RunError

OVERTAKEN: Final = frozenset(
    {"illegal_move", "not_in_holding", "not_your_turn", "wrong_phase", "already_final", "too_early"}
)
"""What a move may be refused with because another seat was faster (a pull), or the hand ended."""

_WAIT: Final = 20
_SUITS: Final = "CDHS"
_PULL: Final = 4


class Pace:
    """Lets bots move only when the person has seen what happened before. It ends them, too."""

    def __init__(self, *, delay: float = 0.0, watched: bool = True) -> None:
        """Nothing was seen yet.

        Args:
            delay: Seconds that a bot takes over a move.
            watched: Whether there is anybody to wait for.
        """
        self._delay = delay
        self._watched = watched
        self._seen = -1
        self._changed = threading.Condition()
        self.stopped = False

    def seen(self, seq: int) -> None:
        """The person has seen the table's events up to this one, and lets the game go on."""
        with self._changed:
            self._seen = seq
            self._changed.notify_all()

    def stop(self) -> None:
        """Nobody moves any more."""
        with self._changed:
            self.stopped = True
            self._changed.notify_all()

    def wait(self, seq: int, *, at_leisure: bool) -> None:
        """Until it was seen, or all ends."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.stopped or not self._watched or self._seen >= seq,
            )
        if at_leisure and self._delay and not self.stopped:
            time.sleep(self._delay)


def do_duty(client: SeatClient, choose_suit: Callable[[list[str]], str]) -> bool:
    """What every seat must do before it gets cards: one step of it, if one is due.

    Args:
        client: The seat.
        choose_suit: Names the seat's trumps (Svoi Kozyri), given those that are free.
    """
    hand, seat = client.hand, client.seat
    if hand.phase is Phase.SEALING and hand.declarations_due:
        if seat != hand.declarations_due[0]:
            return False
        taken = hand.trumps.values() if hand.table.ruleset.get("distinct_trumps", True) else ()
        client.declare(choose_suit([suit for suit in _SUITS if suit not in taken]))
    elif hand.phase is Phase.SEALING and seat in hand.missing_seals:
        client.seal()
    elif seat in hand.missing_seeds:
        client.open_seed()
    else:
        return False
    return True


def held_by(client: SeatClient) -> list[HeldCard]:
    """The cards that a seat holds, as far as they were proved to it."""
    layout, checks = client.hand.layout, client.checks
    if layout is None:
        return []
    thrown = checks.thrown
    down = {
        place
        for throw in layout.down
        if throw.seat == client.seat and throw.k in thrown
        for place in thrown[throw.k]
    }
    return [
        HeldCard(place, checks.proved[place].card, "held")
        for place in layout.received[client.seat]
        if place in checks.proved and place not in down
    ]


def might_pull(client: SeatClient) -> bool:
    """Whether a seat holds four cards of one suit in Kozel: then it may have a move off turn."""
    if client.hand.table.game != "kozel":
        return False
    held = held_by(client)
    return len(held) == _PULL and len({suit_of(card.card) for card in held}) == 1


def look_around(client: SeatClient) -> tuple[View, Standing] | None:
    """What a seat sees now, its new cards proved to it; None if things have just changed."""
    number, moves, seq = client.hand.number, client.moves(), client.checks.chain.seq
    standing, hand = client.standing(), client.hand
    if client.checks.chain.seq != seq or hand.number != number:
        return None
    held = tuple([card.card for card in held_by(client)])
    return View(hand.table.game, client.seat, held, moves, standing.play), standing


class Bot(threading.Thread):
    """A seat that a program plays, in a thread of its own, until the table closes."""

    def __init__(
        self,
        api: Api,
        code: str,
        *,
        log_key: str,
        folder: Path,
        player: Player,
        pace: Pace | None = None,
        rng: Random | None = None,
    ) -> None:
        """Sit down.

        Args:
            api: The service, with connections of this bot's own.
            code: The seat's claim code.
            log_key: The log's vkey.
            folder: Where the seat keeps what it must not forget.
            player: Picks the moves.
            pace: How fast it plays; by default as fast as it can.
            rng: For the choice of a trump suit.
        """
        super().__init__(daemon=True)
        self.client = SeatClient.claim(api, code, log_key=log_key, folder=folder)
        self.fault: Exception | None = None
        """Why it has stopped, if something was wrong."""
        self._player = player
        self._pace = pace or Pace(watched=False)
        self._rng = rng or Random()  # noqa: S311 - a choice in a game, no secret
        self._ended = self.client.ended
        self._changed = threading.Condition()

    def run(self) -> None:
        """Follow the table until it closes."""
        try:
            self._follow()
        except (ApiError, FairdealError, OSError, RuntimeError, ValueError) as error:
            if not self._pace.stopped:
                self.fault = error
        finally:
            with self._changed:
                self._changed.notify_all()

    def wait_for_end(self, hand: int, seconds: float = 60) -> None:
        """Until it has seen a hand's end, and checked and noted all of it.

        Raises:
            CheckError: Something did not hold.
            ApiError: The service refused something, or is gone.
            RunError: It has not come so far: too slow, which accuses nobody.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._ended >= hand or not self.is_alive(), timeout=seconds
            )
        if self.fault is not None:
            raise self.fault
        if self._ended < hand:
            raise RunError(f"A bot has not seen the end of hand {hand} in {seconds:g} seconds.")

    def _follow(self) -> None:
        client = self.client
        while not self._pace.stopped:
            events = client.sync(wait=_WAIT)
            if any(isinstance(event, TableClosed) for event in events):
                return
            if client.checks.chain.table.hand is None:
                continue
            while not client.hand.is_final and self._step():
                pass
            if client.ended > self._ended:
                client.finish()
                with self._changed:
                    self._ended = client.ended
                    self._changed.notify_all()

    def _step(self) -> bool:
        """One thing to do, if there is one."""
        if self._pace.stopped:
            return False
        if do_duty(self.client, self._rng.choice):
            return True
        if self.client.hand.phase is not Phase.PLAYING:
            return False
        try:
            return self._move()
        except ApiError as error:
            if error.code not in OVERTAKEN:
                raise
            self.client.sync()
            return True

    def _move(self) -> bool:
        client = self.client
        is_awaited = client.seat in client.standing().turn
        if not is_awaited and client.unproved:
            client.cards()
            return True  # with them events may have come that make it this seat's turn
        if not is_awaited and not might_pull(client):
            return False
        self._pace.wait(client.checks.chain.seq, at_leisure=is_awaited)
        if self._pace.stopped:
            return False
        seen = look_around(client)
        if seen is None:
            return True
        # Things may have moved on while the person was looking.
        view, standing = seen
        is_awaited = client.seat in standing.turn
        if not view.moves or (not is_awaited and view.moves[0]["type"] != "pull"):
            return False
        client.play(self._player(view))
        return True
