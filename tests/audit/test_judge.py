"""Evidence proves what it proves, and nothing else does. Spec: AUD-4, AUD-5, AUD-6."""

from __future__ import annotations

import base64
import copy
import json
import os
import random
import subprocess
import sys
from collections import Counter
from unittest import mock

import pytest

from fairdeal_audit.evidence import Evidence, entry_of, fork_of, hand_file
from fairdeal_audit.fetch import fetch
from fairdeal_audit.judge import judge
from fairdeal_audit.replay import replay
from fairdeal_audit.report import write_evidence
from fairdeal_audit.source import FolderSource
from fairdeal_audit.tiles import Folder
from fairdeal_verifier import note as their_notes
from fairdeal_verifier.encoding import UnreadableError
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Keys
from seeds.local import Book, LocalTable
from tests.audit.cheats import (
    CHEATS,
    cheated,
    encode,
    events_of,
    fitted,
    note_at,
    two_histories,
)
from tests.audit.generate import ORIGIN, LogWriter, write_book, write_log

KEY = LogKey.parse(str(Book(ORIGIN).key.verifier))
KEYS = Keys.of(KEY)
OTHER = LogKey.parse(str(Book("other.example/log").key.verifier))


def forks():
    """Heads of one size, heads of two sizes, receipts of one index."""
    for shared, first, second in ((30, 50, 50), (30, 64, 90), (30, 50, 90), (0, 1, 2)):
        one, other = two_histories(shared, first, second)
        nodes = ()
        if first != second:
            nodes = consistency(other, first)
        yield fork_of(note_at(one, first).encode(), note_at(other, second).encode(), nodes, KEYS)
    receipts = [
        {"entry": book.entries[40].decode(), "receipt": book.receipt(40).text()}
        for book in two_histories(30, 50, 90)
    ]
    yield Evidence("FORK", tuple(receipts))


def consistency(book, size):
    """The nodes, by the core's own tree."""

    def walk(start, end, whole):
        if whole == end:
            return [book.tree.root(end)] if start == 0 else [subtree(book, start, end)]
        middle = start + (1 << ((end - start - 1).bit_length() - 1))
        if whole <= middle:
            return [*walk(start, middle, whole), subtree(book, middle, end)]
        return [*walk(middle, end, whole), subtree(book, start, middle)]

    return walk(0, len(book.entries), size)


def subtree(book, start, end):
    part = Book(ORIGIN)
    for raw in book.entries[start:end]:
        part.append(raw)
    return part.tree.root(end - start)


@pytest.fixture(scope="module")
def proofs(tmp_path_factory):
    """Every evidence that the cheats leave, and the forks."""
    found = [evidence.encode() for evidence in forks()]
    for name in CHEATS:
        log, folder = tmp_path_factory.mktemp("log"), tmp_path_factory.mktemp("dir")
        cheated(name, log)
        fetch(FolderSource(log), folder, KEY)
        names = write_evidence(folder, KEY, replay(folder, KEY))
        found += [(folder / one).read_bytes() for one in names.values()]
    return found


def test_every_proof_is_judged_guilty_and_by_no_other_key(proofs):
    codes = Counter()
    for data in proofs:
        evidence = Evidence.parse(data)
        assert evidence.encode() == data
        assert judge(evidence, KEY), evidence.code
        assert not judge(evidence, OTHER)
        codes[evidence.code] += 1
    assert codes.keys() == {
        *("FORK", "CHAIN", "NUMBER", "TERMS", "COMMITMENT"),
        *("REUSE", "CARD", "WITHHELD", "HAND"),
    }


@pytest.mark.parametrize(("reason", "is_guilty"), [("lost", False), ("operator", True)])
def test_what_is_lost_is_not_withheld(reason, is_guilty):
    """LOG-30: there is nothing to disclose. Control: the same, ended for another reason."""
    table = LocalTable(Book(ORIGIN), "kozel", name="c3")
    table.deal()
    table.abort("lost")
    table.open_hand()
    events = events_of(table)
    end = next(n for n, event in enumerate(events) if event["type"] == "hand.aborted")
    events[end]["reason"] = reason
    book = Book(ORIGIN)
    for event in fitted(events):
        book.append(encode(event))
    statements = [
        {"entry": book.entries[n].decode(), "receipt": book.receipt(n).text()}
        for n in (0, end, end + 1)
    ]
    assert bool(judge(Evidence("WITHHELD", tuple(statements)), KEY)) == is_guilty


