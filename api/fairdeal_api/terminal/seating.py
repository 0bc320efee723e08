"""Who sits where: the person in the south, the others named by the compass, in playing order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

YOU: Final = 0
"""The person's seat."""

TITLES: Final = {"kozel": "Kozel", "mus": "Mus", "azi": "Azi", "svoi": "Svoi Kozyri"}
SUITS: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}

# The other seats as they follow the person's; Mus goes round anticlockwise.
_CLOCKWISE: Final = {
    2: ("North",),
    3: ("West", "East"),
    4: ("West", "North", "East"),
    5: ("West", "Northwest", "Northeast", "East"),
    6: ("Southwest", "Northwest", "North", "Northeast", "Southeast"),
}


@dataclass(frozen=True, slots=True)
class Company:
    """The seats of a table, and their names."""

    game: str
    seats: int

    @property
    def others(self) -> tuple[str, ...]:
        """All names but the person's, in playing order."""
        names = _CLOCKWISE[self.seats]
        return names[::-1] if self.game == "mus" else names

    @property
    def has_teams(self) -> bool:
        """Whether seats opposite each other play together."""
        return self.game in ("kozel", "mus")

    def name(self, seat: int) -> str:
        """`You`, `East`."""
        return "You" if seat == YOU else self.others[seat - 1]

    def object(self, seat: int) -> str:
        """The name in the middle of a sentence: `you`, `East`."""
        return "you" if seat == YOU else self.name(seat)

    def does(self, seat: int, verb: str) -> str:
        """`You take`, `East takes`; `You are`, `East is`."""
        return f"{self.name(seat)} {self.form(seat, verb)}"

    def form(self, seat: int, verb: str) -> str:
        """The verb alone, as it goes with a seat; the verb is given as for `you`."""
        if seat == YOU:
            return verb
        first, _, rest = verb.partition(" ")
        irregular = {"have": "has", "are": "is", "do": "does", "go": "goes", "pass": "passes"}
        formed = irregular.get(first, f"{first}s")
        return f"{formed} {rest}" if rest else formed

    def several(self, seats: Iterable[int]) -> str:
        """`East`, `you and North`, `nobody`."""
        names = [self.object(seat) for seat in seats]
        if len(names) < 2:
            return names[0] if names else "nobody"
        return f"{', '.join(names[:-1])} and {names[-1]}"

    def team(self, number: int) -> str:
        """`you and North`."""
        return self.several(range(number, self.seats, 2))

    def round_from_left(self) -> tuple[int, ...]:
        """The seats in playing order, the person last."""
        return (*range(1, self.seats), YOU)

    def plan(self, room: int = 48) -> list[str]:
        """A small map of the table, in so many columns; it cannot be narrower than 37."""
        side = 12 if room >= 48 else 9
        middle_room = min(max(room - 2 * side, 19), 24)
        names = dict(zip(self.others, range(1, self.seats), strict=True))
        rows = (
            ("", "North", ""),
            ("Northwest", "", "Northeast"),
            ("West", "", "East"),
            ("Southwest", "", "Southeast"),
        )
        lines = []
        for left, middle, right in rows:
            if not names.keys() & {left, middle, right}:
                continue
            shown = [name if name in names else "" for name in (left, middle, right)]
            if middle in names and self.has_teams:
                shown[1] = f"{middle}, your partner"
            row = f"{shown[0]:>{side}}{shown[1]:^{middle_room}}{shown[2]:<{side}}"
            lines.append(row.rstrip())
        way = "anticlockwise" if self.game == "mus" else "clockwise"
        below = [f"{'':{side}}{words:^{middle_room}}" for words in ("You", f"(play goes {way})")]
        return [*lines, *[line.rstrip() for line in below]]
