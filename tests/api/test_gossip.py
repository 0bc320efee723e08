"""A checkpoint that the log does not extend freezes the service. Spec: LOG-22."""

from __future__ import annotations

import shutil

import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey
from fairdeal.merkle import EMPTY_ROOT
from fairdeal_api.service import Service, initialise
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.play import Operator, expect


def present(client, note, status=200, code=None):
    return expect(client.put("/v1/gossip", json={"checkpoint": note}), status, code)


def grown(site, key, hands=1):
    table = Operator(site.client, key, "kozel")
    for _ in range(hands):
        table.open()
        table.deal()
        table.close()
    return site.client.get("/log/checkpoint").text


def test_checkpoints_of_the_log_change_nothing(site):
    """The control of all below: whatever the log extends is heard, and the service goes on."""
    key = site.key()
    first = site.client.get("/log/checkpoint").text
    second = grown(site, key)
    for note in (second, first, second + "\u2014 witness.example AAAAAAAAAAAA\n"):
        heard = present(site.client, note)
        assert heard["size"] == site.service.ledger.size
    grown(site, key)
    assert not site.service.frozen


@pytest.mark.parametrize("damage", ["signature", "origin", "nothing", "key"])
def test_what_the_log_has_not_signed_is_refused_and_changes_nothing(site, damage):
    key, name = site.service.signing_key, site.service.verifier_key.name
    newer = Checkpoint(name, 99, EMPTY_ROOT)
    note = {
        "signature": newer.sign(key).replace("\n99\n", "\n98\n"),
        "origin": Checkpoint("else.example", 99, EMPTY_ROOT).sign(key),
        "nothing": "nothing",
        "key": newer.sign(SigningKey(name, bytes(32))),
    }[damage]
    present(site.client, note, 422, "checkpoint_invalid")
    assert not site.service.frozen
    grown(site, site.key())


@pytest.mark.parametrize("longer", [True, False])
def test_another_head_of_this_key_freezes_the_service(settings, longer, capsys):
    initialise(settings)
    with Site(settings) as site:
        key = site.key()
        held = grown(site, key)
        size = site.service.ledger.size
        # What was signed and is not there: as after a restore of everything, anchor and all.
        other = Checkpoint(settings.log_origin, size + 3 if longer else size - 1, b"?" * 32)
        note = other.sign(site.service.signing_key)
        present(site.client, note, 503, "log_frozen")
        # Nothing is written any more, nothing signed; what was shown is shown still.
        body = {"game": "kozel", "custody": "operator"}
        headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k"}
        refused = site.client.post("/v1/tables", json=body, headers=headers)
        expect(refused, 503, "log_frozen")
        assert not refused.json()["retryable"]
        present(site.client, held, 503, "log_frozen")
        expect(site.client.get("/readyz"), 503, "log_frozen")
        assert site.client.get("/log/checkpoint").text == held
        assert site.service.ledger.size == site.service.reader.head().size == size
        assert "fairdeal_log_frozen 1" in site.service.metrics.text()
    said = [line for line in capsys.readouterr().err.splitlines() if "log.frozen" in line]
    assert len(said) == 1
    assert '"level":"CRITICAL"' in said[0]
    # Nor after another start.
    with pytest.raises(StartRefused) as caught:
        Service(settings)
    assert (f"has seen {size + 3}" if longer else "rewritten") in str(caught.value)
    assert ".seen" in str(caught.value)


def test_a_restore_of_everything_is_met_by_who_holds_a_newer_checkpoint(settings, tmp_path):
    """And once the log is whole again, the service starts and forgets."""
    initialise(settings)
    with Site(settings) as site:
        key = site.key()
        grown(site, key)
    old = shutil.copytree(tmp_path, tmp_path.with_name(tmp_path.name + "-old"))
    with Site(settings) as site:
        held = grown(site, key, 2)
    newest = shutil.copytree(tmp_path, tmp_path.with_name(tmp_path.name + "-new"))

    def put_back(copy):
        shutil.rmtree(settings.data)
        shutil.copytree(copy / "data", settings.data)
        shutil.copy(copy / "data.anchor", settings.anchor_path)

    put_back(old)
    with Site(settings) as site:  # nothing on this machine can tell
        present(site.client, held, 503, "log_frozen")
    with pytest.raises(StartRefused, match="rolled back"):
        Service(settings)
    put_back(newest)
    with Site(settings) as site:
        assert present(site.client, held)["size"] == site.service.ledger.size
        grown(site, key)
    assert not settings.anchor_path.with_name("data.anchor.seen").exists()


def test_what_is_under_way_is_not_acknowledged(site):
    """A batch that commits while the log is frozen ends without a word of success."""
    key = site.key()
    ledger, writer = site.service.ledger, site.service.ledger._writer
    commit = writer.commit

    def slow(*args):
        commit(*args)
        ledger._loop.call_soon_threadsafe(site.service.freeze, "a note\n", 99)

    writer.commit = slow
    body = {"game": "kozel", "custody": "operator"}
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k"}
    expect(site.client.post("/v1/tables", json=body, headers=headers), 503, "log_frozen")


def test_it_freezes_also_where_nothing_can_be_kept(site, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairdeal_api.anchor.replace_file", full)
    key = site.service.signing_key
    present(site.client, Checkpoint(key.name, 9, b"?" * 32).sign(key), 503, "log_frozen")
    assert site.service.frozen


def test_a_kept_checkpoint_that_is_none_stops_the_start(settings):
    initialise(settings)
    seen = settings.anchor_path.with_name("data.anchor.seen")
    seen.write_text("nothing\n")
    with pytest.raises(StartRefused, match="no checkpoint of this log"):
        Service(settings)
    seen.unlink()
    with Site(settings):
        pass
