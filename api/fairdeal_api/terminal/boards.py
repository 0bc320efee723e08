"""The table before a person's move: who sits where, what lies there, how things stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rich.text import Text

from fairdeal.cards import Card, french_deck, rank_of
from fairdeal.games.rules import mus
from fairdeal.hand import Hand
from fairdeal_api.board import is_beat, trump_of
from fairdeal_api.terminal.lines import Part
from fairdeal_api.terminal.screen import SPANISH_RANKS, TableScreen
from fairdeal_api.terminal.seating import TITLES, YOU, Company

Json = dict[str, Any]

_PILE: Final = 12
"""How much of the pile is shown."""


class Situation(NamedTuple):
    """What the person sees when it may move."""

    hand: Hand
    """What its own copy of the chain tells."""
    play: Json
    """The `play` of the hand's public state."""
    turn: Sequence[int]
    cards: tuple[Card, ...]
    """Its own cards."""
    declared: Mapping[str, Sequence[int]]
    """Mus: which seats have said that they have pares, juego."""


def draw(screen: TableScreen, company: Company, now: Situation) -> None:
    """The whole table, and below it the person's own cards."""
    _GAMES[company.game](screen, company, now)


def _name(company: Company, seat: int, turn: Sequence[int], mark: str = "") -> Part:
    """A seat in the first column, with a mark when it is on turn."""
    name = company.name(seat)
    if company.has_teams and seat == YOU + 2:
        name += " (partner)"
    arrow = "> " if seat in turn else "  "
    return Text.assemble((arrow, "bold"), (name, "bold" if seat == YOU else ""), mark)


def _cards_of(count: int) -> str:
    return "1 card" if count == 1 else f"{count} cards"


def _title(company: Company, now: Situation) -> Text:
    return Text(f"{TITLES[company.game]}, hand {now.hand.number}", style="bold")


# --- Kozel --------------------------------------------------------------------------------------


def _kozel(screen: TableScreen, company: Company, now: Situation) -> None:
    hand, play = now.hand, now.play
    layout = hand.playing
    trump: list[Part] = ["trumps ", screen.suit_in_words(play["trump"])]
    if hand.dealt is not None and hand.dealt.indicator is not None:
        trump += [" (", screen.card(hand.dealt.indicator), ")"]
    screen.head(_title(company, now), Text.assemble(*trump, f", stock {len(layout.stock)}"))
    laid = {one["seat"]: one for one in play["table"]}
    threw = _threw(play)
    rows: list[list[Part]] = []
    for seat in company.round_from_left():
        shown: Part = ""
        note = ""
        if seat in laid:
            shown = _laid(screen, laid[seat])
            opened = "pulled" if play["pulled"] else "led"
            note = opened if seat == play["opener"] else "threw" if seat in threw else "beat"
            note += ", best so far" if seat == play["taker"] else ""
        elif seat == play["leader"] and not laid:
            note = "to lead"
        count = _cards_of(layout.count(seat))
        rows.append([_name(company, seat, now.turn), (count, "dim"), shown, note])
    screen.table(["", "holds", "on the table", ""], rows)
    screen.line(("Tricks   ", "dim"), _by_team(company, play["tricks"]))
    match = hand.match or {}
    target = hand.table.ruleset["target"]
    double = ", this hand counts double" if match.get("doubled") else ""
    screen.line(
        ("Defeat   ", "dim"),
        _by_team(company, match.get("defeat", (0, 0))),
        f" of {target}{double}",
    )
    screen.hand(now.cards)


def _threw(play: Json) -> set[int]:
    """Who has answered in this trick and not beaten, face down or open. Spec: KOZ-11."""
    found: set[int] = set()
    best: list[str] = []
    for one in play["table"]:
        if one["down"] or (best and not is_beat(one["cards"], best, play["trump"])):
            found.add(one["seat"])
        else:
            best = one["cards"]
    return found


def _laid(screen: TableScreen, laid: Json) -> Text:
    if laid["down"]:
        return screen.backs(laid["down"])
    return screen.cards([Card(card) for card in laid["cards"]])


def _by_team(company: Company, numbers: Sequence[int]) -> str:
    return f"{company.team(0)} {numbers[0]}, {company.team(1)} {numbers[1]}"


# --- Mus ----------------------------------------------------------------------------------------


def _mus(screen: TableScreen, company: Company, now: Situation) -> None:
    hand, play = now.hand, now.play
    target = hand.table.ruleset["target"]
    score = f"you {play['score'][0]}, they {play['score'][1]} of {target}"
    if hand.table.ruleset["games"] != 1:
        score += f"; games {play['games'][0]}:{play['games'][1]}"
    screen.head(_title(company, now), score)
    rows: list[list[Part]] = []
    bet = play["bet"]
    for seat in company.round_from_left():
        notes = ["mano"] if seat == play["mano"] else []
        notes += [what for what, seats in now.declared.items() if seat in seats]
        rows.append([_name(company, seat, now.turn), ", ".join(notes)])
    screen.table(["", ""], rows)
    screen.line(("Stock  ", "dim"), f"{len(hand.playing.stock)} cards")
    if play["lances"]:
        told = [f"{over['lance']} {_ended(company, over)}" for over in play["lances"]]
        screen.tell("Lances", ", ".join(told))
    if play["stage"] == "bet":
        words = "no bet yet"
        if bet is not None and bet["ordago"]:
            words = f"órdago by {company.team(bet['team'])}: the whole game"
        elif bet is not None:
            words = f"{company.team(bet['team'])} have bet {bet['level']}"
            words += f" (refusing gives them {max(bet['agreed'], 1)})"
        screen.line((f"{play['lance'].capitalize()}: ", "bold"), words)
    elif play["stage"] == "throw":
        screen.line("All said mus: throw 1 to 4 cards.")
    elif play["stage"] == "talk":
        screen.line("Talk: if all say mus, cards are changed; no mus begins the bets.")
    screen.hand(now.cards)
    screen.line((worth(now.cards, int(hand.table.ruleset["kings"])), "italic"))


