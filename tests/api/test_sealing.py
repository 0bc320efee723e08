"""What is stored sealed, and the key that it is sealed under: it changes, and hands go on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import apsw
import pytest

from fairdeal.errors import VerificationError
from fairdeal_api import backup, keyring, sealing, system
from fairdeal_api.fsck import check
from fairdeal_api.restore import restore
from fairdeal_api.rotation import rotate_sealing
from fairdeal_api.sealing import Resealer, Sealer
from fairdeal_api.service import Service, initialise
from fairdeal_api.settings import Settings
from fairdeal_api.store import Identity, sqlite
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.store.sqlite import SQLiteWriter, migrations
from fairdeal_api.system import EXIT_LOST, SealingKey, StartRefused
from tests.api.conftest import Site
from tests.api.play import Operator, bearer, expect, idempotency, places
from tests.api.sealed import Played, remains, stored

ORIGIN = "deal.example/log"
PLACE = ("server seed", "tbl_" + "0" * 26, 3)
OLD_FORM = Path(__file__).parent / "old" / "form-1.zip"
"""A data folder of the database's first form, made by the service as it was then."""


@pytest.fixture
def made(settings):
    initialise(settings)
    return settings


def identity(settings) -> Identity:
    reader = SQLiteReader(settings.data / "ledger.db")
    try:
        return reader.identity()
    finally:
        reader.close()


def answers(settings) -> list[tuple]:
    """What is kept of answers, but for the values: in the order of time, as forgetting needs it."""
    reader = SQLiteReader(settings.data / "ledger.db")
    try:
        return [row[:-1] for row in reader.all_answers()]
    finally:
        reader.close()


def key_files(settings) -> set[str]:
    return {path.name for path in settings.keys_path.iterdir()}


def write_key(path: Path, key: bytes) -> None:
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_bytes(key.hex().encode() + b"\n")


def refused(settings, match: str) -> str:
    with pytest.raises(StartRefused, match=match) as caught:
        Service(settings)
    return str(caught.value)


# --- one value ----------------------------------------------------------------------------------


def test_a_value_opens_in_its_place_only_and_says_under_which_key_it_is():
    key, other = SealingKey(b"a" * 32), SealingKey(b"b" * 32)
    sealer = Sealer(key, ORIGIN)
    sealed = sealer.seal(*PLACE, b"secret", b"c" * 32)
    assert sealed[:4].hex() == key.id != other.id
    assert sealer.open(*PLACE, sealed, b"c" * 32) == b"secret"
    for place in (
        (("answer", *PLACE[1:]), b"c" * 32),
        (("server seed", "tbl_" + "1" * 26, 3), b"c" * 32),
        (("server seed", PLACE[1], 4), b"c" * 32),
        (PLACE, b"d" * 32),
    ):
        with pytest.raises(VerificationError, match="does not open"):
            sealer.open(*place[0], sealed, place[1])
    with pytest.raises(VerificationError, match="does not open"):
        Sealer(key, "other.example/log").open(*PLACE, sealed, b"c" * 32)
    with pytest.raises(VerificationError, match=f"the key {key.id}, which is not here") as caught:
        Sealer(other, ORIGIN).open(*PLACE, sealed, b"c" * 32)
    assert caught.value.code == "sealed_elsewhere"
    # The id in front is no more than a label: under another label the value does not open.
    renamed = bytes.fromhex(other.id) + sealed[4:]
    with pytest.raises(VerificationError, match="does not open"):
        Sealer(other, ORIGIN).open(*PLACE, renamed, b"c" * 32)
    for length in range(16):
        with pytest.raises(VerificationError, match="was lost"):
            sealer.open(*PLACE, sealed[:length], b"c" * 32)


def test_the_key_id_is_authenticated(monkeypatch):
    """Two keys that derive the same: what tells them apart is the associated data."""
    sealed = Sealer(SealingKey(b"a" * 32), ORIGIN).seal(*PLACE, b"secret")
    twin = Sealer(SealingKey(b"a" * 32), ORIGIN)
    cipher, place = twin._in_place(*PLACE, b"")
    assert cipher.decrypt(sealed[4:16], sealed[16:], place) == b"secret"
    assert SealingKey(b"a" * 32).id.encode() in place
    with pytest.raises(sealing.InvalidTag):
        cipher.decrypt(sealed[4:16], sealed[16:], place.replace(twin._key_id, b"01234567"))


