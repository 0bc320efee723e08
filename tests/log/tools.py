"""Other people's tools, each as a function that accepts a folder or raises `RefusedError`.

A tool is asked for all it can check. What it cannot do by itself, read bundles or build proofs, is
done for it by another of these tools, never by code of this repository.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import metamorphic_log
import pymerkle
from cryptography.exceptions import InvalidSignature
from tlog_scales.backend import LocalBackend, TilesBackend
from tlog_scales.reader import TilesReader
from tlog_scales.signing import Vkey
from tlog_scales.tiles import leaf_hash
from tlog_scales.tlog import Checkpoint, ConsistencyProofInvalid, InclusionProofInvalid

HERE = Path(__file__).parent
BUILT = Path(sys.prefix) / "log-tools"
"""Where the Makefile puts what does not come from PyPI."""


class RefusedError(Exception):
    """The tool does not take this log."""


class Log(NamedTuple):
    """What a tool is given: the log's key, its files, and checkpoints that somebody has kept."""

    vkey: str
    folder: Path
    olds: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        return (self.folder / "checkpoint").read_text("utf-8")


Tool = Callable[[Log], None]


def sample(size: int) -> Iterator[int]:
    """All entries of a small log; of a large one some of every tile, and the edges."""
    if size <= 1000:
        yield from range(size)
    else:
        yield from range(0, size, 101)
        yield from range(255, size, 4096)
        yield size - 1


def _reader(log: Log, backend: TilesBackend | None = None) -> TilesReader:
    reader = TilesReader(backend or LocalBackend(log.folder))
    reader.set_size(Checkpoint.from_text(log.note).size)
    return reader


def _entries(log: Log) -> list[bytes]:
    """All entries, as tlog-scales reads bundles."""
    reader = _reader(log)
    try:
        return [reader.get_entry(index) for index in range(reader.size)]
    except ValueError as error:
        raise RefusedError(str(error)) from error


# --- Go: x/mod's note and tlog -------------------------------------------------------------------


def govf(log: Log) -> None:
    """Signature, entries, every tile, consistency: everything, computed again."""
    program = BUILT / "govf"
    assert program.exists(), (
        f"{program} was not built: `make test` builds it with Go, which it gets from Debian "
        "(golang-go, golang-golang-x-mod-dev) as root or by sudo; elsewhere install Go and x/mod."
    )
    kept = []
    for number, note in enumerate(log.olds):
        kept.append(log.folder.with_name(f"{log.folder.name}-old{number}"))
        kept[-1].write_text(note, "utf-8")
    ran = subprocess.run(
        [program, log.vkey, log.folder, *kept], capture_output=True, text=True, check=False
    )
    if ran.returncode == 1 and ran.stdout.startswith("refused: "):
        raise RefusedError(ran.stdout)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"accepted: {log.note.splitlines()[1]} ")


# --- Python: tlog-scales -------------------------------------------------------------------------


def scales(log: Log, backend: TilesBackend | None = None) -> None:
    """Signature, entries against leaves, the root, an inclusion a tile, consistency."""
    reader = TilesReader(backend or LocalBackend(log.folder))
    try:
        key = Vkey.from_string(log.vkey)
        head = reader.get_checkpoint()
        head.verify(key)
        if reader.calculate_root_hash() != head.root_hash:
            raise RefusedError("the tiles have another root")
        for index in range(head.size):
            if leaf_hash(reader.get_entry(index)) != reader.mth(index, index + 1):
                raise RefusedError(f"entry {index} is not its leaf")
        # The root is made of the upper tiles: a lower one is held against them by a proof.
        for index in range(0, head.size, 256):
            proof = reader.get_inclusion_proof(index, head.size)
            proof.check(reader.mth(index, index + 1), head.root_hash)
        for note in log.olds:
            old = Checkpoint.from_text(note)
            old.verify(key)
            reader.get_consistency_proof(old.size, head.size).check(old.root_hash, head.root_hash)
    except InvalidSignature as error:
        raise RefusedError("signature") from error
    except (ValueError, InclusionProofInvalid, ConsistencyProofInvalid) as error:
        raise RefusedError(str(error)) from error
    except RuntimeError as error:
        if "no signature" not in str(error):
            raise  # a file is missing: that is no verdict
        raise RefusedError(str(error)) from error


