"""The end of the demo: every file before the verifier, then two forgers, then what to try next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from fairdeal.cards import Card
from fairdeal_api.demo.plans import Plan
from fairdeal_api.demo.screen import Screen
from fairdeal_api.demo.verdicts import change_a_card, verify

Played = tuple[Plan, Path, list[Path]]
"""A plan, the file of its hand, and the notes of its seats."""

_AT_A_TIME: Final = 2
_FORGERS: Final = (
    (False, "chain", "A clumsy forger changes this one card, and nothing else."),
    (True, "shuffle", "A careful one also links every later step to the changed one, as if new."),
)


def verify_all(screen: Screen, played: Sequence[Played], key: Path) -> bool:
    """Let each seat run the standalone verifier on the file, with the notes that it has kept."""
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
    return good


def cheat(screen: Screen, played: Sequence[Played], key: Path, folder: Path) -> bool:
    """Change one card in a copy of a file, in two ways; the verifier must name what is wrong."""
    shown = [(file, notes) for plan, file, notes in played if plan.vanishes is None]
    if not shown:
        return True
    file, notes = shown[0]
    content = file.read_bytes()
    good = True
    screen.title("Two forgers")
    for careful, expected, words in _FORGERS:
        forged = change_a_card(content, rechain=careful)
        copy = folder / f"{'careful' if careful else 'clumsy'}.fair.json"
        copy.write_bytes(forged.content)
        verdict = verify(copy, key, notes[0])
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
        caught = verdict.words == "FAILED" and verdict.failed == expected
        screen.verdict(copy.name, f"FAIL {verdict.failed}", good=caught)
        screen.tell("", verdict.reason)
        if not caught:
            screen.fault(f"Expected: FAIL {expected}\n{verdict.report}")
        good = good and caught
    return good


def what_next(screen: Screen, out: Path, played: Sequence[Plan], seconds: float) -> None:
    """What there is now, and commands to copy."""
    name = shlex.quote(str(out / f"{played[0].name}.fair.json"))
    notes = shlex.quote(str(out / f"{played[0].name}.seat0.notes.json"))
    key = shlex.quote(str(out / "log.vkey"))
    in_checkout = Path("verifier/fairdeal_verifier").is_dir()
    verifier = "python3 verifier/fairdeal_verifier" if in_checkout else "fairdeal-verify"
    screen.title(f"All as it must be, in {seconds:.0f} seconds")
    screen.tell("files", f"The hands, the seats' notes and the log's key are in {out}.")
    screen.tell("try", "Check a hand yourself; the verifier needs Python and nothing else:")
    screen.copy(f"{verifier} --key {key} {name}")
    screen.tell("", "Say why, and whether the seed that seat 0 noted was used:")
    screen.copy(f"{verifier} --key {key} --explain --mine {notes} {name}")
    screen.tell("", "Change any byte of a file, and check it again. Then a service of your own:")
    screen.copy("fairdeal serve --init --data ./data")
