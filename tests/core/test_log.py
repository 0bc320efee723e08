"""The public log's formats: notes, checkpoints, receipts, tiles. Spec: LOG-1..5, LOG-8."""

import base64
import hashlib
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.ed25519 import verify_signature
from fairdeal.errors import FairdealError, FormatError, VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey, VerifierKey, open_note, unbase64
from fairdeal.log.proof import Receipt, Receipts
from fairdeal.log.tiles import (
    Tile,
    entry_bundle,
    hash_tile,
    parse_bundle,
    parse_path,
    tiles_of,
)
from fairdeal.merkle import Tree, leaf_hash, verify_consistency
from seeds.local import Book, named
from tests.core import naive

VECTORS = Path(__file__).parents[2] / "seeds"

# The example of the reference implementation of signed notes (Go, sumdb/note).
VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SECRET = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
SIGNATURE = (
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
)
NOTE = f"{TEXT}\n— PeterNeumann {SIGNATURE}\n"


def test_a_known_key_and_note():
    key = VerifierKey.parse(VKEY)
    assert (key.name, key.id.hex(), str(key)) == ("PeterNeumann", "c74f20a3", VKEY)
    assert SigningKey("PeterNeumann", SECRET).verifier == key
    assert SigningKey("PeterNeumann", SECRET).sign(TEXT) == NOTE
    assert open_note(NOTE, key) == TEXT


def test_a_key_id_is_the_specification_s():
    """LOG-3."""
    key = SigningKey("a.example/log", named("log")).verifier
    assert key.id == hashlib.sha256(b"a.example/log\n\x01" + key.key).digest()[:4]
    assert str(key).encode() == b"a.example/log+%s+%s" % (
        key.id.hex().encode(),
        base64.b64encode(b"\x01" + key.key),
    )
    assert VerifierKey.parse(str(key)) == key


def vkey(name: str, blob: bytes) -> str:
    """A vkey whose id fits whatever its parts are."""
    key_id = hashlib.sha256(name.encode() + b"\n" + blob).hexdigest()[:8]
    return f"{name}+{key_id}+{base64.b64encode(blob).decode()}"


KEY = VerifierKey.parse(VKEY).key
BAD_KEYS = [
    "",
    "PeterNeumann",
    VKEY.replace("c74f20a3", "c74f20a4"),
    VKEY.replace("c74f20a3", "C74F20A3"),
    VKEY.replace("c74f20a3", "c74f20a"),
    VKEY.replace("+c74f20a3", ""),
    VKEY.replace("Peter", "peter"),
    VKEY + "\n",
    VKEY + "=",
    VKEY[:-1],
    VKEY[:-1] + "X",
    vkey("PeterNeumann", b"\x02" + KEY),
    vkey("PeterNeumann", b"\x01" + KEY[:-1]),
    vkey("PeterNeumann", b"\x01" + KEY + b"\x00"),
    vkey("", b"\x01" + KEY),
    vkey("Peter Neumann", b"\x01" + KEY),
    vkey("Peter\nNeumann", b"\x01" + KEY),
    vkey("Pétér", b"\x01" + KEY),
    vkey("Peter\x7f", b"\x01" + KEY),
    "\ud800+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    "PeterNeumann+c74f20a3+\ud800",
]


@pytest.mark.parametrize("text", BAD_KEYS)
def test_other_keys_are_none(text, refused):
    with refused("log_key_malformed", "not_base64", kind=FormatError):
        VerifierKey.parse(text)


@given(st.binary(max_size=100))
def test_base64_is_canonical(data):
    """LOG-4: what does not come back when written again is refused."""
    text = base64.b64encode(data).decode()
    assert unbase64(text) == data
    last = text.rstrip("=")[-1:]
    for bad in (
        text + "=",
        text + "A",
        " " + text,
        text + "\n",
        text[:-1],
        text.replace("+", "-"),
        text.replace("A", "Á"),
        text.rstrip("=")[:-1] + chr(ord(last or "A") + 1) + text[len(text.rstrip("=")) :],
    ):
        try:
            again = unbase64(bad)
        except FormatError:
            continue
        assert base64.b64encode(again).decode() == bad


