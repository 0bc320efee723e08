"""A log whose key changes, audited by one of its keys.

Spec: AUD-9, LOG-26, LOG-27, LOG-28, LOG-32
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from fairdeal.log.note import SigningKey
from fairdeal_audit.evidence import Evidence, entry_of
from fairdeal_audit.heads import parse_head
from fairdeal_audit.judge import judge
from fairdeal_audit.keys import is_out_of_force
from fairdeal_audit.tiles import Folder
from fairdeal_verifier.encoding import UnreadableError
from fairdeal_verifier.note import LogKey, Receipt
from fairdeal_verifier.rotation import Rotated, read_rotations
from seeds.local import Book, named
from tests.audit.cheats import encode
from tests.audit.generate import ORIGIN, keys_of, rotations_of, write_book
from tests.audit.rotated import (
    CHEATS,
    begun,
    go_on,
    note_by,
    other_successor,
    play,
    rotation,
    thrice,
)
from tests.audit.test_judge import mutated, said

STRANGER = LogKey.parse(str(Book("other.example/log").key.verifier))


def vkeys(book: Book) -> list[str]:
    return [str(key.verifier) for _, key in keys_of(book)]


# --- honest logs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("trusted", [0, 1, 2])
@pytest.mark.parametrize("processes", [1, 2])
def test_any_of_its_keys_audits_an_honest_log(trusted, processes, tmp_path, run):
    book = thrice()
    write_book(book, tmp_path / "log")
    key = vkeys(book)[trusted]
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", key)[0] == 0
    code, report = run("replay", tmp_path / "dir", "-j", processes)
    assert (code, report["findings"]) == (0, [])
    assert [one["entry"] for one in report["rotations"]] == [
        keys_of(book)[1][0] - 1,
        keys_of(book)[2][0] - 1,
    ]
    assert report["counts"]["verified"] == report["counts"]["hands"] == 6
    assert "key changed at entry" in run("replay", tmp_path / "dir", "--text")[1]
    # What was fetched is itself such a log, and may be fetched by those who have another key.
    for other in vkeys(book):
        assert run("fetch", tmp_path / "dir", tmp_path / f"{other[-9:-4]}", "--key", other)[0] == 0


def test_control_without_what_it_says_of_its_keys_it_is_not_fetched(tmp_path, run):
    book = thrice()
    write_book(book, tmp_path / "log")
    (tmp_path / "log/rotations").unlink()
    code, told = run("fetch", tmp_path / "log", tmp_path / "dir", "--key", vkeys(book)[0])
    assert code == 3
    assert "not signed by the log's key" in told


def test_a_folder_follows_the_log_from_key_to_key(tmp_path, run):
    """Fetched again and again; the key that was given first stays the one that is trusted."""
    book = begun()
    log, folder = tmp_path / "log", tmp_path / "dir"
    write_book(book, log)
    assert run("fetch", log, folder, "--key", vkeys(book)[0])[0] == 0
    assert run("replay", folder)[0] == 0
    for number in range(1, 4):
        book.rotate(f"key {number}")
        write_book(book, log)
        assert run("watch", log, folder, "--times", 1)[0] == 0
        play(book, f"r{number}")
        write_book(book, log)
        assert run("watch", log, folder, "--times", 1)[0] == 0
        # Any of its keys may be named by now.
        assert run("fetch", log, folder, "--key", vkeys(book)[number])[0] == 0
    assert run("replay", folder)[1]["counts"]["tables"] == 4
    assert (folder / "log.vkey").read_text().strip() == vkeys(book)[0]
    assert len(read_rotations((folder / "rotations").read_bytes())) == 3
    # The same in one go: what was done before does not show.
    grown = (folder / "report.json").read_bytes()
    assert run("fetch", log, tmp_path / "anew", "--key", vkeys(book)[2])[0] == 0
    assert run("replay", tmp_path / "anew", "-j", 2)[0] == 0
    assert (tmp_path / "anew/report.json").read_bytes() == grown
    other = str(Book("other.example/log").key.verifier)
    assert run("fetch", log, folder, "--key", other)[0] == 2


def test_a_log_that_serves_fewer_rotations_has_not_taken_them_back(tmp_path, run):
    book = thrice()
    log, folder = tmp_path / "log", tmp_path / "dir"
    write_book(book, log)
    assert run("fetch", log, folder, "--key", vkeys(book)[0])[0] == 0
    play(book, "r9")
    write_book(book, log)
    (log / "rotations").unlink()
    assert run("fetch", log, folder)[0] == 0
    assert run("replay", folder)[0] == 0


@pytest.mark.parametrize("trusted", [0, 1, 2])
def test_an_older_state_of_its_keys_is_a_rollback_like_any_other(trusted, tmp_path, run):
    """A cache serves what was there before the last change, to who knows and trusts any key."""
    book = thrice()
    log, folder = tmp_path / "log", tmp_path / "dir"
    write_book(book, log)
    assert run("fetch", log, folder, "--key", vkeys(book)[trusted])[0] == 0
    last = keys_of(book)[2][0] - 1
    document = rotations_of(book)
    del document["rotations"][1]
    (log / "rotations").write_text(json.dumps(document), "utf-8")
    (log / "checkpoint").write_text(book.checkpoint(last), "utf-8")
    code, found = run("fetch", log, folder)
    assert (code, found["code"]) == (1, "ROLLBACK")


def test_rotations_newer_than_the_checkpoint_are_no_fault(tmp_path, run):
    """An export writes them before its checkpoint, and may be cut off there."""
    book = begun()
    log, folder = tmp_path / "log", tmp_path / "dir"
    write_book(book, log)
    old = (log / "checkpoint").read_bytes()
    book.rotate("second")
    play(book, "r1")
    write_book(book, log)
    (log / "checkpoint").write_bytes(old)
    assert run("fetch", log, folder, "--key", vkeys(book)[0])[0] == 0
    code, report = run("replay", folder)
    assert (code, report["rotations"]) == (0, [])
    (log / "checkpoint").write_text(book.checkpoint(len(book.entries)), "utf-8")
    assert run("fetch", log, folder)[0] == 0
    assert len(run("replay", folder)[1]["rotations"]) == 1


def test_a_receipt_of_a_rotation_that_is_not_the_logs_is_a_fork(tmp_path, run):
    """Its checkpoint counts as seen."""
    book = begun()
    size = len(book.entries)
    book.rotate("second")
    one = rotations_of(book)
    other = Book(ORIGIN)
    for raw in [*book.entries[:-1][::-1], book.entries[-1]]:
        other.append(raw)
    other.former, other.key = book.former, book.key
    play(book, "r1")
    write_book(book, tmp_path / "log")
    one["rotations"][0]["receipt"] = other.receipt(size, size + 1).text()
    (tmp_path / "log/rotations").write_text(json.dumps(one), "utf-8")
    argv = ("fetch", tmp_path / "log", tmp_path / "dir", "--key", vkeys(book)[0])
    code, found = run(*argv)
    assert (code, found["code"]) == (1, "FORK")
    evidence = next((tmp_path / "dir/evidence").iterdir())
    for key in vkeys(book):
        assert run("judge", evidence, "--key", key)[0] == 1


@pytest.mark.parametrize("data", [b"no", b"{}", b'{"format":"fairdeal-rotations/1"}'])
def test_what_leads_nowhere_is_incomplete(data, tmp_path, run):
    book = begun()
    write_book(book, tmp_path / "log")
    (tmp_path / "log/rotations").write_bytes(data)
    argv = ("fetch", tmp_path / "log", tmp_path / "dir", "--key", vkeys(book)[0])
    assert run(*argv)[0] == 3


def broken_change(book: Book) -> dict[str, Any]:
    """A document whose entry the old key has not signed, though it names it."""
    other = begun()
    other.key = SigningKey(ORIGIN, named("not the log's"))
    other.rotate("second")
    change = rotations_of(other)
    entry = json.loads(change["rotations"][0]["entry"])
    entry["old_key"] = vkeys(book)[0]
    change["rotations"][0]["entry"] = encode(entry).decode()
    return change


def change_of_others(_book: Book) -> dict[str, Any]:
    """A document that is good in itself, of this origin, and of keys that nobody knows."""
    other = begun()
    other.key = SigningKey(ORIGIN, named("not the log's"))
    other.rotate("second")
    return rotations_of(other)


def change_without_the_first(_book: Book) -> dict[str, Any]:
    """The honest document, but for the change of the key that is trusted."""
    value = rotations_of(thrice())
    del value["rotations"][0]
    return value


@pytest.mark.parametrize("document", [broken_change, change_of_others, change_without_the_first])
@pytest.mark.parametrize("known", [False, True], ids=["the first time", "later"])
def test_a_change_that_does_not_follow_from_the_trusted_key_is_found(
    document, known, tmp_path, run
):
    """AUD-9: whatever the checkpoint is signed by, here the trusted key itself."""
    book = begun()
    log, folder = tmp_path / "log", tmp_path / "dir"
    write_book(book, log)
    argv = ("fetch", log, folder, "--key", vkeys(book)[0])
    if known:
        assert run(*argv)[0] == 0
    (log / "rotations").write_text(json.dumps(document(book)), "utf-8")
    code, found = run(*argv)
    assert (code, found["code"]) == (1, "KEY")
    assert not (folder / "evidence").exists()
    assert run("watch", log, folder, "--key", vkeys(book)[0], "--times", 3)[0] == 1
    # The control: taken away, it is the log that it was.
    (log / "rotations").unlink()
    assert run(*argv)[0] == 0


def test_the_changes_of_another_log_say_nothing_about_this_one(tmp_path, run):
    log = tmp_path / "log"
    book = begun()
    write_book(book, log)
    other = Book("elsewhere.example/log")
    other.rotate("second")
    (log / "rotations").write_text(json.dumps(rotations_of(other)), "utf-8")
    assert run("fetch", log, tmp_path / "dir", "--key", vkeys(book)[0])[0] == 0


# --- a service that cheats about its key ----------------------------------------------------------


def audit(name: str, tmp_path: Path, run) -> tuple[str, list[Path], Book]:
    """Fetch and replay a cheat's log; what was found, and the evidence."""
    cheat = CHEATS[name]()
    log, folder = tmp_path / "log", tmp_path / "dir"
    argv = ("fetch", log, folder, "--key", cheat.vkey)
    if name == "two_successors":
        write_book(other_successor(), log)
        assert run(*argv)[0] == 0
        shutil.rmtree(log)
    cheat.write(log)
    code, report = run(*argv)
    if not cheat.by_fetch:
        assert code == 0, report
        code, report = run("replay", folder, "-j", 2)
    assert code == 1
    found = [report] if cheat.by_fetch else report["findings"]
    assert cheat.code in {one["code"] for one in found}, found
    evidence = sorted((folder / "evidence").glob("*.json"))
    assert bool(evidence) == cheat.has_evidence, found
    if not cheat.by_fetch:
        assert {one["code"] for one in found} <= {cheat.code, "HAND"}, found
    return cheat.code, evidence, cheat.book


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_found_and_its_evidence_judged(name, tmp_path, run):
    code, evidence, _ = audit(name, tmp_path, run)
    cheat = CHEATS[name]()
    for path in evidence:
        judged, said_of_it = run("judge", path, "--key", cheat.vkey)
        assert judged == 1
        assert said_of_it["code"] in {code, "HAND"}
        assert run("judge", path, "--key", str(Book("o.example").key.verifier))[0] == 0


