"""A log whose key has changed, and players who trust an older or a newer one.

Spec: VER-8, LOG-26, LOG-27, LOG-32
"""

import json
from collections.abc import Callable
from functools import cache

import pytest

from fairdeal_verifier import command, rotation
from fairdeal_verifier.encoding import UnreadableError
from fairdeal_verifier.match import verify_match
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Keys, read_rotations
from fairdeal_verifier.verify import verify
from fairdeal_verifier.words import LANGUAGES, words_of
from tests.verifier import builder as B  # noqa: N812

KEYS = ("log", "log two", "log three")
ENDS = (40, 60)
Change = Callable[[dict], None]


def same(_value: dict) -> None:
    """Nothing is changed."""


def event(old: str, new: str, size: int, change: Change = same, sign: Change = same) -> str:
    """The event, as both keys sign it."""
    body = {
        "v": "fairdeal/1",
        "type": "log.rotated",
        "at": B.stamp(B.BASE_TIME),
        "origin": B.ORIGIN,
        "old_key": B.vkey(old),
        "new_key": B.vkey(new),
        "size": size,
        "root": "ab" * 32,
    }
    change(body)
    data = B.msg("rotate", B.canonical(body).encode())
    body["sigs"] = {
        "old": B.private_key(old).sign(data).hex(),
        "new": B.private_key(new).sign(data).hex(),
    }
    sign(body)
    return B.canonical(body)


def member(entry: str, size: int, new: str, later: int = 2) -> dict:
    """The entry with its receipt, in a tree of fillers."""
    entries = [*[b"entry %d" % i for i in range(size)], entry.encode()]
    entries += [b"entry %d" % (size + i) for i in range(1, later)]
    return {"entry": entry, "receipt": B.receipt(entries, size, signer=new)}


@cache
def _members() -> str:
    pairs = zip(KEYS, KEYS[1:], ENDS, strict=False)
    return json.dumps([member(event(old, new, n), n, new) for old, new, n in pairs])


def members() -> list[dict]:
    return json.loads(_members())


def served(rotations: list, **more) -> bytes:
    return json.dumps({"format": "fairdeal-rotations/1", "rotations": rotations} | more).encode()


def hand(signer: str, size: int, **options) -> B.Builder:
    """A hand of a table that names this key, whose proof is of this size."""

    def forge(body):
        if body["type"] == "table.opened":
            body["log_key"] = B.vkey(signer)

    built = B.Builder("kozel", forge=forge, **options).open().abort("operator", [])
    built.before = [b"entry %d" % i for i in range(size - len(built.raw) - 1)]
    assert len(built.entries()) == size
    return built


def file(signer: str, size: int, by: str | None = None) -> bytes:
    built = hand(signer, size)
    proof = built.receipt(signer=by or signer)
    return built.file(lambda value: value.update(proof=proof))


def outcome(data: bytes, trusted: str | None, rotations: bytes | None = None, **more):
    key = B.vkey(trusted) if trusted else None
    report = verify(data, key=key, rotations=rotations, **more)
    return report.exit, report.failed


# --- one hand -----------------------------------------------------------------------------------

AT = {"log": (10, 40), "log two": (41, 60), "log three": (61, 90)}
"""Sizes of which each key is in force."""


@pytest.mark.parametrize("trusted", KEYS)
@pytest.mark.parametrize("own", KEYS)
def test_any_key_of_the_log_stands_for_all(trusted, own):
    for size in AT[own]:
        assert outcome(file(own, size), trusted, served(members())) == (0, None)
        # The control: without the rotations it is a key that nobody trusts.
        expected = (0, None) if own == trusted else (1, "log.signature")
        assert outcome(file(own, size), trusted) == expected


@pytest.mark.parametrize(("own", "size"), [("log", 41), ("log two", 40), ("log two", 61)])
def test_a_key_that_is_not_in_force_at_that_size_signs_nothing(own, size):
    for trusted in KEYS:
        assert outcome(file(own, size), trusted, served(members())) == (1, "log.signature")
    # The control: nobody who knows of no rotation could tell.
    assert outcome(file(own, size), own) == (0, None)


def test_the_key_in_force_signs_for_no_table_that_names_another():
    assert outcome(file("log", 41, by="log two"), "log", served(members())) == (1, "log.signature")


def test_rotations_that_do_not_have_the_key_change_nothing():
    assert outcome(file("other", 30), "other", served(members())) == (0, None)
    assert outcome(file("log", 50), "log", served(members()[1:])) == (0, None)
    assert outcome(file("log two", 50), "log", served(members()[1:])) == (1, "log.signature")
    assert outcome(file("other", 30), "log", served(members())) == (1, "log.signature")
    # Nor if no key is trusted: the file is checked by the key that it names.
    assert outcome(file("log", 50), None, served(members()))[0] == 3


