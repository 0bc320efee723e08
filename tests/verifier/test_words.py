"""Reports are made of the catalogue's sentences and of nothing else, in each language.

That the languages say the same is for test_languages.py.
"""

import functools
import re
from pathlib import Path

import pytest

import fairdeal_verifier
from fairdeal_verifier.match import verify_match
from fairdeal_verifier.outcome import FAIL
from fairdeal_verifier.report import Style, match_to_text, to_text, verdict_of
from fairdeal_verifier.verify import verify
from fairdeal_verifier.words import LANGUAGES, Said, Words, say, words_of

PACKAGE = Path(fairdeal_verifier.__file__).parent
ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "seeds"
OTHERS = [language for language in LANGUAGES if language != "en"]


def messages(language):
    return words_of(language).messages


# Every key is said by somebody. Keys that are built of parts are listed with what builds them.

BUILT = {
    "aborted.": 'f"aborted.{',
    "call.": 'place in ("call", "lance")',
    "card.index.": 'f"card.index.{',
    "card.mark.": '_named("card.mark"',
    "card.of.": "card.of.",
    "card.rank.": "card.rank.",
    "card.suit.": '_named("card.suit"',
    "check.": 'f"check.{',
    "game.": 'f"game.{',
    "lance.": 'place in ("call", "lance")',
    "not_proved.": 'f"not_proved.{',
    "site.": 'f"site.{',
    "status.": 'f"status.{',
    "story.kozel.": 'f"story.kozel.{',
    "story.match": '("score", "match")',
    "story.score": 'f"story.{name}"',
    "story.svoi.": 'f"story.svoi.{',
    "verdict.": 'f"verdict.{',
    "why.": 'f"why.{',
}


@functools.cache
def sources():
    audit = ROOT / "verifier/fairdeal_audit"
    folders = (PACKAGE, audit, ROOT / "verifier/web/src", ROOT / "api/fairdeal_api")
    paths = [path for folder in folders for path in folder.rglob("*.*")]
    paths.append(ROOT / "verifier/web/vite.config.ts")  # what stands in the page without a script
    return "\n".join(
        path.read_text(encoding="utf-8") for path in paths if path.suffix in (".py", ".ts")
    )


def unused(keys):
    # A key may be built of its beginning and a word: `page.verdict.${word}`.
    beginnings = set(re.findall(r"[\"'`]([a-z_]+(?:\.[a-z_]+)*\.)(?:\$\{|\{|[\"'`])", sources()))
    return [
        key
        for key in keys
        if not key.startswith(tuple(BUILT))
        and not re.search(rf"[\"'`]{re.escape(key)}[\"'`]", sources())
        and not any(key.startswith(one) for one in beginnings if one.count(".") > 1)
    ]


def test_every_key_is_used():
    assert unused(messages("en")) == []
    assert unused(["report.never", "note.never"]) == ["report.never", "note.never"]


def test_what_builds_keys_is_there():
    assert [beginning for beginning, what in BUILT.items() if what not in sources()] == []


def test_every_key_that_is_said_is_there():
    text = sources()
    said = set(
        re.findall(
            r"[\"'`]((?:note|report|unreadable|page|aborted|audit)\.[a-z0-9_.]+)[\"'`]", text
        )
    )
    assert len(said) > 150
    files = {"report.json"}  # the name of a download
    assert {key for key in said - files if key not in messages("en")} == set()


# Sentences.


def test_a_sentence_is_filled_once():
    """What stands in a place is never read as a message itself."""
    words = Words(
        "en", {"a": "{x} {n, plural, one {# card} other {# cards}} '{y}'", "report.none": "none"}
    )
    assert words.say(say("a", x="{n} # {y}", n=2, y=[]), words.plain) == "{n} # {y} 2 cards 'none'"
    assert words.say(say("a", x=[1, 2], n=1, y="b"), words.plain) == "1, 2 1 card 'b'"
    assert str(say("report.seat", seat=3)) == "seat 3"


def test_a_russian_count():
    russian = Style(language="ru")
    assert [russian.say("report.match", n=n).split()[-1] for n in (1, 2, 5, 11, 21, 22)] == [
        "файл",
        "файла",
        "файлов",
        "файлов",
        "файл",
        "файла",
    ]


# Reports.

NAMES = sorted(path.name for path in SEEDS.glob("*.fair.json"))
KEY = (SEEDS / "log.vkey").read_text(encoding="utf-8").strip()
BROKEN = (b"", b"[]", b"\xff", b"[" * 99, b'{"format":"x"}', b"[[],[]", b" " * (5 * 2**20 + 1))


@functools.cache
def reports():
    files = [(SEEDS / name).read_bytes() for name in NAMES]
    return [verify(file, key=KEY) for file in files] + [
        verify(file) for file in (*files[::7], *BROKEN)
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_holds_no_key_and_no_place(language):
    for report in reports():
        text = to_text(report, Style(language=language), explain=True)
        # JSON of the result and what was compared have braces and dots of their own.
        mine = [
            line
            for line in text.splitlines()
            if not re.search(r'\{"|: \{\}', line) and not line.startswith(" " * 10)
        ]
        for line in mine:
            assert "{" not in line, line
            assert not re.search(
                r"\b(check|why|note|story|report|verdict|status|card)\.[a-z]", line
            ), line


def test_what_is_not_wrong_is_said_in_the_readers_language():
    for report in reports():
        for check in report:
            assert isinstance(check.note, str) == (check.status == FAIL or check.note == ""), check
        assert report.reason == "" or isinstance(report.reason, Said)


def english_left(text, english):
    """The English sentences that a report in another language still has."""
    return [line for line in english if len(line) > 12 and line in text]


@pytest.mark.parametrize("language", OTHERS)
def test_no_english_is_left(language):
    english = [text for text in messages("en").values() if "{" not in text]
    for report in reports():
        text = to_text(report, Style(language=language))
        # What a FAIL has found is in English, and its line says so.
        text = "\n".join(
            line
            for line in text.splitlines()
            if not any(check.status == FAIL and str(check.note) in line for check in report)
        )
        assert english_left(text, english) == []
    assert english_left(to_text(reports()[0], Style()), english)


def test_the_english_of_a_verdict_is_the_verdict():
    """VER-4: what programs and people read is the same."""
    verdicts = {str(verdict_of(report)) for report in reports()}
    assert len(verdicts) > 6
    for report in reports():
        assert str(verdict_of(report)) == report.verdict


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_match(language):
    names = ["mus-match_1.fair.json", "mus-match_2.fair.json"]
    match = verify_match([(SEEDS / name).read_bytes() for name in names], key=KEY)
    style = Style(language=language)
    text = match_to_text(match, names, style, explain=False)
    assert style.say("report.match", n=2) in text
    assert style.say("note.match", first=1, last=2) in text
    assert "{" not in text


def test_cards_and_calls_are_those_of_the_language():
    russian, spanish = Style(language="ru"), Style(language="es")
    assert russian.card("QH") == "Д♥"
    assert russian.card("10S") == "10♠"
    assert spanish.card("12o") == "12o"
    assert Style(symbols=False, language="ru").card("QH") == "QH"
    assert spanish.say("story.says", seat=1, call="no_mus") == "el asiento 1 dice no hay mus"
    assert spanish.say("story.says", seat=1, call="stranger") == "el asiento 1 dice stranger"
