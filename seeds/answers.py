"""Known answers of each primitive."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fairdeal.cards import french_deck, spanish_deck
from fairdeal.ed25519 import public_key, sign
from fairdeal.encoding import encode
from fairdeal.events import Header, TableClosed
from fairdeal.games import GAMES
from fairdeal.hashing import TAGS, Digest, framed_hash, framed_message, stream
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import CosigningKey
from fairdeal.log.tiles import Tile
from fairdeal.log.witness import Submission, judge
from fairdeal.sealed_deck import SealedDeck, leaf
from fairdeal.seeds import (
    DealKey,
    SeatSeed,
    ServerSeed,
    commit,
    deal_key,
    link,
    seal,
    seed_chain,
)
from fairdeal.shuffle import pick, shuffle, uniform
from seeds.edwards import edge_cases
from seeds.local import Book, named
from seeds.rotation import rotation

Answers = dict[str, Any]

_SERVER = ServerSeed(bytes(range(32)))
_TERMS = Digest(hashlib.sha256(b"terms").digest())
_SEATS = [SeatSeed(hashlib.sha256(bytes([i])).digest()) for i in range(6)]


def _key(seats: int = 4, hand: int = 1, epoch: int = 0) -> DealKey:
    return deal_key(_TERMS, hand, epoch, _SEATS[:seats], _SERVER)


def encoding() -> Answers:
    """Event bytes that are accepted and refused."""
    header = Header("tbl_" + "0" * 26, 3, Digest(b"\x01" * 32), 1_764_450_000_123)
    good = TableClosed(header=header, unused_seed=_SERVER).raw.decode()
    bad = {
        "white space": good.replace(",", ", ", 1),
        "keys not in order": good.replace('{"at":"2025-11-29T21:00:00.123Z",', "{")[:-1]
        + ',"at":"2025-11-29T21:00:00.123Z"}',
        "duplicate key": good[:-1] + ',"v":"fairdeal/1"}',
        "unknown field": good[:-1] + ',"w":0}',
        "missing field": good.replace(',"v":"fairdeal/1"', ""),
        "other version": good.replace("fairdeal/1", "fairdeal/2"),
        "float": good.replace('"seq":3', '"seq":3.0'),
        "exponent": good.replace('"seq":3', '"seq":3e0'),
        "negative zero": good.replace('"seq":3', '"seq":-0'),
        "leading zero": good.replace('"seq":3', '"seq":03'),
        "2^53": good.replace('"seq":3', '"seq":9007199254740992'),
        "a string for a number": good.replace('"seq":3', '"seq":"3"'),
        "true for a number": good.replace('"seq":3', '"seq":true'),
        "upper-case hex": good.replace("0a0b", "0A0B"),
        "31 bytes": good.replace("1f", "", 1),
        "33 bytes": good.replace("1f", "1f20", 1),
        "escaped letter": good.replace("fairdeal/1", "fairdeal\\u002f1"),
        "second 60": good.replace("21:00:00", "21:00:60"),
        "February 30": good.replace("11-29", "02-30"),
        "no milliseconds": good.replace(".123Z", "Z"),
        "another table name": good.replace("tbl_0", "tbl_O"),
        "trailing newline": good + "\n",
        "byte order mark": "\ufeff" + good,
        "not an object": "[" + good + "]",
    }
    hand = json.loads(good) | {"hand": 1}
    del hand["unused_seed"]
    closed = hand | {"type": "hand.closed"}
    dealt = hand | {"type": "hand.dealt", "beacon": None, "deck_root": "00" * 32, "first": 0}
    dealt |= {"indicator": None, "positions": {"0": [2, 0], "9": [1]}, "shown": []}
    told = hand | {"type": "hand.disclosed", "server_seed": "00" * 32}
    called = hand | {"type": "play.called", "seat": 9, "call": "no_mus", "amount": None}

    def nested(depth: int) -> Any:  # noqa: ANN401 (JSON is anything)
        return [] if depth == 1 else [nested(depth - 1)]

    def long(size: int) -> str:
        shortest = _text(closed | {"result": {"a": ""}})
        return shortest.replace('""', f'"{"a" * (size - len(shortest))}"')

    first = good.replace(',"prev":"' + "01" * 32 + '"', ',"prev":""')
    more = [
        good.replace('"seq":3', '"seq":9007199254740991'),
        first.replace('"seq":3', '"seq":0'),
        *(
            good.replace("2025-11-29T21:00:00.123Z", at)
            for at in (
                "2000-01-01T00:00:00.000Z",
                "2024-02-29T23:59:59.999Z",
                "9999-12-31T00:00:00.000Z",
            )
        ),
        _text(closed | {"result": None}),
        _text(closed | {"result": {}}),
        _text(closed | {"result": {"a_0": " ~!#[]^", "b": '\\"', "c": [True, None, -1]}}),
        _text(closed | {"result": {"a": nested(14)}}),
        _text(closed | {"hand": 2**32 - 1, "result": {"a": 1 - 2**53}}),
        long(65_535),
        _text(dealt),
        _text(dealt | {"positions": {"0": []}}),
        _text(told | {"discards": {}}),
        _text(told | {"discards": {"3": [], "4": [[]], "5": [[[32, 255], [0, 0]]]}}),
        _text(called),
        _text(called | {"amount": 2**53 - 1}),
    ]
    bad |= {
        "-2^53": _text(closed | {"result": {"a": -(2**53)}}),
        "29 February 2100": good.replace("2025-11-29", "2100-02-29"),
        "the year 1999": good.replace("2025", "1999"),
        "hour 24": good.replace("T21", "T24"),
        "delete": _text(closed | {"result": {"a": "\x7f"}}),
        "a letter that is not ASCII": _text(closed | {"result": {"a": "\xe9"}}),
        "an escaped control character": _text(closed | {"result": {"a": "\n"}}),
        "an escaped slash": _text(closed | {"result": {"a": "/"}}).replace('/"}', '\\/"}'),
        "an upper-case key": _text(closed | {"result": {"A": 0}}),
        "an empty key": _text(closed | {"result": {"": 0}}),
        "keys not in order within": _text(closed | {"result": {"a": 0, "b": 1}}).replace(
            '"a":0,"b":1', '"b":1,"a":0'
        ),
        "a key twice within": _text(closed | {"result": {"a": 0}}).replace('"a":0', '"a":0,"a":0'),
        "a float within": _text(closed | {"result": {"a": 1}}).replace('"a":1', '"a":1.0'),
        "a list for an object": _text(closed | {"result": []}),
        "nested 17 deep": _text(closed | {"result": {"a": nested(15)}}),
        "65,536 bytes": long(65_536),
        "hand 0": _text(closed | {"hand": 0, "result": None}),
        "hand 2^32": _text(closed | {"hand": 2**32, "result": None}),
        "no hand": _text(closed | {"result": None}).replace('"hand":1,', ""),
        "a hand of a table": good.replace('"prev"', '"hand":1,"prev"'),
        "seat 10": _text(called | {"seat": 10}),
        "seat 10 as a key": _text(dealt | {"positions": {"10": [0]}}),
        "a seat with a leading zero": _text(dealt | {"positions": {"00": [0]}}),
        "no seats": _text(dealt | {"positions": {}}),
        "position 256": _text(dealt | {"positions": {"0": [256]}}),
        "epoch 33": _text(told | {"discards": {"0": [[[33, 0]]]}}),
        "a word of 17 letters": _text(called | {"call": "a" * 17}),
        "a word with a digit": _text(called | {"call": "mus1"}),
        "an amount below 0": _text(called | {"amount": -1}),
        "a beacon": _text(dealt | {"beacon": {}}),
        "an unknown type": good.replace("table.closed", "table.paused"),
    }
    return {
        "valid": [good, *more],
        "invalid": [{"case": case, "event": event} for case, event in bad.items()],
    }


def _text(event: Answers) -> str:
    """As ENC-1 has it, whatever is in it."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hashing() -> Answers:
    """Framed hashes and messages for every tag, and streams."""
    fields = [b"", b"a", b"bc", bytes(32)]
    key = _key()
    return {
        "framed": [
            {
                "tag": tag,
                "fields": [field.hex() for field in fields],
                "message": framed_message(tag, *fields).hex(),
                "hash": framed_hash(tag, *fields).hex(),
            }
            for tag in TAGS
        ],
        "streams": [
            {"key": key.hex(), "name": name, "bytes": stream(key, name, 64).hex()}
            for name in ("shuffle", "salts", "pick first", "pick indicator", "discard 3 2")
        ],
    }


