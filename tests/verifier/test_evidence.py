"""What players bring along: keys, receipts, notes, signatures."""

import json

import pytest

from fairdeal_verifier.report import Style, to_text
from fairdeal_verifier.verify import verify
from fairdeal_verifier.words import LANGUAGES, words_of
from tests.verifier import builder as B  # noqa: N812


def note(report, check_id):
    return next(str(c.note) for c in report if c.id == check_id)


# The sibling: a service that shows two histories, one to the seats and another to the log.


def siblings(**options):
    """Two hands that differ in nothing but a time, from the sealed head on."""

    def later(body):
        if body["type"] == "seeds.sealed":
            body["at"] = B.stamp(b.now + 1)

    a = B.kozel(**options)
    b = B.Builder.__new__(B.Builder)
    b.__init__("kozel", forge=later, **options)
    b.start()
    b.close()
    a2 = B.Builder("kozel", **options).start().close()
    return a, a2, b


def test_a_sibling_has_the_same_deck():
    _, a, b = siblings()
    assert a.orders == b.orders
    assert a.sealed_head != b.sealed_head


def test_a_receipt_for_the_sealed_head_passes():
    _, a, _ = siblings()
    report = verify(a.file(), key=B.VKEY, receipts=[a.receipt(a.sealed_head)])
    assert report.exit == 0
    assert report.status("receipt") == "PASS"


def test_a_receipt_for_the_other_sealed_head_fails():
    _, a, b = siblings()
    report = verify(b.file(), key=B.VKEY, receipts=[a.receipt(a.sealed_head).encode()])
    assert report.failed == "receipt"
    assert report.exit == 1


def test_a_seat_with_a_key_exposes_a_sibling():
    # The seat signed the head that it was shown; its signature does not fit the sibling's.
    _, a, _ = siblings(keys=(2,))
    opened = next(body for body in a.bodies if body["type"] == "seeds.opened")

    def forge(body):
        if body["type"] == "seeds.sealed":
            body["at"] = B.stamp(b.now + 1)
        if body["type"] == "seeds.opened":
            body["sigs"] = opened["sigs"]

    b = B.Builder("kozel", keys=(2,), forge=forge)
    b.start().close()
    report = verify(b.file(), key=B.VKEY)
    assert report.failed == "seat.signature.2"


def test_two_logs_of_one_size_fail():
    a = B.azi()
    entries = a.entries()
    entries[0] = b"another entry"
    other = B.receipt(entries, len(a.before))
    report = verify(a.file(), key=B.VKEY, receipts=[other])
    assert report.failed == "receipt"
    assert "evidence" in note(report, "receipt")


def test_receipts_for_other_events_do_not_cover_the_sealed_head():
    a = B.azi()
    receipts = [a.receipt(B.sha(raw)) for raw in a.raw if B.sha(raw) != a.sealed_head]
    report = verify(a.file(), key=B.VKEY, receipts=receipts)
    assert report.exit == 0
    assert report.status("receipt") == "N/A"
    assert "not shown" in note(report, "receipt")


def test_a_receipt_with_witnesses_is_fine():
    a = B.azi()
    receipt = a.receipt(a.sealed_head) + "— witness.example " + B.b64(bytes(76)) + "\n"
    report = verify(a.file(), key=B.VKEY, receipts=[receipt])
    assert report.status("receipt") == "PASS"


def test_a_receipt_with_a_bad_signature_beside_a_good_one_fails():
    a = B.azi()
    receipt = a.receipt(a.sealed_head)
    line = receipt.split("\n")[-2]
    name, data = line[2:].split(" ")
    raw = bytearray(B.base64.b64decode(data))
    raw[-1] ^= 1
    report = verify(a.file(), key=B.VKEY, receipts=[f"{receipt}— {name} {B.b64(raw)}\n"])
    assert report.failed == "receipt"


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.replace("@v1", "@v2"),
        lambda r: r.replace("index ", "index +"),
        lambda r: r.replace("index ", "extra AA==\nindex "),
        lambda r: r.replace("\n", "\r\n"),
        lambda r: r + "\n",
        lambda r: r[:-1],
        lambda r: r.replace("— ", "- "),
        lambda r: "",
        lambda r: "\n" * 100_000,
        lambda r: r * 2,
        lambda r: "\udcff" + r,
    ],
)
def test_a_receipt_of_another_form_fails(change):
    a = B.azi()
    report = verify(a.file(), key=B.VKEY, receipts=[change(a.receipt(a.sealed_head))])
    assert report.failed == "receipt"


