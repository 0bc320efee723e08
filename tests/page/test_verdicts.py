"""The verifier in TypeScript, in Node: every check of every file as the one in Python has it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter

import pytest

from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.words import say
from tests.interop.refit import changed_hands
from tests.page.mutations import encoded, mutated, noted, reordered
from tests.page.parity import (
    INDEX,
    KEY,
    NEEDED,
    ROTATION,
    SEEDS,
    WEB,
    Asked,
    by_python,
    by_typescript,
    differences,
    node,
    rotated,
    vector,
)
from tests.verifier import builder as B  # noqa: N812
from tests.verifier.test_evidence import notes as noted_by

COUNT = 2000
REORDERED = 400
REFITTED = 30


@pytest.fixture(scope="module")
def spoilt():
    return list(mutated(COUNT))


@pytest.fixture(scope="module")
def by_the_other(spoilt):
    return [by_python(Asked(one.data)) for one in spoilt]


def test_its_own_tests():
    assert (WEB / "node_modules").is_dir(), NEEDED
    done = subprocess.run(
        [node().parent / "npm", "run", "--silent", "test"],
        cwd=WEB,
        env=os.environ | {"PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-8000:]


def test_every_vector():
    names = list(INDEX)
    asked = [vector(name) for name in names]
    ours, theirs = [by_python(one) for one in asked], by_typescript(asked)
    first = [[settled(one) for one in said] for said in (ours, theirs)]
    assert differences(names, *first) == []
    assert differences(names, ours, theirs) == []


def test_spoilt_files(spoilt, by_the_other):
    """2,000 of them: the same verdict, the same failing check, the same of all before it (VER-9).

    Behind the first check that fails few statuses differ, and none in a file that passes.
    """
    names = [one.name for one in spoilt]
    theirs = by_typescript([Asked(one.data) for one in spoilt])
    first = [[settled(one) for one in said] for said in (by_the_other, theirs)]
    assert differences(names, *first) == []
    bare = [[one._replace(notes=()) for one in said] for said in (by_the_other, theirs)]
    assert len(differences(names, *bare)) <= COUNT / 250


def test_events_out_of_their_order():
    """Of hands with reshuffles, where a verifier guesses most how a hand goes on after a fault."""
    found = list(reordered(REORDERED))
    names, asked = [one.name for one in found], [Asked(one.data) for one in found]
    ours, theirs = [by_python(one) for one in asked], by_typescript(asked)
    assert differences(names, *[[settled(one) for one in said] for said in (ours, theirs)]) == []
    # The control: they do go on in different ways.
    assert differences(names, ours, theirs)


def test_changed_hands():
    """All that follows from a change follows, seals and decks too: `tests/interop/refit.py`."""
    found = list(changed_hands(100, 100 + REFITTED))
    names, asked = [one.name for one in found], [Asked(one.data) for one in found]
    ours, theirs = [by_python(one) for one in asked], by_typescript(asked)
    assert differences(names, *[[settled(one) for one in said] for said in (ours, theirs)]) == []
    assert len(found) / 10 < sum(said.exit == 0 for said in ours) < len(found) / 2


def test_a_log_whose_key_has_changed():
    """Spec: VER-8."""
    asked = rotated()
    ours, theirs = [by_python(one) for one in asked.values()], by_typescript(asked.values())
    assert differences(list(asked), ours, theirs) == []
    wanted = {one["case"]: (one["exit"], one["failed"]) for one in ROTATION["hands"]}
    found = {case: (said.exit, said.failed) for case, said in zip(asked, theirs, strict=True)}
    assert wanted.items() <= found.items()
    # All that can come of it is among them.
    assert {code for code, _ in found.values()} == {0, 1, 4}
    # Who is led to the file's key is told so, by the key that he gave; nobody else is.
    led = {
        case
        for case, said in zip(asked, theirs, strict=True)
        if rotation_note(asked[case]) in said.notes
    }
    passed = {case for case, (code, _) in found.items() if code == 0}
    assert led == {case for case in passed if log_key(asked[case].data) != asked[case].key}
    assert led
    assert passed - led


def rotation_note(asked):
    return str(say("note.rotated", key=asked.key))


def log_key(data):
    return json.loads(json.loads(data)["events"][0])["log_key"]


def with_notes(count=400):
    return {name: Asked(data, notes=notes) for name, data, notes in noted(count, KEY)}


def statuses(said):
    """Of the checks that depend on what a player brings."""
    return [dict(said.checks).get(check) for check in ("mine", "receipt", "log.signature")]


def test_what_players_have_noted():
    """Both refuse the same notes, and say the same of the others. Spec: NOTE-1, VER-2, VER-3."""
    given = with_notes()
    found = Counter()
    for (name, asked), theirs in zip(given.items(), by_typescript(given.values()), strict=True):
        try:
            ours = by_python(asked)
        except FormatError:
            assert statuses(theirs)[0] == "FAIL", name  # there the page has no other way to say it
            found["refused"] += 1
        else:
            assert settled(theirs) == settled(ours), name
            assert statuses(theirs) == statuses(ours), name
            found[statuses(ours)[0]] += 1
    assert min(found[one] for one in ("refused", "PASS", "FAIL", "SKIP")) >= 10, found


def of_another_hand():
    """A file with notes by the name of what is to be said of them: note of `receipt`, of `mine`."""
    b, other = B.mus(), B.azi()
    right = json.loads(noted_by(b))
    wrong = json.loads(noted_by(other, table="tbl_" + 26 * "0"))
    size = len(b.entries())
    forked, longer = (B.receipt([bytes([i]) for i in range(n)], 0) for n in (size, size + 1))

    def asked(notes, *receipts):
        return Asked(b.file(), receipts, key=B.VKEY, notes=json.dumps(notes))

    def more(proof):
        return wrong | {"receipts": [*wrong["receipts"], {"digest": 64 * "0", "proof": proof}]}

    mixed = f"the notes are of hand 1 of {wrong['table']}, and the file is of hand 1 of {B.TABLE}"
    stray = "receipt {} fits no step of this file: " + mixed
    return {
        "right notes": (asked(right), "1 given, the sealed head's among them", ""),
        "notes of another table": (asked(wrong), stray.format(1), mixed),
        "of another hand": (
            asked(right | {"hand": 2}),
            "1 given, the sealed head's among them",
            mixed.replace(f"1 of {wrong['table']}", f"2 of {B.TABLE}"),
        ),
        "one more, of a longer log": (asked(more(longer)), stray.format(1), mixed),
        "behind a receipt that fits": (
            asked(wrong, b.receipt(b.sealed_head)), stray.format(2), mixed
        ),
        # Evidence is said in each reading's own words.
        "one more, of a forked log": (asked(more(forked)), "", mixed),
        "a receipt beside the notes": (asked(wrong, other.receipt(other.head)), "", mixed),
        "right notes with a receipt of others": (
            asked(right | {"receipts": wrong["receipts"]}), "", ""
        ),
    }  # fmt: skip


def test_notes_of_another_hand():
    """They are told as that, but never in place of what may be evidence. Spec: VER-2."""
    cases = of_another_hand()
    asked = [one for one, _, _ in cases.values()]
    ours, theirs = [by_python(one) for one in asked], by_typescript(asked)
    assert differences(list(cases), ours, theirs) == []
    for said, (name, (_, receipt, mine)) in zip(theirs, cases.items(), strict=True):
        notes = dict(zip(dict(said.checks), said.notes, strict=True))
        assert (notes["receipt"], notes["mine"]) == (receipt, mine), name
        assert (said.exit == 0) == (name == "right notes")


def settled(said):
    """A verdict with the checks up to the first that fails; with all if none does. Spec: VER-9."""
    ids = [check for check, _ in said.checks]
    end = ids.index(said.failed) + 1 if said.failed else len(ids)
    return said._replace(checks=said.checks[:end], notes=said.notes[:end])


def test_spoilt_files_reach_all_parts(by_the_other):
    """Or the test above would compare little more than what finds a bad signature.

    Picks, roots, reshuffles, signatures and other rare ones fail in vectors of their own.
    """
    kinds = Counter()
    for said in by_the_other:
        kinds[".".join(part for part in str(said.failed).split(".") if not part.isdigit())] += 1
    assert kinds.keys() >= {
        "format", "chain", "terms", "server.commitment", "seal", "order", "shuffle",
        "deal", "draw", "discard", "show", "play", "end", "disclosure",
    }  # fmt: skip
    assert kinds["format"] < COUNT / 3
    assert min(kinds[kind] for kind in ("order", "show", "discard", "draw", "play", "end")) > 40


def test_spoilt_files_are_the_same_in_every_run(spoilt):
    again = list(mutated(50))
    assert again == spoilt[:50]
    assert len({one.data for one in spoilt}) > COUNT * 0.9


def test_an_unspoilt_file_is_written_as_it_was():
    data = (SEEDS / "mus-played.fair.json").read_bytes()
    file = json.loads(data)
    file["events"] = [encoded(json.loads(raw)) for raw in file["events"]]
    assert encoded(file).encode() == data


def broken(tmp_path, change, folder="verify"):
    """A copy of the sources in which one thing is other."""
    web = tmp_path / "web"
    for name in ("src", "tests"):
        shutil.copytree(WEB / name, web / name)
    for name in ("package.json", "tsconfig.json", "vite.config.ts", "index.html"):
        shutil.copy(WEB / name, web)
    (tmp_path / "fairdeal_verifier").symlink_to(WEB.parent / "fairdeal_verifier")
    (web / "node_modules").symlink_to(WEB / "node_modules")
    file, old, new = change
    path = web / "src" / folder / file
    text = path.read_text("utf-8")
    assert text.count(old) >= 1, f"{file} has changed: plant this fault elsewhere"
    path.write_text(text.replace(old, new, 1), "utf-8")
    return web


def readable(asked):
    try:
        return by_python(asked)
    except FormatError:
        return None


@pytest.mark.parametrize(
    "change",
    [
        ("dealing.ts", "given !== first", "false"),
        ("dealing.ts", '"note.not_dealt_yet"', '"note.no_seeds"'),
        ("merkle.ts", "return last === 0n ? found : null", "return found"),
        ("ceremony.ts", "agree(made, sealed) ?", "true ?"),
        ("rotation.ts", "verifySignature(before.key, text", "verifySignature(after.key, text"),
        ("rotation.ts", "rotation.size < last.shownAt", "false"),
        ("rotation.ts", "one.size < size", "one.size <= size"),
        ("promises.ts", "else if (there !== card)", "else if (false)"),
        ("promises.ts", "dealt.received.size === 0", "false"),
        ("verify.ts", "seat >= file.table.body.seats", "false"),
        ("verify.ts", "notes.hand !== hand", "false"),
        ("promises.ts", "const stray = mixed ?", "const stray = false ?"),
        ("promises.ts", "one.fault && !(mixed && one.stray)", "one.fault"),
        ("promises.ts", "stray: kept.digest !== undefined", "stray: true"),
        ("promises.ts", "?? (split ?", "?? (split && !mixed ?"),
        ("order.ts", "if (seen.has(seat)) this.blame", "if (false) this.blame"),
        ("hand.ts", "this.order.fault = fault;", ""),
        ("hand.ts", "!this.#behind && ", ""),
    ],
    ids=lambda change: f"{change[0]} {change[1][:20]}",
)
def test_control_a_check_broken_on_purpose_is_found(tmp_path, change):
    web = broken(tmp_path, change)
    if change[0] == "hand.ts":  # what comes after a fault shows in two vectors; this is many
        given = {one.name: Asked(one.data) for one in reordered(REORDERED)}
    elif change[0] == "order.ts":  # no vector has a seat that seals twice, and rightly
        given = {one.name: Asked(one.data) for one in changed_hands(100, 100 + REFITTED)}
    elif change[0] in ("promises.ts", "verify.ts"):
        given = {name: asked for name, asked in with_notes(200).items() if readable(asked)}
        given |= {name: asked for name, (asked, _, _) in of_another_hand().items()}
    else:
        given = {name: vector(name) for name in INDEX} | rotated()
    names, asked = list(given), list(given.values())
    said = [by_python(one) for one in asked], by_typescript(asked, web)
    if change[0] == "hand.ts":
        said = tuple([settled(one) for one in list_] for list_ in said)
    assert differences(names, *said)
