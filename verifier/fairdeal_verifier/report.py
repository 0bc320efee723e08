"""Shows a report: in words, with an explanation, with every draw, or as JSON.

Spec: VER-5, VER-6
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairdeal_verifier.match import MatchReport
from fairdeal_verifier.outcome import FAIL, Check, Hand, Report, Trace, check_to_json
from fairdeal_verifier.texts import NOT_PROVED, PREFIXES, STATUS_WORDS, reason, sentence

_SUIT_SYMBOLS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_SUIT_WORDS = {
    "C": "clubs",
    "D": "diamonds",
    "H": "hearts",
    "S": "spades",
}
_COLOURS = {
    "VERIFIED": "32",
    "PASS": "32",
    "FAILED": "31",
    "FAIL": "31",
    "INCOMPLETE": "33",
    "CONSISTENT": "33",
    "SKIP": "33",
    "UNREADABLE": "31",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: with colours or without, with suit symbols or letters."""

    colour: bool = False
    symbols: bool = True

    def word(self, text: str, width: int = 0) -> str:
        """Writes a status or verdict; the colour says nothing that the word does not."""
        code = _COLOURS.get(text.partition(" ")[0].rstrip(","))
        padded = text.ljust(width)
        return f"\x1b[{code}m{padded}\x1b[0m" if self.colour and code else padded

    def card(self, card: str) -> str:
        """Writes a card. Spanish suits have no symbols, so they keep their letters."""
        symbol = _SUIT_SYMBOLS.get(card[-1:])
        return card[:-1] + symbol if symbol and self.symbols else card

    def suit(self, suit: str) -> str:
        """Writes a suit."""
        return _SUIT_SYMBOLS.get(suit, suit) if self.symbols else _SUIT_WORDS.get(suit, suit)


def to_json(report: Report) -> str:
    """Writes the report as one JSON object; report.schema.json describes it."""
    return json.dumps(report.to_json(), ensure_ascii=False, indent=2)


def to_text(report: Report, style: Style, *, explain: bool = False) -> str:
    """Writes the report in words."""
    return "\n".join(_lines(report, style, explain=explain)) + "\n"


def match_to_json(match: MatchReport, names: Sequence[str]) -> str:
    """Writes the report of a match as one JSON object; match.schema.json describes it."""
    value = {
        "format": "fairdeal-match-report/1",
        "verdict": match.verdict,
        "exit": match.exit,
        "failed": match.failed,
        "check": check_to_json(match.check),
        "files": [
            {"file": name, "report": report.to_json()}
            for name, report in zip(names, match.reports, strict=True)
        ],
        "not_proved": list(NOT_PROVED),
    }
    return json.dumps(value, ensure_ascii=False, indent=2)


def match_to_text(match: MatchReport, names: Sequence[str], style: Style, *, explain: bool) -> str:
    """Writes the report of a match: a line for each file, or all of it if it is to explain."""
    return "\n".join(_match_lines(match, names, style, explain=explain)) + "\n"


def _match_lines(
    match: MatchReport, names: Sequence[str], style: Style, *, explain: bool
) -> Iterator[str]:
    yield f"{style.word(match.verdict)}  match, {len(names)} files"
    if match.check.status == FAIL:
        yield f"{style.word(FAIL)} match  {match.check.note}"
    for name, report in zip(names, match.reports, strict=True):
        if explain or report.trace:
            yield f"{name}:"
            yield from _lines(report, style, explain=explain)
            continue
        line = f"  {style.word(report.verdict)}  "
        line += f"hand {report.hand.number}  {name}" if report.hand else name
        if report.failed:
            note = next(check.note for check in report.checks if check.id == report.failed)
            line += f"  {FAIL} {report.failed}: {note}"
        yield f"{line}  {report.reason}" if report.reason else line
    yield from _check(match.check, style, explain=explain)
    yield "A pass does not prove:"
    for line in NOT_PROVED:
        yield f"  - {line}"


def _lines(report: Report, style: Style, *, explain: bool) -> Iterator[str]:
    hand = report.hand
    title = ""
    if hand is not None:
        title = f"  hand {hand.number} of {hand.table} · {hand.game_name}, {hand.cards} cards"
    yield style.word(report.verdict) + title
    if report.reason:
        yield f"  {report.reason}"
    for check in report.checks:
        if check.id == report.failed:
            yield f"{style.word(FAIL)} {check.id}  {check.note}"
    if hand is not None:
        yield from _cards(hand, style)
    for check in report.checks:
        yield from _check(check, style, explain=explain)
    if explain and report.story:
        yield "  The play"
        yield from (f"    {line}" for line in report.story)
    for trace in report.trace:
        yield from _trace(trace, style)
    if report.checks:
        yield _counts(report)
    yield "A pass does not prove:"
    for line in NOT_PROVED:
        yield f"  - {line}"


def _cards(hand: Hand, style: Style) -> Iterator[str]:
    def written(cards: tuple[str, ...]) -> str:
        return " ".join(style.card(card) for card in cards)

    for seat in range(hand.seats):
        nothing = "cards not disclosed" if seat in hand.dealt else "no cards dealt"
        line = f"  seat {seat}  {written(hand.dealt.get(seat, ())) or nothing}"
        if hand.drawn.get(seat):
            line += f"  then {written(hand.drawn[seat])}"
        if seat in hand.trumps:
            line += f"  trump {style.suit(hand.trumps[seat])}"
        if seat == hand.first:
            line += "  (first)"
        yield line
    if hand.turned:
        yield f"  turned  {style.card(hand.turned)}"


def _check(check: Check, style: Style, *, explain: bool) -> Iterator[str]:
    # The sentence says what a pass means, so without a pass it must not stand alone.
    line = f"  {style.word(check.status, 4)}  {check.id:<18}  "
    line += PREFIXES[check.status] + sentence(check.id)
    yield f"{line} ({check.note})" if check.note else line
    if explain:
        yield f"          why: {reason(check.id)}"
        if check.values:
            yield f"          compared: {check.values}"


def _trace(trace: Trace, style: Style) -> Iterator[str]:
    yield f"  Shuffle of epoch {trace.epoch}, {len(trace.cards)} cards"
    order = list(trace.cards)
    for step, draw in enumerate(trace.draws, 1):
        *refused, byte = draw.taken
        a, b = style.card(order[draw.i]), style.card(order[draw.j])
        order[draw.i], order[draw.j] = order[draw.j], order[draw.i]
        line = f"    step {step}: below {draw.i + 1}, byte {byte} gives {draw.j}"
        if refused:
            line += f", refused {' '.join(map(str, refused))}"
        yield f"{line}; swap {draw.i} and {draw.j}: {a}, {b}"
    yield "    order, top first: " + " ".join(style.card(card) for card in trace.order)


def _counts(report: Report) -> str:
    counts = dict.fromkeys(STATUS_WORDS, 0)
    for check in report.checks:
        counts[check.status] += 1
    words = ", ".join(f"{counts[status]} {word}" for status, word in STATUS_WORDS.items())
    return f"{len(report.checks)} checks: {words}"
