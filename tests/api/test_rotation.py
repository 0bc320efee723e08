"""The log's key changes: what is served, refused and found afterwards. Spec: LOG-26..29."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import apsw
import pytest

from fairdeal.encoding import encode
from fairdeal.errors import VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys, parse_rotations
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import tiles_of
from fairdeal_api import backup, keyring, system
from fairdeal_api.client.api import ApiError
from fairdeal_api.client.errors import CheckError
from fairdeal_api.client.log import PinnedLog
from fairdeal_api.export import export
from fairdeal_api.fsck import check
from fairdeal_api.restore import restore
from fairdeal_api.rotation import rotate
from fairdeal_api.service import Service, initialise
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.play import Operator, bearer, expect, idempotency
from tests.api.test_start import damage


@pytest.fixture
def made(settings):
    initialise(settings)
    return settings


def hands(site, count=1, **terms):
    table = Operator(site.client, site.key(), "kozel", **terms)
    for _ in range(count):
        table.open()
        table.deal()
        table.close()
    return table


def file_of(site, table, number=1):
    return site.client.get(f"/v1/tables/{table.table}/hands/{number}/transcript").content


def chain(settings) -> LogKeys:
    reader = SQLiteReader(settings.data / "ledger.db")
    try:
        return keyring.log_keys(reader)
    finally:
        reader.close()


def lose(settings) -> None:
    for path in [*settings.data.glob("ledger.db*"), *settings.data.glob("operators.db*")]:
        path.unlink()


def refused(settings) -> str:
    with pytest.raises(StartRefused) as caught:
        Service(settings)
    return str(caught.value)


# --- the rotation itself ------------------------------------------------------------------------


def test_a_key_changes_and_everything_before_it_stands(made):
    """LOG-26, LOG-27, LOG-28, LOG-32."""
    with Site(made) as site:
        table = hands(site, 2)
        old_key, old_file = site.service.verifier_key, file_of(site, table)
        old_head = site.client.get("/log/checkpoint").text
    done = rotate(made)
    assert (done.old, done.closed, done.aborted, done.stuck) == (old_key, [table.table], [], [])
    assert done.new != old_key
    assert done.new.name == old_key.name
    assert {p.name for p in made.keys_path.iterdir()} == {"log.key", "sealing.key"}
    with Site(made) as site:
        assert site.service.verifier_key == done.new
        said = expect(site.client.get("/v1/keys"))
        assert [(one["vkey"], one["state"]) for one in said["keys"]] == [
            (str(done.new), "active"),
            (str(old_key), "retired"),
        ]
        assert [(one["first_size"], one["last_size"]) for one in said["keys"]] == [
            (done.size + 1, None),
            (0, done.size),
        ]
        document = expect(site.client.get("/log/rotations"))
        assert document["rotations"] == said["rotations"]
        keys = parse_rotations(document)
        assert keys == chain(made) == site.service.log_keys
        # What was closed keeps its file to the byte; what is new is the new key's.
        assert file_of(site, table) == old_file
        new = hands(site)
        assert new.opened["log_key"] == str(done.new)
        head = site.client.get("/log/checkpoint").text
        assert Checkpoint.open(head, done.new).size > done.size
        with pytest.raises(VerificationError):
            Checkpoint.open(head, old_key)
        assert keys.open(old_head).size <= done.size
        for index in (0, done.size, done.size + 1):
            receipt = Receipt.parse(site.client.get(f"/v1/receipts/{index}").text)
            receipt.verify(site.service.reader.entries(index, index + 1)[0], done.new)
        state = expect(site.client.get(f"/v1/tables/{table.table}", headers=bearer(table.key)))
        assert state["state"] == "closed"
    assert check(made).faults == []


def test_keys_change_again_and_again_also_of_an_empty_log(made):
    news = [rotate(made).new for _ in range(3)]
    assert [*chain(made)][1:] == news
    with Site(made) as site:
        hands(site)
        document = expect(site.client.get("/log/rotations"))
        assert [*parse_rotations(document)][1:] == news
    assert check(made).faults == []


def test_a_hand_that_is_open_is_in_the_way_unless_it_is_to_be_aborted(made):
    with Site(made) as site:
        table = hands(site, disclosure="table")
        table.open()
        table.deal()
        size = site.service.ledger.size
    before = chain(made).current
    with pytest.raises(StartRefused, match=f"hand 2 of {table.table} is open"):
        rotate(made)
    with Site(made) as site:  # nothing has happened
        assert (site.service.verifier_key, site.service.ledger.size) == (before, size)
    done = rotate(made, abort_hands=True)
    assert done.aborted == [(table.table, 2)]
    assert done.closed == [table.table]
    with Site(made) as site:
        events = [
            json.loads(event["event"])
            for event in expect(
                site.client.get(f"/v1/tables/{table.table}/events?after=-1&limit=200")
            )["events"]
        ]
        assert [(e["type"], e.get("reason"), e.get("hand")) for e in events[-4:]] == [
            ("hand.aborted", "operator", 2),
            ("hand.disclosed", None, 1),
            ("hand.disclosed", None, 2),
            ("table.closed", None, None),
        ]
    assert check(made).faults == []


def test_a_table_that_cannot_be_closed_stays_as_it_is(made):
    with Site(made) as site:
        table = hands(site)
    damage(
        made,
        "UPDATE commitments SET sealed = x'' WHERE hand = 2",
    )
    done = rotate(made)
    assert (done.stuck, done.closed) == ([table.table], [])
    with Site(made) as site:
        table.client = site.client
        body = table.post(f"/v1/tables/{table.table}/hands", {"first": 0})
        expect(body, 503, "unavailable")


def test_a_rotation_asks_for_the_folder_as_a_start_does(made):
    with Site(made), pytest.raises(StartRefused, match="locked by pid"):
        rotate(made)
    made.anchor_path.unlink()
    with pytest.raises(StartRefused, match="The anchor"):
        rotate(made)


def test_a_key_that_the_entries_do_not_name_signs_nothing(made):
    """LOG-29: left over from a rotation that was never committed; the next one takes it."""
    with Site(made) as site:
        hands(site)
    path = made.keys_path / "log.next.key"
    secret = system.next_key(path)
    assert system.next_key(path) == secret
    key = chain(made).current
    with Site(made) as site:
        assert site.service.verifier_key == key
        hands(site)
    assert check(made).faults == []
    assert rotate(made).new == SigningKey(made.log_origin, secret).verifier


def test_a_rotation_that_was_cut_off_is_finished_by_the_next_start(made):
    """LOG-29: the database names the new key, and its file has not got its name."""
    with Site(made) as site:
        hands(site)
    old = (made.keys_path / "log.key").read_bytes()
    done = rotate(made)
    new = (made.keys_path / "log.key").read_bytes()

    def cut_off() -> None:
        (made.keys_path / "log.next.key").touch(0o600)
        (made.keys_path / "log.next.key").write_bytes(new)
        (made.keys_path / "log.key").write_bytes(old)

    cut_off()
    assert check(made).faults == []
    again = rotate(made)
    assert (again.finished, again.new, again.size) == (True, done.new, done.size)
    cut_off()
    with Site(made) as site:
        assert site.service.verifier_key == done.new
        hands(site)
    assert {p.name for p in made.keys_path.iterdir()} == {"log.key", "sealing.key"}
    assert (made.keys_path / "log.key").read_bytes() == new
    # The control: without the new key's file nothing starts, and least of all under the old key.
    (made.keys_path / "log.key").write_bytes(old)
    assert "log key" in refused(made)


def test_a_key_that_the_log_had_before_is_refused(made):
    old = (made.keys_path / "log.key").read_bytes()
    rotate(made)
    path = made.keys_path / "log.next.key"
    path.touch(0o600)
    path.write_bytes(old)
    with pytest.raises(StartRefused, match="has had"):
        rotate(made)


# --- the start-up table, gossip ----------------------------------------------------------------


def test_a_database_from_before_the_rotation_is_refused_with_both_sizes(made, tmp_path):
    """LOG-21."""
    with Site(made) as site:
        hands(site)
    old_files = {name: (made.data / name).read_bytes() for name in ("ledger.db",)}
    old_anchor, old_key = (
        made.anchor_path.read_bytes(),
        (made.keys_path / "log.key").read_bytes(),
    )
    small = chain_size(made)
    done = rotate(made)
    for name, content in old_files.items():
        for rest in made.data.glob(f"{name}-*"):
            rest.unlink()
        (made.data / name).write_bytes(content)
    sentence = refused(made)
    assert f"holds {small} entries" in sentence
    assert f"seen {done.size + 1}" in sentence
    # With the old key back beside it the anchor still tells.
    kept = (made.keys_path / "log.key").read_bytes()
    (made.keys_path / "log.key").write_bytes(old_key)
    assert "no checkpoint of this log" in refused(made) or "seen" in refused(made)
    # The control: with the anchor put back as well nothing here can tell.
    made.anchor_path.write_bytes(old_anchor)
    with Site(made) as site:
        assert site.service.ledger.size == small
        # But whoever has seen the new key's head can, once the rotation is known here: never is it
        # signed by a key of this log, so it is refused and not believed.
        head = Checkpoint(made.log_origin, done.size + 1, bytes(32)).sign(
            SigningKey(made.log_origin, bytes.fromhex(kept.decode().strip()))
        )
        answer = site.client.put("/v1/gossip", json={"checkpoint": head})
        expect(answer, 422, "checkpoint_invalid")


def chain_size(settings) -> int:
    reader = SQLiteReader(settings.data / "ledger.db")
    try:
        return reader.head().size
    finally:
        reader.close()


@pytest.mark.parametrize(
    ("which", "past", "status"),
    [
        ("an old head of the old key", False, 200),
        ("an old head, rewritten", False, 503),
        ("the old key signed on", True, 503),
        ("the new key signed an old head", False, 503),
        ("a stranger", True, 422),
    ],
)
def test_gossip_of_every_key(made, which, past, status):
    """LOG-22."""
    with Site(made) as site:
        hands(site)
    old = SigningKey(made.log_origin, system.read_keys(made.keys_path).log)
    done = rotate(made)
    new = SigningKey(made.log_origin, system.read_keys(made.keys_path).log)
    with Site(made) as site:
        hands(site)
        tree = site.service.ledger._tree
        size = done.size + 2 if past else done.size - 1
        root = bytes(32) if "rewritten" in which else tree.root(size)
        key = new if "new key" in which else old
        if which == "a stranger":
            key = SigningKey(made.log_origin, bytes(32))
        note = Checkpoint(made.log_origin, size, root).sign(key)
        answer = site.client.put("/v1/gossip", json={"checkpoint": note})
        assert answer.status_code == status, answer.text
    if status == 503:
        sentence = refused(made)
        assert ".seen" in sentence
    else:
        Service(made)._close.close()


# --- clients ------------------------------------------------------------------------------------


class Files:
    """What a client fetches to check the log with."""

    def __init__(self, client):
        self._client = client

    def content(self, path):
        answer = self._client.get(path)
        if answer.status_code != 200:
            raise ApiError.of(path, answer)
        return answer.content


def test_a_client_that_pinned_the_old_key_learns_the_new_one(made):
    """LOG-32: the key it trusts has signed the next; a head of before still has to fit."""
    with Site(made) as site:
        old = hands(site)
        kept = site.client.get("/log/checkpoint").text
    done = rotate(made)
    with Site(made) as site:
        new = hands(site)
        api = Files(site.client)
        for key in (done.old, done.new):
            pinned = PinnedLog(api, key, kept)
            assert pinned.knows(str(done.old))
            assert pinned.knows(str(done.new))
            entry = new.opened["events"][0]["event"].encode()
            assert pinned.accept(new.opened["receipt"], entry).size > done.size
            assert Checkpoint.open(pinned.kept, done.new)
            pinned.accept(old.opened["receipt"], old.opened["events"][0]["event"].encode())
        # The control: a key that leads nowhere.
        stranger = PinnedLog(api, SigningKey(made.log_origin, bytes(32)).verifier)
        assert not stranger.knows(str(done.new))
        with pytest.raises(CheckError):
            stranger.accept(new.opened["receipt"], entry)


# --- copies -------------------------------------------------------------------------------------


def test_backups_and_their_keys(made, tmp_path):
    """LOG-23: any key of the log will do to check one."""
    with Site(made) as site:
        hands(site)
    done = rotate(made)
    with Site(made) as site:
        hands(site)
        manifest = backup.create(made, tmp_path / "backup")
    assert manifest.log_key == str(done.new)
    for key in (None, done.old, done.new):
        assert backup.verify(tmp_path / "backup", key).report.faults == []
    stranger = SigningKey(made.log_origin, bytes(32)).verifier
    assert backup.verify(tmp_path / "backup", stranger).report.faults
    lose(made)
    restore(made, tmp_path / "backup")
    with Site(made) as site:
        hands(site)
    assert check(made).faults == []


def test_a_backup_from_before_two_rotations_is_made_whole_from_public_files(made, tmp_path):
    """LOG-24: the new keys are learnt from the entries."""
    with Site(made) as site:
        hands(site)
        backup.create(made, tmp_path / "backup")
        hands(site)
    one = rotate(made)
    with Site(made) as site:
        hands(site)
    two = rotate(made)
    with Site(made) as site:
        hands(site)
        size = site.service.ledger.size
    export(made, tmp_path / "public")
    kept = chain(made)
    lose(made)
    with pytest.raises(StartRefused, match=f"seen {size}"):
        restore(made, tmp_path / "backup")
    shutil.copytree(tmp_path / "public", tmp_path / "poor")
    (tmp_path / "poor" / "rotations").unlink()
    with pytest.raises(StartRefused, match="rotations"):
        restore(made, tmp_path / "backup", tiles=tmp_path / "poor")
    done = restore(made, tmp_path / "backup", tiles=tmp_path / "public", operator="club")
    assert done.size == size
    assert chain(made) == kept
    with Site(made) as site:
        assert site.service.verifier_key == two.new
        assert parse_rotations(expect(site.client.get("/log/rotations"))) == kept
        hands(site)
    assert check(made).faults == []
    assert one.new in kept


def test_an_export_goes_on_past_a_rotation(made, tmp_path):
    """LOG-13, LOG-32."""
    folder = tmp_path / "public"
    with Site(made) as site:
        hands(site)
        export(made, folder)
    assert not (folder / "rotations").exists()
    done = rotate(made)
    with Site(made) as site:
        hands(site)
        export(made, folder)
        assert parse_rotations(json.loads((folder / "rotations").read_text())) == chain(made)
        assert (folder / "rotations").read_bytes() == encode(
            expect(site.client.get("/log/rotations"))
        ) + b"\n"
        first = (folder / "rotations").read_bytes()
    head = Checkpoint.open((folder / "checkpoint").read_text(), done.new)
    assert all((folder / tile.path).exists() for tile in tiles_of(head.size))
    rotate(made)
    export(made, folder)
    second = json.loads((folder / "rotations").read_text())["rotations"]
    assert second[:1] == json.loads(first)["rotations"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '.', ',') AS BLOB)", "itself"),
        ("UPDATE service SET log_key = replace(log_key, '+', '-')", "key"),
        ("UPDATE events SET seq = 7", "another name"),
        ("DELETE FROM checkpoints WHERE size > {n}", "newest checkpoint"),
    ],
)  # fmt: skip
def test_damage_to_the_keys_is_found(made, tmp_path, statement, words):
    """LOG-25."""
    with Site(made) as site:
        hands(site)
    done = rotate(made)
    with Site(made) as site:
        hands(site)
    backup.create(made, tmp_path / "backup")
    copy = made.model_copy(update={"data": tmp_path / "backup"})
    assert backup.verify(tmp_path / "backup", done.old).report.faults == []
    text = statement.format(n=done.size)
    if "UPDATE events" in text:
        text += f" WHERE idx = {done.size}"
    damage(copy, text)
    try:
        faults = backup.verify(tmp_path / "backup", done.old).report.faults
    except StartRefused as error:
        faults = ["", str(error)]
    assert any(words in fault for fault in faults[1:]), faults


def test_an_event_of_a_table_from_before_is_found(made):
    """LOG-28: the table's own chain would let it pass."""
    with Site(made) as site:
        old = hands(site)
    damage(made, "UPDATE tables SET state = 'closed'")  # so that the rotation leaves it alone
    assert rotate(made).closed == []
    connection = apsw.Connection(str(made.data / "ledger.db"))
    connection.execute("UPDATE tables SET state = 'idle'")
    connection.close()
    assert check(made).faults == []
    with Site(made) as site:
        old.client = site.client
        old.open()
    assert any("log_key_not_in_force" in fault for fault in check(made).faults)