def test_evidence_that_spans_a_rotation_is_judged_by_any_key(tmp_path, run):
    for name in ("a_hand_under_an_older_key", "a_table_goes_on", "old_key_signs_on"):
        _, evidence, book = audit(name, tmp_path / name, run)
        assert evidence
        for path in evidence:
            for key in vkeys(book):
                assert run("judge", path, "--key", key)[0] == 1, (name, path.name)
            # The control: without the rotations nobody but who has the newest key can tell.
            value = json.loads(path.read_text("utf-8"))
            del value["rotations"]
            text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            (tmp_path / "bare.json").write_text(text, "utf-8")
            assert run("judge", tmp_path / "bare.json", "--key", vkeys(book)[0])[0] == 0


def test_a_head_seen_before_the_change_was_known(tmp_path, run):
    """The old key signed 60 entries; then it is said to have ended before them."""
    book = begun()
    size = len(book.entries)
    log, folder = tmp_path / "log", tmp_path / "dir"
    longer = Book(ORIGIN)
    for raw in book.entries:
        longer.append(raw)
    play(longer, "r1")
    write_book(longer, log)
    assert run("fetch", log, folder, "--key", vkeys(book)[0])[0] == 0
    shutil.rmtree(log)
    book.rotate("second")
    play(book, "r1", 4)
    assert len(longer.entries) > size
    write_book(book, log)
    code, found = run("fetch", log, folder)
    assert (code, found["code"]) == (1, "KEY")
    evidence = next((folder / "evidence").iterdir())
    for key in vkeys(book):
        assert run("judge", evidence, "--key", key)[0] == 1