# --- Rust: metamorphic-log -----------------------------------------------------------------------


def metamorphic(log: Log) -> None:
    """Signature, inclusion of entries, consistency, by proofs that tlog-scales has built."""
    entries, reader = _entries(log), _reader(log)
    size = len(entries)
    try:
        assert metamorphic_log.checkpoint_verify(log.note, [log.vkey]).size == size
        for index in sample(size):
            path = reader.get_inclusion_proof(index, size).node_hashes
            metamorphic_log.checkpoint_verify_inclusion(
                log.note, [log.vkey], index, leaf_hash(entries[index]), path
            )
        for note in log.olds:
            path = reader.get_consistency_proof(Checkpoint.from_text(note).size, size).node_hashes
            metamorphic_log.checkpoint_verify_consistency(note, log.note, [log.vkey], path)
    except metamorphic_log.VerifyError as error:
        raise RefusedError(repr(error)) from error


# --- Python: pymerkle ----------------------------------------------------------------------------


def merkle(log: Log) -> None:
    """The root of the entries, inclusion, consistency; it knows neither signatures nor tiles."""
    head = Checkpoint.from_text(log.note)
    entries = _entries(log)
    tree = pymerkle.InmemoryTree.init_from_entries(entries)
    if tree.get_root(head.size) != head.root_hash:
        raise RefusedError("the entries have another root")
    try:
        for index in sample(head.size):
            pymerkle.verify_inclusion(
                leaf_hash(entries[index]), head.root_hash,
                tree.prove_inclusion(index + 1, head.size), index=index + 1, size=head.size,
            )  # fmt: skip
        for note in log.olds:
            old = Checkpoint.from_text(note)
            pymerkle.verify_consistency(
                old.root_hash, head.root_hash, tree.prove_consistency(old.size, head.size),
                prior_size=old.size, later_size=head.size,
            )  # fmt: skip
    except pymerkle.InvalidProof as error:
        raise RefusedError(str(error)) from error


# --- JavaScript: @sigstore/verify ----------------------------------------------------------------


def sigstore(log: Log) -> None:
    """Signature, inclusion of entries, by proofs that tlog-scales has built."""
    entries, reader = _entries(log), _reader(log)
    proofs = [
        (index, entries[index], reader.get_inclusion_proof(index, len(entries)).node_hashes)
        for index in sample(len(entries))
    ]
    sigstore_proofs(log.vkey, log.note, proofs)


def sigstore_proofs(
    vkey: str, note: str, proofs: Sequence[tuple[int, bytes, Sequence[bytes]]]
) -> None:
    """The same with proofs that are given."""
    modules = BUILT / "node_modules"
    assert modules.exists(), f"{modules} is not there: `make test` installs it by npm."
    name, key_id, key = vkey.split("+", 2)
    question = {
        "name": name,
        "id": key_id,
        # RFC 8410: an Ed25519 public key, as Node reads it.
        "key": (bytes.fromhex("302a300506032b6570032100") + base64.b64decode(key)[1:]).hex(),
        "note": note,
        "proofs": [
            {"index": i, "entry": entry.hex(), "hashes": [node.hex() for node in path]}
            for i, entry, path in proofs
        ],
    }
    ran = subprocess.run(
        [Path(sys.executable).with_name("node"), HERE / "sigstore.cjs", modules],
        input=json.dumps(question), capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    if ran.returncode == 1 and ran.stdout.startswith("refused: "):
        raise RefusedError(ran.stdout)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == f"accepted: {len(proofs)}\n"


TOOLS: dict[str, Tool] = {
    "x/mod": govf,
    "tlog-scales": scales,
    "metamorphic-log": metamorphic,
    "pymerkle": merkle,
    "sigstore": sigstore,
}

REFUSES: dict[str, set[str]] = {
    "x/mod": {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"},
    "tlog-scales": {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"},
    "metamorphic-log": {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"},
    "pymerkle": {"t1", "t2", "t4", "t6", "t7", "t8"},
    "sigstore": {"t1", "t2", "t3", "t4", "t5", "t7"},
}
"""What each tool can see: pymerkle reads no signature and no tile, sigstore no bundle and no
older checkpoint."""
