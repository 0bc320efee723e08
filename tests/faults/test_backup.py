"""Backups that can be trusted, and restores that cannot fork the log. Spec: LOG-23, LOG-24."""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.tiles import Tile, entry_bundle, parse_bundle, tiles_of
from fairdeal_api import backup, system
from fairdeal_api.fsck import check
from fairdeal_api.restore import restore
from fairdeal_api.service import Service, initialise
from fairdeal_api.settings import Settings
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.system import StartRefused
from fairdeal_verifier.verify import verify
from tests.api.conftest import Site
from tests.api.play import Devices, Operator, bearer, expect, idempotency, places
from tests.api.test_start import command, damage


@pytest.fixture
def made(tmp_path) -> Settings:
    settings = Settings(data=tmp_path / "data", origin="deal.example/log")
    initialise(settings)
    return settings


def hands(table: Operator, count: int = 1) -> None:
    for _ in range(count):
        table.open()
        table.deal()
        table.close()


def lose(settings: Settings) -> None:
    """The disk of the databases is gone; keys and anchor are elsewhere."""
    for path in [*settings.data.glob("ledger.db*"), *settings.data.glob("operators.db*")]:
        path.unlink()


def export(site: Site, folder: Path) -> Path:
    """The public files, as anybody may have fetched them."""
    folder.mkdir()
    (folder / "checkpoint").write_bytes(site.client.get("/log/checkpoint").content)
    for tile in tiles_of(site.service.ledger.size):
        path = folder / tile.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(site.client.get(f"/log/{tile.path}").content)
    return folder


def verifier(settings: Settings):
    return backup.VerifierKey.parse(str(_signing(settings).verifier))


def _signing(settings: Settings):
    from fairdeal.log.note import SigningKey  # noqa: PLC0415

    return SigningKey(settings.log_origin, system.read_keys(settings.keys_path).log)


def refused(settings: Settings, folder: Path, **more) -> str:
    before = sorted(path.name for path in settings.data.iterdir())
    with pytest.raises(StartRefused) as caught:
        restore(settings, folder, **more)
    sentence = str(caught.value)
    assert "\n" not in sentence
    after = [p.name for p in settings.data.iterdir() if p.name != "LOCK"]
    assert set(after) <= {*before, *(n for n in after if n.startswith("restoring-"))}
    assert not (settings.data / "ledger.db").exists() or "ledger.db" in before
    return sentence


# --- making and checking one --------------------------------------------------------------------


def test_a_backup_beside_a_busy_service_is_one_moment(made, tmp_path, monkeypatch):
    monkeypatch.setattr(backup, "_PAGES", 3)  # so that the service writes between two steps of it
    with Site(made) as site:
        key = site.key()
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                hands(Operator(site.client, key, "kozel"))

        thread = threading.Thread(target=write)
        thread.start()
        sizes = []
        for number in range(8):
            folder = tmp_path / f"backup-{number}"
            sizes.append(backup.create(made, folder).size)
            found = backup.verify(folder, site.service.verifier_key)
            assert found.report.faults == []
            assert found.report.events == sizes[-1]
        stop.set()
        thread.join()
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[-1]
        # The control: a copy of the file is none, its newest entries are beside it.
        copied = shutil.copy(made.data / "ledger.db", tmp_path / "copy.db")
        reader = SQLiteReader(Path(copied))
        assert reader.head().size < sizes[-1]
        reader.close()


def test_nothing_of_keys_and_anchor_is_in_a_backup_and_it_is_the_owners_alone(made, tmp_path):
    with Site(made) as site:
        secret = site.key()
        hands(Operator(site.client, secret, "kozel"))
        backup.create(made, tmp_path / "backup")
    folder = tmp_path / "backup"
    assert {path.name for path in folder.iterdir()} == {
        "ledger.db",
        "operators.db",
        "manifest.json",
    }
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b'"hand.dealt"' in content  # the control: the log is there, in clear
    for path in made.keys_path.iterdir():
        key = path.read_text().strip()
        assert key.encode() not in content
        assert bytes.fromhex(key) not in content
    assert secret.encode() not in content
    for path in (folder, *folder.iterdir()):
        assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(StartRefused, match="never overwritten"):
        backup.create(made, folder)