def test_compare_knows_which_key_was_in_force(tmp_path, run):
    book = thrice()
    write_book(book, tmp_path / "log")
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", vkeys(book)[0])[0] == 0
    sizes = (keys_of(book)[1][0] - 1, keys_of(book)[1][0] + 3)
    for size in sizes:
        (tmp_path / f"{size}").write_text(book.checkpoint(size), "utf-8")
    heads = [tmp_path / f"{size}" for size in sizes]
    assert run("compare", *heads, "--dir", tmp_path / "dir")[0] == 0
    assert run("compare", *heads, "--key", vkeys(book)[0])[0] == 4  # which it does not know
    late = tmp_path / "late"
    late.write_text(note_by(book, keys_of(book)[0][1], sizes[1]), "utf-8")
    out = tmp_path / "key.json"
    rotations = ("--rotations", tmp_path / "log/rotations")
    for more in (("--dir", tmp_path / "dir"), ("--key", vkeys(book)[2], *rotations)):
        code, found = run("compare", heads[0], late, *more, "-o", out)
        assert (code, found["code"]) == (1, "KEY")
        assert run("judge", out, "--key", vkeys(book)[1])[0] == 1


# --- nobody honest is accused ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    book = thrice()
    folder = tmp_path_factory.mktemp("rotated")
    write_book(book, folder)
    size = len(book.entries)
    return book, Folder(folder, size), book.checkpoint(size)


