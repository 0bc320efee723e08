"""What a start refuses, and what `fsck` finds."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from fairdeal.dealing import Dealing
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.merkle import EMPTY_ROOT
from fairdeal.seeds import ServerSeed
from fairdeal_api.anchor import SLOT, Anchor, AnchorMoved
from fairdeal_api.fsck import check
from fairdeal_api.service import Service, initialise
from fairdeal_api.settings import ConfigurationError, Settings, load
from fairdeal_api.store.sqlite import check_library
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.play import Operator


@pytest.fixture
def made(settings):
    initialise(settings)
    return settings


def refused(settings) -> str:
    with pytest.raises(StartRefused) as caught:
        Service(settings)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def starts(settings) -> None:
    with Site(settings):
        pass


def play(settings, hands=2):
    with Site(settings) as site:
        table = Operator(site.client, site.key(), "kozel")
        for _ in range(hands):
            table.open()
            table.deal()
            table.close()
        return site.service.ledger.size


# --- keys ---------------------------------------------------------------------------------------


def test_a_fresh_folder_starts_and_is_the_owners_alone(made):
    starts(made)
    for path in (made.data, made.keys_path):
        assert path.stat().st_mode & 0o777 == 0o700
    for path in (*made.keys_path.iterdir(), made.anchor_path, made.data / "ledger.db"):
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["sealing.key", "log.key"])
@pytest.mark.parametrize(
    "damage",
    ["missing", "readable", "writable", "symlink", "short", "capitals", "long", "folder"],
)
def test_a_key_file_that_is_not_as_it_must_be_is_refused_and_left_alone(made, name, damage):
    path = made.keys_path / name
    text = path.read_bytes()
    if damage == "missing":
        path.rename(path.with_suffix(".old"))
    elif damage == "readable":
        path.chmod(0o640)
    elif damage == "writable":
        path.chmod(0o602)
    elif damage == "symlink":
        path.rename(path.with_suffix(".old"))
        path.symlink_to(path.with_suffix(".old"))
    elif damage == "short":
        path.write_bytes(text[:-3] + b"\n")
    elif damage == "capitals":
        path.write_bytes(b"AB" + text[2:])
    elif damage == "long":
        path.write_bytes(text + b"\n")
    else:
        path.unlink()
        path.mkdir()
    before = sorted((p.name, p.lstat().st_mtime_ns) for p in made.keys_path.iterdir())
    sentence = refused(made)
    assert str(path) in sentence
    assert text[:16].decode() not in sentence
    assert sorted((p.name, p.lstat().st_mtime_ns) for p in made.keys_path.iterdir()) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_key_of_another_user_is_refused(made):
    path = made.keys_path / "log.key"
    os.chown(path, 65534, -1)
    assert "another user" in refused(made)


def test_a_key_folder_open_to_others_is_refused(made):
    made.keys_path.chmod(0o750)
    assert "owner-only" in refused(made)


def test_other_keys_than_the_databases_are_refused(made, tmp_path):
    other = Settings(data=tmp_path / "other", mode="test", origin=made.origin)
    initialise(other)
    for name, words in (("log.key", "log key"), ("sealing.key", "sealing key")):
        kept = (made.keys_path / name).read_bytes()
        (made.keys_path / name).write_bytes((other.keys_path / name).read_bytes())
        assert words in refused(made)
        (made.keys_path / name).write_bytes(kept)
    starts(made)


def test_another_origin_or_mode_is_refused(made):
    assert "settings name" in refused(made.model_copy(update={"origin": "else.example/log"}))
    assert "settings name" in refused(made.model_copy(update={"mode": "live"}))


# --- the anchor, and the start-up table ---------------------------------------------------------


@pytest.mark.parametrize(
    "damage", [b"", b"no database at all, but long enough to be one" * 40, None]
)
def test_another_file_than_the_operators_keys_is_refused_and_left_alone(made, damage):
    """An emptied one is a good database to SQLite: taken for new, it would refuse everybody."""
    path = made.data / "operators.db"
    good = path.read_bytes()
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert "operators.db" in refused(made)
    assert (path.read_bytes() if path.exists() else None) == damage
    path.write_bytes(good)
    starts(made)  # control


def test_no_folder_no_service(settings):
    assert "fairdeal init" in refused(settings)


def test_init_never_makes_a_service_over_another(made):
    with pytest.raises(StartRefused, match="not empty"):
        initialise(made)


def test_init_beside_an_anchor_makes_nothing(settings):
    """A log has been here, and its folder is away."""
    initialise(settings)
    settings.data.rename(settings.data.with_name("away"))
    kept = settings.anchor_path.read_bytes()
    with pytest.raises(StartRefused, match="never overwritten"):
        initialise(settings)
    assert not settings.data.exists()
    assert settings.anchor_path.read_bytes() == kept
    settings.anchor_path.unlink()
    initialise(settings)


def test_two_processes_do_not_share_a_folder(made):
    with Site(made):
        assert "Another process" in refused(made)
    starts(made)


def test_equal_starts(made):
    play(made)
    starts(made)


def test_a_database_ahead_of_its_anchor_catches_up(made):
    play(made)
    kept = made.anchor_path.read_bytes()
    play(made)
    made.anchor_path.write_bytes(kept)
    starts(made)
    assert made.anchor_path.read_bytes() != kept
    assert check(made).faults == []


def test_a_torn_write_of_the_anchor_is_survived(made):
    play(made)
    content = bytearray(made.anchor_path.read_bytes())
    notes = [content[:SLOT].strip(), content[SLOT:].strip()]
    newest = max((0, 1), key=lambda slot: int(notes[slot].split(b"\n")[1]))
    content[SLOT * newest + 30 : SLOT * newest + 60] = b"?" * 30
    made.anchor_path.write_bytes(content)
    starts(made)


def test_a_database_restored_from_its_backup_is_refused(made, tmp_path):
    """Spec: LOG-7."""
    small = play(made)
    shutil.copytree(made.data, tmp_path / "backup")
    large = play(made)
    shutil.rmtree(made.data)
    shutil.copytree(tmp_path / "backup", made.data)
    sentence = refused(made)
    assert f"{small} entries" in sentence
    assert f"seen {large}" in sentence


def test_an_empty_database_beside_an_anchor_is_refused(made, tmp_path):
    shutil.copytree(made.data, tmp_path / "empty")
    play(made)
    shutil.rmtree(made.data)
    shutil.copytree(tmp_path / "empty", made.data)
    assert "0 entries" in refused(made)


def test_no_anchor_no_start(made):
    play(made)
    made.anchor_path.unlink()
    assert "cannot be read" in refused(made)


def test_an_anchor_of_another_log_is_refused(made, tmp_path):
    play(made)
    other = Settings(data=tmp_path / "other", mode="test", origin=made.origin)
    initialise(other)
    made.anchor_path.write_bytes(other.anchor_path.read_bytes())
    assert "no checkpoint of this log" in refused(made)


def test_a_rewritten_history_is_refused(made):
    play(made)
    with Site(made) as site:
        size, key = site.service.ledger.size, site.service.signing_key
    note = Checkpoint(made.log_origin, size, EMPTY_ROOT).sign(key)
    made.anchor_path.write_bytes(note.encode().ljust(SLOT, b"\n"))
    assert "rewritten" in refused(made)


def test_an_anchor_moved_by_somebody_else_is_noticed(made):
    anchor = Anchor(made.anchor_path)
    with Site(made) as site:
        anchor.load(site.service.log_keys)
        note = site.service.ledger.checkpoint
        anchor.move("another process was here\n")
        with pytest.raises(AnchorMoved):
            site.service.ledger._anchor.move(note)
    made.anchor_path.rename(made.anchor_path.with_suffix(".old"))
    shutil.copy(made.anchor_path.with_suffix(".old"), made.anchor_path)
    with pytest.raises(AnchorMoved):  # another file of the same content
        anchor.move(note)
    anchor.close()


def test_an_old_sqlite_is_refused():
    with pytest.raises(StartRefused, match=r"3\.51\.3 or newer"):
        check_library("3.46.1")
    check_library("3.51.3")
    check_library("4.0.0")


# --- fsck ---------------------------------------------------------------------------------------

UNDER_THE_KEY = "sealed = CAST(substr(sealed, 1, 4) || randomblob(56) AS BLOB)"


def damage(settings, *statements):
    """Somebody with access to the file and no scruples."""
    connection = apsw.Connection(str(settings.data / "ledger.db"))
    connection.pragma("ignore_check_constraints", 1)
    for trigger in ("events_stay", "events_remain", "commitments_stay", "commitments_remain"):
        connection.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_fsck_finds_nothing_in_a_good_folder_also_beside_the_service(made):
    play(made)
    with Site(made) as site:
        table = Operator(site.client, site.key(), "mus")
        table.open()
        report = check(made)
    assert (report.faults, report.tables, report.hands) == ([], 2, 2)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            (
                "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), "
                "'\"hand\":2', '\"hand\":3') AS BLOB) WHERE idx = 7"
            ),
            "Entry 7: its bytes",
        ),
        ("UPDATE events SET leaf = randomblob(32) WHERE idx = 3", "Entry 3: its bytes"),
        ("DELETE FROM events WHERE idx = 4", "is missing"),
        ("UPDATE head SET root = randomblob(32)", "The head"),
        ("UPDATE checkpoints SET note = replace(note, 'A', 'B') WHERE size > 3", "checkpoint"),
        ("UPDATE tables SET seq = seq + 1", "is not what its events say"),
        (f"UPDATE commitments SET {UNDER_THE_KEY} WHERE hand = 1", "does not open"),
        ("UPDATE commitments SET sealed = randomblob(60) WHERE hand = 1", "which is not here"),
        ("DELETE FROM commitments WHERE hand = 3", "commitments are in the log"),
        ("UPDATE commitments SET value = randomblob(32) WHERE hand = 2", "is not in the log"),
        ("UPDATE tables SET game = 'mus'", "is not what its events say"),
        ("DELETE FROM checkpoints WHERE size = (SELECT size FROM head)", "newest checkpoint"),
        ("UPDATE finished SET state = 'aborted' WHERE hand = 1", "is not what the log says"),
        ("DELETE FROM finished WHERE hand = 2", "is in the log only"),
        (
            "INSERT INTO finished SELECT idx + 99, table_id, hand, game, state, at FROM finished",
            "is not what the log says",
        ),
        (f"UPDATE answers SET {UNDER_THE_KEY} WHERE events > 0", "does not open"),
        ("UPDATE answers SET sealed = randomblob(200) WHERE events > 0", "which is not here"),
        ("UPDATE tables SET test_seed = randomblob(64)", "The test seed"),
        ("UPDATE answers SET etag = 999", "that the log does not have"),
        ("UPDATE answers SET etag = etag - 1 WHERE hand = 2", "filed under another entry"),
        ("UPDATE answers SET idx = 999 WHERE idx = 2", "filed under another entry"),
        ("UPDATE answers SET events = 99", "that the log does not have"),
        ("UPDATE answers SET hand = 0", "does not open"),
        ("UPDATE answers SET scope = zeroblob(32)", "has the key of another"),
        ("UPDATE answers_apart SET scope = (SELECT max(scope) FROM answers)", "has the key of"),
        ("UPDATE answers_apart SET etag = 999", "that the log does not have"),
        ("UPDATE answers_apart SET idx = 3", "filed under another entry"),
        (f"UPDATE answers_apart SET {UNDER_THE_KEY}", "does not open"),
        ("INSERT INTO seats VALUES ('x', 0, randomblob(32), NULL)", "is not at a table"),
        ("INSERT INTO discards VALUES ('x', 1, 3, randomblob(60))", "is not in the log"),
        ("UPDATE events SET hand = 9 WHERE idx = 3", "filed under another name"),
        (
            (
                "UPDATE events SET idx = -1 WHERE idx = 3; UPDATE events SET idx = 3 WHERE idx = 4;"
                "UPDATE events SET idx = 4 WHERE idx = -1"
            ),
            "is not_next",
        ),
    ],
)
def test_fsck_finds_what_was_changed(made, statement, words):
    """Spec: LOG-25."""
    play(made)
    assert check(made).faults == []
    damage(made, statement)
    assert any(words in fault for fault in check(made).faults), check(made).faults


def test_fsck_deals_disclosed_hands_again(made, monkeypatch):
    play(made)

    def other(hand, _seed, discards):
        return Dealing(hand, ServerSeed(bytes(32)), discards)

    assert check(made).faults == []
    monkeypatch.setattr("fairdeal_api.fsck.Dealing", other)
    assert sum("another deck" in fault for fault in check(made).faults) == 2


def test_a_flipped_byte_of_an_event_stops_the_next_start_or_its_use(made):
    play(made)
    damage(made, "UPDATE events SET leaf = randomblob(32) WHERE idx = 3")
    assert "fsck" in refused(made)


def test_events_cannot_be_changed_by_accident(made):
    play(made)
    connection = apsw.Connection(str(made.data / "ledger.db"))
    for statement in (
        "UPDATE events SET hand = 1",
        "DELETE FROM events",
        "UPDATE events SET before = NULL",
        "UPDATE commitments SET hand = 9",
        "UPDATE commitments SET idx = 9",
        "DELETE FROM commitments",
    ):
        with pytest.raises(apsw.ConstraintError):
            connection.execute(statement)
    connection.close()


def test_nothing_secret_is_in_the_files(made):
    with Site(made) as site:
        key = site.key()
        table = Operator(site.client, key, "kozel")
        table.open()
        seeds = table.secrets.seeds()
        dealt = table.deal()
        seats = Operator(site.client, key, "svoi", custody="seats")
        code = seats.opened["claim_codes"]["0"]
        salt = dealt["cards"]["0"][0]["salt"]
        server_seed = site.service.dealer.slots.get(table.table).dealing.server_seed
        files = [p for p in made.data.rglob("*") if p.is_file() and p.parent != made.keys_path]
        stored = b"".join(path.read_bytes() for path in files)
        assert seeds["0"].encode() in stored  # opened seeds are public: the control
        for secret in (key, code, salt, server_seed.hex()):
            assert secret.encode() not in stored
        for raw in (server_seed, bytes.fromhex(salt)):
            assert bytes(raw) not in stored


# --- settings and the command -------------------------------------------------------------------


def test_settings_come_from_flags_then_environment_then_file(tmp_path, monkeypatch):
    file = tmp_path / "fairdeal.toml"
    file.write_text('host = "::1"\nport = 1\norigin = "file.example/log"\n')
    monkeypatch.setenv("FAIRDEAL_PORT", "2")
    found = load(file, origin="flag.example/log")
    assert (found.host, found.port, found.origin) == ("::1", 2, "flag.example/log")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 1\n", "colour is not a setting"),
        ("port = 99999\n", "port (FAIRDEAL_PORT)"),
        ("origin = 'a+b'\n", "origin (FAIRDEAL_ORIGIN): must be visible ASCII"),
        ("port =", "is not TOML"),
    ],
)
def test_faults_of_a_file_are_sentences(tmp_path, text, words):
    file = tmp_path / "fairdeal.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load(file)
    (sentence,) = caught.value.faults
    assert words in sentence


@pytest.mark.parametrize(
    ("name", "text"),
    [("DATA", ""), ("ANCHOR", ""), ("KEYS", ""), ("HOST", ""), ("DATA", os.fsdecode(b"\xff"))],
)
def test_a_variable_that_names_nothing_is_a_fault(monkeypatch, name, text):
    """Empty, a folder would be the one that one is in, and an address all of the machine's."""
    monkeypatch.setenv(f"FAIRDEAL_{name}", text)
    with pytest.raises(ConfigurationError) as caught:
        load()
    (sentence,) = caught.value.faults
    assert sentence.startswith(f"{name.lower()} (FAIRDEAL_{name}): ")
    monkeypatch.setenv(f"FAIRDEAL_{name}", "localhost")
    load()