def seeds() -> Answers:
    """Commitments, links, seals, deal keys."""
    chain = seed_chain(_SEATS[0])
    commitment = commit(_SERVER)
    return {
        "server_seed": _SERVER.hex(),
        "commitment": commitment.hex(),
        "terms": _TERMS.hex(),
        "seat_seeds": [seed.hex() for seed in _SEATS],
        "links": [{"later": s.hex(), "earlier": link(s).hex()} for s in _SEATS],
        "chain": {"x_32": chain[32].hex(), "x_1": chain[1].hex(), "x_0": chain[0].hex()},
        "seals": [
            {"hand": hand, "seat": i, "seal": seal(_TERMS, hand, i, commitment, _SEATS[i]).hex()}
            for hand in (1, 2**32 - 1)
            for i in range(4)
        ],
        "deal_keys": [
            {"seats": n, "hand": hand, "epoch": epoch, "key": _key(n, hand, epoch).hex()}
            for n, hand, epoch in ((4, 1, 0), (4, 1, 1), (4, 2, 0), (1, 1, 0), (6, 7, 32))
        ],
    }


def shuffling() -> Answers:
    """Uniform numbers from scripted bytes, orders, picks."""
    scripts = [(52, [208, 255, 207]), (36, [252, 251]), (1, [255]), (256, [255]), (3, [255, 0])]
    key = _key()
    decks = {"french": french_deck(), "azi": french_deck("DHS"), "spanish": spanish_deck()}
    return {
        "uniform": [
            {"m": m, "bytes": bytes(script).hex(), "number": uniform(iter(script), m)}
            for m, script in scripts
        ],
        "orders": [
            {"key": key.hex(), "deck": list(deck), "order": list(shuffle(deck, key))}
            for deck in decks.values()
        ],
        "picks": [
            {"key": key.hex(), "name": name, "m": m, "number": pick(key, name, m)}
            for name, m in (("first", 2), ("first", 4), ("first", 6), ("indicator", 18))
        ],
    }


