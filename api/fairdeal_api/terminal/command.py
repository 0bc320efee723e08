"""`fairdeal play`: what was asked for, and starting and ending all of it."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fairdeal.errors import FairdealError
from fairdeal.games import game_named
from fairdeal_api.client import ApiError, CheckError, SeatClient
from fairdeal_api.keyfile import log_key, operator_key
from fairdeal_api.settings import ConfigurationError
from fairdeal_api.terminal import results
from fairdeal_api.terminal.bots import Pace
from fairdeal_api.terminal.house import House, Table, player_of
from fairdeal_api.terminal.person import LeaveError
from fairdeal_api.terminal.processes import RunError, ended_by_signals
from fairdeal_api.terminal.records import Records
from fairdeal_api.terminal.screen import TableScreen
from fairdeal_api.terminal.seating import TITLES, YOU, Company
from fairdeal_api.terminal.session import Session
from fairdeal_api.wording import failure_in_words

_SECONDS_A_MOVE: Final = 0.6
_AZI_SEATS: Final = 4
OWN_FOLDER: Final = "you"
"""Of the person's seat."""
_NO_END: Final = ("svoi",)
"""Games whose match has no end."""


class UsageError(ValueError):
    """What was asked for cannot be."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    game: str
    seats: int | None = None
    hands: int | None = None
    match: bool = False
    bots: str = "greedy"
    auto: bool = False
    save: Path = Path("played-hands")
    rules: Sequence[str] = ()
    url: str = ""
    key: str = ""
    log_key: str | None = None

    @property
    def company(self) -> Company:
        """The table.

        Raises:
            UsageError: The game is not played by so many.
        """
        allowed = sorted(game_named(self.game).seats)
        seats = self.seats or (_AZI_SEATS if self.game == "azi" else allowed[0])
        if seats not in allowed:
            raise UsageError(f"{TITLES[self.game]} is played by {_either(allowed)}.")
        return Company(self.game, seats)

    @property
    def ruleset(self) -> dict[str, str | int | bool]:
        """The options of the game that are not as usual.

        Raises:
            UsageError: One has no value.
        """
        chosen: dict[str, str | int | bool] = {}
        for rule in self.rules:
            name, equals, value = rule.partition("=")
            if not equals:
                raise UsageError(f"--rule takes NAME=VALUE, such as target=6; not {rule!r}.")
            truth = {"true": True, "false": False}.get(value.lower())
            chosen[name] = truth if truth is not None else int(value) if value.isdigit() else value
        return chosen


def _either(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"{numbers[0]} seats"
    return f"{numbers[0]} to {numbers[-1]} seats"


def play(options: Options) -> int:
    """Play.

    Returns:
        The exit code: 0 if all hands were verified, 1 if something was wrong, 2 for a wrong
        option, 130 if it was stopped.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an old terminal gets ? for what it lacks
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # and may send what is no UTF-8
    screen = TableScreen()
    try:
        company, ruleset = options.company, options.ruleset
        _check(options)
        key = operator_key(options.key) if options.key else ""
        pinned = "" if options.log_key is None else str(log_key(options.log_key))
    except (UsageError, ConfigurationError) as error:
        screen.fault(str(error))
        return 2
    folder = Path(tempfile.mkdtemp(prefix="fairdeal-play-"))
    house = House(
        folder,
        url=options.url,
        key=key,
        log_key=pinned,
        waiting=lambda _: screen.line(("The service does not answer. Waiting...", "italic")),
    )
    kept = _Kept()
    try:
        with ended_by_signals(), contextlib.ExitStack() as stack:
            good = _play(options, company, ruleset, screen, house, stack, kept)
    except CheckError as error:
        screen.fault(
            f"The game cannot go on: what the service says does not hold ({error.code}). {error}."
        )
        return 1
    except OSError as error:
        screen.fault(f"The game cannot go on. {failure_in_words(error)}.")
        return 1
    except (RunError, ApiError, FairdealError) as error:
        screen.fault(f"The game cannot go on. {error}")
        refused = isinstance(error, ApiError) and 400 <= error.status < 500
        if house.is_ours and not refused:  # a service that has answered has no more to say
            screen.fault(house.complaint())
        return 1
    except KeyboardInterrupt:
        screen.blank()
        screen.fault("Stopped.")
        return 130
    finally:
        if kept.failure is None:
            shutil.rmtree(folder, ignore_errors=True)
        _tell_kept(screen, kept, folder)
    return 0 if good else 1


