"""Each game on one page, short enough for a terminal of 24 lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from fairdeal.games import game_named, rules_of

HOW_TO: Final = """\
Type a number of the list, or the move itself: cards as “9H 10H” (C clubs, D
diamonds, H hearts, S spades; in Mus “12o 4c”: o oros, c copas, e espadas, b
bastos), or words as “raise 5”, “take”.
  ?  this page    log  the last events    q  leave    Enter  the table again
"""

PAGES: Final = {
    "kozel": """\
KOZEL. You and North play against East and West. 36 cards, four in a hand,
trumps.
Ranks, low to high: 6 7 8 9 J Q K 10 A. Points: J 2, Q 3, K 4, 10 10, A 11;
120 in all.
Who leads shows one or more cards of ONE suit. Each other seat lays as many
cards: it beats the best ones, card for card, by a higher card of the suit
or by a trump, or it throws any cards face down. Nobody has to beat, nobody
has to follow suit.
The best cards take the trick; all draw up to four, the taker first, and the
taker leads.
With four cards of one suit one may PULL a trick, also when not on turn: the
cards in it go back, and the four lead. Not against four cards led.
At the end the cards thrown are turned up. A team with less than 60 points
gets 2 defeat points, with 30 or less 4, without a trick 6. Who first has 12
has lost: the goats.
""",
    "mus": """\
MUS. You and North against East and West; 40 points win. Threes are kings
(12), twos are aces (1).
Mano speaks first. All say mus: everybody throws 1 to 4 cards and gets new
ones. One says no mus: the bets begin, lance after lance:
  grande  the highest cards        chica  the lowest cards
  pares   pair < three alike < two pairs (only who has them)
  juego   31 or more: 31, 32, 40, 37, 36, 35, 34, 33 (only who has it);
          if nobody has: punto, the highest sum. Figures count 10.
paso: no bet. envido: bet (2 or more). The other side says quiero (accepts),
no quiero (refuses: one point, or what the bet was before the raise),
raises, or órdago (the whole game).
Accepted bets are counted at the end, when all show; equal hands: who is
nearer to mano. Passed grande, chica, punto: 1 point. Pares and juego give
points of their own.
""",
    "azi": """\
AZI. Everybody pays 10 into the bank and gets three cards; a card is turned
for trumps.
Bidding: bet, then call, raise or fold. Who bid highest leads.
Three tricks: follow suit; if you cannot, play a trump; else any card. The
highest trump takes, or the highest card of the suit led. Ranks: 6 7 8 9 10
J Q K A. If an ace was turned, the six of trumps is the highest card of all.
Two tricks win the bank. If three seats take one each it is AZI: nobody
wins, the bank is carried over, and all pay again.
Who has too few chips for a bid goes all in, and can win only as much from
each as it has paid itself. Who has all the chips at the end has won the
match.
""",
    "svoi": """\
SVOI KOZYRI, “each its own trumps”. Two seats, 18 cards each; each has
trumps of its own, and each knows all cards. Who is rid of all cards first
has won.
The pile lies open. On an empty pile you lead one card. Otherwise you beat
its top, by a higher card of its suit or by one of YOUR trumps, and lay any
other card on top: that is what the other must beat. (A single last card may
go alone.)
Who cannot beat, or does not want to, takes: three cards from the top, five
if the top is a trump of the taker's, all if it is the ace of these. Then
the other plays on.
Ranks, low to high: 6 7 8 9 10 J Q K A. If the other's only card left would
beat the top as well, the hand is a draw.
""",
}


def page(game: str, ruleset: Mapping[str, Any]) -> str:
    """The rules of a game, what is otherwise at this table, and how to type."""
    kind = game_named(game)
    usual = kind.ruleset({}, play=rules_of(kind).options)
    # As JSON has them, as --rule and the API take them.
    other = [
        f"{name}={json.dumps(value).strip(chr(34))}"
        for name, value in sorted(ruleset.items())
        if value != usual[name]
    ]
    differs = f"At this table it is otherwise: {', '.join(other)}.\n" if other else ""
    return f"{PAGES[game]}{differs}\n{HOW_TO}"