@pytest.fixture
def whole(made, tmp_path) -> Path:
    with Site(made) as site:
        hands(Operator(site.client, site.key(), "kozel"), 2)
        backup.create(made, tmp_path / "backup")
    return tmp_path / "backup"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            (
                "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'kozel', 'lezok') "
                "AS BLOB) WHERE idx = 0"
            ),
            "Entry 0",
        ),
        ("DELETE FROM events WHERE idx = 4", "is missing"),
        ("UPDATE head SET size = size - 1", "The head names"),
        ("UPDATE checkpoints SET note = replace(note, 'A', 'B') WHERE size > 3", "checkpoint"),
        ("DELETE FROM finished WHERE hand = 2", "in the log only"),
        ("UPDATE events SET before = before - 1 WHERE idx = 5", "names another entry"),
        ("UPDATE tables SET newest = newest - 1", "not what its events say"),
        ("UPDATE commitments SET idx = idx + 1 WHERE hand = 2", "in another entry"),
    ],
)
def test_a_changed_backup_is_found_out(made, whole, statement, words):
    assert backup.verify(whole, verifier(made)).report.faults == []
    damage(made.model_copy(update={"data": whole}), statement)
    faults = backup.verify(whole, verifier(made)).report.faults
    assert "ledger.db is not the file" in faults[0]
    assert any(words in fault for fault in faults[1:]), faults
    lose(made)
    assert "not whole" in refused(made, whole)


def test_a_flipped_byte_a_missing_file_and_a_wrong_manifest_are_found_out(made, whole):
    path = whole / "ledger.db"
    content = path.read_bytes()
    # One byte; also where SQLite has left an old copy of the page's bytes.
    path.write_bytes(content.replace(b'"hand.dealt"', b'"Hand.dealt"'))
    assert len(backup.verify(whole, verifier(made)).report.faults) > 1
    path.write_bytes(content)
    manifest = json.loads((whole / "manifest.json").read_text())
    for change in ({"size": 3}, {"root": "00" * 32}, {"checkpoint": None}):
        (whole / "manifest.json").write_text(json.dumps({**manifest, **change}))
        assert backup.verify(whole, verifier(made)).report.faults, change
    (whole / "manifest.json").write_text(json.dumps(manifest))
    assert backup.verify(whole, verifier(made)).report.faults == []
    for text in ("{}", "no", json.dumps({**manifest, "format": "other"})):
        (whole / "manifest.json").write_text(text)
        with pytest.raises(StartRefused, match="manifest"):
            backup.verify(whole, None)
    (whole / "manifest.json").write_text(json.dumps(manifest))
    (whole / "operators.db").unlink()
    with pytest.raises(StartRefused, match=r"has no operators\.db"):
        backup.verify(whole, None)


def test_a_backup_of_another_log_is_found_out(made, whole, tmp_path):
    other = Settings(data=tmp_path / "other", origin="deal.example/log")
    initialise(other)
    assert backup.verify(whole, verifier(other)).report.faults
    lose(other)
    assert "The sealing key is another one" in refused(other, whole)
    shutil.copyfile(made.keys_path / "sealing.key", other.keys_path / "sealing.key")
    assert "The log key is another one" in refused(other, whole)


def test_a_copy_is_made_in_steps_between_which_it_can_be_stopped(made, tmp_path, monkeypatch):
    steps = []

    class Counted:
        """The target, as it is but for counting."""

        def __init__(self, *more, **named) -> None:
            self._target = apsw.Connection(*more, **named)

        def __getattr__(self, name):
            return getattr(self._target, name)

        @contextlib.contextmanager
        def backup(self, *more):
            with self._target.backup(*more) as copying:
                yield Steps(copying)

    class Steps:
        def __init__(self, copying) -> None:
            self._copying = copying

        @property
        def done(self) -> bool:
            return self._copying.done

        def step(self, pages: int) -> None:
            steps.append(self._copying.page_count - self._copying.remaining)
            self._copying.step(pages)
            if (
                steps[-1] == 10 and steps.count(10) == 1
            ):  # a change in between is no part of it, and nothing is begun anew
                damage(made, "UPDATE head SET at = at + 1")

    with monkeypatch.context() as patch:
        patch.setattr(backup, "_PAGES", 5)
        patch.setattr(backup, "apsw", SimpleNamespace(**vars(apsw) | {"Connection": Counted}))
        backup.create(made, tmp_path / "copy")
    of_ledger = steps[len(steps) - steps[::-1].index(0) - 1 :]
    assert len(of_ledger) > 5
    assert of_ledger == [*range(0, of_ledger[-1] + 1, 5)]
    assert backup.verify(tmp_path / "copy", None).report.faults == []


