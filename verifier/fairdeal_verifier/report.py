"""Shows a report: in words, with an explanation, with every draw, or as JSON.

The words are of one language, but for what a FAIL has found and what was compared: these stay in
English, for whoever the player shows them to. That two files were mixed up is for the player, and
in the player's language. JSON is for programs and is English throughout.

Spec: VER-5, VER-6
"""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fairdeal_verifier.match import MatchReport
from fairdeal_verifier.outcome import (
    FAIL,
    NOT_APPLICABLE,
    PASS,
    SKIP,
    VERIFIED,
    Check,
    Hand,
    Report,
    Trace,
    check_to_json,
)
from fairdeal_verifier.texts import NOT_PROVED, reason, sentence
from fairdeal_verifier.words import Said, Value, Words, say, words_of

_SUIT_SYMBOLS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_STATUSES = {PASS: "pass", FAIL: "fail", SKIP: "skip", NOT_APPLICABLE: "na"}
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
    """How to write: with colours or without, with suit symbols or letters, in which language."""

    colour: bool = False
    symbols: bool = True
    language: str = "en"

    @property
    def words(self) -> Words:
        """The messages of the language."""
        return words_of(self.language)

    def text(self, said: Said | str) -> str:
        """Writes a sentence of the catalogue; other text is as it is."""
        return said if isinstance(said, str) else self.words.say(said, self._draw)

    def say(self, key: str, **values: Value) -> str:
        """Writes a sentence of the catalogue."""
        return self.text(say(key, **values))

    def verdict(self, report: Report | MatchReport) -> str:
        """Writes a verdict."""
        return self._paint(self.text(verdict_of(report)), _first_word(report.verdict))

    def status(self, status: str, *, is_padded: bool = False) -> str:
        """Writes the status of a check, if wanted as wide as the widest."""
        words = {one: self.say(f"status.{key}") for one, key in _STATUSES.items()}
        width = max(map(_width, words.values())) if is_padded else 0
        word = words[status]
        return self._paint(word + " " * (width - _width(word)), status)

    def _paint(self, text: str, meaning: str) -> str:
        """Colours a word; the colour says nothing that the word does not."""
        code = _COLOURS.get(meaning)
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text

    def card(self, card: str) -> str:
        """Writes a card. Spanish suits have no symbols, so they have letters of the language."""
        rank, suit = card[:-1], card[-1:]
        if not self.symbols:
            return card
        mark = _SUIT_SYMBOLS.get(suit) or self._named("card.mark", suit)
        return self.words.messages.get(f"card.index.{rank}", rank) + mark

    def cards(self, cards: Iterable[str]) -> str:
        """Writes cards."""
        return " ".join(map(self.card, cards))

    def _suit(self, suit: str) -> str:
        symbol = _SUIT_SYMBOLS.get(suit) if self.symbols else None
        return symbol or self._named("card.suit", suit)

    def _named(self, family: str, name: str) -> str:
        """Gives the language's word for a name in the log; a stranger's name stays as it is."""
        return self.words.messages.get(f"{family}.{name}", name)

    def _draw(self, place: str, value: Value) -> str:
        if place in ("card", "cards"):
            return self.cards((str(value),) if isinstance(value, int | str) else map(str, value))
        if place == "suit":
            return self._suit(str(value))
        if place in ("call", "lance"):
            return self._named(place, str(value))
        return self.words.plain(place, value)


def _width(text: str) -> int:
    """Gives the columns that a text takes on a terminal; marks stand above or below a letter."""
    return sum(unicodedata.category(one) != "Mn" for one in text)


def _first_word(verdict: str) -> str:
    return verdict.partition(" ")[0].rstrip(",")


def verdict_of(report: Report | MatchReport) -> Said:
    """Gives the sentence of a verdict; in plain English it is the verdict itself. Spec: VER-4."""
    word = _first_word(report.verdict)
    hand = report.hand if isinstance(report, Report) else None
    if word != VERIFIED or hand is None or not hand.aborted:
        return say(f"verdict.{word.lower()}")
    if not hand.missing:
        return say("verdict.aborted_nobody", reason=hand.aborted)
    return say("verdict.aborted", reason=hand.aborted, seats=hand.missing)


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
        "not_proved": list(map(str, NOT_PROVED)),
    }
    return json.dumps(value, ensure_ascii=False, indent=2)


def match_to_text(match: MatchReport, names: Sequence[str], style: Style, *, explain: bool) -> str:
    """Writes the report of a match: a line for each file, or all of it if it is to explain."""
    return "\n".join(_match_lines(match, names, style, explain=explain)) + "\n"