def test_settings_may_come_from_a_pipe(tmp_path):
    """As `--config <(..)` gives them; nothing of it may be taken for the defaults."""
    text = b'port = 1\norigin = "pipe.example/log"\n'
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    try:
        found = load(Path(f"/dev/fd/{reading}"))
    finally:
        os.close(reading)
    assert (found.port, found.origin) == (1, "pipe.example/log")
    (tmp_path / "file").write_bytes(text)
    assert load(tmp_path / "file") == found


def test_the_anchor_lies_beside_the_folder_whatever_it_is_called(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    (folder / "keys").mkdir(parents=True)
    monkeypatch.chdir(folder)
    for name in (folder, f"{folder}/", ".", "", "./", "../data", "../data/."):
        assert load(data=Path(name)).anchor_path.resolve() == tmp_path / "data.anchor"
    assert load(data=Path("keys/..")).anchor_path == tmp_path / "data.anchor"
    with pytest.raises(ConfigurationError, match="anchor: must be outside"):
        load(data=Path("/"))


@pytest.mark.parametrize("inside", ["data", "data/keys", "data/new/er", "link", "away/link/keys"])
@pytest.mark.parametrize("data", ["data", "link", "data/../data/"])
def test_an_anchor_in_the_data_folder_is_refused(tmp_path, data, inside):
    """A copy of the folder that is put back would bring it along, and hide that it is old."""
    (tmp_path / "data/keys").mkdir(parents=True)
    (tmp_path / "away").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    (tmp_path / "away/link").symlink_to(tmp_path / "data")
    folder = tmp_path / data
    with pytest.raises(ConfigurationError) as caught:
        load(data=folder, anchor=tmp_path / inside / "anchor")
    (sentence,) = caught.value.faults
    assert sentence.startswith("anchor: must be outside the data folder. ")
    for outside in ("data.anchor", "data2/anchor", "away/anchor", "data/../anchor"):  # the control
        load(data=folder, anchor=tmp_path / outside)


def test_neither_init_nor_a_start_takes_an_anchor_from_the_data_folder(tmp_path):
    data, outside, inside = tmp_path / "data", tmp_path / "anchor", tmp_path / "data/anchor"
    refused = command("init", "--data", data, "--anchor", inside, check=False)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "rolled back" in refused.stderr
    assert not data.exists()
    command("init", "--data", data, "--anchor", outside)
    outside.rename(inside)  # as a service that was made before may have it
    refused = command("serve", "--data", data, "--anchor", inside, "--port", "0", check=False)
    assert refused.returncode == 2
    assert "move the file out" in refused.stderr
    inside.rename(outside)
    assert "0 events" in command("fsck", "--data", data, "--anchor", outside).stdout


def test_the_key_of_whoever_plays_is_no_setting_and_no_fault(monkeypatch):
    monkeypatch.setenv("FAIRDEAL_OPERATOR_KEY", "fd_live_x")
    assert "fd_live_x" not in repr(load())


def test_a_misspelt_variable_is_a_fault(monkeypatch):
    monkeypatch.setenv("FAIRDEAL_PROT", "1")
    with pytest.raises(ConfigurationError, match="FAIRDEAL_PROT"):
        load()


def command(*arguments, check=True):
    return subprocess.run(
        [sys.executable, "-m", "fairdeal_api", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=check,
        timeout=120,
    )


def test_the_command_line(tmp_path):
    data = tmp_path / "data"
    assert "fairdeal init" in command("serve", "--data", data, check=False).stderr
    made = command("init", "--data", data)
    vkey = command("keys", "--data", data).stdout.strip()
    assert vkey in made.stdout
    secret = command("operator-key", "create", "--name", "club", "--data", data).stdout.strip()
    assert secret.startswith("fd_live_")
    listed = command("operator-key", "list", "--data", data).stdout
    assert "club" in listed
    assert secret not in listed
    command("operator-key", "revoke", listed.split()[0], "--data", data)
    assert "revoked" in command("operator-key", "list", "--data", data).stdout
    assert "0 events" in command("fsck", "--data", data).stdout
    refused = command("config", "check", "--config", tmp_path / "none.toml", check=False)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr


def test_a_port_in_use_is_one_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = command("serve", "--init", "--data", tmp_path / "data", "--port", port, check=False)
    assert done.returncode == 1
    assert "cannot be listened on" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_file_of_the_api_is_the_api():
    assert Path(__file__).parents[2].joinpath("api", "openapi.json").exists()
    command("openapi", "--check")
