"""The end of the demo: every file before the verifier, then forgers, then what to try next."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from fairdeal.cards import Card
from fairdeal_api.demo.match import NAME, change_the_score
from fairdeal_api.demo.plans import Plan
from fairdeal_api.demo.screen import Screen
from fairdeal_api.demo.verdicts import change_a_card
from fairdeal_api.terminal.records import Verdict, verify, verify_match

Played = tuple[Plan, Path, list[Path]]
"""A plan, the file of its hand, and the notes of its seats."""

_AT_A_TIME: Final = 2
_FORGERS: Final = (
    (False, "chain", "A clumsy forger changes this one card, and nothing else."),
    (True, "shuffle", "A careful one also links every later step to the changed one, as if new."),
)


def verify_all(screen: Screen, played: Sequence[Played], match: Sequence[Path], key: Path) -> bool:
    """Let each seat run the standalone verifier on the file, with the notes that it has kept.

    Args:
        screen: Where it is told.
        played: The single hands.
        match: The files of the match, in order, if one was played.
        key: File with the log's key.
    """
    screen.title("The verifier: another program, which shares no code with the service")
    screen.tell("", "Each seat runs it on the hand's file, with the log's key and its own notes.")
    good = True
    for plan, file, notes in played:
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            verdicts = list(pool.map(partial(verify, file, key), notes))
        for verdict in verdicts:
            if verdict.words != plan.verdict:
                screen.verdict(file.name, verdict.words, good=False)
                screen.fault(f"Expected: {plan.verdict}\n{verdict.report}")
                good = False
                break
        else:
            screen.verdict(file.name, plan.verdict, f"  {len(notes)} times", good=True)
    return _verify_match(screen, match, key) and good


def _verify_match(screen: Screen, match: Sequence[Path], key: Path) -> bool:
    """All hands, all moves and scores, and that no hand is left out between them."""
    if not match:
        return True
    verdict = verify_match(match, key)
    good = verdict.words == "VERIFIED"
    hands = "1 hand" if len(match) == 1 else f"{len(match)} hands that follow each other"
    how = f"  {hands}; every move and the score"
    screen.verdict("the match", verdict.words, how if good else "", good=good)
    if not good:
        screen.fault(verdict.report)
    return good


def cheat(
    screen: Screen, played: Sequence[Played], match: Sequence[Path], key: Path, folder: Path
) -> bool:
    """Change one card in a copy of a file, in two ways, then a score; each must be named."""
    shown = [(file, notes) for plan, file, notes in played if plan.vanishes is None]
    if not shown:
        return True
    screen.title("Three forgers" if match else "Two forgers")
    good = _change_a_card(screen, *shown[0], key, folder)
    return _change_the_score(screen, match, key, folder) and good


def _change_a_card(
    screen: Screen, file: Path, notes: Sequence[Path], key: Path, folder: Path
) -> bool:
    content = file.read_bytes()
    good = True
    for careful, expected, words in _FORGERS:
        forged = change_a_card(content, rechain=careful)
        copy = folder / f"{'careful' if careful else 'clumsy'}.fair.json"
        copy.write_bytes(forged.content)
        if not careful:
            screen.tell(
                "wish",
                f"In {file.name}, seat {forged.seat} showed ",
                screen.card(Card(forged.before)),
                "; it should have been ",
                screen.card(Card(forged.after)),
                ".",
            )
        screen.tell("forger", words)
        good = _is_caught(screen, copy, verify(copy, key, notes[0]), expected) and good
    return good


def _change_the_score(screen: Screen, match: Sequence[Path], key: Path, folder: Path) -> bool:
    if not match:
        return True
    file = match[-1]
    forged = change_the_score(file.read_bytes())
    copy = folder / file.name.replace(NAME, "forged")
    copy.write_bytes(forged.content)
    screen.tell(
        "forger",
        f"A third leaves the cards alone. In {file.name} seats 0 and 2 had {forged.before} card "
        f"points; now it says {forged.after}.",
    )
    return _is_caught(screen, copy, verify(copy, key), "play")


def _is_caught(screen: Screen, copy: Path, verdict: Verdict, expected: str) -> bool:
    caught = verdict.words == "FAILED" and verdict.failed == expected
    screen.verdict(copy.name, f"FAIL {verdict.failed}", good=caught)
    screen.tell("", verdict.reason)
    if not caught:
        screen.fault(f"Expected: FAIL {expected}\n{verdict.report}")
    return caught


def what_next(screen: Screen, out: Path, played: Sequence[Plan], seconds: float) -> None:
    """What there is now, and commands to copy."""
    name = shlex.quote(str(out / f"{played[0].name}.fair.json"))
    notes = shlex.quote(str(out / f"{played[0].name}.seat0.notes.json"))
    key = shlex.quote(str(out / "log.vkey"))
    in_checkout = Path("verifier/fairdeal_verifier").is_dir()
    command = "fairdeal" if shutil.which("fairdeal") else shlex.quote(sys.argv[0])
    verifier = "python3 verifier/fairdeal_verifier" if in_checkout else "fairdeal-verify"
    screen.title(f"All as it must be, in {seconds:.0f} seconds")
    screen.tell("files", f"The hands, the seats' notes and the log's key are in {out}.")
    screen.tell("try", "Check a hand yourself; the verifier needs Python and nothing else:")
    screen.copy(f"{verifier} --key {key} {name}")
    screen.tell("", "Say why, and whether the seed that seat 0 noted was used:")
    screen.copy(f"{verifier} --key {key} --explain --mine {notes} {name}")
    if len(played) > 1:
        screen.tell("", "All hands of the match, and that they follow each other:")
        screen.copy(f"{verifier} --key {key} --match {out / NAME}-*.fair.json")
    screen.tell("play", "Sit down at a table yourself; kozel, mus, azi or svoi:")
    screen.copy(f"{command} play mus")
    screen.tell("", "Change any byte of a file, and check it again. Then a service of your own:")
    screen.copy(f"{command} serve --init --data ./data")