def test_nothing_secret_is_in_what_a_key_prints():
    key = SealingKey(b"secret" * 5 + b"!!")
    texts = [repr(key), repr(Sealer(key, ORIGIN)), repr(system.Keys(key, b"log" * 11, None, key))]
    for text in texts:
        assert "secret" not in text.lower().replace("<secret>", "")
        assert key.secret.hex()[:16] not in text


def test_a_resealer_leaves_what_does_not_open_as_it_is():
    old, new = (Sealer(SealingKey(byte * 32), ORIGIN) for byte in (b"a", b"b"))
    reseal = Resealer(old, new)
    sealed = old.seal(*PLACE, b"secret", b"c" * 32)
    assert new.open(*PLACE, reseal(*PLACE, sealed, b"c" * 32), b"c" * 32) == b"secret"
    broken = sealed[:-1] + bytes([sealed[-1] ^ 1])
    assert reseal(*PLACE, broken, b"c" * 32) == broken
    foreign = Sealer(SealingKey(b"c" * 32), ORIGIN).seal(*PLACE, b"secret")
    assert reseal(*PLACE, foreign, b"") == foreign
    assert (reseal.done, reseal.stuck) == (1, 2)


# --- the rotation -------------------------------------------------------------------------------


def test_the_key_changes_and_hands_go_on(made):
    with Site(made) as site:
        played = Played(site)
    connection = apsw.Connection(str(made.data / "ledger.db"))
    connection.execute("DELETE FROM answers WHERE rowid IN (1, 2)")  # as when they are forgotten
    connection.close()
    before, old = stored(made), system.read_keys(made.keys_path).sealing
    kept = answers(made)
    assert {name for name, _ in before} == {"commitments", "discards", "answers", "tables"}
    assert {value[:4].hex() for _, value in before} == {old.id}
    done = rotate_sealing(made)
    new = system.read_keys(made.keys_path).sealing
    assert (done.old, done.new, done.values, done.stuck) == (old.id, new.id, len(before), 0)
    assert new.id != old.id
    assert key_files(made) == {"log.key", "sealing.key"}
    after = stored(made)
    assert [name for name, _ in after] == [name for name, _ in before]
    assert {value[:4].hex() for _, value in after} == {new.id}
    assert identity(made)[2:] == (new.id, old.id)
    assert answers(made) == kept
    assert check(made).faults == []
    with Site(made) as site:
        played.go_on(site)
    assert check(made).faults == []
    # What is sealed since is under the new key, and it changes again.
    assert {value[:4].hex() for _, value in stored(made)} == {new.id}
    again = rotate_sealing(made)
    assert again.old == new.id
    assert check(made).faults == []


@pytest.mark.parametrize(
    "forgotten", ["commitments", "discards", "answers", "answers_apart", "tables"]
)
def test_a_rotation_that_forgets_something_is_caught(made, monkeypatch, forgotten):
    """The control: what is not sealed anew is lost, and both ways of looking find it."""
    with Site(made) as site:
        played = Played(site)
    statements = [
        statement
        for statement in sqlite._RESEAL.split(";")
        if not statement.strip().startswith(f"UPDATE {forgotten} ")
    ]
    assert len(statements) == 5
    monkeypatch.setattr(sqlite, "_RESEAL", ";".join(statements))
    rotate_sealing(made)
    assert any("which is not here" in fault for fault in check(made).faults)
    with pytest.raises((AssertionError, VerificationError)), Site(made) as site:
        played.go_on(site)


def test_a_key_left_by_an_attempt_is_taken_and_leftovers_go(made):
    secret = system.next_key(made.keys_path / "sealing.next.key")
    write_key(made.keys_path / "sealing.next.key.123", b"x" * 32)
    before = system.read_keys(made.keys_path).sealing
    with Site(made) as site:  # a start leaves it alone: it may be an attempt that is still to come
        assert site.service.sealing_key == before
    assert rotate_sealing(made).new == SealingKey(secret).id
    assert key_files(made) == {"log.key", "sealing.key"}