@pytest.mark.parametrize(
    ("bad", "good"),
    [("QR==", "QQ=="), ("QQ=", None), ("QQ", None), ("QQ==QQ==", None), ("=", None)],
)
def test_spare_bits_are_zero(bad, good, refused):
    assert good is None or unbase64(good)
    with refused("not_base64", kind=FormatError):
        unbase64(bad)


OTHER = SigningKey("Other", named("other"))
OTHER_LINE = OTHER.sign(TEXT).split("\n\n")[1]


@pytest.mark.parametrize(
    "note",
    [
        NOTE,
        NOTE + OTHER_LINE,
        f"{TEXT}\n{OTHER_LINE}— PeterNeumann {SIGNATURE}\n",
        NOTE + f"— PeterNeumann {SIGNATURE}\n",
        NOTE + "— Nobody AAAA\n",
        NOTE + "— PeterNeumann AAAAAAAA\n",
    ],
)
def test_lines_of_other_keys_are_left_alone(note, refused):
    key = VerifierKey.parse(VKEY)
    assert open_note(note, key) == TEXT
    if note != NOTE:
        with refused("signature_invalid", kind=VerificationError):
            open_note(note, key, lone=True)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n",
        "\n\n",
        TEXT,
        TEXT + "\n",
        NOTE[:-1],
        NOTE + "\n",
        NOTE + " ",
        NOTE.replace("— ", "- "),
        NOTE.replace("— ", "—  "),
        NOTE.replace("\n— ", "\n\n\n— ", 1) + "x",
        NOTE.replace(" x08", "  x08"),
        NOTE.replace("x08", "x0 8"),
        NOTE.replace("\n\n", "\n"),
        NOTE.replace("\n", "\r\n"),
        NOTE.replace("x08", "x_8"),
        NOTE.replace("nAM=", "nAN="),
        NOTE.replace("— Peter", "— Peter+"),
        "\ud800" + NOTE,
        NOTE + "\ud800",
    ],
)
def test_other_notes_are_none(note, refused):
    with refused(kind=FormatError):
        open_note(note, VerifierKey.parse(VKEY))


@pytest.mark.parametrize(
    "note",
    [
        NOTE.replace("answer", "Answer"),
        "\n" + NOTE,
        NOTE.replace("problem,\n", "problem,\n\n"),
        f"{TEXT}\n{OTHER_LINE}",
        NOTE.replace("x08go", "x08gp"),
        NOTE.replace("x08g", "x08h"),
        NOTE.replace("— PeterNeumann", "— Other"),
        f"{TEXT}\n— PeterNeumann x08gow==\n",
    ],
)
def test_notes_that_the_key_has_not_signed(note, refused):
    with refused("signature_invalid", kind=VerificationError):
        open_note(note, VerifierKey.parse(VKEY))


# Checkpoints


BOOK = Book()
for number in range(9):
    BOOK.append(b"entry %d" % number)
LOG = BOOK.key.verifier
ROOT64 = base64.b64encode(BOOK.tree.root()).decode()


def test_a_line_that_is_repeated_is_verified_once(monkeypatch):
    """A stranger can put a public line into a note as often as there is room."""
    looked = []
    monkeypatch.setattr(
        "fairdeal.log.note.verify_signature",
        lambda *signed: looked.append(signed) or verify_signature(*signed),
    )
    key = VerifierKey.parse(VKEY)
    text, _, line = NOTE.rpartition("\n\n")
    assert open_note(f"{text}\n\n{line * 500}", key) == TEXT
    assert len(looked) == 1
    assert open_note(NOTE, key) == TEXT  # control: it is counted
    assert len(looked) == 2