def test_nothing_follows_from_an_honest_log(honest, quick):
    """Every pair and triple in the shape of KEY and FORK, by every key, with every list of keys."""
    book, tree, note = honest
    events = [json.loads(raw) for raw in book.entries]
    changes = [i for i, event in enumerate(events) if event["type"] == "log.rotated"]
    tables = [i for i, event in enumerate(events) if event["type"] == "table.opened"]
    members = rotations_of(book)["rotations"]
    entries = {i: entry_of(tree, note, i) for i in (*changes, *tables)}
    served = dict(zip(changes, members, strict=True))
    heads = [{"checkpoint": book.checkpoint(size)} for size in range(0, len(events) + 1, 3)]
    told = []
    for change in changes:
        for first in (entries[change], served[change]):
            told.append((first,))
            told += [(first, head) for head in heads]
            told += [(first, entries[table]) for table in tables]
            for table in tables:
                chain = [
                    i
                    for i in range(len(events))
                    if events[i].get("table") == events[table]["table"]
                ]
                told += [(first, entries[table], entry_of(tree, note, i)) for i in chain[1::5]]
    told += [(entries[table],) for table in tables]
    lists = [None, tuple(members), tuple(members[:1]), tuple(members[1:])]
    judged = 0
    for statements in told:
        for rotations in lists:
            evidence = Evidence("KEY", statements, None, rotations)
            consistent = Evidence("KEY", statements, tuple(tree.consistency(changes[0])), rotations)
            for key in vkeys(book):
                assert not judge(evidence, LogKey.parse(key)), evidence
                assert not judge(consistent, LogKey.parse(key)), evidence
                judged += 1
    for rotations in lists:
        for pair in ((served[changes[0]], served[changes[1]]), (served[changes[0]],) * 2):
            for key in vkeys(book):
                assert not judge(Evidence("FORK", pair, None, rotations), LogKey.parse(key))
    assert judged > 1000


@pytest.fixture(scope="module")
def proofs(tmp_path_factory):
    """Every evidence that the cheats leave, by the key that they leave it to."""
    from fairdeal_audit.command import main  # noqa: PLC0415 - as a fixture of a module has no `run`

    found = []
    for name in CHEATS:
        folder = tmp_path_factory.mktemp("cheat")
        cheat = CHEATS[name]()
        argv = ["fetch", str(folder / "log"), str(folder / "dir"), "--key", cheat.vkey, "--quiet"]
        if name == "two_successors":
            write_book(other_successor(), folder / "log")
            assert main(argv) == 0
            shutil.rmtree(folder / "log")
        cheat.write(folder / "log")
        if main(argv) == 0:
            main(["replay", str(folder / "dir"), "--quiet"])
        found += [
            (path.read_bytes(), LogKey.parse(cheat.vkey))
            for path in sorted((folder / "dir/evidence").glob("*.json"))
        ]
    assert len(found) > 15
    return found


