"""Several files of one table: VER-7, PLAY-9."""

import importlib.resources
import json

import jsonschema
import pytest

from fairdeal_verifier.match import verify_match
from fairdeal_verifier.report import Style, match_to_text
from tests.verifier import builder as B  # noqa: N812
from tests.verifier.test_command import run
from tests.verifier.test_play_frame import play


class Table:
    """Hands of one Svoi table, each what the one before has left."""

    def __init__(self, game: str = "svoi", *, referee: bool = True, **options):
        self.game, self.options = game, options | {"referee": referee}
        self.hands: list[B.Builder] = []
        self.next_first, self.next_match = None, B.FRESH[game] if referee else None

    def add(self, how: str = "close", **changes) -> "Table":
        """One more hand. `how`: close, abort, undealt, open."""
        number = len(self.hands) + 1
        options = self.options | {"first": self.next_first, "match": self.next_match} | changes
        options = {"salt": f"{number - 1}"} | options  # seats draw new seeds
        # The table was opened once, and each secret was announced one hand before.
        secrets = B.sha(f"secret {number}".encode()), B.sha(f"secret {number + 1}".encode())
        b = B.Builder(self.game, hand=number, secrets=secrets, **options)
        if self.hands:
            last = self.hands[-1]
            b.now, b.behind = last.now, last.bodies[-1]["seq"] + 1
        b.raw[0] = self.hands[0].raw[0] if self.hands else b.raw[0]
        b.T = B.sha(b.raw[0])
        self.hands.append(b)
        b.open()
        if self.game == "svoi":
            b.declare({b.given_first or 0: "HS"[b.given_first or 0]})
            b.declare({1 - (b.given_first or 0): "HS"[1 - (b.given_first or 0)]})
        if how == "undealt":
            b.abort("operator")
            return self
        b.seal().open_seeds().deal()
        self.next_first = b.first
        if how == "abort":
            b.abort("operator")
        elif how == "close":
            result = play(b).result() if b.referee else None
            b.close(result)
            if result:
                self.next_first, self.next_match = result["first"], result["match"]
        return self

    def files(self) -> list[bytes]:
        return [b.file() for b in self.hands]


def table(*hows: str, **options) -> Table:
    t = Table(**options)
    for how in hows:
        t.add(how)
    return t


THREE = ("close", "close", "close")


def test_a_match():
    t = table(*THREE)
    match = verify_match(t.files(), key=B.VKEY)
    assert str(match.check.note) == "hand 1 to hand 3"
    assert (match.verdict, match.exit, match.check.status) == ("VERIFIED", 0, "PASS")
    assert [report.exit for report in match.reports] == [0, 0, 0]
    last = t.hands[-1].bodies[-1]["result"]["match"]
    assert sum(last["wins"]) + last["draws"] == 3


def test_it_may_begin_later():
    match = verify_match(table(*THREE).files()[1:], key=B.VKEY)
    assert match.exit == 0
    assert "not shown" in str(match.check.note)


def test_one_file():
    assert verify_match(table("close").files(), key=B.VKEY).exit == 0


def test_aborted_hands_count_for_nothing():
    match = verify_match(table("close", "abort", "undealt", "close").files(), key=B.VKEY)
    assert (match.verdict, match.exit) == ("VERIFIED", 0)
    assert verify_match(table("undealt", "abort", "close").files(), key=B.VKEY).exit == 0


def test_without_the_key():
    match = verify_match(table(*THREE).files())
    assert match.verdict.startswith("CONSISTENT")
    assert match.exit == 3


@pytest.mark.parametrize("order", [(0, 2), (1, 0), (0, 0), (0, 1, 1), (2, 1, 0)])
def test_hands_left_out_or_in_another_order(order):
    files = table(*THREE).files()
    match = verify_match([files[number] for number in order], key=B.VKEY)
    assert (match.verdict, match.exit, match.check.status) == ("FAILED", 1, "FAIL")
    assert all(report.exit == 0 for report in match.reports)


def test_another_table():
    a, b = table("close", "close"), table("close", "close", rules={"pick_up": "strict"})
    match = verify_match([a.files()[0], b.files()[1]], key=B.VKEY)
    assert "another table" in str(match.check.note)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"match": {"draws": 0, "wins": [9, 0]}}, "(PLAY-2)"),
        ({"match": B.FRESH["svoi"]}, "(PLAY-2)"),
        ({"first": "other"}, "(PLAY-2)"),
    ],
)
@pytest.mark.parametrize("before", ["close", "abort"])
def test_what_the_hand_before_left(changes, words, before):
    t = table("close")
    if before == "abort":
        t.add("abort")
    if changes.get("first") == "other":
        changes = {"first": 1 - t.next_first}
    match = verify_match(t.add("close", **changes).files(), key=B.VKEY)
    assert match.check.status == "FAIL"
    assert str(match.check.note).endswith(words)
    assert all(report.exit == 0 for report in match.reports)