def test_more_receipts_than_can_be_kept_fail_at_once():
    a = B.azi()
    report = verify(a.file(), key=B.VKEY, receipts=[a.receipt()] * 300)
    assert report.failed == "receipt"


# Seats with keys.


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (B.azi, "seeds.sealed"),
        (B.azi, "seeds.opened"),
        (B.svoi, "trumps.declared"),
        (B.mus, "cards.discarded"),
    ],
)
@pytest.mark.parametrize(
    "change",
    [
        lambda sigs: sigs.pop("0"),
        lambda sigs: sigs.update({"0": "00" * 64}),
        lambda sigs: sigs.update({"0": sigs["0"][:-2] + "0f"}),
    ],
)
def test_a_signature_that_is_missing_or_bad(play, kind, change):
    def forge(body):
        if body["type"] == kind and "0" in body["sigs"]:
            change(body["sigs"])

    report = verify(play(keys=(0,), forge=forge).file(), key=B.VKEY)
    assert report.failed == "seat.signature.0"


def test_a_signature_of_a_seat_without_a_key():
    def forge(body):
        if body["type"] == "seeds.sealed":
            body["sigs"]["1"] = "00" * 64

    report = verify(B.azi(keys=(0,), forge=forge).file(), key=B.VKEY)
    assert report.failed == "seat.signature.1"
    report = verify(B.azi(forge=forge).file(), key=B.VKEY)
    assert report.failed == "seat.signature.1"


def test_a_signature_of_a_seat_that_did_nothing():
    b = B.Builder("azi", keys=(0, 1)).open().seal([0])

    def forge(body):
        body["sigs"]["0"] = b.bodies[-1]["sigs"]["0"]

    b.forge = forge
    b.seal([1])
    b.forge = lambda body: None
    report = verify(b.seal([2]).open_seeds().deal().close().file(), key=B.VKEY)
    assert report.failed == "seat.signature.0"


def test_a_signature_does_not_fit_another_hand():
    first = B.Builder("azi", keys=(0,)).open().seal()

    def forge(body):
        if body["type"] == "seeds.sealed":
            body["sigs"] = first.bodies[-1]["sigs"]

    b = B.Builder("azi", keys=(0,), hand=2, first=0, forge=forge).start().close()
    assert verify(b.file(), key=B.VKEY).failed == "seat.signature.0"


# Own seeds and notes.


def notes(b: B.Builder, owner: int = 0, **more) -> bytes:
    value = {
        "format": "fairdeal-notes/1",
        "log_key": B.VKEY,
        "table": B.TABLE,
        "hand": b.hand,
        "seat": owner,
        "seeds": [b.chains[owner][e].hex() for e in range(b.epoch + 1)],
        "receipts": [{"digest": b.sealed_head.hex(), "proof": b.receipt(b.sealed_head)}],
        "cards": [
            {"at": B.stamp(b.now), "card": b.orders[e][p], "epoch": e, "position": p}
            for e, p in b.hold[owner]
        ],
    }
    return json.dumps(value | more, indent=2).encode()


def test_notes_bring_everything():
    b = B.mus()
    for seat in range(4):
        report = verify(b.file(), notes=notes(b, seat))
        assert report.verdict == "VERIFIED"
        assert report.status("mine") == "PASS"
        assert report.status("receipt") == "PASS"
        assert report.status("log.signature") == "PASS"