def test_receipts_count_if_the_key_in_force_has_signed_them():
    built = hand("log", 30)

    def at(size, signer):
        entries = [*built.before, *built.raw]
        entries += [b"more %d" % i for i in range(size - len(entries))]
        return B.receipt(entries, len(built.before), signer=signer)

    good, late = at(50, "log two"), at(50, "log")
    rotations = served(members())
    assert outcome(built.file(), "log", rotations, receipts=[good]) == (0, None)
    assert outcome(built.file(), "log", rotations, receipts=[late]) == (1, "receipt")
    # The control: without the rotations it is the other way round.
    assert outcome(built.file(), "log", receipts=[good]) == (1, "receipt")
    assert outcome(built.file(), "log", receipts=[late]) == (0, None)


def test_a_log_that_was_never_rotated_serves_an_empty_list():
    assert outcome(file("log", 30), "log", served([])) == (0, None)


def test_members_that_nobody_knows_are_ignored():
    more = members()
    more[0]["note"] = "x"
    assert outcome(file("log two", 50), "log", served(more, keys=[1])) == (0, None)


# --- which lead nowhere -------------------------------------------------------------------------


def changed(change: Change, sign: Change = same, old: str = "log", new: str = "log two") -> list:
    """The first rotation, told otherwise."""
    entry = event(old, new, ENDS[0], change, sign)
    return [member(entry, ENDS[0], new), *members()[1:]]


def unsigned(name: str) -> Change:
    """Signed by one key only: the other's signature is over something else."""
    other = json.loads(event("log", "log two", ENDS[0] + 1))["sigs"]
    return lambda body: body["sigs"].update({name: other[name]})


def exchanged(body: dict) -> None:
    body["sigs"] = {"old": body["sigs"]["new"], "new": body["sigs"]["old"]}


LEAD_NOWHERE = {
    "the old key has not signed": changed(same, unsigned("old")),
    "the new key has not signed": changed(same, unsigned("new")),
    "the signatures are exchanged": changed(same, exchanged),
    "a signature is missing": changed(same, lambda b: b["sigs"].pop("old")),
    "changed after it was signed": changed(same, lambda b: b.update(root="cd" * 32)),
    "the origin is another": changed(lambda b: b.update(origin="other.example")),
    "a key of another origin": changed(lambda b: b.update(old_key=B.vkey("log", "other.example"))),
    "the key stays": changed(same, old="log", new="log"),
    "another version": changed(lambda b: b.update(v="fairdeal/2")),
    "another type": changed(lambda b: b.update(type="log.continued")),
    "a member too many": changed(lambda b: b.update(table=B.TABLE)),
    "a member missing": changed(lambda b: b.pop("at")),
    "a size that is none": changed(lambda b: b.update(size=-1)),
    "a time that is none": changed(lambda b: b.update(at="2026-02-30T00:00:00.000Z")),
    "not in its one form": [
        member(event("log", "log two", ENDS[0]).replace(",", ", ", 1), ENDS[0], "log two")
    ],
    "not at its size": [member(event("log", "log two", ENDS[0]), ENDS[0] + 1, "log two")],
    "a receipt of the old key": [member(event("log", "log two", ENDS[0]), ENDS[0], "log")],
    "a receipt of another entry": [
        members()[0] | {"receipt": member("another", ENDS[0], "log two")["receipt"]}
    ],
    "a receipt past the next": [
        member(event("log", "log two", 40), 40, "log two", 21),
        members()[1],
    ],
    "one is left out": [members()[0], *changed(same, old="log three", new="log four")[:1]],
    "in another order": members()[::-1],
    "one stands twice": [members()[0], members()[0]],
    "back to the first key": [
        members()[0],
        member(event("log two", "log", ENDS[1]), ENDS[1], "log"),
    ],
}


@pytest.mark.parametrize("name", LEAD_NOWHERE)
def test_what_leads_nowhere_is_unreadable(name):
    data = served(LEAD_NOWHERE[name])
    with pytest.raises(UnreadableError):
        read_rotations(data)
    for trusted in KEYS:
        assert outcome(file("log", 30), trusted, data) == (4, None)


def test_control_the_same_rotation_told_as_it_is_leads_on():
    assert outcome(file("log two", 50), "log", served(changed(same))) == (0, None)
    assert Keys.of(
        LogKey.parse(B.vkey("log two")), read_rotations(served(members()))
    ).keys == tuple(LogKey.parse(B.vkey(name)) for name in KEYS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no json",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        served([], format="fairdeal-rotations/2"),
        *(
            json.dumps({"format": "fairdeal-rotations/1", "rotations": value}).encode()
            for value in (None, {}, [1], [{}], [{"entry": "x"}], [{"entry": 1, "receipt": "x"}])
        ),
        served([{"entry": "{}", "receipt": ""}]),
        served([{"entry": members()[0]["entry"], "receipt": "no receipt"}]),
    ],
    ids=lambda data: repr(data[:60]),
)
def test_what_is_no_list_of_rotations_is_unreadable(data):
    assert outcome(file("log", 30), "log", data) == (4, None)