def test_the_key_in_force_is_no_next_key(made):
    write_key(made.keys_path / "sealing.next.key", system.read_keys(made.keys_path).sealing.secret)
    with pytest.raises(StartRefused, match=r"sealing\.next\.key is the one in force; remove it"):
        rotate_sealing(made)
    with Site(made):
        pass


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_next_key_that_others_may_read_is_refused(made, mode):
    path = made.keys_path / "sealing.next.key"
    secret = system.next_key(path)
    path.chmod(mode)
    assert secret.hex() not in refused(made, "open to others")
    with pytest.raises(StartRefused, match="open to others"):
        rotate_sealing(made)
    path.unlink()
    path.symlink_to(made.keys_path / "sealing.key")
    refused(made, "must be a plain file")


def test_the_folder_is_asked_for_as_by_a_start(made):
    with Site(made), pytest.raises(StartRefused, match="locked by pid") as caught:
        rotate_sealing(made)
    assert caught.value.code == EXIT_LOST
    assert key_files(made) == {"log.key", "sealing.key"}


def test_a_rotation_that_was_cut_off_is_finished(made):
    """The database names the new key; its file has not got its name."""
    with Site(made) as site:
        played = Played(site)
    old = system.read_keys(made.keys_path).sealing
    rotate_sealing(made)
    new = system.read_keys(made.keys_path).sealing

    def cut_off() -> None:
        write_key(made.keys_path / "sealing.key", old.secret)
        write_key(made.keys_path / "sealing.next.key", new.secret)

    cut_off()
    assert check(made).faults == []
    done = rotate_sealing(made)
    assert (done.finished, done.new, done.old) == (True, new.id, old.id)
    cut_off()
    with Site(made) as site:
        assert site.service.sealing_settled
        played.go_on(site)
    assert key_files(made) == {"log.key", "sealing.key"}
    assert system.read_keys(made.keys_path).sealing == new
    # The control: without the file of the new key nothing starts.
    write_key(made.keys_path / "sealing.key", old.secret)
    sentence = refused(made, "sealing key is another one than the database's")
    assert old.id in sentence
    assert sentence.endswith(f"{new.id}.")
    assert check(made).faults[0] == sentence
    assert any(f"under the key {new.id}, which is not here" in f for f in check(made).faults[1:])


def test_a_key_that_is_not_the_one_before_is_never_removed(made):
    """An old database was put back, its key beside the newest one: that one may be needed."""
    files = {path: path.read_bytes() for path in made.data.glob("*.db*")}
    old = system.read_keys(made.keys_path).sealing
    rotate_sealing(made)
    new = system.read_keys(made.keys_path).sealing
    for path in made.data.glob("*.db*"):
        path.unlink()
    for path, content in files.items():
        path.write_bytes(content)
    write_key(made.keys_path / "sealing.next.key", old.secret)
    sentence = refused(made, "not to be lost")
    assert old.id in sentence
    assert new.id in sentence
    with pytest.raises(StartRefused, match="not to be lost"):
        rotate_sealing(made)
    assert system.read_keys(made.keys_path).sealing == new
    write_key(made.keys_path / "sealing.key", old.secret)
    write_key(made.keys_path / "sealing.next.key", new.secret)
    assert rotate_sealing(made).new == new.id


def test_a_missing_key_is_named(made, tmp_path):
    backup.create(made, tmp_path / "backup")
    key = system.read_keys(made.keys_path).sealing
    write_key(made.keys_path / "sealing.next.key", b"x" * 32)  # does not help
    (made.keys_path / "sealing.key").unlink()
    sentence = refused(made, "is missing. It is never made anew")
    assert sentence.endswith(f"{key.id} that is wanted.")
    with pytest.raises(StartRefused, match=f"{key.id} that is wanted"):
        check(made)
    lose(made)
    with pytest.raises(StartRefused, match=f"{key.id} that is wanted"):
        restore(made, tmp_path / "backup")


def test_a_key_that_another_process_has_made_is_not_taken_for_ours(made):
    """It slept before it gave its key the name; since then the key has changed twice more."""
    mine = SealingKey(b"m" * 32)
    write_key(made.keys_path / "sealing.next.key", b"x" * 32)
    before = system.read_keys(made.keys_path)
    with pytest.raises(StartRefused, match="another process has changed it") as caught:
        keyring.settle_sealing(made.keys_path, mine)
    assert caught.value.code == EXIT_LOST
    assert system.read_keys(made.keys_path) == before
    (made.keys_path / "sealing.next.key").unlink()
    with pytest.raises(StartRefused, match="missing"):
        keyring.settle_sealing(made.keys_path, mine)
    assert not keyring.settle_sealing(made.keys_path, before.sealing)


