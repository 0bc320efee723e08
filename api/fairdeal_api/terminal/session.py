"""The person's seat: its client checks and keeps, the screen shows, and the person chooses.

With a player in the person's place (`--auto`) it is the same seat, and nobody is asked.
"""

from __future__ import annotations

from typing import Any, Final

from rich.text import Text

from fairdeal.codecs import Place
from fairdeal.events import Event, HandOpened, SeedsOpened
from fairdeal.hand import Hand, Phase
from fairdeal_api.client import ApiError, SeatClient, Standing
from fairdeal_api.players import Player, View
from fairdeal_api.terminal import boards, results
from fairdeal_api.terminal.bots import (
    OVERTAKEN,
    Pace,
    do_duty,
    held_by,
    look_around,
    might_pull,
)
from fairdeal_api.terminal.house import Table
from fairdeal_api.terminal.person import LeaveError, Person
from fairdeal_api.terminal.records import Records, Verdict
from fairdeal_api.terminal.screen import TableScreen
from fairdeal_api.terminal.seating import YOU, Company
from fairdeal_api.terminal.tale import TALES, Tale

Json = dict[str, Any]

_WAIT: Final = 5
_NOTHING: Final = Standing((), {})


class Session:
    """A person at a table, hand after hand."""

    def __init__(
        self,
        screen: TableScreen,
        company: Company,
        table: Table,
        client: SeatClient,
        records: Records,
        *,
        pace: Pace,
        player: Player | None = None,
    ) -> None:
        """Sit down.

        Args:
            screen: What the person sees.
            company: Who sits at the table.
            table: Opens hands, and ends them when the person leaves.
            client: The person's seat.
            records: Where files are kept.
            pace: Lets the bots move.
            player: Plays in the person's place.
        """
        self.is_good = True
        """Whether the verifier has found every hand to be what it must be."""
        self._screen = screen
        self._company = company
        self._table = table
        self._client = client
        self._records = records
        self._pace = pace
        self._player = player
        self._person = Person(screen, company, client)
        self._tale: Tale | None = None
        self._told = client.checks.chain.seq
        self._standing = _NOTHING
        self._refused: tuple[int, bool, bool] | None = None
        """Kozel: where the person has let a pull go by."""

    @property
    def _hand(self) -> Hand:
        return self._client.hand

    @property
    def is_asked(self) -> bool:
        """Whether a person plays."""
        return self._player is None

    # --- a hand ---------------------------------------------------------------------------------

    def play_hand(self) -> Hand:
        """One hand, from the seals to the verdict.

        Raises:
            LeaveError: The person has left; the hand was aborted, and its file is kept.
        """
        opened = self._table.open_hand()
        number, self._refused = int(opened["hand"]), None
        try:
            self._follow(0)
            self._do_what_is_due()  # in Svoi Kozyri nothing happens before a person has declared
            while self._hand.number < number or not self._hand.is_final:
                self._follow(_WAIT)
                self._do_what_is_due()
                self._pace.seen(self._client.checks.chain.seq)
                self._table.check_bots()
            self._follow(0)
        except (LeaveError, KeyboardInterrupt) as leaving:
            self._leave()
            raise LeaveError from leaving
        results.tell(self._screen, self._company, self._hand)
        self._keep()
        self._table.wait_for_bots()
        return self._hand

    def _leave(self) -> None:
        self._screen.blank()
        self._table.abort_hand()
        self._client.sync()
        self._follow(0)
        if self._client.checks.chain.table.hand is not None and self._hand.is_final:
            self._keep()

    def _do_what_is_due(self) -> None:
        while do_duty(self._client, self._suit):
            self._follow(0)
        if self._hand.phase is not Phase.PLAYING:
            return
        if self._client.unproved:
            self._take_cards()
        self._move()

    def _follow(self, wait: int) -> None:
        """Tell what has happened, if nothing has wait for something."""
        chain = self._client.checks.chain
        if chain.seq == self._told:
            self._client.sync(wait=wait)
        events = chain.events[self._told + 1 :]
        self._told = chain.seq
        for event in events:
            self._tell(event)
        if events and chain.table.hand is not None:
            self._standing = self._client.standing()

    def _tell(self, event: Event) -> None:
        screen, board = self._screen, self._standing.play
        if isinstance(event, HandOpened):
            self._tale = TALES[self._company.game](screen, self._company, self._hand)
            self._standing = _NOTHING
            screen.title(f"Hand {event.hand}")
            return
        if self._tale is None:
            return
        if isinstance(event, SeedsOpened) and event.epoch == 0 and YOU in event.seeds:
            screen.tell(
                "sealed",
                f"All {self._company.seats} seats have sealed a secret. You checked the head of "
                "the log, ",
                screen.short(event.head.hex()),
                ", and opened yours.",
            )
        self._tale.tell(event, board)

    def _take_cards(self) -> None:
        """Prove what has come."""
        client, screen = self._client, self._screen
        known = set(client.checks.proved)
        cards = [held.card for held in client.cards() if held.place not in known]
        if not cards:
            return
        if known:
            screen.tell("You", "get ", screen.all_spoken(cards), ", proved to lie there.")
            return
        root = self._hand.dealt.deck_root.hex() if self._hand.dealt else ""
        shown = screen.all_spoken(cards) if len(cards) < 7 else Text(f"{len(cards)} cards")
        screen.tell(
            "You",
            "get ",
            shown,
            ", each proved to lie there in the sealed deck, ",
            screen.short(root),
        )

    # --- the seat's move ------------------------------------------------------------------------

    def _suit(self, free: list[str]) -> str:
        """Trumps, named before any card is known."""
        return free[0] if self._player is not None else self._person.suit(free)

    def _move(self) -> None:
        if YOU not in self._standing.turn and not self._may_offer_pull():
            return
        seen = look_around(self._client)
        if seen is None or self._client.checks.chain.seq != self._told:
            return  # what has happened is told first
        view, self._standing = seen
        on_turn = YOU in self._standing.turn
        if not view.moves or (not on_turn and view.moves[0]["type"] != "pull"):
            return
        if self._player is not None:
            action: Json | None = self._player(view)
        elif on_turn:
            action = self._person.move(self._situation(view), view)
        else:
            action = self._person.pull(self._situation(view), view)
            if action is None:
                self._refused = self._here(view.play)
        if action is not None:
            self._act(action)

    def _act(self, action: Json) -> None:
        if self._tale is not None and action["type"] == "discard":
            held = {card.place: card.card for card in held_by(self._client)}
            names = [held.get(Place(*place)) for place in action["cards"]]
            self._tale.own = tuple([name for name in names if name is not None])
        try:
            self._client.play(action)
        except ApiError as error:
            if error.code not in OVERTAKEN:
                raise
            self._screen.line(("Too late: the table has moved on.", "italic"))
            self._client.sync()

    def _situation(self, view: View) -> boards.Situation:
        declared = self._tale.declared if self._tale is not None else {}
        turn = self._standing.turn
        return boards.Situation(self._hand, view.play, turn, view.hand, declared)

    def _may_offer_pull(self) -> bool:
        """Kozel, not on turn: once before the lead of a trick, once after it, once after a pull."""
        play = self._standing.play
        if not play or not might_pull(self._client):
            return False
        return not self.is_asked or self._here(play) != self._refused

    def _here(self, play: Json) -> tuple[int, bool, bool]:
        return sum(play["tricks"]), bool(play["table"]), play["pulled"]

    # --- the end --------------------------------------------------------------------------------

    def _keep(self) -> None:
        """Keep the file of the hand, and have it verified by another program."""
        content = self._client.finish()
        file = self._records.save(self._hand.number, content, self._client.notes_path)
        self._screen.blank()
        self._screen.whole(("saved ", "dim"), str(file))
        self._judge(file.name, self._records.verify(file), "with your notes")

    def judge_match(self) -> None:
        """Have all hands verified as a match."""
        count = len(self._records.files)
        self._screen.blank()
        self._judge("all hands, as a match", self._records.verify_match(), f"{count} hands")

    def _judge(self, name: str, verdict: Verdict, how: str) -> None:
        good = verdict.words.startswith("VERIFIED")
        self._screen.verdict(name, verdict.words, f"  {how}", good=good)
        if not good:
            self._screen.fault(verdict.report)
        self.is_good = self.is_good and good

    def goes_on(self) -> bool:
        """Ask whether there is to be another hand."""
        if not self.is_asked:
            return True
        self._screen.blank()
        try:
            self._person.typed("Enter deals the next hand, q leaves")
        except (LeaveError, KeyboardInterrupt):
            return False
        return True
