"""Tools that we did not write accept an honest log of real events, and refuse tampered ones.

The log is what `fairdeal log export` has written at each size in turn. Spec: LOG-1..5, LOG-8..11.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import metamorphic_log
import pytest
from tlog_scales.backend import HttpBackend
from tlog_scales.tlog import Checkpoint as TheirCheckpoint
from tlog_scales.tlog import ConsistencyProof, InclusionProof

from fairdeal.log.note import SigningKey
from fairdeal.merkle import Tree, leaf_hash
from fairdeal_api.export import export
from fairdeal_api.service import initialise
from fairdeal_api.settings import Settings
from tests.log.folder import append, real_events, signing_key
from tests.log.tampering import AT, TAMPERINGS, tampered
from tests.log.tools import REFUSES, TOOLS, Log, RefusedError, scales, sigstore_proofs

SIZES = (1, 2, 255, 256, 257, 1000, 65_536, 65_537)
KEPT, TAMPERED = 700, 1000
"""The log that is tampered with, and of which size somebody has kept a checkpoint."""


class Exported(NamedTuple):
    """One folder that has grown, and its checkpoint at each size."""

    settings: Settings
    key: SigningKey
    folder: Path
    notes: dict[int, str]
    entries: list[bytes]
    views: Path

    def at(self, size: int) -> Log:
        """The log as it was at a size: its tiles of then are still there."""
        view = self.views / str(size)
        if not view.exists():
            view.mkdir(parents=True)
            (view / "tile").symlink_to(self.folder / "tile")
            (view / "checkpoint").write_text(self.notes[size], "utf-8")
        olds = tuple(note for old, note in self.notes.items() if old < size)
        return Log(str(self.key.verifier), view, olds)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    settings = Settings(data=folder / "data", origin="deal.example/log")
    initialise(settings)
    key = signing_key(settings)
    entries = real_events(key.name, SIZES[-1])
    assert len(set(entries)) == SIZES[-1]
    notes, size = {}, 0
    for end in sorted((*SIZES, KEPT)):
        append(settings, entries[size:end])
        done = export(settings, folder / "log")
        assert (done.size, done.old) == (end, size or None)
        notes[end], size = (folder / "log/checkpoint").read_text("utf-8"), end
    return Exported(settings, key, folder / "log", notes, entries, folder / "views")


# --- honest -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("tool", TOOLS)
def test_an_honest_log_is_accepted(exported, tool, size):
    """Spec: LOG-1, LOG-8, LOG-11."""
    log = exported.at(size)
    assert len(log.olds) == sum(old < size for old in exported.notes)
    TOOLS[tool](log)


@pytest.mark.parametrize("size", SIZES)
def test_our_proofs_are_accepted(exported, size):
    """Spec: LOG-3, LOG-5. Inclusion and consistency, as receipts and witnesses get them."""
    log, entries = exported.at(size), exported.entries
    tree, root = Tree(map(leaf_hash, entries[:size])), TheirCheckpoint.from_text(log.note).root_hash
    proofs = []
    for index in sorted({0, size // 3, size // 2, size - 1, *range(0, size, 4099)}):
        path, leaf = tree.inclusion_path(index, size), leaf_hash(entries[index])
        InclusionProof(index, size, path).check(leaf, root)
        metamorphic_log.checkpoint_verify_inclusion(log.note, [log.vkey], index, leaf, path)
        proofs.append((index, entries[index], path))
    sigstore_proofs(log.vkey, log.note, proofs)
    for note in log.olds:
        old = TheirCheckpoint.from_text(note)
        path = tree.consistency_path(old.size, size)
        ConsistencyProof(old.size, size, path).check(old.root_hash, root)
        metamorphic_log.checkpoint_verify_consistency(note, log.note, [log.vkey], path)


def test_a_running_service_is_read_over_http(exported):
    """Spec: LOG-9. The same folder, served: tlog-scales replays it by itself."""
    serve = [sys.executable, "-m", "fairdeal_api", "serve", "--port", "0"]
    settings = exported.settings
    process = subprocess.Popen(
        [*serve, "--data", str(settings.data), "--origin", settings.origin],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        found = re.search(r"(http://127\.0\.0\.1:\d+)", process.stdout.readline())
        assert found
        backend = HttpBackend(found[1] + "/log")
        log = exported.at(SIZES[-1])
        scales(log, backend)
        assert backend.get("checkpoint") == log.note.encode()
        backend.session.close()
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


# --- tampered -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def victim(exported, tmp_path_factory):
    """A log of its own, with one older checkpoint kept."""
    folder = tmp_path_factory.mktemp("victim") / "log"
    view = exported.at(TAMPERED)
    shutil.copytree(view.folder, folder, symlinks=False)
    return Log(view.vkey, folder, (exported.notes[KEPT],))


@pytest.mark.parametrize("tool", TOOLS)
def test_control_the_victim_is_accepted(victim, tool):
    TOOLS[tool](victim)


@pytest.mark.parametrize(
    ("tool", "name"), [(tool, name) for tool, names in REFUSES.items() for name in sorted(names)]
)
def test_a_tampered_log_is_refused(exported, victim, tmp_path, tool, name):
    folder = tampered(name, victim.folder, tmp_path / "log", exported.key)
    with pytest.raises(RefusedError):
        TOOLS[tool](victim._replace(folder=folder))


@pytest.mark.parametrize("tool", [tool for tool, names in REFUSES.items() if "t8" in names])
def test_control_without_the_older_checkpoint_a_rewritten_log_passes(
    exported, victim, tmp_path, tool
):
    """Nothing is wrong with it by itself: it is the kept checkpoint by which it was refused."""
    folder = tampered("t8", victim.folder, tmp_path / "log", exported.key)
    TOOLS[tool](Log(victim.vkey, folder))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t1", "the entries do not give the checkpoint's root"),
        ("t2", "the entries do not give the checkpoint's root"),
        ("t3", "the tile tile/1/000.p/3 is not what the entries give"),
        ("t4", "the signature: "),
        ("t5", "the signature: "),
        ("t6", "the bundle tile/entries/001 is cut off"),
        ("t7", "the entries do not give the checkpoint's root"),
        ("t8", f"the log of {TAMPERED} does not extend the one of {KEPT}"),
    ],
)
def test_the_full_replay_says_what_is_wrong(exported, victim, tmp_path, name, words):
    folder = tampered(name, victim.folder, tmp_path / "log", exported.key)
    with pytest.raises(RefusedError, match=re.escape(words)):
        TOOLS["x/mod"](victim._replace(folder=folder))


def test_each_tampering_changes_one_thing(exported, victim, tmp_path):
    """And t8 all that lies above the entry, as who holds the log's key would."""
    tile = AT // 256
    changes = {
        "t1": {f"tile/entries/{tile:03}"},
        "t2": {f"tile/entries/{tile:03}", f"tile/0/{tile:03}"},
        "t3": {"tile/1/000.p/3"},
        "t4": {"checkpoint"},
        "t5": {"checkpoint"},
        "t6": {f"tile/entries/{tile:03}"},
        "t7": {f"tile/entries/{tile:03}"},
        "t8": {f"tile/entries/{tile:03}", f"tile/0/{tile:03}", "tile/1/000.p/3", "checkpoint"},
    }
    assert changes.keys() == TAMPERINGS.keys()
    for name, wanted in changes.items():
        folder = tampered(name, victim.folder, tmp_path / name, exported.key)
        found = {
            str(path.relative_to(folder))
            for path in folder.rglob("*")
            if path.is_file()
            and path.read_bytes() != (victim.folder / path.relative_to(folder)).read_bytes()
        }
        assert found == wanted