def _match_lines(
    match: MatchReport, names: Sequence[str], style: Style, *, explain: bool
) -> Iterator[str]:
    yield f"{style.verdict(match)}  {style.say('report.match', n=len(names))}"
    if match.check.status == FAIL:
        yield _fault(match.check, style)
    for name, report in zip(names, match.reports, strict=True):
        if explain or report.trace:
            yield f"{name}:"
            yield from _lines(report, style, explain=explain)
            continue
        line = f"  {style.verdict(report)}  "
        if report.hand:
            line += f"{style.say('report.match_hand', hand=report.hand.number)}  "
        line += name
        for check in report.checks:
            if check.id == report.failed:
                line += f"  {_fault(check, style)}"
        yield f"{line}  {style.text(report.reason)}" if report.reason else line
    yield from _check(match.check, style, explain=explain)
    yield from _not_proved(style)


def _lines(report: Report, style: Style, *, explain: bool) -> Iterator[str]:
    hand = report.hand
    title = style.verdict(report)
    if hand is not None:
        game = style.say(f"game.{hand.game}")
        title += "  " + style.say(
            "report.hand", hand=hand.number, table=hand.table, game=game, n=hand.cards
        )
    yield title
    if report.reason:
        yield f"  {style.text(report.reason)}"
    for check in report.checks:
        if check.id == report.failed:
            yield _fault(check, style)
    if hand is not None:
        yield from _cards(hand, style)
    for check in report.checks:
        yield from _check(check, style, explain=explain)
    if explain and report.story:
        yield f"  {style.say('report.play')}"
        for told in report.story:
            yield f"    {'  ' * told.is_indented}{style.text(told.said)}"
    for trace in report.trace:
        yield from _trace(trace, style)
    if report.checks:
        yield _counts(report, style)
    yield from _not_proved(style)


def _cards(hand: Hand, style: Style) -> Iterator[str]:
    if hand.aborted:
        why = style.say(f"aborted.{hand.aborted}")
        yield f"  {style.say('report.ended_early', reason=why)}"
    for seat in range(hand.seats):
        line = f"  {style.say('report.seat', seat=seat)}  "
        if hand.dealt.get(seat):
            line += style.cards(hand.dealt[seat])
        else:
            line += style.say("report.hidden" if seat in hand.dealt else "report.no_cards")
        if hand.drawn.get(seat):
            line += "  " + style.say("report.then", cards=hand.drawn[seat])
        if seat in hand.trumps:
            line += "  " + style.say("report.trump", suit=hand.trumps[seat])
        if seat == hand.first:
            line += f"  ({style.say('report.first')})"
        yield line
    if hand.turned:
        yield f"  {style.say('report.turned', card=hand.turned)}"


def _fault(check: Check, style: Style) -> str:
    return f"{style.status(FAIL)} {check.id}  {_detail(check, style)}"


def _detail(check: Check, style: Style) -> str:
    """Writes what a check adds to its sentence; of a FAIL mostly English, whatever the language."""
    if check.status == FAIL and isinstance(check.note, str):
        return style.say("report.fault", fault=check.note)
    return style.text(check.note)


def _check(check: Check, style: Style, *, explain: bool) -> Iterator[str]:
    # The sentence says what a pass means, so without a pass it must not stand alone.
    line = f"  {style.status(check.status, is_padded=True)}  {check.id:<18}  "
    key = f"status.{_STATUSES[check.status]}.sentence"
    line += style.say(key, sentence=style.text(sentence(check.id)))
    yield f"{line} ({_detail(check, style)})" if check.note else line
    if explain:
        yield f"          {style.say('report.why', reason=style.text(reason(check.id)))}"
        if check.values:
            yield f"          {style.say('report.compared', values=check.values)}"


def _trace(trace: Trace, style: Style) -> Iterator[str]:
    yield f"  {style.say('report.shuffle', epoch=trace.epoch, n=len(trace.cards))}"
    order = list(trace.cards)
    for step, draw in enumerate(trace.draws, 1):
        *refused, byte = draw.taken
        a, b = style.card(order[draw.i]), style.card(order[draw.j])
        order[draw.i], order[draw.j] = order[draw.j], order[draw.i]
        key = "report.step_refused" if refused else "report.step"
        line = style.say(
            key, step=step, n=draw.i + 1, byte=byte, bytes=refused, i=draw.i, j=draw.j, a=a, b=b
        )
        yield f"    {line}"
    yield f"    {style.say('report.order', cards=trace.order)}"


def _counts(report: Report, style: Style) -> str:
    counts: dict[str, Value] = dict.fromkeys(_STATUSES.values(), 0)
    for status, key in _STATUSES.items():
        counts[key] = sum(check.status == status for check in report.checks)
    return style.say("report.checks", n=len(report.checks), **counts)


def _not_proved(style: Style) -> Iterator[str]:
    yield style.say("report.not_proved")
    for line in NOT_PROVED:
        yield f"  - {style.text(line)}"