def test_a_checkpoint_is_three_lines():
    """LOG-2."""
    checkpoint = Checkpoint("vectors.example/log", 9, BOOK.tree.root())
    assert checkpoint.text() == f"vectors.example/log\n9\n{ROOT64}\n"
    assert Checkpoint.parse_text(checkpoint.text()) == checkpoint
    assert Checkpoint.open(checkpoint.sign(BOOK.key), LOG) == checkpoint
    assert Checkpoint.parse_text(f"a\n0\n{ROOT64}\n").size == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"a\n9\n{ROOT64}",
        f"a\n9\n{ROOT64}\n\n",
        f"a\n9\n{ROOT64}\nextension\n",
        f"\n9\n{ROOT64}\n",
        f"a b\n9\n{ROOT64}\n",
        f"a+b\n9\n{ROOT64}\n",
        f"é\n9\n{ROOT64}\n",
        f"a\n09\n{ROOT64}\n",
        f"a\n-9\n{ROOT64}\n",
        f"a\n+9\n{ROOT64}\n",
        f"a\n9.0\n{ROOT64}\n",
        f"a\n９\n{ROOT64}\n",
        f"a\n\n{ROOT64}\n",
        f"a\n{'9' * 5000}\n{ROOT64}\n",
        f"a\n9\n{ROOT64[:-1]}\n",
        f"a\n9\n{base64.b64encode(bytes(31)).decode()}\n",
        f"a\n9\n{base64.b64encode(bytes(33)).decode()}\n",
        f"a\r\n9\r\n{ROOT64}\r\n",
    ],
)
def test_other_texts_are_no_checkpoint(text, refused):
    with refused("checkpoint_malformed", "not_base64", kind=FormatError):
        Checkpoint.parse_text(text)


def test_a_log_signs_under_its_own_name(refused):
    """LOG-3: the line's name is the origin."""
    note = Checkpoint("other.example/log", 9, BOOK.tree.root()).sign(BOOK.key)
    with refused("checkpoint_malformed", kind=FormatError):
        Checkpoint.open(note, LOG)


# Receipts


@pytest.mark.parametrize("size", range(1, 10))
def test_receipts(size):
    for index in range(size):
        receipt = BOOK.receipt(index, size)
        assert Receipt.parse(receipt.text()) == receipt
        checkpoint = receipt.verify(BOOK.entries[index], LOG, lone=True)
        assert (checkpoint.size, checkpoint.root) == (size, naive.mth(BOOK.entries[:size]))
        path = "".join(
            base64.b64encode(node).decode() + "\n"
            for node in naive.path(index, BOOK.entries[:size])
        )
        assert receipt.text() == f"c2sp.org/tlog-proof@v1\nindex {index}\n{path}\n{receipt.note}"


@given(data=st.data())
def test_receipts_of_one_checkpoint_are_those_made_one_by_one(data):
    """Of neighbours, as a batch has them, and in any order."""
    tree = Tree(leaf_hash(b"%d" % n) for n in range(300))
    size = data.draw(st.integers(1, 300))
    receipts = Receipts(tree, size, "nöte\n")
    run = data.draw(st.lists(st.integers(0, size - 1), min_size=1))
    for index in [*sorted(run), *run]:
        path = tuple(tree.inclusion_path(index, size))
        assert receipts.encode(index).decode() == Receipt(index, path, "nöte\n").text()


RECEIPT = BOOK.receipt(4).text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        RECEIPT.replace("@v1", "@v2"),
        " " + RECEIPT,
        RECEIPT.replace("index 4", "index 04"),
        RECEIPT.replace("index 4", "index -4"),
        RECEIPT.replace("index 4", "index  4"),
        RECEIPT.replace("index 4", "index ４"),
        RECEIPT.replace("index 4", "index " + "4" * 5000),
        RECEIPT.replace("index 4", "extra AAAA\nindex 4"),
        RECEIPT.replace("index 4\n", "extra AAAA\n"),
        RECEIPT.replace("index 4\n", "index 4\nextra AAAA\n"),
        RECEIPT.replace("index 4\n", "index 4\nAAAA\n"),
        RECEIPT.replace("index 4\n", "index 4\n" + "A" * 43 + "B\n"),
        RECEIPT.replace("index 4\n", "index 4\n" + (ROOT64 + "\n") * 64),
        RECEIPT.replace("index 4\n", "index 4\r\n"),
        RECEIPT[: RECEIPT.index("\n\n") + 2],
        RECEIPT[: RECEIPT.index("\n\n") + 1],
    ],
)
def test_other_texts_are_no_receipt(text, refused):
    assert text != RECEIPT
    with refused("receipt_malformed", "not_base64", kind=FormatError):
        Receipt.parse(text)


