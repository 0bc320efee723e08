"""The exported log carries the witnesses' cosignatures. Spec: LOG-10, WIT-8."""

from __future__ import annotations

import shutil

import metamorphic_log
import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey
from fairdeal_api import system
from fairdeal_api.export import export
from fairdeal_api.service import initialise
from fairdeal_api.settings import Settings
from fairdeal_audit.command import main as audit
from tests.api.conftest import Site
from tests.log.tools import TOOLS, Log
from tests.witness.stand import wait_until
from tests.witness.test_service import cosigners, served, size_of, state, tables


@pytest.fixture
def made(tmp_path):
    """Settings of a service that is made; more of them are given when it is run."""
    base = {"data": tmp_path / "data", "origin": "deal.example/log"}
    log = initialise(Settings(**base))

    def settings(*stands, **more):
        return Settings(**base, witnesses=[one.at for one in stands], **more)

    settings.log = log
    return settings


def exported(settings, folder):
    size = export(settings, folder).size
    note = (folder / "checkpoint").read_text("utf-8")
    assert size_of(note) == size
    return note


def cosigned_by_all(site, *stands):
    def are_there():
        note = served(site)
        return size_of(note) == site.service.ledger.size and len(cosigners(note, *stands)) == len(
            stands
        )

    wait_until(are_there)
    return served(site)


@pytest.fixture
def two(made, make_witness):
    """A log of some entries, cosigned by two witnesses, and its settings."""
    stands = [make_witness(f"witness.example/w{n}").start(made.log) for n in (1, 2)]
    settings = made(*stands, witness_quorum=1, witness_patience=3600)
    with Site(settings) as site:
        tables(site, 3).open()
        note = cosigned_by_all(site, *stands)
    return settings, stands, note


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """One cosigned export, for every tool."""
    from tests.witness.stand import Stand  # noqa: PLC0415 - one that outlives a test

    folder = tmp_path_factory.mktemp("cosigned")
    settings = Settings(data=folder / "data", origin="deal.example/log")
    key = initialise(settings)
    stand = Stand(folder / "witness").start(key)
    settings = settings.model_copy(update={"witnesses": [stand.at]})
    with Site(settings) as site:
        tables(site, 2).open()
        cosigned_by_all(site, stand)
        exported(settings, folder / "log")
    stand.stop()
    return Log(str(key), folder / "log"), stand.key


@pytest.mark.parametrize("name", TOOLS)
def test_other_peoples_tools_take_a_cosigned_log(name, written):
    log, _ = written
    assert log.note.count("\n— ") == 2
    TOOLS[name](log)


def test_another_implementation_reads_the_cosignature(written):
    """It is C2SP's: a note reader that knows the witness counts its line, and sees it forged."""
    log, witness = written
    assert metamorphic_log.checkpoint_verify(log.note, [log.vkey]).size > 0
    lines = log.note.partition("\n\n")[2]
    head = Checkpoint.parse_text(log.note.partition("\n\n")[0] + "\n")
    assert witness.find(head, lines).time > 1_700_000_000


def test_the_export_has_what_the_service_shows(two, tmp_path):
    settings, stands, shown = two
    note = exported(settings, tmp_path / "log")
    assert note == shown
    assert cosigners(note, *stands) == {one.key.name for one in stands}
    key = str(system_key(settings))
    argv = [str(tmp_path / "log"), str(tmp_path / "dir"), "--key", key, "--quiet"]
    assert audit(["fetch", *argv]) == 0
    assert audit(["replay", str(tmp_path / "dir"), "--quiet"]) == 0
    # The folder of an auditor passes the lines on.
    assert (tmp_path / "dir/checkpoint").read_text("utf-8") == note


def system_key(settings):
    return SigningKey(settings.log_origin, system.read_keys(settings.keys_path).log).verifier


def test_a_head_that_waits_for_the_quorum_is_not_shown_before_its_time(two, tmp_path):
    """WIT-8: while the witnesses are away the cosigned head is exported, until patience ends."""
    settings, stands, shown = two
    for one in stands:
        one.stop()
    with Site(settings) as site:
        tables(site, 2)
        newest = site.service.ledger.size
    assert newest > size_of(shown)
    folder = tmp_path / "log"
    assert exported(settings, folder) == shown
    assert not (folder / "tile/entries/000.p" / str(newest)).exists()
    impatient = settings.model_copy(update={"witness_patience": -1})
    assert size_of(exported(impatient, folder)) == newest
    # And it never goes back, whatever is kept.
    assert size_of(exported(settings, folder)) == newest
    assert size_of(exported(settings, tmp_path / "another")) == size_of(shown)


def test_control_without_witnesses_there_is_the_logs_line_alone(made, tmp_path):
    settings = made()
    with Site(settings) as site:
        tables(site)
        assert state(site)["witnesses"] == []
    assert not (settings.data / "cosigned").exists()
    assert exported(settings, tmp_path / "log").count("\n— ") == 1


@pytest.mark.parametrize(
    "damage", ["torn", "empty", "binary", "another", "forged", "longer", "large"]
)
def test_what_is_kept_is_not_believed(damage, two, tmp_path):
    settings, _, shown = two
    path = settings.data / "cosigned"
    assert path.read_text("utf-8") == shown
    assert path.stat().st_mode & 0o077 == 0
    key = SigningKey(settings.log_origin, system.read_keys(settings.keys_path).log)
    size = size_of(shown)
    path.write_bytes(
        {
            "torn": shown.encode()[:-90],
            "empty": b"",
            "binary": b"\xff" * 100,
            "another": Checkpoint(key.name, size, b"?" * 32).sign(key).encode(),
            "forged": shown.replace(f"\n{size}\n", f"\n{size - 1}\n").encode(),
            "longer": Checkpoint(key.name, size + 1, b"?" * 32).sign(key).encode(),
            "large": shown.encode() + b"x" * 70_000,
        }[damage]
    )
    note = exported(settings, tmp_path / "log")
    assert size_of(note) == size
    assert note.count("\n— ") == 1


def test_a_head_that_cannot_be_kept_is_served_all_the_same(made, make_witness, tmp_path):
    """A folder in its place stands for a disk on which nothing can be written."""
    stand = make_witness().start(made.log)
    settings = made(stand)
    (settings.data / "cosigned.part").mkdir()
    with Site(settings) as site:
        tables(site)
        cosigned_by_all(site, stand)
        assert not (settings.data / "cosigned").exists()
        assert exported(settings, tmp_path / "log").count("\n— ") == 1
    shutil.rmtree(settings.data / "cosigned.part")
