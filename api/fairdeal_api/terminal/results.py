"""The result of a hand, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fairdeal.hand import Hand
from fairdeal_api.terminal.lines import Part
from fairdeal_api.terminal.screen import TableScreen
from fairdeal_api.terminal.seating import YOU, Company

Json = Mapping[str, Any]


def tell(screen: TableScreen, company: Company, hand: Hand) -> None:
    """What a closed hand gave, and how the match stands."""
    if hand.result is not None:
        screen.blank()
        screen.line((f"Hand {hand.number} is over", "bold"))
        _GAMES[company.game](screen, company, hand, hand.result)


def brief(game: str, result: Json) -> str:
    """The same in one line, with numbers for seats and teams."""
    score, match = result["score"], result["match"]
    return _BRIEF[game](score, match)


def winners(company: Company, result: Json) -> str:
    """Who has won the match, as the beginning of a sentence; empty if nobody has."""
    winner = result["winner"]
    if winner is None:
        return ""
    if company.has_teams:
        return f"{_capital(company.team(winner))} have won the match."
    return f"{company.does(winner, 'have')} won the match."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- Kozel --------------------------------------------------------------------------------------


def _kozel(screen: TableScreen, company: Company, hand: Hand, result: Json) -> None:
    score, match = result["score"], result["match"]
    for team in range(2):
        tricks = score["tricks"][team]
        screen.line(
            f"{_capital(company.team(team))}: {score['points'][team]} card points in "
            f"{'1 trick' if tricks == 1 else f'{tricks} tricks'}"
        )
    lost = [team for team in range(2) if score["penalty"][team]]
    if lost:
        screen.line(
            f"{_capital(company.team(lost[0]))} get {score['penalty'][lost[0]]} defeat points."
        )
    else:
        screen.line("60 to 60: eggs. Nobody gets defeat points.")
    target = hand.table.ruleset["target"]
    screen.line(
        ("Match  ", "dim"),
        f"defeat points: {company.team(0)} {match['defeat'][0]}, "
        f"{company.team(1)} {match['defeat'][1]} of {target}",
    )
    if match["doubled"]:
        screen.line("The next hand counts double.")
    if result["winner"] is not None:
        eggs = ", with eggs" if match["eggs"] else ""
        screen.line(f"{_capital(company.team(1 - result['winner']))} are the goats{eggs}.")


def _brief_kozel(score: Json, match: Json) -> str:
    points, defeat = score["points"], match["defeat"]
    return f"card points {points[0]:>3} :{points[1]:>3}   defeat points {defeat[0]} : {defeat[1]}"


# --- Mus ----------------------------------------------------------------------------------------


def _mus(screen: TableScreen, company: Company, hand: Hand, result: Json) -> None:
    score, match = result["score"], result["match"]
    words = {
        "paso": "passed",
        "accepted": "bet accepted",
        "refused": "bet refused",
        "ordago": "órdago accepted",
        "uncontested": "one side only",
    }
    rows: list[list[Part]] = []
    for lance in ("grande", "chica", "pares", "juego", "punto"):
        over = score["lances"][lance]
        if over is None:
            continue
        points = over["stake"] + over["bonus"]
        best = "" if over["seat"] is None else f"best hand: {company.object(over['seat'])}"
        whose = "" if over["team"] is None else company.team(over["team"])
        if over["team"] is None:
            best = "not counted"
        how = words[over["end"]]
        rows.append([lance, how, str(points) if whose else "", whose, best])
    screen.table(["", "", "points", "for", ""], rows)
    target = hand.table.ruleset["target"]
    before = (hand.match or {})["games"]
    won = [team for team in range(2) if match["games"][team] > before[team]]
    gained = f"This hand: {company.team(0)} {score['points'][0]}, "
    screen.line(f"{gained}{company.team(1)} {score['points'][1]} points.")
    if won:
        screen.line(f"{_capital(company.team(won[0]))} have won the game.")
    if result["winner"] is None or not won:
        screen.line(
            ("Game  ", "dim"),
            f"{company.team(0)} {match['score'][0]}, {company.team(1)} {match['score'][1]} "
            f"of {target}",
        )


def _brief_mus(score: Json, match: Json) -> str:
    points, total = score["points"], match["score"]
    return f"points {points[0]:>2} :{points[1]:>3}   score {total[0]:>2} :{total[1]:>3}"


# --- Azi ----------------------------------------------------------------------------------------


def _azi(screen: TableScreen, company: Company, hand: Hand, result: Json) -> None:  # noqa: ARG001
    score, match = result["score"], result["match"]
    if score["azi"]:
        screen.line(f"Azi: nobody has two tricks. The bank of {match['bank']} is carried over.")
        screen.line(f"Next play: {company.several(match['players'])}.")
    else:
        winner = score["winner"]
        how = "all others folded" if score["leader"] is None else "two tricks"
        paid = score["paid"].get(str(winner), 0)
        screen.line(
            f"{company.does(winner, 'take')} {paid} of the bank of {score['bank']} ({how})."
        )
        back = {seat: chips for seat, chips in score["paid"].items() if int(seat) != winner}
        if back:
            told = [f"{company.object(int(seat))} {chips}" for seat, chips in back.items()]
            screen.line(f"Back to: {', '.join(told)} (the winner was all in).")
    stacks = [
        f"{company.object(seat)} {match['stacks'][seat]}"
        for seat in (YOU, *range(1, company.seats))
    ]
    screen.tell("Chips", ", ".join(stacks))


def _brief_azi(score: Json, match: Json) -> str:
    who = "azi" if score["azi"] else f"seat {score['winner']} wins {score['bank']}"
    return f"{who:<20} chips {' '.join(str(chips) for chips in match['stacks'])}"


# --- Svoi Kozyri --------------------------------------------------------------------------------


def _svoi(screen: TableScreen, company: Company, hand: Hand, result: Json) -> None:  # noqa: ARG001
    score, match = result["score"], result["match"]
    reasons = {
        "last_card": "the other's last card beats the top as well",
        "repetition": "the same position for the third time",
        "limit": "a thousand moves",
    }
    winner = score["winner"]
    if score["draw"]:
        screen.line(f"A draw: {reasons[score['reason']]}.")
    else:
        other = 1 - winner
        left = score["left"][other]
        cards = "1 card" if left == 1 else f"{left} cards"
        screen.line(
            f"{company.does(winner, 'are')} out and {company.form(winner, 'have')} won the hand; "
            f"{company.object(other)} still {company.form(other, 'hold')} {cards}."
        )
    wins = match["wins"]
    screen.line(
        ("Match  ", "dim"),
        f"hands won: you {wins[0]}, {company.name(1)} {wins[1]}; drawn: {match['draws']}",
    )


def _brief_svoi(score: Json, match: Json) -> str:
    who = "a draw" if score["draw"] else f"seat {score['winner']} is out"
    return f"{who:<16} hands won {match['wins'][0]} : {match['wins'][1]}"


_GAMES: Final[dict[str, Callable[[TableScreen, Company, Hand, Json], None]]] = {
    "kozel": _kozel,
    "mus": _mus,
    "azi": _azi,
    "svoi": _svoi,
}
_BRIEF: Final[dict[str, Callable[[Json, Json], str]]] = {
    "kozel": _brief_kozel,
    "mus": _brief_mus,
    "azi": _brief_azi,
    "svoi": _brief_svoi,
}