# --- restoring ----------------------------------------------------------------------------------


def test_the_newest_backup_is_restored_and_the_service_goes_on(made, tmp_path):
    with Site(made) as site:
        key = site.key()
        table = Operator(site.client, key, "mus")
        hands(table)
        table.open()
        backup.create(made, tmp_path / "backup")
    lose(made)
    done = restore(made, tmp_path / "backup")
    assert (done.appended, done.lost_hands, done.lost_tables) == (0, [], [])
    with Site(made) as site:
        table.client = site.client
        table.deal()
        table.close()
    assert check(made).faults == []


def test_a_folder_that_is_gone_is_made_again_where_the_keys_are_elsewhere(tmp_path):
    settings = Settings(data=tmp_path / "data", keys=tmp_path / "keys", origin="deal.example/log")
    initialise(settings)
    with Site(settings) as site:
        hands(Operator(site.client, site.key(), "kozel"))
        size = backup.create(settings, tmp_path / "backup").size
    shutil.rmtree(settings.data)
    assert restore(settings, tmp_path / "backup").size == size
    assert settings.data.stat().st_mode & 0o077 == 0
    assert check(settings).faults == []
    with Site(settings) as site:
        hands(Operator(site.client, site.key(), "kozel"))


def test_an_old_backup_is_refused_with_both_sizes(made, tmp_path):
    with Site(made) as site:
        table = Operator(site.client, site.key(), "kozel")
        hands(table)
        small = backup.create(made, tmp_path / "backup").size
        old_anchor = made.anchor_path.read_bytes()
        hands(table)
        large = site.service.ledger.size
        held = tmp_path / "held"
        held.write_text(site.client.get("/log/checkpoint").text)
    lose(made)
    sentence = refused(made, tmp_path / "backup")
    assert f"holds {small} entries" in sentence
    assert f"seen {large}" in sentence
    # The anchor rolled back as well: only who holds a newer checkpoint can tell.
    made.anchor_path.write_bytes(old_anchor)
    sentence = refused(made, tmp_path / "backup", at_least=[held])
    assert f"seen {large}" in sentence
    assert str(held) in sentence
    held.write_text(held.read_text().replace(f"\n{large}\n", f"\n{small}\n"))
    assert "no checkpoint of this log" in refused(made, tmp_path / "backup", at_least=[held])
    # The control: without the anchor and without that checkpoint it would have been taken.
    assert restore(made, tmp_path / "backup").size == small


def test_a_missing_anchor_key_or_a_database_that_is_there_is_refused(made, whole):
    assert "never overwritten" in refused(made, whole)
    lose(made)
    for path, words in (
        (made.anchor_path, "The anchor"),
        (made.keys_path / "log.key", "is missing"),
        (made.keys_path / "sealing.key", "is missing"),
    ):
        kept = path.read_bytes()
        path.unlink()
        assert words in refused(made, whole)
        path.touch(0o600)
        path.write_bytes(kept)
    kept = (made.keys_path / "sealing.key").read_bytes()
    (made.keys_path / "sealing.key").write_bytes(b"5f" * 32 + b"\n")
    wanted = json.loads((whole / "manifest.json").read_text())["sealing_id"]
    said = refused(made, whole)  # its seeds would not open
    assert "The sealing key is another one than the backup's" in said
    assert said.endswith(f"is sealed under {wanted}.")
    (made.keys_path / "sealing.key").write_bytes(kept)
    restore(made, whole)
    with Site(made):
        assert "locked by pid" in refused(made, whole)


# --- what the backup lacks, from the public files -----------------------------------------------


