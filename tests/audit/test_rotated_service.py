"""A service that is running changes its log's key between hands, as its operator's page says.

Auditors follow over HTTP from the key that they have noted, before and after, and while it is
stopped. What players have kept of hands under each key is verified. Spec: LOG-27, LOG-29, LOG-32,
AUD-8, AUD-9, VER-8
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fairdeal_verifier.verify import verify
from tests.api.play import Operator, expect
from tests.api.test_process import new_key, serving
from tests.audit.test_service import audit

ROTATIONS = 2
SECONDS = 60


class Kept(NamedTuple):
    """What a player has of a hand."""

    file: bytes
    sealed: int
    """Index of the sealed head."""
    receipt: bytes
    """Of the sealed head, from when it was new."""
    notes: bytes
    vkey: str
    """The log's key then."""

    def verified(self, rotations: bytes | None = None, **given: Any) -> tuple[str, str | None]:
        """The verdict and what failed, by the player's notes and receipt and what is given."""
        given = {"receipts": [self.receipt], "notes": self.notes, **given}
        report = verify(self.file, rotations=rotations, **given)
        return report.verdict, report.failed


def _hear_of_ctrl_c() -> None:
    """As at a terminal. Who starts tests in the background has them deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Watcher:
    """`fairdeal-audit watch`, running."""

    def __init__(self, log: str, folder: Path, key: str) -> None:
        command = ["watch", log, folder, "--key", key, "--every", "1", "--json", "--quiet"]
        self._told = (folder.parent / "watch.out").open("w+")
        self._complaints = (folder.parent / "watch.err").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fairdeal_audit", *map(str, command)],
            stdout=self._told,
            stderr=self._complaints,
            preexec_fn=_hear_of_ctrl_c,  # noqa: PLW1509 - it does nothing else
        )

    def _read(self, file: Any) -> str:
        return Path(file.name).read_text("utf-8")

    def reports(self) -> list[dict[str, Any]]:
        """What it has said so far, fetches and replays."""
        lines = self._read(self._told).split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def complaints(self) -> str:
        return self._read(self._complaints)

    def wait(self, size: int) -> dict[str, Any]:
        """Its report of a log of at least this size."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            assert self.process.poll() is None, self.complaints()
            found = [one for one in self.reports() if "findings" in one and one["size"] >= size]
            if found:
                return found[0]
            time.sleep(0.1)
        pytest.fail(f"not seen: {size} entries; {self.complaints()}")

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(SECONDS)
        self._told.close()
        self._complaints.close()
        return code