def test_what_the_hand_before_used():
    """SEAL-2, HAND-1: of two files, as far as these tell."""
    old = table("close", "close").hands[1].bodies[1]["commitment"]

    def announce(body):
        if body["type"] == "hand.opened":
            body["next_commitment"] = old

    for changes in ({"salt": "1"}, {"forge": announce}):
        t = table("close", "close").add("close", **changes)
        match = verify_match(t.files(), key=B.VKEY)
        assert match.check.status == "FAIL"
        assert str(match.check.note).endswith("(SEAL-2)")
        assert all(report.exit == 0 for report in match.reports)


@pytest.mark.parametrize("late", ["seq", "at"])
def test_a_hand_that_began_before_the_other_ended(late):
    def forge(body):
        if body["type"] != "table.opened" and body["hand"] == 2:
            if late == "seq":
                body["seq"] -= 2 + shift
            elif body["type"] == "hand.opened":
                body["at"] = B.stamp(t.hands[0].now - 1 + shift)

            if late == "seq" and body["type"] == "hand.opened" and is_named:
                body["prev"] = t.hands[0].head.hex()

    cases = ((0, True, "FAIL"), (-1, True, "PASS"), (-1, False, "FAIL"), (-2, False, "PASS"))
    for shift, is_named, status in cases if late == "seq" else ((0, 0, "FAIL"), (1, 0, "PASS")):
        t = table("close")
        t.add("close", forge=forge)
        match = verify_match(t.files(), key=B.VKEY)
        assert match.check.status == status, (shift, is_named)
        assert all(report.exit == 0 for report in match.reports)


def test_another_commitment():
    files = table("close", "close").files()

    def forge(body):
        if body["type"] == "hand.opened":
            body["next_commitment"] = "ab" * 32

    other = table("close", forge=forge).files()
    match = verify_match([other[0], files[1]], key=B.VKEY)
    assert match.check.status == "FAIL"
    assert "commitment" in str(match.check.note)


def test_after_a_match_that_was_won_a_fresh_one_begins():
    """PLAY-2: the results are not right for Svoi, which has no end, but the rule is for all."""
    won = {"first": 0, "match": {"draws": 0, "wins": [1, 0]}, "score": {}, "winner": 0}
    for after, status in ((B.FRESH["svoi"], "PASS"), (won["match"], "FAIL")):
        t = Table().add("open")
        t.hands[0].close(won)
        t.next_first = 0
        t.add("close", match=after)
        match = verify_match(t.files(), key=B.VKEY)
        assert match.check.status == status
        assert match.verdict == "FAILED"  # as the first file is


@pytest.mark.parametrize("result", [None, {}, {"winner": 0}, {"first": [], "match": [1]}])
def test_any_result(result):
    t = Table().add("open")
    t.hands[0].close(result)
    t.add("close", first=0)
    assert verify_match(t.files(), key=B.VKEY).exit == 1


def test_files_that_cannot_be_read():
    files = table(*THREE).files()
    for bad, verdict, code in ((b"", "UNREADABLE", 4), (files[1] + b" ", "FAILED", 1)):
        match = verify_match([files[0], bad, files[2]], key=B.VKEY)
        assert (match.verdict, match.exit, match.check.status) == (verdict, code, "SKIP")
    assert verify_match([], key=B.VKEY).check.status == "SKIP"


def test_what_one_file_leaves_open_hides_no_fault_between_others():
    files = table("close", "open", "close", "close", "close").files()
    assert verify_match(files[:3], key=B.VKEY).check.status == "SKIP"
    assert verify_match([*files[:3], files[4]], key=B.VKEY).check.status == "FAIL"
    for bad, verdict, code in ((b"", "UNREADABLE", 4), (files[0] + b" ", "FAILED", 1)):
        match = verify_match([bad, *files[2:4]], key=B.VKEY)
        assert (match.verdict, match.exit, match.check.status) == (verdict, code, "SKIP")
        match = verify_match([bad, files[2], files[4]], key=B.VKEY)
        assert (match.verdict, match.exit, match.failed) == ("FAILED", 1, "match")


