"""The log's key changes, and a log follows another. Spec: EVT-4, LOG-26..28, LOG-30, LOG-32."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fairdeal.errors import FairdealError, FormatError, VerificationError
from fairdeal.events import parse_event
from fairdeal.hashing import frame
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogContinued, LogRotated, LogSignatures, parse_log_entry
from fairdeal.log.keys import LogKeys, parse_rotations, rotations_document
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.merkle import Tree, leaf_hash
from seeds.local import Book, named

VECTORS = json.loads((Path(__file__).parents[2] / "seeds/rotation.json").read_text("utf-8"))
KEYS = [VerifierKey.parse(text) for text in VECTORS["keys"]]


def cases(name):
    return [pytest.param(case, id=case["case"]) for case in VECTORS[name]]


def whole_log():
    """The log of the vectors, replayed: its keys and its tree."""
    tree, keys = Tree(), LogKeys(KEYS[0])
    terms = {}
    for index, text in enumerate(VECTORS["entries"]):
        raw = text.encode()
        try:
            event = parse_event(raw)
        except FormatError:
            keys = keys.rotate(parse_log_entry(raw), index, tree.root())
        else:
            terms.setdefault(event.header.table, getattr(event, "log_key", None))
            keys.verify_terms(terms[event.header.table], index)
        tree.append(leaf_hash(raw))
    return keys, tree


def test_a_log_is_followed_from_key_to_key():
    """LOG-26, LOG-28."""
    keys, tree = whole_log()
    assert [str(key) for key in keys] == VECTORS["keys"]
    assert keys.current == KEYS[2]
    assert keys.origin == VECTORS["origin"]
    assert len(tree) == len(VECTORS["entries"])


@pytest.mark.parametrize("head", VECTORS["heads"], ids=lambda h: f"{h['size']} by {h['key']}")
def test_a_head_is_good_under_the_key_in_force(head):
    """LOG-27."""
    keys, tree = whole_log()
    if head["good"]:
        assert keys.open(head["checkpoint"], lone=True).root == tree.root(head["size"])
    else:
        with pytest.raises(VerificationError):
            keys.open(head["checkpoint"])
    signer = keys.signer(head["checkpoint"])
    assert signer is not None
    assert signer[0] == KEYS[head["key"]]


def test_a_stranger_s_head_has_no_signer():
    keys, _ = whole_log()
    stranger = SigningKey(keys.origin, named("a stranger"))
    assert keys.signer(Checkpoint(keys.origin, 1, bytes(32)).sign(stranger)) is None


@pytest.mark.parametrize("case", cases("rotated"))
def test_rotations_good_and_bad(case):
    """LOG-26."""
    first, *rest = [VerifierKey.parse(text) for text in case["keys"]]
    keys, tree = whole_log()
    assert [*map(str, LogKeys(first, keys.rotations[: len(rest)]))] == case["keys"]
    keys = LogKeys(first, keys.rotations[: len(rest)])
    entry = parse_log_entry(case["entry"].encode())
    assert isinstance(entry, LogRotated)
    assert tree.root(case["index"]).hex() == case["root"]
    if case["expect"] is None:
        keys.rotate(entry, case["index"], bytes.fromhex(case["root"]))
        return
    with pytest.raises(VerificationError) as caught:
        keys.rotate(entry, case["index"], bytes.fromhex(case["root"]))
    assert caught.value.code == case["expect"]


@pytest.mark.parametrize("case", cases("continued"))
def test_continuations_good_and_bad(case):
    """LOG-30."""
    entry = parse_log_entry(case["entry"].encode())
    before = parse_log_entry(case["before"].encode()) if case["before"] else None
    assert isinstance(entry, LogContinued)
    if case["expect"] is None:
        entry.verify(case["index"], before)
        return
    with pytest.raises(VerificationError) as caught:
        entry.verify(case["index"], before)
    assert caught.value.code == case["expect"]


def test_the_forms_of_these_entries():
    """EVT-4: they have one form, and no event of a table is one of them."""
    for text in VECTORS["forms"]["valid"]:
        assert parse_log_entry(text.encode()).raw == text.encode()
        with pytest.raises(FormatError):
            parse_event(text.encode())
    for case in VECTORS["forms"]["invalid"]:
        assert case["entry"] not in VECTORS["forms"]["valid"]
        with pytest.raises(FormatError):
            parse_log_entry(case["entry"].encode())
    with pytest.raises(FormatError):
        parse_log_entry(VECTORS["entries"][0].encode())


def test_any_byte_changed_is_another_entry_or_none():
    """EVT-4, LOG-26: the signatures cover everything."""
    text = VECTORS["forms"]["valid"][0]
    keys, tree = whole_log()
    index = parse_log_entry(text.encode()).size
    for place in range(len(text)):
        changed = text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
        with pytest.raises(FairdealError):
            LogKeys(keys.first).rotate(parse_log_entry(changed.encode()), index, tree.root(index))


@pytest.mark.parametrize("case", cases("documents"))
def test_what_is_published_leads_from_key_to_key(case):
    """LOG-32."""
    document = json.loads(case["document"])
    if case["keys"] is None:
        with pytest.raises(FairdealError):
            parse_rotations(document)
        return
    keys = parse_rotations(document)
    assert ([] if keys is None else [str(key) for key in keys]) == case["keys"]


def test_what_is_published_is_what_was_signed():
    keys, _ = whole_log()
    assert parse_rotations(VECTORS["document"]) == keys
    assert VECTORS["document"]["format"] == "fairdeal-rotations/1"


def test_what_the_keys_sign_is_the_entry_without_its_signatures():
    """TAG-1."""
    entry = parse_log_entry(VECTORS["forms"]["valid"][0].encode())
    members = json.loads(entry.raw)
    del members["sigs"]
    bare = json.dumps(members, sort_keys=True, separators=(",", ":")).encode()
    assert entry.message() == frame(b"fairdeal/1 rotate") + frame(bare)


def test_a_table_goes_no_further_than_its_key():
    """LOG-28."""
    keys, _ = whole_log()
    at = keys.rotations[0].size
    keys.verify_terms(str(KEYS[0]), at - 1)
    keys.verify_terms(str(KEYS[1]), at + 1)
    for key, index in ((1, at - 1), (0, at), (0, at + 1), (2, at + 1)):
        with pytest.raises(VerificationError) as caught:
            keys.verify_terms(str(KEYS[key]), index)
        assert caught.value.code == "log_key_not_in_force"


def test_a_log_may_change_its_key_before_anything_else():
    book = Book()
    entry = book.rotate("second")
    keys = LogKeys(entry.old_key).rotate(entry, 0, Tree().root())
    assert keys.at(0) == entry.old_key
    assert keys.at(1) == entry.new_key


def test_a_rotation_needs_both_signatures():
    entry = parse_log_entry(VECTORS["forms"]["valid"][0].encode())
    alone = replace(entry, sigs=LogSignatures(entry.sigs.new, None))
    with pytest.raises(FormatError):
        parse_log_entry(alone.raw)


def test_a_document_has_an_end():
    keys, _ = whole_log()
    one = VECTORS["document"]["rotations"][0]
    with pytest.raises(FormatError):
        parse_rotations({"rotations": [one] * 1001})
    assert rotations_document([])["rotations"] == []
    assert keys.rotations