def hunted(proofs, numbers):
    """Judges mutations; those found guilty by what no log has signed, and counts."""
    datas = [data for data, _ in proofs]
    true = {said(json.loads(data)) for data in datas}
    signed = {one for _, statements, _ in true for one in statements}
    nodes = {consistency for _, _, consistency in true} | {()}
    outcomes, wrong = Counter(), []
    keys = {key for _, key in proofs}
    for number in numbers:
        chance = random.Random(number)
        data = mutated(chance, datas)
        if chance.random() < 0.3:
            data = with_other_rotations(chance, data, datas)
        try:
            evidence = Evidence.parse(data)
        except UnreadableError:
            outcomes["unreadable"] += 1
            continue
        why = [judge(evidence, key) for key in keys]
        outcomes["guilty" if any(why) else "nothing"] += 1
        now = said(json.loads(data))
        if any(why) and now not in true and not (set(now[1]) <= signed and now[2] in nodes):
            wrong.append((number, why))
    return outcomes, wrong


def with_other_rotations(chance, data, datas):
    """What is said of the log's keys is changed, taken from another, or left out."""
    try:
        value, other = json.loads(data), json.loads(chance.choice(datas))
    except ValueError:
        return data
    members = value.get("rotations") or other.get("rotations") or []
    if members and chance.random() < 0.5:
        one = chance.choice(members)
        name = chance.choice(sorted(one))
        at = chance.randrange(len(one[name]))
        one[name] = one[name][:at] + chance.choice("0123456789abcdef") + one[name][at + 1 :]
        value["rotations"] = members
    elif "rotations" in other:
        value["rotations"] = other["rotations"]
    else:
        value.pop("rotations", None)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def test_no_mutation_is_guilty_unless_it_still_says_the_same(proofs, quick):
    outcomes, wrong = hunted(proofs, range(2000))
    assert not wrong
    assert outcomes["nothing"] > 400
    assert outcomes["unreadable"] > 200
    assert outcomes["guilty"] > 20
    assert all(not judge(Evidence.parse(data), STRANGER) for data, _ in proofs)


@pytest.mark.parametrize("old_signs", [False, True])
def test_who_has_stolen_nothing_accuses_nobody(old_signs):
    """Somebody says that the log's key has changed to his own, and forks what it signs."""
    book = begun()
    event, thief = rotation(book, "thief")
    victim = LogKey.parse(vkeys(book)[0])
    if not old_signs:
        event["sigs"]["old"] = event["sigs"]["new"]
    heads = []
    for number in range(2):
        forked = Book(ORIGIN)
        for raw in [*book.entries, encode(event), b"%d" % number]:
            forked.append(raw)
        heads.append({"checkpoint": note_by(forked, thief)})
    go_on(book, event, thief)
    served = tuple(rotations_of(book)["rotations"])
    evidence = Evidence("FORK", tuple(heads), None, served)
    # With the old key's signature it is the log's own doing: the control.
    assert bool(judge(evidence, victim)) == old_signs
    with mock.patch.object(Rotated, "fault", return_value=""):
        assert judge(evidence, victim)


def test_control_a_judge_that_checks_no_inclusion_is_deceived(proofs, quick):
    with mock.patch.object(Receipt, "includes", return_value=True):
        assert hunted(proofs, range(600))[1]


def test_out_of_force_is_what_the_specification_says(honest):
    book, _, _ = honest
    for member in read_rotations(json.dumps(rotations_of(book)).encode()):
        for size in range(len(book.entries) + 1):
            for number, (_, key) in enumerate(keys_of(book)):
                head = parse_head(note_by(book, key, size).encode())
                old, new = member.event.old, member.event.new
                expected = (head.is_signed_by(old) and size > member.event.size) or (
                    head.is_signed_by(new) and size <= member.event.size
                )
                assert is_out_of_force(member.event, head) == expected, (number, size)