def test_a_hand_that_has_not_ended():
    files = table("close", "open").files()
    match = verify_match(files, key=B.VKEY)
    assert (match.verdict, match.exit, match.check.status) == ("INCOMPLETE", 3, "PASS")
    match = verify_match(table("close", "open", "close").files(), key=B.VKEY)
    assert match.check.status in ("SKIP", "FAIL")


def test_the_worst_file_gives_the_verdict():
    t = table(*THREE)
    files = t.files()
    files[2] = t.hands[2].file(lambda v: v["disclosed"].update(server_seed="00" * 32))
    match = verify_match(files, key=B.VKEY)
    assert (match.verdict, match.exit, match.check.status) == ("FAILED", 1, "PASS")


def test_without_a_referee():
    """HAND-2 stands for PLAY-2."""
    t = Table("kozel", referee=False)
    t.add("close")
    first = t.hands[0].first
    for given, status in ((first, "PASS"), ((first + 1) % 4, "PASS"), (None, "FAIL")):
        t.hands[1:] = []
        t.next_first = given
        match = verify_match(t.add("close").files(), key=B.VKEY)
        assert match.check.status == status
        assert [report.exit for report in match.reports] == [0, 0]
    t = Table("kozel", referee=False).add("abort")
    for given, status in ((first, "PASS"), ((first + 1) % 4, "FAIL")):
        t.hands[1:] = []
        t.next_first = given
        assert verify_match(t.add("close").files(), key=B.VKEY).check.status == status


# The command.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("match")
    for number, data in enumerate(table(*THREE).files(), 1):
        (folder / f"{number}.fair.json").write_bytes(data)
    (folder / "cut.fair.json").write_bytes(b"{")
    (folder / "log.vkey").write_text(B.VKEY + "\n", encoding="utf-8")
    return folder


FILES = ["1.fair.json", "2.fair.json", "3.fair.json"]


def test_the_command(folder):
    done = run(folder, "--key", "log.vkey", "--match", *FILES)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert lines[:4] == [
        "VERIFIED  match, 3 files",
        "  VERIFIED  hand 1  1.fair.json",
        "  VERIFIED  hand 2  2.fair.json",
        "  VERIFIED  hand 3  3.fair.json",
    ]
    assert lines[4].startswith("  PASS  match ")


def test_the_command_fails(folder):
    done = run(folder, "--key", "log.vkey", "--match", FILES[0], FILES[2])
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "FAILED  match, 2 files"
    assert lines[1].startswith("FAIL match  hand 3 stands after hand 1")
    done = run(folder, "--key", "log.vkey", "--match", FILES[0], "cut.fair.json")
    assert done.returncode == 4
    assert "UNREADABLE  cut.fair.json  the file" in done.stdout.decode()


def test_the_command_in_full(folder):
    text = run(folder, "--key", "log.vkey", "--explain", "--match", *FILES).stdout.decode()
    assert text.count("  The play\n") == 3
    assert text.count("Shuffle of epoch") == 0
    text = run(folder, "--key", "log.vkey", "--trace", "--match", *FILES).stdout.decode()
    assert text.count("Shuffle of epoch") == 3


@pytest.mark.parametrize("files", [FILES, FILES[1:2] + FILES[:1], [*FILES, "cut.fair.json"]])
def test_the_command_in_json(folder, files):
    schemas = importlib.resources.files("fairdeal_verifier")
    schema, one = (
        json.loads(schemas.joinpath(f"{name}.schema.json").read_text())
        for name in ("match", "report")
    )
    done = run(folder, "--json", "--match", *files)
    value = json.loads(done.stdout)
    jsonschema.validate(value, schema)
    assert value["exit"] == done.returncode
    for entry in value["files"]:
        jsonschema.validate(entry["report"], one)
    assert [entry["file"] for entry in value["files"]] == files


@pytest.mark.parametrize(
    "arguments",
    [
        ["--match"],
        ["1.fair.json", "--match", "2.fair.json"],
        ["--match", "1.fair.json", "none.fair.json"],
        ["--match", *FILES, "--mine", "0=" + "00" * 32],
        ["--match", *FILES, "--receipt", "log.vkey"],
        ["--match", *FILES, "--key", "none"],
    ],
)
def test_usage(folder, arguments):
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert done.stderr
    assert not done.stdout
    assert b"Traceback" not in done.stderr


def test_a_failed_file_is_named():
    t = table("close")
    bad = t.hands[0].file(lambda v: v["disclosed"].update(server_seed="00" * 32))
    match = verify_match([bad], key=B.VKEY)
    text = match_to_text(match, ["a.json"], Style(), explain=False)
    assert "  FAILED  hand 1  a.json  FAIL server.commitment  " in text
