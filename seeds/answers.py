"""Known answers of each primitive."""

from __future__ import annotations

import hashlib
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
    return {
        "valid": [good],
        "invalid": [{"case": case, "event": event} for case, event in bad.items()],
    }


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
        "consistency": [
            {"old": old, "size": 9, "path": [n.hex() for n in book.tree.consistency_path(old)]}
            for old in range(1, 10)
        ],
        "roots": [book.tree.root(size).hex() for size in range(10)],
        "tiles": [
            {"level": t.level, "index": t.number, "width": t.width, "path": t.path} for t in tiles
        ],
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