# --- mutations ------------------------------------------------------------------------------------


def mutated(chance, proofs):
    """A proof changed in its bytes, in its statements, or in what they say."""
    data = chance.choice(proofs)
    kind = chance.randrange(9)
    if kind == 0:
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 1, 4))):
            changed[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(changed)
    if kind == 1:
        a, b = sorted(chance.sample(range(len(data)), 2))
        return data[:a] + data[b:] if chance.random() < 0.5 else data[:b] + data[a:b] + data[b:]
    value, other = json.loads(data), json.loads(chance.choice(proofs))
    statements = value["statements"]
    one = chance.choice(statements)
    if kind == 2:
        chance.shuffle(statements)
    elif kind == 3:
        value["code"] = other["code"]
    elif kind == 4:
        statements[chance.randrange(len(statements))] = chance.choice(other["statements"])
    elif kind == 5:
        statements.remove(one) if chance.random() < 0.5 else statements.append(one)
    elif kind == 6:
        name = chance.choice(sorted(one))
        text = one[name]
        at = chance.randrange(len(text))
        one[name] = text[:at] + chance.choice('0123456789abcdefZ+/=\n {}"') + text[at + 1 :]
    elif kind == 7 and one.get("entry", "")[:1] == "{":
        event = json.loads(one["entry"])
        name = chance.choice(sorted(event))
        event[name] = chance.choice((0, 1, 2, 3, "", "ab" * 32, None, [], event.get("prev")))
        one["entry"] = json.dumps(event, sort_keys=True, separators=(",", ":"))
    elif "consistency" in value:
        nodes = value["consistency"]
        nodes[chance.randrange(len(nodes))] = f"{chance.getrandbits(256):064x}"
    else:
        value["consistency"] = other.get("consistency", ["00" * 32])
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def said(value):
    """What evidence says, whatever the order of its statements."""
    statements = sorted(json.dumps(one, sort_keys=True) for one in value["statements"])
    return value["code"], tuple(statements), tuple(value.get("consistency", ()))


def hunted(proofs, numbers):
    """Judges mutations; those found guilty by what no log has signed, and counts.

    A statement of one proof may stand in another: both are signed by the one key, and together
    they can prove something again (`recombined`). One that was changed never may.
    """
    true = {said(json.loads(data)) for data in proofs}
    signed = {one for _, statements, _ in true for one in statements}
    nodes = {consistency for _, _, consistency in true}
    outcomes, wrong = Counter(), []
    for number in numbers:
        data = mutated(random.Random(number), proofs)
        try:
            evidence = Evidence.parse(data)
        except UnreadableError:
            outcomes["unreadable"] += 1
            continue
        why = judge(evidence, KEY)
        outcomes["guilty" if why else "nothing"] += 1
        now = said(json.loads(data))
        if why and now not in true:
            if set(now[1]) <= signed and now[2] in nodes:
                outcomes["recombined"] += 1
            else:
                wrong.append((number, why))
    return outcomes, wrong


def test_no_mutation_is_guilty_unless_it_still_says_the_same(proofs, quick):
    outcomes, wrong = hunted(proofs, range(2000))
    assert not wrong
    assert outcomes["unreadable"] > 200
    assert outcomes["nothing"] > 500
    assert outcomes["recombined"] < 20
    assert outcomes["guilty"] > 20  # those that shuffled two statements, or changed nothing


def test_control_a_judge_that_checks_no_signature_is_deceived(proofs):
    with mock.patch.object(their_notes, "verify_signature", return_value=True):
        assert hunted(proofs, range(600))[1]


def test_control_a_judge_that_checks_no_inclusion_is_deceived(proofs, quick):
    with mock.patch.object(their_notes.Receipt, "includes", return_value=True):
        assert hunted(proofs, range(600))[1]


# --- honest logs ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An honest log of 120 hands in memory, its tree in a folder, and its checkpoint."""
    book = LogWriter(None)
    write_log(book, 120)
    plain = Book(ORIGIN)
    for raw in book.entries:
        plain.append(raw)
    folder = tmp_path_factory.mktemp("judged")
    write_book(plain, folder)
    events = [json.loads(raw) for raw in book.entries]
    return events, Folder(folder, len(events)), note_at(plain, len(events))


def by_table(events):
    tables = {}
    for index, event in enumerate(events):
        tables.setdefault(event["table"], []).append(index)
    return list(tables.values())


def candidates(events, chance):
    """Statements in the shape of each code."""
    chain = chance.choice([one for one in by_table(events) if len(one) > 12])
    at = chance.randrange(len(chain) - 3)
    opened = [i for i in chain if events[i]["type"] == "hand.opened"]
    yield "CHAIN", chain[at : at + 2]
    yield "CHAIN", chance.sample(chain, 2)
    yield "NUMBER", chain[at : at + chance.randint(2, 4)]
    yield "NUMBER", chain[at : at + 2]
    yield "TERMS", [chain[0], chance.choice(opened)]
    one = chance.randrange(len(opened))
    yield "COMMITMENT", [chain[0], opened[0]]
    yield "COMMITMENT", opened[one : one + 2]
    yield "REUSE", chance.sample(opened, min(2, len(opened)))
    hand = [i for i in chain if events[i].get("hand") == events[opened[one]]["hand"]]
    shown = [i for i in hand if "shown" in events[i] or "given" in events[i]]
    yield "CARD", shown[:2]
    if len(shown) > 2:
        yield "CARD", sorted(chance.sample(shown, 2))
    ends = [k for k in chain[:-1] if events[k]["type"] in ("hand.closed", "hand.aborted")]
    for end in ends[:2]:
        yield "WITHHELD", [chain[0], end, chain[chain.index(end) + 1]]
    yield "FORK", [chain[at], chain[at]]
    yield "FORK", chance.sample(chain, 2)


def test_nothing_follows_from_honest_statements(log, quick):
    events, tree, note = log
    judged = Counter()
    for number in range(60):
        for code, indices in candidates(events, random.Random(number)):
            if indices:
                evidence = Evidence(code, tuple([entry_of(tree, note, i) for i in indices]))
                assert not judge(evidence, KEY), (code, [events[i] for i in indices])
                judged[code] += 1
    assert min(judged.values()) > 20


def hands(events):
    """Indices of disclosed hands: `table.opened`, the hand, its disclosure."""
    for chain in by_table(events):
        for index in chain:
            if events[index]["type"] == "hand.disclosed":
                number = events[index]["hand"]
                ours = [i for i in chain if events[i].get("hand") == number and i != index]
                yield [chain[0], *ours], index


def test_nothing_follows_from_honest_hands(log):
    events, tree, note = log
    for indices, index in list(hands(events))[:25]:
        file = {"file": hand_file(tree, note, indices, events[index])}
        bare = {"file": hand_file(tree, note, indices, None)}
        disclosed = entry_of(tree, note, index)
        for statements in ((file, disclosed), (file,), (bare,), (bare, disclosed), (disclosed,)):
            assert not judge(Evidence("HAND", statements), KEY)


def test_a_hand_that_the_log_does_not_hold_so_proves_nothing(log):
    """A disclosure, an event, terms or a proof that were changed by whoever accuses."""
    events, tree, note = log
    indices, index = next(one for one in hands(events) if len(one[0]) > 8)
    other = next(
        i for i, event in enumerate(events) if event["type"] == "table.opened" and i != indices[0]
    )
    whole = json.loads(hand_file(tree, note, indices, events[index]))
    forged = []
    for change in range(5):
        value = copy.deepcopy(whole)
        if change == 0:
            value["disclosed"]["server_seed"] = "00" * 32
        elif change == 1:
            value["disclosed"]["discards"] = {"0": [[[0, 1]]]}
        elif change == 2:
            value["events"][0] = tree.entry(other).decode()
        elif change == 3:
            del value["events"][3]
        else:
            event = json.loads(value["events"][-1]) | {"type": "hand.aborted", "reason": "lost"}
            event = {k: v for k, v in event.items() if k != "result"} | {"missing": []}
            value["events"][-1] = json.dumps(event, sort_keys=True, separators=(",", ":"))
        forged.append(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    for text in forged:
        for more in ((), (entry_of(tree, note, index),)):
            assert not judge(Evidence("HAND", ({"file": text}, *more)), KEY)


def test_heads_of_one_log_are_no_fork():
    one, longer = two_histories(10_000, 50, 90)
    heads = (note_at(one, 50).encode(), note_at(longer, 90).encode())
    assert not judge(fork_of(*heads, consistency(longer, 50), KEYS), KEY)
    assert not judge(fork_of(*heads, (), KEYS), KEY)
    assert not judge(fork_of(heads[0], heads[0], (), KEYS), KEY)
    # Control: the same nodes with another smaller head are.
    other, _ = two_histories(3, 50, 60)
    changed, _ = two_histories(10_000, 50, 60)
    changed.append(b"x")
    assert note_at(other, 50) == note_at(one, 50)
    forged = Book(ORIGIN)
    for raw in [*one.entries[:49], b"another"]:
        forged.append(raw)
    evidence = fork_of(note_at(forged, 50).encode(), heads[1], consistency(longer, 50), KEYS)
    assert judge(evidence, KEY)


# --- what is no evidence --------------------------------------------------------------------------

GOOD = {"code": "CHAIN", "format": "fairdeal-evidence/1", "statements": [{"checkpoint": "x"}]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        b"{}",
        b'{"a":' * 40,
        *(
            json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
            for value in (
                GOOD | {"format": "fairdeal-evidence/2"},
                GOOD | {"code": "GAP"},
                GOOD | {"code": ["FORK"]},
                GOOD | {"code": None},
                GOOD | {"more": 1},
                GOOD | {"statements": []},
                GOOD | {"statements": {}},
                GOOD | {"statements": [{"checkpoint": "x"}] * 65},
                GOOD | {"statements": [{"entry": "x"}]},
                GOOD | {"statements": [{"checkpoint": 1}]},
                GOOD | {"consistency": []},
                GOOD | {"consistency": ["zz" * 32]},
                GOOD | {"consistency": ["00" * 32] * 131},
            )
        ),
        json.dumps(GOOD).encode(),  # with white space
        base64.b64encode(bytes(17 << 20)),
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_is_not_evidence_is_unreadable(data, tmp_path, run):
    with pytest.raises(UnreadableError):
        Evidence.parse(data)
    (tmp_path / "evidence.json").write_bytes(data)
    vkey = str(Book(ORIGIN).key.verifier)
    assert run("judge", tmp_path / "evidence.json", "--key", vkey)[0] == 4


def test_exit_codes_of_judge(proofs, tmp_path, run):
    path, vkey = tmp_path / "evidence.json", str(Book(ORIGIN).key.verifier)
    path.write_bytes(proofs[0])
    assert run("judge", path, "--key", vkey)[0] == 1
    assert run("judge", path, "--key", str(Book("other.example/log").key.verifier))[0] == 0
    assert run("judge", path)[0] == 2
    for other, what in {
        "no key": "is neither a log key nor a file that holds one",
        str(path): "holds no log key: a log key is not <name>+<8 hex digits>+<base64>",
    }.items():
        said = run("judge", path, "--key", other)
        assert said == (2, f"fairdeal-audit: {other!r} {what}\n")
    said = run("judge", tmp_path / "none.json", "--key", vkey)
    assert said == (2, f"fairdeal-audit: {tmp_path / 'none.json'}: No such file or directory\n")
    text = run("judge", path, "--key", vkey, "--text")[1]
    assert text.startswith("guilty: FORK  it has signed two roots for 50 entries")


@pytest.mark.parametrize(
    ("streams", "guilty", "clean"),
    [
        (">/dev/null", 1, 0),
        (">&- 2>&-", 1, 0),
        (">/dev/full 2>/dev/full", 1, 2),
    ],
)
def test_what_is_found_is_found_although_nobody_can_be_told(
    proofs, tmp_path, streams, guilty, clean
):
    """Nor is a full disk a finding."""
    path = tmp_path / "evidence.json"
    path.write_bytes(proofs[0])
    script = f'exec "$0" -m fairdeal_audit judge {path} --key "$1" {streams}'
    for origin, code in ((ORIGIN, guilty), ("other.example/log", clean)):
        shell = ["/bin/sh", "-c", script, sys.executable, str(Book(origin).key.verifier)]
        assert subprocess.run(shell, check=False).returncode == code


def test_a_reader_that_has_gone_changes_no_exit_code(proofs, tmp_path):
    path = tmp_path / "evidence.json"
    path.write_bytes(proofs[0])
    for origin, code in ((ORIGIN, 1), ("other.example/log", 0)):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, "-m", "fairdeal_audit", "judge", str(path), "--key",
             str(Book(origin).key.verifier)],
            stdout=writing, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        os.close(writing)
        assert (done.returncode, done.stderr) == (code, b"")
