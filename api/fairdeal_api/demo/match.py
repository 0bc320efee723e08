"""A match with a referee: a bot at each seat, hand after hand until a team has lost.

Each bot is a client of its own with its own secrets, in a thread of its own; moves go over HTTP
like everything else. The rules and the score are the service's to follow, and the verifier's to
check.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fairdeal.encoding import encode
from fairdeal_api.demo.screen import Screen
from fairdeal_api.players import greedy
from fairdeal_api.terminal import results
from fairdeal_api.terminal.bots import Pace
from fairdeal_api.terminal.house import House
from fairdeal_api.terminal.processes import RunError

GAME: Final = "kozel"
RULES: Final = {"target": 6}
NAME: Final = "match"
"""Of its files."""
_MOST: Final = 30
_SEATS: Final = 4


@dataclass(frozen=True, slots=True)
class Forgery:
    """A copy of a hand's file in which one number of the result is another."""

    content: bytes
    before: int
    after: int


def play_match(house: House, screen: Screen, out: Path) -> list[Path]:
    """Play it.

    Returns:
        The files of its hands, in order.
    """
    screen.title("A match of Kozel with a referee")
    screen.tell(
        "referee",
        "At such a table the service follows the play, too: every move is legal, cards are drawn "
        "when they are due, and the score follows from the log. A bot sits at each seat. "
        f"A team with {RULES['target']} defeat points has lost.",
    )
    table = house.open_table(GAME, _SEATS, RULES)
    pace = Pace(watched=False)
    files: list[Path] = []
    try:
        table.seat_bots(range(_SEATS), lambda _: greedy, pace)
        for number in range(1, _MOST + 1):
            table.open_hand()
            table.wait_for_bots()
            result = table.state()["result"]
            file = out / f"{NAME}-{number}.fair.json"
            file.write_bytes(table.file())
            files.append(file)
            screen.tell(f"hand {number}", results.brief(GAME, result))
            if result["winner"] is not None:
                lost = 1 - result["winner"]
                seats = "seats 0 and 2" if lost == 0 else "seats 1 and 3"
                screen.tell("", f"{seats.capitalize()} have lost the match: the goats.")
                return files
    finally:
        table.close(pace)
    raise RunError("The match does not end.")


def change_the_score(content: bytes) -> Forgery:
    """Give the first team one card point more in the result of a hand, and no other change.

    The file of a closed hand ends with that, so there is nothing after it to link again.
    """
    value = json.loads(content)
    events: list[str] = value["events"]
    at, event = next(_closed(events))
    points = event["result"]["score"]["points"]
    before = int(points[0])
    points[0] = after = before + 1
    events[at] = encode(event).decode()
    return Forgery(encode(value), before, after)


def _closed(events: Sequence[str]) -> Any:  # noqa: ANN401 - an iterator of JSON
    return ((i, json.loads(raw)) for i, raw in enumerate(events) if '"type":"hand.closed"' in raw)