def _check(options: Options) -> None:
    if options.url and not options.url.startswith(("http://", "https://")):
        raise UsageError("--url begins with http:// or https://.")
    if options.url and not options.key:
        raise UsageError("--url needs --key, an operator's key of that service.")
    if options.match and options.game in _NO_END:
        raise UsageError(f"A match of {TITLES[options.game]} has no end; use --hands.")
    if options.hands is not None and options.hands < 1:
        raise UsageError("--hands is 1 or more.")


def _play(
    options: Options,
    company: Company,
    ruleset: dict[str, str | int | bool],
    screen: TableScreen,
    house: House,
    stack: contextlib.ExitStack,
    kept: _Kept,
) -> bool:
    screen.title(f"{TITLES[company.game]}, {company.seats} seats")
    if not options.url:
        screen.tell("service", "A service of your own is started for this game...")
    stack.enter_context(house)
    table = house.open_table(company.game, company.seats, ruleset)
    delay = _SECONDS_A_MOVE if screen.is_live and not options.auto else 0.0
    pace = Pace(delay=delay)
    stack.callback(table.close, pace)
    client = SeatClient.claim(
        house.connect(watched=True),
        table.codes[YOU],
        log_key=house.log_key,
        folder=table.folder / OWN_FOLDER,
    )
    table.seat_bots(range(1, company.seats), lambda _: player_of(options.bots), pace)
    records = Records(options.save / f"{company.game}-{table.id[-6:]}", house.log_key)
    stack.callback(_rescue, kept, records, table, house)
    session = Session(
        screen,
        company,
        table,
        client,
        records,
        pace=pace,
        player=player_of(options.bots) if options.auto else None,
    )
    _welcome(
        screen, company, house, table, from_service=options.log_key is None and not house.is_ours
    )
    _hands(options, company, screen, session)
    if len(records.files) > 1:
        session.judge_match()
    return session.is_good


def _hands(options: Options, company: Company, screen: TableScreen, session: Session) -> None:
    """Hand after hand, as many as were asked for."""
    most = options.hands
    if most is None and not options.match and not session.is_asked:
        most = 1
    played = 0
    while most is None or played < most:
        try:
            hand = session.play_hand()
        except LeaveError:
            return
        played += 1
        if hand.result is not None and hand.result["winner"] is not None:
            screen.blank()
            screen.line((results.winners(company, hand.result), "bold"))
            if options.match:
                return
        if played != most and not session.goes_on():
            return


@dataclass(slots=True)
class _Kept:
    """What was copied for the player out of the seats' folders, and why not all of it was."""

    files: list[Path] = field(default_factory=list)
    failure: OSError | None = None


def _rescue(kept: _Kept, records: Records, table: Table, house: House) -> None:
    """Keep what only the seats' folders hold, before they are taken away. Spec: OPEN-2.

    Nobody will ask a service of ours for anything again; its evidence is kept all the same.
    """
    for seat in sorted(table.folder.iterdir()):
        if (seat / "evidence.json").exists() or (seat.name == OWN_FOLDER and not house.is_ours):
            try:
                kept.files.extend(
                    records.rescue(seat, "" if seat.name == OWN_FOLDER else f"{seat.name}-")
                )
            except OSError as error:
                kept.failure = error


def _tell_kept(screen: TableScreen, kept: _Kept, folder: Path) -> None:
    if any("evidence" in path.name for path in kept.files):
        screen.line(
            "What it showed is kept, with your receipts. Play no more there, and show these files "
            "to others. They hold your opened seeds, and no other secret:"
        )
    elif kept.files:
        screen.line("Kept of the hand that has not ended for you, with your receipts:")
    for path in kept.files:
        screen.whole("saved ", str(path))
    if kept.failure is not None:
        screen.fault(
            f"Not all that should be kept could be copied. {failure_in_words(kept.failure)}. It is "
            f"still in {folder}, with secrets that are for nobody else: save it from there."
        )


def _welcome(
    screen: TableScreen, company: Company, house: House, table: Table, *, from_service: bool
) -> None:
    screen.tell("service", f"{house.url}, table {table.id}, with a referee")
    screen.tell("log key", "what everything is checked with:")
    screen.whole(house.log_key)
    if from_service:
        screen.tell("", "This key came from the service itself. Get it from elsewhere: --log-key.")
    screen.blank()
    for line in company.plan(screen.width - 2):
        screen.whole(line)