def test_what_does_not_open_is_left_and_named(made):
    with Site(made) as site:
        played = Played(site)
    connection = apsw.Connection(str(made.data / "ledger.db"))
    connection.execute(
        "UPDATE commitments SET sealed = CAST(substr(sealed, 1, 20) || randomblob(44) AS BLOB) "
        "WHERE table_id = ? AND hand = 3",
        (played.kozel.table,),
    )
    connection.execute(
        "UPDATE commitments SET sealed = x'' WHERE table_id = ? AND hand = 2", (played.mus.table,)
    )
    connection.close()
    faults = check(made).faults
    assert [fault.endswith("does not open.") for fault in faults] == [True]
    done = rotate_sealing(made)
    assert done.stuck == 1
    after = check(made).faults
    what = f"The server seed of hand 3 of {played.kozel.table}"
    assert after == [f"{what} is sealed under the key {done.old}, which is not here."]


def test_another_process_that_took_over_is_noticed(made, monkeypatch):
    """LOG-20: nothing is sealed anew by a process that has lost the log."""
    with Site(made) as site:
        Played(site)
    before = stored(made)
    ends: list[BaseException] = []
    original = SQLiteWriter.reseal

    def overtaken(self, *arguments):
        other = apsw.Connection(str(made.data / "ledger.db"))
        other.execute("UPDATE head SET epoch = epoch + 1")
        other.close()
        return original(self, *arguments)

    monkeypatch.setattr(SQLiteWriter, "reseal", overtaken)
    defaults = {"fatal": ends.append, "take_over": False}
    monkeypatch.setattr(Service.__init__, "__kwdefaults__", defaults)
    with pytest.raises(system.Overtaken):
        rotate_sealing(made)
    assert [type(error) for error in ends] == [system.Overtaken]
    assert stored(made) == before
    assert key_files(made) == {"log.key", "sealing.key", "sealing.next.key"}
    monkeypatch.setattr(SQLiteWriter, "reseal", original)
    assert check(made).faults == []
    rotate_sealing(made)


def test_a_key_that_changed_while_a_start_was_under_way_is_noticed(made, monkeypatch):
    """It looked at the key, slept, and took the head of a database that has another one now."""
    original = Service._take_head

    def slept(self, *arguments):
        monkeypatch.setattr(Service, "_take_head", original)
        (made.data / "LOCK").unlink()
        rotate_sealing(made)
        return original(self, *arguments)

    monkeypatch.setattr(Service, "_take_head", slept)
    refused(made, "sealing key is another one than the database's")


# --- what is left on the disk -------------------------------------------------------------------


def crowd(site: Site) -> None:
    """So many rows that pages are split, and hold copies of what has moved."""
    key = site.key()
    tables = [Operator(site.client, key, "mus") for _ in range(30)]
    for table in tables + tables[::-1]:
        table.open()
        dealt = table.deal()
        cards = places(dealt["cards"][str(dealt["first"])], 1)
        table.act({"type": "discard", "seat": dealt["first"], "cards": cards})
        assert table.post(table.url("/abort"), {}).status_code == 200


def test_no_file_holds_what_the_old_key_opens(made, tmp_path, monkeypatch):
    with Site(made) as site:
        crowd(site)
    before = stored(made)
    assert len(remains(made, before)) == len(before)
    shutil.copytree(made.data, tmp_path / "control")
    rotate_sealing(made)
    assert remains(made, before) == []
    backup.create(made, tmp_path / "backup")
    copy = made.model_copy(update={"data": tmp_path / "backup"})
    assert remains(copy, before) == []
    # The control: written over row by row, the file is not clean.
    control = made.model_copy(update={"data": tmp_path / "control", "anchor": made.anchor_path})
    monkeypatch.setattr(SQLiteWriter, "scrub", lambda _: True)
    rotate_sealing(control)
    assert remains(control, before)