def test_a_list_that_is_too_long_is_refused_before_anything_is_checked(monkeypatch):
    monkeypatch.setattr(rotation, "MAX_ROTATIONS", 1)
    assert outcome(file("log", 30), "log", served(members())) == (4, None)
    assert outcome(file("log", 30), "log", served(members()[:1])) == (0, None)
    with monkeypatch.context() as patched:
        patched.setattr(rotation.Rotation, "parse", None)
        assert outcome(file("log", 30), "log", served(members())) == (4, None)


# --- mutations ----------------------------------------------------------------------------------


def test_no_changed_character_makes_rotations_lead_elsewhere():
    """Whatever is changed in them, they say the same or nothing."""
    text = json.dumps(members())
    keys = Keys.of(LogKey.parse(B.vkey()), read_rotations(served(members())))
    told = 0
    for at in range(0, len(text), 7):
        other = "0" if text[at] != "0" else "1"
        mutated = text[:at] + other + text[at + 1 :]
        try:
            found = read_rotations(
                b'{"format":"fairdeal-rotations/1","rotations":%s}' % mutated.encode()
            )
        except UnreadableError:
            continue
        told += 1
        assert Keys.of(LogKey.parse(B.vkey()), found).keys == keys.keys
    assert told < 5


def test_control_without_signatures_they_lead_elsewhere(monkeypatch):
    """Who checks none follows anybody."""
    forged = [member(event("thief", "thief", 40, lambda b: b.update(
        old_key=B.vkey("log"), new_key=B.vkey("thief"))), 40, "thief")]  # fmt: skip
    assert outcome(file("thief", 50), "log", served(forged)) == (4, None)
    monkeypatch.setattr(rotation, "verify_signature", lambda *_: True)
    assert outcome(file("thief", 50), "log", served(forged)) == (0, None)


# --- matches and the command --------------------------------------------------------------------


def test_a_match_is_verified_by_any_key():
    files = [file("log two", 50)]
    key = B.vkey("log")
    assert verify_match(files, key=key, rotations=served(members())).exit == 0
    assert verify_match(files, key=key).exit == 1
    assert verify_match(files, key=key, rotations=b"{}").exit == 4


@pytest.mark.parametrize("match", [False, True])
def test_the_command(match, tmp_path, capsys):
    hand_file, rotations = tmp_path / "hand.fair.json", tmp_path / "rotations"
    hand_file.write_bytes(file("log two", 50))
    rotations.write_bytes(served(members()))
    what = ["--match", str(hand_file)] if match else [str(hand_file)]
    argv = ["--key", B.vkey("log"), "--rotations", str(rotations)]
    assert command.main([*what, *argv]) == 0
    assert command.main([*what, *argv[:2]]) == 1
    rotations.write_bytes(b"")
    assert command.main([*what, *argv]) == 4
    capsys.readouterr()
    assert command.main([*what, *argv, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["verdict"] == "UNREADABLE"
    assert command.main([*what, *argv[:-1], str(tmp_path / "none")]) == 2


def command_says(tmp_path, capsys, trusted, rotations, *more):
    hand_file, served_file = tmp_path / "hand.fair.json", tmp_path / "rotations"
    hand_file.write_bytes(file("log two", 50))
    served_file.write_bytes(rotations)
    argv = [*more, str(hand_file), "--key", B.vkey(trusted), "--rotations", str(served_file)]
    return command.main(argv), capsys.readouterr().out


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_report_says_that_the_key_has_changed(language, tmp_path, capsys):
    """In the reader's language, with the key that he gave; not to who has the file's own."""
    text = words_of(language).messages["note.rotated"]
    assert "{key}" in text
    told = text.replace("{key}", B.vkey("log"))
    for trusted, is_told in (("log", True), ("log two", False)):
        code, shown = command_says(tmp_path, capsys, trusted, served(members()), "--lang", language)
        assert code == 0
        assert (told in shown) is is_told
        assert (text.partition("{")[0] in shown) is is_told


@pytest.mark.parametrize(
    ("trusted", "is_told"), [("log", True), ("log three", True), ("log two", False)]
)
def test_the_report_in_json_says_it_too(trusted, is_told, tmp_path, capsys):
    """First what is to be said of this hand, then what was compared."""
    code, shown = command_says(tmp_path, capsys, trusted, served(members()), "--json")
    report = json.loads(shown)
    detail = next(one["detail"] for one in report["checks"] if one["id"] == "log.signature")
    compared = f"key {B.public_key('log two').hex()} of {B.ORIGIN}"
    note = "the log's key has changed: the rotations lead to it from the key that you trust, "
    note += B.vkey(trusted)
    assert (code, detail) == (0, f"{note}; {compared}" if is_told else compared)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("data", [b"", served([], format="x"), served(members()[::-1])])
def test_rotations_that_lead_nowhere_are_named_in_each_language(language, data, tmp_path, capsys):
    told = words_of(language).messages["unreadable.rotations"]
    for argv in (["--lang", language], ["--lang", language, "--match"]):
        code, shown = command_says(tmp_path, capsys, "log", data, *argv)
        assert code == 4
        assert told in shown