def decks() -> Answers:
    """Leaves, roots and openings."""
    found = []
    for epoch, deck in ((0, french_deck()), (0, french_deck("DHS")), (1, spanish_deck()[:28])):
        key = _key(epoch=epoch)
        sealed = SealedDeck.from_key(key, epoch, deck)
        found.append(
            {
                "key": key.hex(),
                "epoch": epoch,
                "deck": list(deck),
                "leaves": [
                    leaf(epoch, p, card, sealed.salt(p)).decode()
                    for p, card in enumerate(sealed.order)
                ],
                "root": sealed.root.hex(),
                "openings": [sealed.opening(p).to_dict() for p in (0, 7, len(deck) - 1)],
            }
        )
    return {"decks": found}


def procedures() -> Answers:
    """Where the cards of each deal go, by game, seats, first seat and ruleset."""
    found = []
    variants: dict[str, list[dict[str, Any]]] = {
        "kozel": [{}],
        "mus": [{}],
        "svoi": [{}],
        "azi": [{}, {"cards": 4}],
    }
    for name, game in GAMES.items():
        for rules in map(game.ruleset, variants[name]):
            for seats in game.seats:
                for first in {0, seats - 1}:
                    layout = game.deal(rules, seats, first, 1, None)
                    found.append(
                        {
                            "game": name,
                            "ruleset": rules,
                            "seats": seats,
                            "first": first,
                            "positions": [[p.position for p in row] for row in layout.received],
                            "turned": [list(t) for t in game.turned(rules, seats, first, None)],
                            "stock": [place.position for place in layout.stock],
                        }
                    )
    return {"deals": found}


def log() -> Answers:
    """A small log: receipts at several sizes, tile names."""
    book = Book()
    entries = [encode({"n": n}) for n in range(9)]
    for entry in entries:
        book.append(entry)
    tiles = [Tile(0, 0, 9), Tile(-1, 0, 9), Tile(1, 1234067), Tile(63, 999), Tile(0, 1000, 255)]
    return {
        "vkey": str(book.key.verifier),
        "entries": [entry.decode() for entry in entries],
        "receipts": [
            {"index": index, "size": size, "receipt": book.receipt(index, size).text()}
            for index, size in ((0, 1), (0, 2), (4, 5), (2, 7), (8, 9), (0, 9))
        ],
        "malformed": [{"case": case, "receipt": text} for case, text in _malformed(book).items()],
        "consistency": [
            {"old": old, "size": 9, "path": [n.hex() for n in book.tree.consistency_path(old)]}
            for old in range(1, 10)
        ],
        "roots": [book.tree.root(size).hex() for size in range(10)],
        "tiles": [
            {"level": t.level, "index": t.number, "width": t.width, "path": t.path} for t in tiles
        ],
    }