def test_the_old_key_stays_while_the_files_hold_what_it_opens(made, monkeypatch):
    """Somebody is reading: the key has changed, and its old file waits."""
    monkeypatch.setattr(sqlite, "_BUSY_MS", 50)
    with Site(made) as site:
        played = Played(site)
    before = stored(made)
    old = system.read_keys(made.keys_path).sealing
    reader = SQLiteReader(made.data / "ledger.db")
    reader.hold()
    reader.head()
    try:
        with pytest.raises(StartRefused, match="its file stays"):
            rotate_sealing(made)
        files = system.read_keys(made.keys_path)
        assert files.sealing == old
        assert files.next_sealing is not None
        assert identity(made).sealing_id == files.next_sealing.id
        # Once more: it is not finished, and least of all is there another key.
        with pytest.raises(StartRefused, match="its file stays"):
            rotate_sealing(made)
        assert system.read_keys(made.keys_path) == files
    finally:
        reader.close()
    assert remains(made, before)
    with Site(made) as site:
        assert not site.service.sealing_waits
        assert remains(made, before) == []
        played.go_on(site)
    assert system.read_keys(made.keys_path).sealing == files.next_sealing
    assert key_files(made) == {"log.key", "sealing.key"}


# --- backups ------------------------------------------------------------------------------------


def lose(settings) -> None:
    for path in settings.data.glob("*.db*"):
        path.unlink()


def test_a_backup_names_its_key_and_is_restored_with_no_other(made, tmp_path):
    with Site(made) as site:
        played = Played(site)
    old = system.read_keys(made.keys_path).sealing
    backup.create(made, tmp_path / "before")
    rotate_sealing(made)
    new = system.read_keys(made.keys_path).sealing
    backup.create(made, tmp_path / "after")
    lose(made)
    with pytest.raises(StartRefused, match="than the backup's") as caught:
        restore(made, tmp_path / "before")
    assert new.id in str(caught.value)
    assert str(caught.value).endswith(f"{old.id}.")
    assert restore(made, tmp_path / "after").appended == 0
    assert check(made).faults == []
    # With its own key the older one is as good: the log is the same.
    lose(made)
    write_key(made.keys_path / "sealing.key", old.secret)
    restore(made, tmp_path / "before")
    with Site(made) as site:
        played.go_on(site)


def test_a_manifest_with_another_key_than_its_database_is_found_out(made, tmp_path):
    manifest = backup.create(made, tmp_path / "backup")
    path = tmp_path / "backup" / "manifest.json"
    path.write_text(path.read_text().replace(manifest.sealing_id, "00000000"))
    faults = backup.verify(tmp_path / "backup", None).report.faults
    assert faults == ["The manifest names another sealing key than its database."]


# --- a database of the form before --------------------------------------------------------------


@pytest.fixture
def old_form(tmp_path) -> tuple[Settings, dict]:
    with zipfile.ZipFile(OLD_FORM) as archive:
        archive.extractall(tmp_path / "old")
    for path in (tmp_path / "old").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    settings = Settings(data=tmp_path / "old" / "data", mode="test", origin=ORIGIN)
    return settings, json.loads((tmp_path / "old" / "asked.json").read_text())


def form(path: Path) -> int:
    reader = SQLiteReader(path)
    try:
        return reader.form()
    finally:
        reader.close()


def ask_again(site: Site, asked: dict) -> None:
    headers = {**bearer(asked["key"]), **idempotency("same")}
    assert (
        site.client.post(asked["url"], json=asked["body"], headers=headers).text
        == (asked["answer"])
    )
    url = f"/v1/tables/{asked['table']}/hands/1"
    ended = expect(site.client.post(f"{url}/abort", json={}, headers={**headers, **idempotency()}))
    assert ended["server_seed"] is not None


def test_a_database_of_the_first_form_is_brought_up(old_form):
    settings, asked = old_form
    path = settings.data / "ledger.db"
    assert form(path) == 1
    with pytest.raises(StartRefused, match="an older version of fairdeal; the next start"):
        check(settings)
    assert form(path) == 1
    with Site(settings) as site:
        ask_again(site, asked)
    assert form(path) == migrations()[-1][0]
    key = system.read_keys(settings.keys_path).sealing
    assert {value[:4].hex() for _, value in stored(settings)} == {key.id}
    assert {name for name, _ in stored(settings)} == {
        "commitments",
        "discards",
        "answers",
        "tables",
    }
    assert check(settings).faults == []
    rotate_sealing(settings)
    assert check(settings).faults == []


