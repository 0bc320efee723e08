"""Vectors of the log's key: rotations, what they lead to, and a log that follows another."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fairdeal.encoding import encode
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogContinued, LogRotated, LogSignatures, Lost
from fairdeal.log.keys import rotations_document
from fairdeal.log.note import SigningKey
from fairdeal.merkle import Tree
from seeds.local import START, Book, LocalTable, named

Vectors = dict[str, Any]

_ORIGIN = "vectors.example/log"
_HANDS: Lost = tuple((f"tbl_{n:026}", n + 1) for n in range(3))


def _played() -> tuple[Book, list[tuple[LogRotated, int]], list[LocalTable]]:
    """A log of three keys, with a hand under each."""
    book = Book(_ORIGIN)
    tables, rotations = [], []
    for number in range(3):
        table = LocalTable(book, "kozel", name=f"r{number}")
        table.open_hand()
        table.seal((0, 1, 3))
        table.abort("seal_timeout")
        table.close_table()
        tables.append(table)
        if number < 2:
            rotations.append((book.rotate(f"log key {number + 2}"), len(book.entries) - 1))
    return book, rotations, tables


def _forged(rotation: LogRotated, **changes: Any) -> LogRotated:  # noqa: ANN401 - of any field
    """A rotation with other fields and the signatures as they were."""
    return replace(rotation, **changes)


def _resigned(rotation: LogRotated, old: SigningKey, new: SigningKey) -> LogRotated:
    message = rotation.message()
    return replace(rotation, sigs=LogSignatures(new.sign_bytes(message), old.sign_bytes(message)))


def rotation() -> Vectors:
    """A log whose key changed twice; entries, heads and documents, good and bad."""
    book, rotations, tables = _played()
    keys = [*(key for _, key in book.former), book.key]
    one, index = rotations[0]
    published = [(entry, book.receipt(at, at + 1)) for entry, at in rotations]
    return {
        "origin": _ORIGIN,
        "keys": [str(key.verifier) for key in keys],
        "entries": [entry.decode() for entry in book.entries],
        "rotated": _rotated(book, one, index, keys),
        "heads": _heads(book, [at for _, at in rotations], keys),
        "document": rotations_document(published),
        "documents": _documents(book, rotations, keys),
        "forms": _forms(one.raw.decode(), _continued(0, 1, _HANDS).raw.decode()),
        "continued": _continuations(),
        "hands": _hands(book, tables, rotations, keys),
    }


def _rotated(book: Book, one: LogRotated, index: int, keys: list[SigningKey]) -> list[Vectors]:
    """Rotations as they would stand at one index, under the first key. Spec: LOG-26."""
    root = book.tree.root(index)
    old, new, third = keys
    stranger = SigningKey("stranger.example/log", named("stranger key"))
    other = SigningKey("stranger.example/log", new.secret)
    cases = [
        ("good", one, None),
        ("size of another place", _forged(one, size=index - 1), "signature_invalid"),
        (
            "size of another place, signed",
            LogRotated.make(one.at, index - 1, book.tree.root(index - 1), old, new),
            "rotation_invalid",
        ),
        (
            "root of another tree, signed",
            LogRotated.make(one.at, index, book.tree.root(index - 1), old, new),
            "rotation_invalid",
        ),
        (
            "old key not in force, signed by it",
            LogRotated.make(one.at, index, root, third, new),
            "rotation_invalid",
        ),
        ("to itself", LogRotated.make(one.at, index, root, old, old), "rotation_invalid"),
        (
            "another log's",
            LogRotated.make(one.at, index, root, stranger, SigningKey(stranger.name, new.secret)),
            "rotation_invalid",
        ),
        (
            "new key under another name",
            _resigned(_forged(one, new_key=other.verifier), old, other),
            "rotation_invalid",
        ),
        (
            "origin of another log",
            _resigned(_forged(one, origin=stranger.name), old, new),
            "rotation_invalid",
        ),
        (
            "signed by the old key twice",
            _forged(one, sigs=LogSignatures(one.sigs.old or b"", one.sigs.old)),
            "signature_invalid",
        ),
        (
            "signatures swapped",
            _forged(one, sigs=LogSignatures(one.sigs.old or b"", one.sigs.new)),
            "signature_invalid",
        ),
        ("another time", _forged(one, at=one.at + 1), "signature_invalid"),
        (
            "signed as a note is",
            _forged(
                one,
                sigs=LogSignatures(new.sign_bytes(one.message()), old.sign_bytes(one.raw)),
            ),
            "signature_invalid",
        ),
    ]
    return [
        {
            "case": case,
            "index": index,
            "root": root.hex(),
            "keys": [str(old.verifier)],
            "entry": entry.raw.decode(),
            "expect": code,
        }
        for case, entry, code in cases
    ] + [
        {
            "case": "a key that the log had before",
            "index": len(book.entries),
            "root": book.tree.root().hex(),
            "keys": [str(key.verifier) for key in keys],
            "entry": LogRotated.make(
                book.now, len(book.entries), book.tree.root(), third, old
            ).raw.decode(),
            "expect": "rotation_invalid",
        }
    ]


def _heads(book: Book, indices: list[int], keys: list[SigningKey]) -> list[Vectors]:
    """Checkpoints around each rotation, by each key. Spec: LOG-27."""
    sizes = sorted({size for at in indices for size in (at - 1, at, at + 1, at + 2)})
    found = []
    for size in (0, *sizes, len(book.entries)):
        for number, key in enumerate(keys):
            note = Checkpoint(_ORIGIN, size, book.tree.root(size)).sign(key)
            good = note == book.checkpoint(size)
            found.append({"size": size, "key": number, "checkpoint": note, "good": good})
    return found


def _documents(
    book: Book, rotations: list[tuple[LogRotated, int]], keys: list[SigningKey]
) -> list[Vectors]:
    """What is published of the rotations, and what leads nowhere. Spec: LOG-32."""
    (one, first), (two, second) = rotations
    whole = [(one, book.receipt(first, first + 1)), (two, book.receipt(second, second + 1))]
    late = [(one, book.receipt(first, second)), whole[1]]
    by_old = Checkpoint(_ORIGIN, first + 1, book.tree.root(first + 1)).sign(keys[0])
    too_late = Checkpoint(_ORIGIN, second + 1, book.tree.root(second + 1)).sign(keys[1])
    foreign = _forged(one, at=one.at + 1)

    def receipt_under(note: str) -> Any:  # noqa: ANN401 - a receipt
        size = Checkpoint.parse_text(note.partition("\n\n")[0] + "\n").size
        return replace(book.receipt(first, size), note=note)

    cases: list[tuple[str, Any, list[int] | None]] = [
        ("both", rotations_document(whole), [0, 1, 2]),
        ("the first alone", rotations_document(whole[:1]), [0, 1]),
        ("the second alone", rotations_document(whole[1:]), [1, 2]),
        ("a later head of the same key", rotations_document(late), [0, 1, 2]),
        ("other members", rotations_document(whole) | {"origin": _ORIGIN}, [0, 1, 2]),
        ("none", rotations_document([]), []),
        ("in another order", rotations_document(whole[::-1]), None),
        ("twice", rotations_document([whole[0], whole[0]]), None),
        ("receipts swapped", rotations_document([(one, whole[1][1]), (two, whole[0][1])]), None),
        ("receipt by the old key", rotations_document([(one, receipt_under(by_old))]), None),
        (
            "shown by a head past the next one",
            rotations_document([(one, receipt_under(too_late)), whole[1]]),
            None,
        ),
        ("an entry that nobody signed", rotations_document([(foreign, whole[0][1])]), None),
        ("no list", {"rotations": {}}, None),
        ("no receipt", {"rotations": [{"entry": one.raw.decode()}]}, None),
        ("no object", [], None),
        (
            "another entry",
            {"rotations": [{"entry": book.entries[0].decode(), "receipt": whole[0][1].text()}]},
            None,
        ),
    ]
    return [
        {
            "case": case,
            "document": json.dumps(document, ensure_ascii=False),
            "keys": None if leads is None else [str(keys[n].verifier) for n in leads],
        }
        for case, document, leads in cases
    ]


def _forms(rotated: str, continued: str) -> Vectors:
    """Bytes of these entries that are none. Spec: EVT-4."""
    bad = {
        "a table": rotated.replace('"type"', '"table":"tbl_00000000000000000000000000","type"'),
        "white space": rotated.replace(",", ", ", 1),
        "a sequence number": rotated.replace('"size"', '"seq":0,"size"'),
        "no signature of the old key": rotated[: rotated.index(',"old":')]
        + rotated[rotated.index('"},"size"') :],
        "a third signature": rotated.replace('"sigs":{', '"sigs":{"also":"00",'),
        "size below nothing": rotated.replace('"size":', '"size":-'),
        "size as a string": rotated.replace('"size":', '"size":"').replace(',"type"', '","type"'),
        "short root": rotated.replace('"root":"', '"root":"00'),
        "another version": rotated.replace("fairdeal/1", "fairdeal/2"),
        "a key that is none": rotated.replace('"new_key":"v', '"new_key":"V'),
        "part not below parts": continued.replace('"part":0', '"part":1'),
        "no parts": continued.replace('"parts":1', '"parts":0'),
        "lost twice": continued.replace(f'["{_HANDS[1][0]}",2]', f'["{_HANDS[0][0]}",1]'),
        "lost out of order": continued.replace(
            f'["{_HANDS[0][0]}",1],["{_HANDS[1][0]}",2]',
            f'["{_HANDS[1][0]}",2],["{_HANDS[0][0]}",1]',
        ),
        "lost hand 0": continued.replace(f'"{_HANDS[0][0]}",1', f'"{_HANDS[0][0]}",0'),
        "lost at no table": continued.replace(_HANDS[2][0], "tbl_2"),
        "no new signature": continued.replace('"new":', '"now":'),
        "old signature null": continued[: continued.index('"old":"')]
        + '"old":null},"type"'
        + continued.split('"},"type"')[1],
    }
    return {
        "valid": [rotated, continued, _continued(0, 1, (), with_old=False).raw.decode()],
        "invalid": [{"case": case, "entry": entry} for case, entry in bad.items()],
    }


def _ended() -> Book:
    """A log that has ended, with a key of its own."""
    book = Book("ended.example/log")
    book.key = SigningKey(book.key.name, named("ended log key"))
    return book


def _continued(
    part: int, parts: int, lost: Lost, *, with_old: bool = True, at: int = START
) -> LogContinued:
    book = _ended()
    for number in range(9):
        book.append(encode({"n": number}))
    new = SigningKey(_ORIGIN, named("log key"))
    return _made(book, new, new, book.key if with_old else None, part, parts, lost, at)


def _made(
    book: Book,
    new: SigningKey,
    signer: SigningKey,
    old: SigningKey | None,
    part: int,
    parts: int,
    lost: Lost,
    at: int,
) -> LogContinued:
    head = Checkpoint(book.key.name, 9, book.tree.root(9))
    return LogContinued(
        at=at,
        origin=new.name,
        sigs=LogSignatures(bytes(64), None),
        log_key=new.verifier,
        old_key=book.key.verifier,
        old=head,
        old_sig=book.key.sign_bytes(head.text().encode()),
        kept_size=7,
        kept_root=book.tree.root(7),
        part=part,
        parts=parts,
        lost=lost,
    ).signed(signer, old)


def _continuations() -> list[Vectors]:
    """A log that follows another, as its first entries would be. Spec: LOG-30."""
    good = _continued(0, 1, _HANDS)
    first, second = _continued(0, 2, _HANDS[:2]), _continued(1, 2, _HANDS[2:], at=START + 1)
    new, old = SigningKey(_ORIGIN, named("log key")), _ended().key
    stranger = SigningKey("stranger.example/log", named("stranger key"))
    empty = Checkpoint(old.name, 9, Tree().root())

    def again(entry: LogContinued, **changes: Any) -> LogContinued:  # noqa: ANN401
        """Another content, signed by both keys."""
        return replace(entry, **changes).signed(new, old)

    whole = again(good, kept_size=9, kept_root=good.old.root)
    cases: list[tuple[str, int, LogContinued | None, LogContinued, str | None]] = [
        ("good", 0, None, good, None),
        ("nothing was open", 0, None, _continued(0, 1, ()), None),
        ("the old key is lost", 0, None, _continued(0, 1, _HANDS, with_old=False), None),
        ("everything was kept", 0, None, whole, None),
        ("first of two", 0, None, first, None),
        ("second of two", 1, first, second, None),
        ("later in the log", 1, None, good, "continuation_invalid"),
        ("second without a first", 1, None, second, "continuation_invalid"),
        ("second at the beginning", 0, None, second, "continuation_invalid"),
        (
            "second of another log",
            1,
            _continued(0, 2, _HANDS[:2], with_old=False),
            second,
            "continuation_invalid",
        ),
        (
            "parts that overlap",
            1,
            first,
            _continued(1, 2, _HANDS[1:], at=START + 1),
            "continuation_invalid",
        ),
        (
            "parts that kept another size",
            1,
            first,
            again(second, kept_size=6),
            "continuation_invalid",
        ),
        ("kept more than there was", 0, None, again(good, kept_size=10), "continuation_invalid"),
        (
            "kept all with another root",
            0,
            None,
            again(good, kept_size=9),
            "continuation_invalid",
        ),
        (
            "its own origin",
            0,
            None,
            again(good, origin=old.name, log_key=SigningKey(old.name, new.secret).verifier),
            "continuation_invalid",
        ),
        (
            "the old key under another name",
            0,
            None,
            again(good, log_key=SigningKey(new.name, old.secret).verifier),
            "continuation_invalid",
        ),
        (
            "a key of another log",
            0,
            None,
            again(good, log_key=stranger.verifier),
            "continuation_invalid",
        ),
        ("a head that nobody signed", 0, None, again(good, old=empty), "signature_invalid"),
        (
            "a lost hand left out",
            0,
            None,
            replace(good, lost=_HANDS[1:]),
            "signature_invalid",
        ),
        (
            "signed by a stranger",
            0,
            None,
            good.signed(SigningKey(new.name, stranger.secret), old),
            "signature_invalid",
        ),
        (
            "the old signature by a stranger",
            0,
            None,
            good.signed(new, SigningKey(old.name, stranger.secret)),
            "signature_invalid",
        ),
    ]
    return [
        {
            "case": case,
            "index": index,
            "before": None if before is None else before.raw.decode(),
            "entry": entry.raw.decode(),
            "expect": code,
        }
        for case, index, before, entry, code in cases
    ]


def _hands(
    book: Book,
    tables: list[LocalTable],
    rotations: list[tuple[LogRotated, int]],
    keys: list[SigningKey],
) -> list[Vectors]:
    """Hands of a log that was rotated, and the key that is trusted. Spec: VER-8."""
    published = [(entry, book.receipt(at, at + 1)) for entry, at in rotations]
    both, first = rotations_document(published), rotations_document(published[:1])
    files = [table.transcript() for table in tables]
    end = tables[0].indices[-3]  # the hand's end; its disclosure and the table's follow
    after = rotations[0][1] + 1
    note = Checkpoint(_ORIGIN, after, book.tree.root(after)).sign(keys[0])
    # The old key signs once more, after it has given the log away.
    stale = replace(files[0], receipt=replace(book.receipt(end, after), note=note))
    last = replace(files[0], receipt=book.receipt(end, rotations[0][1]))
    kept = book.receipt(end, len(book.entries)).text()
    cases: list[tuple[str, Any, int, Vectors | None, list[str], int, str | None]] = [
        ("its own key", files[1], 1, None, [], 0, None),
        ("an older key alone", files[1], 0, None, [], 1, "log.signature"),
        ("an older key and the rotations", files[1], 0, both, [], 0, None),
        ("a newer key and the rotations", files[0], 2, both, [], 0, None),
        ("two rotations away", files[2], 0, both, [], 0, None),
        ("rotations that do not reach it", files[2], 0, first, [], 1, "log.signature"),
        ("the last head of an older key, and the rotations", last, 1, both, [], 0, None),
        ("the old key signed on", stale, 0, None, [], 0, None),
        ("the old key signed on, and the rotations", stale, 0, both, [], 1, "log.signature"),
        ("a receipt of the newest head", files[0], 0, both, [kept], 0, None),
        ("the same without the rotations", files[0], 0, None, [kept], 1, "receipt"),
    ]
    return [
        {
            "case": case,
            "file": transcript.encode().decode(),
            "key": str(keys[key].verifier),
            "rotations": document,
            "receipts": receipts,
            "exit": code,
            "failed": failed,
        }
        for case, transcript, key, document, receipts, code, failed in cases
    ]
