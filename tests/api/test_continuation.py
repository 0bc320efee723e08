"""A log that has ended is continued by another one. Spec: LOG-30, LOG-31."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from fairdeal.errors import VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogContinued, parse_log_entry
from fairdeal.log.note import SigningKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import Tile, parse_bundle, tiles_of
from fairdeal.merkle import Tree, leaf_hash
from fairdeal_api import backup, system
from fairdeal_api import continuation as continuing
from fairdeal_api.continuation import Sources, continue_log
from fairdeal_api.export import export
from fairdeal_api.fsck import check
from fairdeal_api.rotation import rotate
from fairdeal_api.service import initialise
from fairdeal_api.settings import Settings
from fairdeal_api.system import StartRefused
from fairdeal_verifier.verify import verify
from tests.api.conftest import Site
from tests.api.play import Operator, bearer, expect, idempotency

NEW = "deal.example/log2"


class Story:
    """A log, a backup of it, and what has happened since."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.settings = Settings(data=folder / "data", origin="deal.example/log")
        initialise(self.settings)
        with Site(self.settings) as site:
            self.secret = site.key()
            self.ended = Operator(site.client, self.secret, "kozel")
            for _ in range(2):
                self.ended.open()
                self.ended.deal()
                self.ended.close()
            self.files = [
                site.client.get(f"/v1/tables/{self.ended.table}/hands/{number}/transcript").content
                for number in (1, 2)
            ]
            self.open = [Operator(site.client, self.secret, "mus") for _ in range(3)]
            for table in self.open[:2]:
                table.open()
            self.open[1].deal()
            self.small = backup.create(self.settings, folder / "backup").size
            self.key = site.service.verifier_key
            self.open[2].open()
            self.size = site.service.ledger.size
            export(self.settings, folder / "tiles")
            self.head = site.client.get("/log/checkpoint").text
        self.new = Settings(data=folder / "new", origin=NEW)
        self.public = folder / "public"

    def sources(self, **more):
        return replace(
            Sources(
                self.folder / "backup",
                anchor=self.settings.anchor_path,
                keys=self.settings.keys_path,
            ),
            **more,
        )

    def lost(self, count):
        return tuple(sorted((table.table, 1) for table in self.open[:count]))


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path)


def first_entries(site, count=1):
    bundle = site.client.get(f"/log/{Tile(-1, 0, site.service.ledger.size).path}").content
    return [parse_log_entry(entry) for entry in parse_bundle(bundle)[:count]]


def test_a_log_is_continued(story):
    done = continue_log(story.new, story.sources(), story.public)
    assert (done.kept, done.old.size, done.signed) == (story.small, story.size, True)
    assert done.lost == story.lost(2)
    with Site(story.new) as site:
        (entry,) = first_entries(site)
        assert isinstance(entry, LogContinued)
        entry.verify(0)
        assert entry.lost == done.lost
        assert (entry.old, entry.old_key) == (Checkpoint.open(story.head, story.key), story.key)
        assert entry.kept_size == story.small
        assert entry.sigs.old is not None
        said = expect(site.client.get("/v1/keys"))
        assert said["follows"] == "deal.example/log"
        assert said["keys"][0]["vkey"] == str(done.key) == str(entry.log_key)
        # Nothing of the old log goes on, and whoever asks is told where it is.
        for table in (story.ended.table, story.open[2].table):
            for path in ("", "/events", "/hands/1", "/hands/1/transcript"):
                problem = expect(site.client.get(f"/v1/tables/{table}{path}"), 410, "log_continued")
                assert (problem["old_origin"], problem["origin"]) == ("deal.example/log", NEW)
        story.open[0].client = site.client
        expect(story.open[0].post(f"/v1/tables/{story.open[0].table}/hands", {}), 410)
        unknown = system.new_table_id()
        expect(site.client.get(f"/v1/tables/{unknown}"), 404, "table_unknown")
        expect(site.client.get("/v1/tables/tbl_" + "o" * 26), 404, "table_unknown")
        # The operators go on with their keys.
        table = Operator(site.client, story.secret, "kozel")
        table.open()
        table.deal()
        table.close()
        assert table.opened["origin"] == NEW
    assert check(story.new).faults == []


def test_what_was_kept_is_there_to_be_published(story):
    done = continue_log(story.new, story.sources(), story.public)
    assert done.files == 2
    for number, file in enumerate(story.files, 1):
        path = story.public / "hands" / story.ended.table / f"{number}.fair.json"
        assert path.read_bytes() == file
        assert path.stat().st_mode & 0o777 == 0o644
        assert verify(path.read_bytes(), key=str(story.key)).exit == 0
    head = Checkpoint.open((story.public / "checkpoint").read_text(), story.key)
    assert head.size == story.small
    entries = [
        entry
        for tile in tiles_of(head.size)
        if tile.level < 0
        for entry in parse_bundle((story.public / tile.path).read_bytes())
    ]
    assert Tree(map(leaf_hash, entries)).root() == head.root


