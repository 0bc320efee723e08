"""What the auditor says is said in each language; what it has found, and JSON, stay in English."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairdeal_verifier.words import LANGUAGES, words_of
from seeds.local import Book
from tests.audit.cheats import cheated
from tests.audit.rotated import thrice
from tests.audit.test_continued import ended, fetched, successor

STRANGER = str(Book("other.example/log").key.verifier)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    """A log that was rotated, one that continues another, and one with a finding."""
    from fairdeal_audit.command import main  # noqa: PLC0415 - as the fixture `run`, for a module

    def run(*arguments):
        return main([str(one) for one in (*arguments, "--quiet")]), None

    folder = tmp_path_factory.mktemp("said")
    fetched(thrice(), folder / "rotated", run)
    fetched(successor(ended()), folder / "after", run)
    return folder


def said(messages: dict[str, str], key: str) -> str:
    """The longest part of a message that has no place in it."""
    return max(re.split(r"\{\w+\}", messages[key]), key=len).strip()


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_line_is_of_the_language(language, folders, run):
    messages = words_of(language).messages
    code, text = run("replay", folders / "rotated/dir", "--text", "--lang", language)
    assert code == 0
    for key in ("log", "hands", "key_changed", "clean", "clean_means", "clean_not"):
        assert said(messages, f"audit.{key}") in text, key
    assert text.count(said(messages, "audit.key_changed")) == 2
    code, text = run("replay", folders / "after/dir", "--text", "--lang", language)
    assert said(messages, "audit.continues") in text
    assert messages["audit.old_signed"] in text
    assert not re.search(r"\baudit\.(?!example)|[{}]", text)
    english = run("replay", folders / "after/dir", "--text")[1]
    assert (text == english) == (language == "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_found_is_said_around_in_the_language_and_stays_in_english(
    language, tmp_path, run
):
    messages = words_of(language).messages
    log, folder = tmp_path / "log", tmp_path / "dir"
    cheated("deals_a_card_twice", log)
    key = ("--key", log / "log.vkey")
    assert run("fetch", log, folder, *key)[0] == 0
    code, text = run("replay", folder, "--text", "--lang", language)
    assert code == 1
    for name in ("at_entry_of", "evidence", "findings"):
        assert said(messages, f"audit.{name}") in text
    assert "one epoch" in text or "two positions" in text
    # JSON is for programs: the same in every language.
    assert run("replay", folder, "--lang", language) == run("replay", folder)
    evidence = next((folder / "evidence").glob("*-CARD.json"))
    code, text = run("judge", evidence, *key, "--text", "--lang", language)
    assert code == 1
    assert text.startswith(said(messages, "audit.guilty"))
    stranger = ("--key", STRANGER)
    assert run("judge", evidence, *stranger, "--text", "--lang", language) == (
        0,
        messages["audit.nothing"] + "\n",
    )
    receipts = [folder / "checkpoint"] * 2
    code, text = run("compare", *receipts, *key, "--text", "--lang", language)
    assert (code, text.startswith(messages["audit.one_log"])) == (0, True)


def test_a_terminal_that_cannot_show_a_language_loses_nothing(folders):
    argv = ("replay", folders / "rotated/dir", "--quiet", "--lang", "ta")
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_audit", *map(str, argv)],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode("ascii").encode().decode("unicode_escape")
    assert words_of("ta").messages["audit.clean"] in shown