def test_a_rotation_brings_it_up_as_well(old_form):
    settings, asked = old_form
    assert rotate_sealing(settings).values == 12
    with Site(settings) as site:
        ask_again(site, asked)
    assert check(settings).faults == []


def test_a_backup_of_the_first_form_is_verified_and_restored(old_form, tmp_path):
    settings, asked = old_form
    manifest = backup.create(settings, tmp_path / "backup")
    assert manifest.sealing_id == system.read_keys(settings.keys_path).sealing.id
    assert backup.verify(tmp_path / "backup", None).report.faults == []
    lose(settings)
    restore(settings, tmp_path / "backup")
    assert form(settings.data / "ledger.db") == migrations()[-1][0]
    assert form(tmp_path / "backup" / "ledger.db") == 1
    assert check(settings).faults == []
    with Site(settings) as site:
        ask_again(site, asked)


def test_a_newer_form_is_refused(made, tmp_path):
    backup.create(made, tmp_path / "backup")
    for path in (made.data, tmp_path / "backup"):
        connection = apsw.Connection(str(path / "ledger.db"))
        connection.pragma("user_version", migrations()[-1][0] + 1)
        connection.close()
    refused(made, "newer version")
    for look in (lambda: check(made), lambda: backup.verify(tmp_path / "backup", None)):
        with pytest.raises(StartRefused, match="newer version"):
            look()


def test_a_promise_cannot_be_changed_when_its_seed_is_sealed_anew(made):
    with Site(made) as site:
        Played(site)
    connection = apsw.Connection(str(made.data / "ledger.db"))
    connection.execute("UPDATE commitments SET sealed = sealed")
    for statement in (
        "UPDATE commitments SET value = randomblob(32)",
        "UPDATE commitments SET hand = 9",
        "UPDATE commitments SET sealed = sealed, fixed = 1 - fixed",
        "DELETE FROM commitments",
    ):
        with pytest.raises(apsw.ConstraintError):
            connection.execute(statement)
    connection.close()


# --- the command --------------------------------------------------------------------------------


def fairdeal(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fairdeal_api", *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_command(made, tmp_path):
    where = ("--data", made.data, "--mode", "test", "--origin", made.origin)
    with Site(made) as site:
        Played(site)
        no = fairdeal("keys", "rotate-sealing", *where)
        assert (no.returncode, "locked by pid" in no.stderr) == (EXIT_LOST, True)
    old = system.read_keys(made.keys_path).sealing
    shown = fairdeal("keys", *where)
    assert f"The sealing key: {old.id}" in shown.stderr
    made_backup = fairdeal("backup", "create", tmp_path / "backup", *where[:4])
    assert f"sealing key {old.id}" in made_backup.stdout, made_backup.stderr
    assert f"sealing key {old.id}" in fairdeal("backup", "verify", tmp_path / "backup").stdout
    yes = fairdeal("keys", "rotate-sealing", *where)
    assert yes.returncode == 0, yes.stderr
    new = system.read_keys(made.keys_path).sealing
    assert new.id in yes.stdout
    assert f"Backups made before need {old.id}" in yes.stdout
    assert f"The sealing key: {new.id}" in fairdeal("keys", *where).stderr
    assert fairdeal("fsck", *where).returncode == 0
    for key in (old, new):
        assert key.secret.hex() not in yes.stdout + yes.stderr + shown.stdout + shown.stderr


def test_a_lone_key_is_what_the_database_names():
    key, other = SealingKey(b"a" * 32), SealingKey(b"b" * 32)
    named = Identity(ORIGIN, "", key.id, other.id)
    assert keyring.sealing_key(system.Keys(key, b""), named) is key
    assert keyring.sealing_key(system.Keys(key, b"", None, other), named) is key
    assert keyring.sealing_key(system.Keys(other, b"", None, key), named) is key
    third = system.Keys(SealingKey(b"c" * 32), b"", None, key)
    with pytest.raises(StartRefused, match="not to be lost"):
        keyring.sealing_key(third, named)