def test_own_seeds():
    b = B.mus()
    report = verify(
        b.file(), key=B.VKEY, mine={1: b.chains[1][0].hex(), 2: [x.hex() for x in b.chains[2][:2]]}
    )
    assert report.status("mine") == "PASS"
    report = verify(b.file(), key=B.VKEY, mine={1: b.chains[1][1].hex()})
    assert report.failed == "mine"
    report = verify(b.file(), key=B.VKEY, mine={2: [x.hex() for x in b.chains[2][:3]]})
    assert report.status("mine") == "SKIP"
    assert report.exit == 3
    report = verify(b.file(), key=B.VKEY, mine={9: "00" * 32})
    assert report.failed == "mine"


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"cards": []},
        {"seeds": []},
        {"cards": [], "receipts": [], "seeds": []},
    ],
    ids=["all", "seeds", "cards", "nothing"],
)
def test_notes_of_a_seat_that_the_table_does_not_have(kept):
    report = verify(B.svoi().file(), notes=notes(B.svoi(), 1, **kept))
    assert report.status("mine") == ("N/A" if "receipts" in kept else "PASS")
    report = verify(B.svoi().file(), notes=notes(B.svoi(), 1, seat=2, **kept))
    assert report.failed == "mine"


def test_cards_noted_at_a_table_whose_terms_are_those_of_no_game():
    b = B.azi(forge=lambda body: body.get("ruleset", {}).update(blind=2))
    report = verify(b.file(), notes=notes(b))
    assert (report.failed, report.status("mine")) == ("terms", "SKIP")


def test_cards_noted_say_nothing_about_seeds_that_are_not_good():
    b = B.mus()
    b.shown = []
    data = b.file(lambda v: v["disclosed"].update(server_seed="00" * 32))
    report = verify(data, notes=notes(b))
    assert report.failed == "server.commitment"
    # Position 0 of epoch 0 was thrown, so no event states what lay there.
    place = next(one for one in b.discards[0][0])
    noted = [{"at": "", "card": b.orders[0][place[1]], "epoch": 0, "position": place[1]}]
    assert verify(data, notes=notes(b, cards=noted)).status("mine") == "SKIP"
    assert verify(b.file(), notes=notes(b, cards=noted)).status("mine") == "PASS"


def test_notes_that_do_not_fit():
    b = B.mus()
    for change in (
        {"seeds": ["00" * 32]},
        {"hand": 2},
        {"table": "tbl_" + "0" * 26},
        {"seat": 1},
        {"cards": [{"at": "", "card": "1o", "epoch": 1, "position": 200}]},
        {"cards": [{"at": "", "card": b.orders[0][1], "epoch": 0, "position": 0}]},
    ):
        assert verify(b.file(), notes=notes(b, 0, **change)).failed == "mine", change
    other = next(p for p in b.hold[1])
    card = {"at": "", "card": b.orders[other[0]][other[1]], "epoch": other[0], "position": other[1]}
    assert verify(b.file(), notes=notes(b, 0, cards=[card])).failed == "mine"


def test_notes_of_another_hand_are_told_by_the_check_that_fails():
    """Their receipts fail first (VER-2), and that is no evidence against anybody."""
    b, other = B.mus(), B.azi()
    said = f"the notes are of hand 1 of tbl_{26 * '0'}, and the file is of hand 1 of {B.TABLE}"
    mixed = json.loads(notes(other, table="tbl_" + 26 * "0"))
    report = verify(b.file(), notes=json.dumps(mixed).encode())
    found = {check.id: str(check.note) for check in report if check.status == "FAIL"}
    assert report.failed == "receipt"
    assert found == {"receipt": f"receipt 1 fits no step of this file: {said}", "mine": said}
    # It is for the player, so it is in the player's language, each time that it is said.
    for language in LANGUAGES:
        told = words_of(language).messages["note.other_hand"]
        told = told.format(noted=1, noted_at=mixed["table"], hand=1, table=B.TABLE)
        shown = to_text(report, Style(language=language))
        assert shown.count(told) == 3
        assert language == "en" or said not in shown
    # The control: a receipt that the notes of this hand have, or that was given beside the notes,
    # fits nothing, and is evidence.
    stranger = json.loads(notes(other))["receipts"]
    for given in (
        {"notes": notes(b, receipts=stranger)},
        {
            "notes": json.dumps(mixed | {"receipts": []}).encode(),
            "receipts": [stranger[0]["proof"]],
        },
    ):
        report = verify(b.file(), **given)
        assert report.failed == "receipt"
        note = next(check.note for check in report if check.id == "receipt")
        assert note == "receipt 1 fits no step of this file: keep both, they are evidence"