class Deployment:
    """A service at one address, stopped and started around each change of its key."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.port = "0"
        self.key = ""
        self.log = ""
        self.size = 0
        self.kept: list[Kept] = []

    @contextmanager
    def running(self) -> Any:
        with serving(self.data, "--port", self.port) as (process, client):
            self.key = self.key or new_key(self.data)
            self.port = str(client.base_url.port)
            self.log = f"{str(client.base_url).rstrip('/')}/log"
            yield client
            self.size = int(client.get("/log/checkpoint").text.split("\n")[1])
            process.send_signal(signal.SIGTERM)  # as the operator's page has it: it is stopped
            assert process.wait(SECONDS) in (0, -signal.SIGTERM)

    def play(self, client: Any) -> None:
        """A hand, and what one of its players keeps."""
        table = Operator(client, self.key, "mus")
        sealed = table.open()["events"][-1]
        assert json.loads(sealed["event"])["type"] == "seeds.sealed"
        receipt = client.get(f"/v1/receipts/{sealed['index']}").content
        table.deal()
        seen = [
            {"at": "", **{name: one[name] for name in ("card", "epoch", "position")}}
            for one in table.cards(2)["cards"]
        ]
        seed = table.secrets.seeds()["2"]
        table.close()
        vkey = table.opened["log_key"]
        notes = {
            "format": "fairdeal-notes/1", "log_key": vkey, "table": table.table, "hand": 1,
            "seat": 2, "seeds": [seed], "cards": seen, "receipts": [],
        }  # fmt: skip
        file = client.get(table.url("/transcript")).content
        self.kept.append(Kept(file, sealed["index"], receipt, json.dumps(notes).encode(), vkey))

    def rotate(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "fairdeal_api", "keys", "rotate", "--data", self.data],
            capture_output=True,
            check=True,
        )


class Told(NamedTuple):
    """All that was seen from outside, over the life of three keys."""

    deployment: Deployment
    followed: list[tuple[int, str]]
    """Fetch and replay by who has noted the first key, under each key."""
    anew: list[tuple[int, str]]
    """The whole log by somebody new, by each of its keys, under the last one."""
    by_notes: list[str]
    """What is served as rotations, under each key."""
    late: list[bytes]
    """Receipts of the sealed heads that were asked for under the last key."""
    watched: list[dict[str, Any]]
    complaints: str
    watch: int


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("rotated")
    one = Deployment(folder)
    followed, by_notes, watched = [], [], []
    watcher: Watcher | None = None
    try:
        for number in range(ROTATIONS + 1):
            if number:
                one.rotate()
            with one.running() as client:
                one.play(client)
                first = one.kept[0].vkey
                pinned = ("--key", first) if number == 0 else ()
                code, said = audit("fetch", one.log, folder / "dir", "--quiet", *pinned)
                again, report = audit("replay", folder / "dir", "--quiet")
                followed.append((code or again, said + report))
                by_notes.append(client.get("/log/rotations").text)
                if watcher is None:
                    watcher = Watcher(one.log, folder / "watched", first)
                size = int(client.get("/log/checkpoint").text.split("\n")[1])
                watched.append(watcher.wait(size))
                if number == ROTATIONS:
                    vkeys = [key["vkey"] for key in expect(client.get("/v1/keys"))["keys"]]
                    anew = []
                    for key in vkeys:
                        copy = folder / f"by-{len(anew)}"
                        code, said = audit("fetch", one.log, copy, "--quiet", "--key", key)
                        again, report = audit("replay", copy, "--quiet")
                        anew.append((code or again, said + report))
                    late = [client.get(f"/v1/receipts/{kept.sealed}").content for kept in one.kept]
    finally:
        code = watcher.end() if watcher else 0
    return Told(one, followed, anew, by_notes, late, watched, watcher.complaints(), code)


def test_the_key_has_changed_each_time(told):
    vkeys = [kept.vkey for kept in told.deployment.kept]
    assert len(set(vkeys)) == ROTATIONS + 1
    assert [len(json.loads(text)["rotations"]) for text in told.by_notes] == [0, 1, 2]


def test_who_has_noted_the_first_key_follows_without_doing_anything(told):
    assert [code for code, _ in told.followed] == [0] * (ROTATIONS + 1), told.followed
    for number, (_, said) in enumerate(told.followed):
        hands = number + 1
        assert f"{hands} tables, {hands} hands: {hands} verified" in said, said
        assert "CLEAN" in said
        assert said.count("its key changed at entry") == number, said


def test_any_of_the_keys_is_enough_to_begin_with(told):
    assert [code for code, _ in told.anew] == [0] * (ROTATIONS + 1), told.anew
    assert len({said for _, said in told.anew}) == 1


def test_a_watch_goes_on_through_it(told):
    """The service is stopped meanwhile, which is nothing to be said against it."""
    assert [len(report["rotations"]) for report in told.watched] == [0, 1, 2]
    assert [report["findings"] for report in told.watched] == [[]] * (ROTATIONS + 1)
    assert told.watch == 3, told.complaints  # it was stopped, and had found nothing


@pytest.mark.parametrize("hand", range(ROTATIONS + 1))
def test_what_a_player_has_is_verified(told, hand):
    kept = told.deployment.kept[hand]
    rotations = told.by_notes[-1].encode()
    assert kept.verified() == ("VERIFIED", None)
    assert kept.verified(rotations) == ("VERIFIED", None)
    for other in told.deployment.kept:
        # By another key of the log alone it is another log's; led from there, it is this one's.
        alone = kept.verified(key=other.vkey)
        assert alone == (("VERIFIED", None) if other is kept else ("FAILED", "log.signature"))
        assert kept.verified(rotations, key=other.vkey) == ("VERIFIED", None)


def test_a_receipt_that_is_asked_for_later_is_the_newest_keys(told):
    rotations = told.by_notes[-1].encode()
    for kept, receipt in zip(told.deployment.kept, told.late, strict=True):
        given = {"receipts": [receipt]}
        assert kept.verified(rotations, **given) == ("VERIFIED", None)
        is_newest = kept is told.deployment.kept[-1]
        expected = ("VERIFIED", None) if is_newest else ("FAILED", "receipt")
        assert kept.verified(**given) == expected


def test_control_what_leads_from_other_keys_leads_nowhere(told):
    """Rotations without the first step are no help to who has noted the first key."""
    value = json.loads(told.by_notes[-1])
    del value["rotations"][0]
    first, *_, last = told.deployment.kept
    shortened = json.dumps(value).encode()
    assert last.verified(shortened, key=first.vkey)[1] == "log.signature"