class Story:
    """A log that went on after its backup, and whose database is gone."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.backup = settings, folder / "backup"
        with Site(settings) as site:
            self.key = key = site.key()
            self.resumed = Operator(site.client, key, "kozel")
            self.resumed.open()  # its seed is in the backup, and it is dealt later
            self.played = Operator(site.client, key, "kozel")
            hands(self.played)
            self.thrown = Operator(site.client, key, "mus")
            self.thrown.open()
            self.devices = Devices(site.client, key, "svoi")
            self.late = Operator(site.client, key, "kozel", disclosure="table")
            hands(self.late)
            self.size = backup.create(settings, self.backup).size
            self.resumed.deal()
            hands(self.played, 2)
            self.played.open()  # of a seed made after the backup
            dealt = self.thrown.deal()
            seat = dealt["first"]
            cards = places(dealt["cards"][str(seat)], 1)
            self.thrown.act({"type": "discard", "seat": seat, "cards": cards})
            hands(self.late, 2)
            self.new = Operator(site.client, key, "azi", seats=3)
            hands(self.new)
            self.closed = Operator(site.client, key, "kozel")
            hands(self.closed)
            expect(self.closed.post(f"/v1/tables/{self.closed.table}/close", {}))
            reissued = site.client.post(
                f"/v1/tables/{self.devices.table}/seats/0/reissue",
                json={},
                headers={**bearer(key), **idempotency()},
            )
            expect(reissued)
            for _ in range(14):  # over the edge of a bundle
                hands(Operator(site.client, key, "kozel"), 3)
            self.tiles = export(site, folder / "tiles")
            self.held = site.client.get("/log/checkpoint").text
            self.newest = site.service.ledger.size
        lose(settings)


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Story:
    """Told once; its files are in a folder of its own."""
    folder = tmp_path_factory.mktemp("story")
    settings = Settings(data=folder / "data", origin="deal.example/log")
    initialise(settings)
    return Story(settings, folder)


@pytest.fixture
def story(told, tmp_path) -> Story:
    """A copy of all its files."""
    old = told.backup.parent
    shutil.copytree(old, tmp_path, dirs_exist_ok=True)
    found = copy.copy(told)
    found.settings = told.settings.model_copy(update={"data": tmp_path / "data"})
    found.backup, found.tiles = tmp_path / "backup", tmp_path / "tiles"
    return found


def test_the_missing_entries_are_appended_and_the_log_goes_on(story):
    settings = story.settings
    assert story.size < 256 < story.newest
    assert "`--tiles`" in refused(settings, story.backup)
    done = restore(settings, story.backup, tiles=story.tiles, operator="house")
    assert (done.size, done.appended) == (story.newest, story.newest - story.size)
    lost = {(story.played.table, 4), (story.thrown.table, 1)}
    assert set(done.lost_hands) == lost
    assert story.resumed.table not in done.lost_tables
    assert {story.played.table, story.late.table, story.new.table} <= set(done.lost_tables)
    assert story.closed.table not in done.lost_tables
    assert {story.new.table, story.closed.table} <= set(done.orphans)
    report = check(settings)
    assert report.faults == []
    assert report.lost > 0
    with Site(settings) as site:
        client = site.client
        # The same log: who holds its last checkpoint is content, and it grows.
        heard = expect(client.put("/v1/gossip", json={"checkpoint": story.held}))
        assert heard["size"] >= story.newest
        for table in (story.resumed, story.played, story.thrown, story.late, story.new):
            table.client = client
        # A hand whose seed was in the backup goes on to its end.
        story.resumed.close()
        # Those whose seeds or discards are lost have ended, in the log, as the service's fault.
        for table, number in lost:
            ended = wait_for_end(client, table, number)
            assert (ended["state"], ended["reason"]) == ("aborted", "lost")
        # No hand more where the next seed is lost; no seed is made up.
        refusal = story.played.post(f"/v1/tables/{story.played.table}/hands", {})
        expect(refusal, 503, "unavailable")
        # What is sealed again from a disclosed hand gives the hand's file as before.
        for number in (1, 2, 3):
            file = client.get(f"/v1/tables/{story.played.table}/hands/{number}/transcript")
            assert verify(file.content, key=str(site.service.verifier_key)).exit == 0
        # A reissued seat's old token is dead.
        old = client.get(
            f"/v1/tables/{story.devices.table}/hands/1/seats/0/cards",
            headers=bearer(story.devices.tokens[0]),
        )
        expect(old, 401)
        mine = client.get("/v1/tables", headers=bearer(site.key("house")))
        assert story.new.table in {table["table"] for table in expect(mine)["tables"]}
        hands(Operator(client, site.key(), "kozel"))
    assert check(settings).faults == []


def wait_for_end(client, table: str, number: int):
    for _ in range(3000):
        state = expect(client.get(f"/v1/tables/{table}/hands/{number}"))
        if state["state"] in ("aborted", "closed"):
            return state
        threading.Event().wait(0.02)
    raise AssertionError("it does not end")


def test_public_files_that_are_not_the_logs_are_refused(story):
    settings, tiles = story.settings, story.tiles
    bundle = tiles / Tile(-1, 0).path
    kept = bundle.read_bytes()
    entries = parse_bundle(kept)
    at = story.size + 3

    def put(changed: list[bytes]) -> None:
        bundle.write_bytes(entry_bundle(changed))

    put([*entries[:at], entries[at].replace(b'"at":"2', b'"at":"3'), *entries[at + 1 :]])
    assert "do not give the root" in refused(settings, story.backup, tiles=tiles)
    put([*entries[:at], entries[at + 1], entries[at], *entries[at + 2 :]])
    assert "do not give the root" in refused(settings, story.backup, tiles=tiles)
    put(entries[:-1])
    assert "do not give the root" in refused(settings, story.backup, tiles=tiles)
    bundle.write_bytes(kept[:-1])
    assert "no bundle" in refused(settings, story.backup, tiles=tiles)
    bundle.unlink()
    assert "has no tile" in refused(settings, story.backup, tiles=tiles)
    bundle.write_bytes(kept)
    checkpoint = tiles / "checkpoint"
    note = checkpoint.read_text()
    checkpoint.write_text(note.replace("\n\n", "\nmore\n\n"))
    assert "key has signed" in refused(settings, story.backup, tiles=tiles)
    checkpoint.unlink()
    assert "cannot be read" in refused(settings, story.backup, tiles=tiles)
    # The control.
    checkpoint.write_text(note + "— witness.example AAAAAAAAAAAA\n")
    restore(settings, story.backup, tiles=tiles)
    assert check(settings).faults == []


def test_public_files_that_do_not_reach_the_anchor_are_refused(story):
    """Signed by the log, but older: what came after them is not there."""
    settings = story.settings
    reached = story.size + 20
    entries = parse_bundle((story.tiles / Tile(-1, 0).path).read_bytes())
    tree = backup.verify(story.backup, None).replayed.tree
    for entry in entries[story.size : reached]:
        tree.append(backup.fsck.leaf_hash(entry))
    older = Checkpoint(settings.log_origin, reached, tree.root()).sign(_signing(settings))
    (story.tiles / "checkpoint").write_text(older)
    sentence = refused(settings, story.backup, tiles=story.tiles)
    assert f"hold {reached} entries" in sentence
    assert f"seen {story.newest}" in sentence


def test_a_restore_past_the_newest_backup_needs_no_files(story):
    """Files that are behind the backup change nothing: the anchor decides."""
    assert "has seen" in refused(story.settings, story.backup)
    with pytest.raises(StartRefused):
        Service(story.settings)


def test_the_commands(made, tmp_path):
    data, folder = made.data, tmp_path / "backup"
    flags = ("--data", data, "--origin", made.origin)
    with Site(made) as site:
        hands(Operator(site.client, site.key(), "kozel"))
        said = command("backup", "create", folder, "--data", data).stdout
        assert f"{site.service.ledger.size} entries of {made.origin}" in said
        key = str(site.service.verifier_key)
    assert "all as it must be" in command("backup", "verify", folder, "--key", key).stdout
    assert "names itself" in command("backup", "verify", folder).stdout
    assert command("backup", "verify", folder, "--key", "x", check=False).returncode == 2
    refusal = command("restore", folder, *flags, check=False)
    assert refusal.returncode == 1
    assert "never overwritten" in refusal.stderr
    lose(made)
    assert "0 of them" in command("restore", folder, *flags).stdout
    assert "all as it must be" in command("fsck", *flags).stdout
    connection = apsw.Connection(str(folder / "ledger.db"))
    connection.execute("UPDATE tables SET seq = seq + 1")
    connection.close()
    bad = command("backup", "verify", folder, check=False)
    assert bad.returncode == 1
    assert "Traceback" not in bad.stderr