def test_notes_of_another_hand_hide_no_evidence():
    """A log that shows two states is told, though the receipt before it is only mixed up."""
    b, other = B.mus(), B.azi()
    mixed = json.loads(notes(other, table="tbl_" + 26 * "0"))
    size = len(b.entries())
    forked = B.receipt([bytes([i]) for i in range(size)], 0)
    mixed["receipts"].append({"digest": 64 * "0", "proof": forked})
    report = verify(b.file(), notes=json.dumps(mixed).encode())
    assert (
        note(report, "receipt")
        == "receipt 2 shows another log of one size: keep it, it is evidence"
    )
    # The control: one more entry, and nothing shows that it is another log.
    mixed["receipts"][1]["proof"] = B.receipt([bytes([i]) for i in range(size + 1)], 0)
    report = verify(b.file(), notes=json.dumps(mixed).encode())
    assert note(report, "receipt").startswith(
        "receipt 1 fits no step of this file: the notes are of"
    )


def test_a_noted_receipt_is_for_the_event_noted_with_it():
    b = B.mus()
    wrong = [{"digest": b.head.hex(), "proof": b.receipt(b.sealed_head)}]
    assert verify(b.file(), notes=notes(b, receipts=wrong)).failed == "receipt"


def test_cards_noted_before_disclosure():
    b = B.mus(disclosure="table")
    b.disclosed = False
    report = verify(b.file(), notes=notes(b))
    assert report.status("mine") == "PASS"  # all were shown at the end
    b = B.Builder("mus", disclosure="table").start().close()
    b.disclosed = False
    report = verify(b.file(), notes=notes(b))
    assert report.status("mine") == "SKIP"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"format":"fairdeal-notes/1","format":"fairdeal-notes/1"}',
        b'{"format":"fairdeal-notes/1","hand":NaN}',
        b'{"format":"fairdeal-notes/1","hand":' + b"1" * 10_000 + b"}",
        b'{"format":"fairdeal-notes/2"}',
        b" " * (5 * 1024 * 1024 + 1),
    ],
)
def test_notes_that_cannot_be_read(data):
    with pytest.raises(ValueError, match="notes"):
        verify(b"{}", notes=data)


@pytest.mark.parametrize(
    "change",
    [
        {"hand": "1"},
        {"seat": 10},
        {"seeds": ["AB" * 32]},
        {"seeds": None},
        {"receipts": [{}]},
        {"cards": [{"at": "", "card": "1x", "epoch": 0, "position": 0}]},
        {"log_key": "x"},
        {"table": "x"},
        {"more": 1},
    ],
)
def test_notes_of_another_form(change):
    with pytest.raises(ValueError, match=r"."):
        verify(b"{}", notes=notes(B.mus(), **change))


@pytest.mark.parametrize(
    "key",
    [
        "",
        "x",
        "a+b+c",
        B.VKEY + "=",
        B.VKEY.replace("deal", "de al"),
        B.VKEY.replace("+", "+0", 1),
        "other.example" + B.VKEY.removeprefix(B.ORIGIN),
        f"{B.ORIGIN}+00000000+{B.b64(bytes(33))}",
        B.VKEY.removeprefix(B.ORIGIN),
    ],
)
def test_keys_of_another_form(key):
    with pytest.raises(ValueError, match=r"."):
        verify(B.azi().file(), key=key)


@pytest.mark.parametrize("mine", [{0: "00"}, {10: "00" * 32}, {0: "AB" * 32}, {0: ["x"]}])
def test_seeds_of_another_form(mine):
    with pytest.raises(ValueError, match=r"."):
        verify(B.azi().file(), mine=mine)