# --- the command --------------------------------------------------------------------------------


def fairdeal(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fairdeal_api", *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_command(made):
    where = ("--data", made.data, "--mode", "test", "--origin", made.origin)
    first = fairdeal("keys", *where)
    assert first.returncode == 0, first.stderr
    with Site(made) as site:
        table = hands(site)
        table.open()
    no = fairdeal("keys", "rotate", *where)
    assert no.returncode == 1
    assert "--abort-hands" in no.stderr
    yes = fairdeal("keys", "rotate", *where, "--abort-hands")
    assert yes.returncode == 0, yes.stderr
    assert f"Hand 2 of {table.table} was aborted" in yes.stderr
    vkey = yes.stdout.strip().rpartition(" ")[2]
    VerifierKey.parse(vkey)
    now = fairdeal("keys", *where)
    assert now.stdout.strip() == vkey
    assert first.stdout.strip() in now.stderr
    assert fairdeal("fsck", *where).returncode == 0
    secret = (made.keys_path / "log.key").read_text().strip()
    assert secret not in yes.stdout + yes.stderr


def test_an_answer_kept_from_before_is_given_again(made):
    """The receipt in it is the old key's, as it was."""
    with Site(made) as site:
        key = site.key()
        headers = {**bearer(key), **idempotency("same")}
        body = {"game": "kozel", "custody": "operator"}
        first = site.client.post("/v1/tables", json=body, headers=headers)
    rotate(made)
    with Site(made) as site:
        again = site.client.post("/v1/tables", json=body, headers=headers)
        assert again.content == first.content