def _malformed(book: Book) -> dict[str, str]:
    """What is no receipt. Spec: LOG-2..5."""
    good = book.receipt(0, 9).text()
    first = good.split("\n")[2]
    line = good.split("\n")[-2]
    return {
        "a newline too many": good + "\n",
        "no newline at the end": good[:-1],
        "carriage returns": good.replace("\n", "\r\n"),
        "another header": good.replace("@v1", "@v2"),
        "no index": good.replace("index 0\n", ""),
        "a leading zero": good.replace("index 0", "index 00"),
        "a sign": good.replace("index 0", "index +0"),
        "an index of 17 digits": good.replace("index 0", "index 1" + "0" * 16),
        "a size of 17 digits": good.replace("\n9\n", "\n1" + "0" * 16 + "\n"),
        "an extra line": good.replace("\nindex", "\nextra AAAA\nindex"),
        "an extension line": good.replace(f"\n\n{line[:3]}", f"\nmore\n\n{line[:3]}"),
        "base64 that is not padded": good.replace(first, first.rstrip("=")),
        "base64 that is not canonical": good.replace(first, first[:-2] + "B="),
        "a hash of 31 bytes": good.replace(first, "A" * 40 + "AA=="),
        "no signature": good.replace(line + "\n", ""),
        "a hyphen for the dash": good.replace("\u2014", "-"),
        "a signature's name with a plus": good.replace("\u2014 vectors", "\u2014 vec+tors"),
        "a signature that is a key id alone": good.replace(
            line, line[: line.rindex(" ")] + " AAAAAA=="
        ),
    }


def witness() -> Answers:
    """Cosignatures, and what a witness that holds a head of size 5 answers. Spec: WIT-1..4."""
    book = Book()
    for number in range(9):
        book.append(encode({"n": number}))
    log, tree = book.key, book.tree
    witness = CosigningKey("witness.example/w1", named("witness key"))
    heads = {size: Checkpoint(log.name, size, tree.root(size)) for size in range(10)}
    other = Checkpoint(log.name, 9, hashlib.sha256(b"another tree").digest())
    stranger = Book("stranger.example/log")
    proof = tuple(tree.consistency_path(5))
    good = Submission(5, proof, heads[9].sign(log))
    forged = heads[9].text() + "\n" + other.sign(log).split("\n\n")[1]
    cases = {
        "the next head": good,
        "the same head again": Submission(5, (), heads[5].sign(log)),
        "from nothing": Submission(0, (), heads[9].sign(log)),
        "from another size": Submission(4, tuple(tree.consistency_path(4)), good.note),
        "an older head": Submission(4, (), heads[4].sign(log)),
        "old above the size": Submission(9, (), heads[5].sign(log)),
        "another root of the size held": Submission(
            5, (), Checkpoint(log.name, 5, other.root).sign(log)
        ),
        "another history": Submission(5, proof, other.sign(log)),
        "a proof cut off": Submission(5, proof[:-1], good.note),
        "a proof where none is due": Submission(5, proof, heads[5].sign(log)),
        "a signature of another head": Submission(5, proof, forged),
        "another log's checkpoint": Submission(
            0, (), Checkpoint(stranger.key.name, 0, tree.root(0)).sign(stranger.key)
        ),
    }
    held = {log.name: heads[5]}
    logs = {log.name: (log.verifier,)}
    return {
        "log_key": str(log.verifier),
        "witness_key": str(witness.verifier),
        "held": {"size": 5, "root": heads[5].root.hex()},
        "cosignatures": [
            {
                "checkpoint": heads[size].sign(log),
                "time": time,
                "line": witness.cosign(heads[size], time),
            }
            for size, time in ((1, 0), (5, 1_764_450_000), (9, 2**63 - 1))
        ],
        "submissions": [
            {
                "case": case,
                "body": submission.encode().decode(),
                "status": (answer := judge(submission, logs, held)).status,
                "size": answer.size,
            }
            for case, submission in cases.items()
        ],
    }


def ed25519() -> Answers:
    """Signatures on the edges of the rule. Spec: SIG-1."""
    secret = hashlib.sha256(b"edge").digest()
    message = b"fairdeal"
    cases = [
        {
            "case": "a good signature",
            "key": public_key(secret).hex(),
            "message": message.hex(),
            "signature": sign(secret, message).hex(),
            "valid": True,
        }
    ]
    return {"cases": cases + edge_cases()}


ANSWERS = {
    "encoding": encoding,
    "hashing": hashing,
    "seeds": seeds,
    "shuffle": shuffling,
    "deck": decks,
    "procedures": procedures,
    "log": log,
    "rotation": rotation,
    "witness": witness,
    "ed25519": ed25519,
}