def verdict(text: str) -> bool:
    try:
        Receipt.parse(text).verify(BOOK.entries[4], LOG, lone=True)
    except FairdealError:
        return False
    return True


def test_no_changed_byte_of_a_receipt_goes_unseen():
    assert verdict(RECEIPT)
    for i, char in enumerate(RECEIPT):
        for other in "Aa1 \n+—é\ud800":
            if other != char:
                assert not verdict(RECEIPT[:i] + other + RECEIPT[i + 1 :])
        assert not verdict(RECEIPT[:i] + RECEIPT[i + 1 :])
        assert not verdict(RECEIPT[:i] + char + RECEIPT[i:])


def test_a_receipt_is_of_its_entry(refused):
    receipt = BOOK.receipt(4)
    for entry in (BOOK.entries[5], b"", BOOK.entries[4] + b"\n", leaf_hash(BOOK.entries[4])):
        with refused("path_invalid", kind=VerificationError):
            receipt.verify(entry, LOG)
    with refused("signature_invalid", kind=VerificationError):
        receipt.verify(BOOK.entries[4], OTHER.verifier)


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text):
    assert not verdict(text)
    assert not verdict(RECEIPT[: RECEIPT.index("\n\n") + 2] + text)
    assert not verdict(RECEIPT[: RECEIPT.index("4\n") + 2] + text)
    for read in (VerifierKey.parse, unbase64, parse_path, Checkpoint.parse_text):
        try:
            read(text)
        except FormatError:
            continue
        assert read is unbase64


# Tiles


TILES = {
    Tile(0, 0): "tile/0/000",
    Tile(0, 1): "tile/0/001",
    Tile(0, 999): "tile/0/999",
    Tile(0, 1000): "tile/0/x001/000",
    Tile(0, 1_234_067): "tile/0/x001/x234/067",
    Tile(1, 5, 17): "tile/1/005.p/17",
    Tile(0, 1_234_067, 255): "tile/0/x001/x234/067.p/255",
    Tile(63, 0, 1): "tile/63/000.p/1",
    Tile(-1, 0): "tile/entries/000",
    Tile(-1, 1_234_067, 1): "tile/entries/x001/x234/067.p/1",
}


@pytest.mark.parametrize(("tile", "path"), TILES.items(), ids=TILES.values())
def test_a_tile_has_one_path(tile, path):
    assert tile.path == path
    assert parse_path(path) == tile
    assert tile.is_partial == (".p/" in path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "tile",
        "tile/0",
        "tile/0/",
        "/tile/0/000",
        "tile/0/000/",
        "tile/0/00",
        "tile/0/0000",
        "tile/0/0",
        "tile/00/000",
        "tile/64/000",
        "tile/-1/000",
        "tile/a/000",
        "tile/Entries/000",
        "tile/0/x000/000",
        "tile/0/x000/x001/000",
        "tile/0/001/000",
        "tile/0/x001/x000",
        "tile/0/X001/000",
        "tile/0/000.p/0",
        "tile/0/000.p/00",
        "tile/0/000.p/01",
        "tile/0/000.p/256",
        "tile/0/000.p/999",
        "tile/0/000.p/",
        "tile/0/000.p",
        "tile/0/000.p/1/",
        "tile/0/０００",
        "tile/0/000\n",
        "tile/0/../0/000",
        "tile/0/" + "x001/" * 1500 + "000",
    ],
)
def test_other_paths_name_no_tile(path, refused):
    with refused("tile_unknown", kind=FormatError):
        parse_path(path)