def _ended(company: Company, over: Json) -> str:
    match over["end"]:
        case "refused":
            return f"refused, point to {company.team(over['team'])}"
        case "accepted":
            return f"at {over['level']}"
        case "paso":
            return "passed"
    return str(over["end"])


def worth(cards: Sequence[Card], kings: int) -> str:
    """What a hand of Mus is good for, in words."""
    hand = tuple(cards)
    if len(hand) != 4:
        return ""
    figure = mus.pares(hand, kings)
    names = {1: "a pair", 2: "three alike (medias)", 3: "two pairs (duples)"}
    of = f" of {SPANISH_RANKS[str(figure[1])]}" if figure and figure[0] < 3 else ""
    pares = f"{names[figure[0]]}{of}" if figure else "no pares"
    total = mus.total(hand, kings)
    juego = f"juego {total}" if total > 30 else f"no juego, {total} for punto"
    counted = {"2": "dos counts as as", "3": "tres counts as rey"} if kings == 8 else {}
    ranks = {rank_of(card) for card in cards}
    swapped = "".join([f"; {words}" for rank, words in counted.items() if rank in ranks])
    return f"You have {pares}; {juego}{swapped}."


# --- Azi ----------------------------------------------------------------------------------------


def _azi(screen: TableScreen, company: Company, now: Situation) -> None:
    hand, play = now.hand, now.play
    turned = hand.dealt.shown[0].card if hand.dealt else None
    right: list[Part] = ["trumps ", screen.suit_in_words(play["trump"])]
    if turned is not None:
        right += [" (", screen.card(turned), ")"]
    screen.head(_title(company, now), Text.assemble(*right, f", bank {play['bank']}"))
    laid = {one["seat"]: one for one in play["table"]}
    rows: list[list[Part]] = []
    for seat in company.round_from_left():
        notes = []
        if seat not in play["players"]:
            notes = ["not in this hand"]
        elif seat in play["folded"]:
            notes = ["folded"]
        elif seat in play["short"]:
            notes = ["all in"]
        if hand.table.ruleset["blind"] and seat in play["looked"]:
            notes.append("has looked")
        if seat == play["leader"]:
            notes.append("leads the hand")
        won = play["tricks"].count(seat)
        rows.append(
            [
                _name(company, seat, now.turn),
                str(play["stacks"][seat]),
                str(play["bids"][seat] or ""),
                _laid(screen, laid[seat]) if seat in laid else "",
                str(won or ""),
                ", ".join(notes),
            ]
        )
    screen.table(["", "chips", "bid", "on the table", "tricks", ""], rows)
    if play["six_on_stage"]:
        screen.line("An ace was turned: the six of trumps is the highest card.")
    if play["part"] == "buying":
        screen.line(f"Azi: nobody has two tricks. Coming back costs {play['price']}.")
    screen.hand(now.cards, trump=play["trump"])


# --- Svoi Kozyri --------------------------------------------------------------------------------


def _svoi(screen: TableScreen, company: Company, now: Situation) -> None:
    hand, play = now.hand, now.play
    other = company.name(1)
    mine, theirs = trump_of(play, YOU), trump_of(play, 1)
    screen.head(
        _title(company, now),
        Text.assemble("your trumps ", screen.suit_in_words(mine), f", {other}'s ")
        + screen.suit_in_words(theirs),
    )
    pile = [Card(card) for card in play["pile"]]
    left = set(french_deck()) - set(now.cards) - set(pile)
    screen.line(
        (f"{other} holds {_cards_of(hand.playing.count(1))}", "bold"),
        (" (all cards are known in this game)", "dim"),
    )
    screen.rows(left, trump=theirs)
    if pile:
        shown = pile[-_PILE:]
        more = "... " if len(pile) > len(shown) else ""
        screen.line(
            (f"Pile of {len(pile)}: ", "bold"),
            more,
            screen.cards(shown, keep=True),
            (" < top", "dim"),
            f"; who takes: you {play['take'][YOU]}, {other} {play['take'][1]}",
        )
    else:
        screen.line(("The pile is empty.", "bold"))
    screen.line((f"You hold {_cards_of(len(now.cards))}", "bold"))
    screen.rows(now.cards, trump=mine)


_GAMES: Final[dict[str, Callable[[TableScreen, Company, Situation], None]]] = {
    "kozel": _kozel,
    "mus": _mus,
    "azi": _azi,
    "svoi": _svoi,
}
