"""The log as its readers see it: checkpoint, tiles, entries, receipts, all from one root."""

from __future__ import annotations

import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import parse_bundle, tiles_of
from fairdeal.merkle import Tree, leaf_hash
from tests.api.play import Operator, expect


@pytest.fixture(scope="module")
def played(shared):
    key = shared.key()
    for _ in range(3):
        table = Operator(shared.client, key, "mus")
        for _ in range(16):
            table.open()
            table.deal()
            table.close()
    return shared


def checkpoint_of(site):
    keys = expect(site.client.get("/v1/keys"))
    key = VerifierKey.parse(keys["keys"][0]["vkey"])
    assert keys["origin"] == key.name == "deal.example/log/test"
    return Checkpoint.open(site.client.get("/log/checkpoint").text, key), key


def test_tiles_and_entries_give_the_root(played):
    """Spec: LOG-1, LOG-8."""
    checkpoint, _ = checkpoint_of(played)
    assert checkpoint.size > 256
    entries, hashes = [], {}
    for tile in tiles_of(checkpoint.size):
        response = played.client.get(f"/log/{tile.path}")
        assert response.status_code == 200, tile.path
        if tile.level < 0:
            entries += parse_bundle(response.content)
        else:
            hashes.setdefault(tile.level, b"")
            hashes[tile.level] += response.content
    tree = Tree(leaf_hash(entry) for entry in entries)
    assert len(tree) == checkpoint.size
    assert tree.root() == checkpoint.root
    assert hashes[0] == b"".join(tree.levels[0])
    assert hashes[1] == b"".join(tree.levels[8][: checkpoint.size >> 8])


def test_every_entry_has_a_receipt(played):
    checkpoint, key = checkpoint_of(played)
    for index in range(0, checkpoint.size, 37):
        receipt = Receipt.parse(played.client.get(f"/v1/receipts/{index}").text)
        assert receipt.index == index
        entry = played.service.reader.entries(index, index + 1)[0]
        assert receipt.verify(entry, key).size == checkpoint.size
    expect(played.client.get(f"/v1/receipts/{checkpoint.size}"), 404, "entry_unknown")


def test_finished_hands_are_listed_oldest_first(played):
    seen, after = [], None
    while True:
        url = "/v1/hands?limit=20" + (f"&after={after}" if after is not None else "")
        page = expect(played.client.get(url))
        seen += page["hands"]
        if not page["has_more"]:
            break
        after = page["next"]
    assert len(seen) == 48
    assert [item["index"] for item in seen] == sorted(item["index"] for item in seen)
    assert {item["state"] for item in seen} == {"closed"}


def test_what_is_not_released_is_not_shown(site):
    """LOG-6: the tree has an entry more while a batch is being written."""
    Operator(site.client, site.key(), "mus")
    ledger = site.service.ledger
    size = ledger.size
    for extra in (0, 1):
        if extra:
            ledger._tree.append(bytes(32))
        assert site.client.get(f"/log/tile/0/000.p/{size}").status_code == 200  # the control
        assert site.client.get(f"/log/tile/0/000.p/{size + 1}").status_code == 404
        assert ledger.receipt(size - 1) is not None
        assert ledger.receipt(size) is None


def test_tiles_that_are_not_there(played):
    for path in ("tile/0/000.p/0", "tile/0/000.p/256", "tile/0/x000/000", "tile/2/000", "tile/0/"):
        expect(played.client.get(f"/log/{path}"), 404, "entry_unknown")


def test_games_say_what_they_are(played):
    games = expect(played.client.get("/v1/games"))["games"]
    assert {game["game"]: len(game["deck"]) for game in games} == {
        "kozel": 36,
        "mus": 40,
        "azi": 27,
        "svoi": 36,
    }
    mus = expect(played.client.get("/v1/games/mus"))
    assert mus["options"]["reshuffle"][0] == "all"
    assert mus["card_names"]["es"]["12o"] == "rey de oros"
    assert set(mus["card_names"]) == {"en", "es", "ru", "zu", "ta"}


def test_health_and_version(played):
    for path in ("/healthz", "/readyz"):
        assert expect(played.client.get(path)) == {"status": "ok"}
    assert expect(played.client.get("/version"))["protocol"] == "fairdeal/1"
    assert "wrong_phase" in played.client.get("/docs").text
    assert "log_size " in played.service.metrics.text()