@given(st.integers(-1, 63), st.integers(0, 10**12), st.integers(1, 256))
def test_every_tile_has_its_path(level, index, width):
    tile = Tile(level, index, width)
    assert parse_path(tile.path) == tile


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 66_000])
def test_the_tiles_of_a_log(size):
    """Of each level: full tiles first, then the partial one, and no other tile exists."""
    tiles = list(tiles_of(size))
    assert len(set(tiles)) == len(tiles)
    for level in (-1, 0, 1, 2):
        count = size >> 8 * max(level, 0)
        widths = [tile.width for tile in tiles if tile.level == level]
        assert widths == [256] * (count // 256) + [count % 256] * (count % 256 > 0)
    for tile in tiles:
        assert tile.exists(size)
        assert not tile.exists(max(size - 1, 0) if tile.is_partial and tile.level < 1 else 0)
        assert not tile._replace(number=tile.number + 1).exists(size) or not tile.is_partial
        assert parse_path(tile.path) == tile


def test_hashes_of_the_tiles():
    """A tile of level L holds the roots of 256^L leaves each."""
    entries = [b"%d" % n for n in range(66_000)]
    tree = Tree(map(leaf_hash, entries))
    assert hash_tile(tree, Tile(0, 0, 3)) == b"".join(map(leaf_hash, entries[:3]))
    assert hash_tile(tree, Tile(0, 257, 208)) == b"".join(map(leaf_hash, entries[257 * 256 :]))
    second = hash_tile(tree, Tile(1, 0))
    assert second[32 * 7 : 32 * 8] == naive.mth(entries[7 * 256 : 8 * 256])
    assert (
        hash_tile(tree, Tile(2, 0, 1))
        == Tree(second[32 * i : 32 * i + 32] for i in range(256)).root()
    )
    for tile in tiles_of(len(entries)):
        assert tile.level < 0 or len(hash_tile(tree, tile)) == 32 * tile.width


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_bundles(entries):
    bundle = entry_bundle(entries)
    assert parse_bundle(bundle) == entries
    assert bundle == b"".join(bytes(divmod(len(e), 256)) + e for e in entries)
    for end in range(len(bundle)):
        with suppress(FormatError):
            assert entry_bundle(parse_bundle(bundle[:end])) == bundle[:end]


@pytest.mark.parametrize("data", [b"\x00", b"\x00\x01", b"\x00\x02a", b"\x00\x00\x00", b"\xff\xff"])
def test_a_cut_bundle_is_none(data, refused):
    with refused("bundle_malformed", kind=FormatError):
        parse_bundle(data)


def test_an_entry_is_up_to_65535_bytes():
    assert parse_bundle(entry_bundle([bytes(65_535), b"a"])) == [bytes(65_535), b"a"]


def test_the_published_vectors():
    published = json.loads((VECTORS / "log.json").read_text("utf-8"))
    key = VerifierKey.parse(published["vkey"])
    assert (VECTORS / "log.vkey").read_text("utf-8").strip() == str(key)
    entries = [entry.encode() for entry in published["entries"]]
    for row in published["receipts"]:
        checkpoint = Receipt.parse(row["receipt"]).verify(entries[row["index"]], key, lone=True)
        assert checkpoint.size == row["size"]
    roots = [bytes.fromhex(root) for root in published["roots"]]
    assert roots == [naive.mth(entries[:size]) for size in range(10)]
    for row in published["consistency"]:
        old, size, path = row["old"], row["size"], [bytes.fromhex(node) for node in row["path"]]
        verify_consistency(old, roots[old], size, roots[size], path)
        assert path == naive.proof(old, entries[:size])
    for row in published["tiles"]:
        tile = Tile(row["level"], row["index"], row["width"])
        assert parse_path(row["path"]) == tile