def test_public_files_keep_more_of_it(story):
    done = continue_log(
        story.new, story.sources(tiles=story.folder / "tiles", anchor=None), story.public
    )
    assert (done.kept, done.old.size) == (story.size, story.size)
    assert done.lost == story.lost(3)
    head = (story.public / "checkpoint").read_text()
    assert Checkpoint.open(head, story.key, lone=True).size == story.size


def test_without_the_old_key_nobody_has_signed_for_the_old_log(story):
    done = continue_log(story.new, story.sources(keys=None, anchor=None), story.public)
    assert (done.signed, done.old.size) == (False, story.small)
    with Site(story.new) as site:
        (entry,) = first_entries(site)
        entry.verify(0)
        assert entry.sigs.old is None
        # What is known of it is still what its key has signed.
        assert entry.old.size == story.small


def test_a_checkpoint_that_somebody_holds_is_the_newest(story):
    held = story.folder / "held"
    held.write_text(story.head)
    done = continue_log(
        story.new, story.sources(keys=None, anchor=None, at_least=(held,)), story.public
    )
    assert (done.old.size, done.kept) == (story.size, story.small)


def test_a_log_whose_key_has_changed_is_continued_under_its_newest(story):
    rotated = rotate(story.settings, abort_hands=True)
    with Site(story.settings) as site:
        table = Operator(site.client, story.secret, "kozel")
        table.open()
        backup.create(story.settings, story.folder / "later")
    sources = story.sources(backup=story.folder / "later")
    done = continue_log(story.new, sources, story.public)
    assert done.lost == ((table.table, 1),)
    document = json.loads((story.public / "rotations").read_text())
    entry = parse_log_entry(document["rotations"][0]["entry"].encode())
    Receipt.parse(document["rotations"][0]["receipt"]).verify(entry.raw, rotated.new)
    with Site(story.new) as site:
        assert first_entries(site)[0].old_key == rotated.new


def test_more_lost_hands_than_an_entry_holds(story, monkeypatch):
    monkeypatch.setattr(continuing, "_IN_ONE_ENTRY", 1)
    done = continue_log(story.new, story.sources(tiles=story.folder / "tiles"), story.public)
    assert len(done.lost) == 3
    with Site(story.new) as site:
        parts = first_entries(site, 3)
        assert [(entry.part, entry.parts) for entry in parts] == [(0, 3), (1, 3), (2, 3)]
        assert tuple(hand for entry in parts for hand in entry.lost) == done.lost
        with pytest.raises(VerificationError):  # the control: one without the one before
            parts[1].verify(1)
    assert check(story.new).faults == []


def test_what_is_refused_writes_nothing(story, tmp_path):
    def refused(sources, settings=story.new, public=story.public) -> str:
        with pytest.raises(StartRefused) as caught:
            continue_log(settings, sources, public)
        assert not (story.new.data / "ledger.db").exists()
        return str(caught.value)

    same = Settings(data=tmp_path / "new", origin="deal.example/log")
    assert "another origin" in refused(story.sources(), same)
    assert "not empty" in refused(story.sources(), story.settings)
    assert "data folder" in refused(story.sources(), public=story.new.data / "public")
    test = Settings(data=tmp_path / "new", origin=NEW, mode="test")  # Spec: LOG-33
    assert "is a live log, and no test log continues it" in refused(story.sources(), test)
    held = tmp_path / "held"
    stranger = SigningKey("deal.example/log", bytes(32))
    held.write_text(Checkpoint("deal.example/log", 9, bytes(32)).sign(stranger))
    assert "none that the old log's key" in refused(story.sources(at_least=(held,)))
    signing = SigningKey("deal.example/log", system.read_keys(story.settings.keys_path).log)
    held.write_text(Checkpoint("deal.example/log", 3, bytes(32)).sign(signing))
    assert "forked" in refused(story.sources(at_least=(held,)))
    other = Settings(data=tmp_path / "other", origin="deal.example/log")
    initialise(other)
    assert "do not have" in refused(story.sources(keys=other.keys_path))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    assert "not empty" in refused(story.sources(), public=tmp_path / "full")
    assert not story.public.exists() or not any(story.public.iterdir())


def test_the_command(story):
    def fairdeal(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "fairdeal_api", *map(str, arguments)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    start = ("restore", story.folder / "backup", "--data", story.new.data, "--new-origin", NEW)
    assert fairdeal(*start).returncode == 2
    assert fairdeal("restore", "x", "--public", "y").returncode == 2
    done = fairdeal(*start, "--public", story.public, "--old-anchor", story.settings.anchor_path)
    assert done.returncode == 0, done.stderr
    assert "proves nothing of the old log" in done.stderr
    assert f"{story.small} of {story.size} entries" in done.stderr
    assert fairdeal("fsck", "--data", story.new.data, "--origin", NEW).returncode == 0
    assert done.stdout.split()[-1].startswith(NEW + "+")


def test_seats_and_idempotency_are_the_new_logs(story):
    """A key used at the old log is not answered with what that one has said."""
    continue_log(story.new, story.sources(), story.public)
    with Site(story.new) as site:
        headers = {**bearer(story.secret), **idempotency("key-0")}
        body = {"game": "kozel", "custody": "operator"}
        answer = expect(site.client.post("/v1/tables", json=body, headers=headers), 201)
        assert answer["origin"] == NEW
