"""A whole machine put back to yesterday, and somebody who remembers today. Spec: LOG-22.

Database and anchor are restored together and agree, and no witness is asked: nothing on the machine
can tell that the log was longer. Only a checkpoint that somebody was shown before can.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey
from tests.faults.site import STOPPED, Site, StartFailed
from tests.faults.wire import Answer, Broken

BODY = {"game": "kozel", "custody": "operator"}
WRITERS = 4


class Copies(NamedTuple):
    """What was once in the folder, and what players hold of it."""

    old: Path
    new: Path
    shown: Checkpoint
    note: str
    key: VerifierKey
    operator: str


def ask(site: Site, method: str, path: str, body: Any = None, **more: Any) -> Answer:
    with site.wire() as wire:
        return wire.ask(method, path, body, **more)


def open_tables(site: Site, operator: str, *keys: str) -> None:
    """An event each."""
    for key in keys:
        assert ask(site, "POST", "/v1/tables", BODY, bearer=operator, key=key).status == 201


def note_of(site: Site) -> str:
    return ask(site, "GET", "/log/checkpoint").body.decode()


def present(site: Site, note: str) -> Answer:
    return ask(site, "PUT", "/v1/gossip", {"checkpoint": note})


def copy(site: Site, name: str) -> Path:
    """Database, keys and anchor, as a snapshot of the machine has them."""
    folder = site.folder.with_name(name)
    shutil.copytree(site.data, folder / "data")
    shutil.copy(site.anchor, folder / "data.anchor")
    return folder


def put_back(site: Site, copied: Path) -> None:
    """All of it; what the service itself has written beside the anchor since then stays."""
    shutil.rmtree(site.data)
    shutil.copytree(copied / "data", site.data)
    shutil.copy(copied / "data.anchor", site.anchor)


@pytest.fixture
def copies(site: Site) -> Copies:
    """A service that was copied at three entries, went on to six, and is now stopped at three."""
    site.start(init=True)
    operator = site.operator_key("club")
    open_tables(site, operator, "1", "2", "3")
    assert site.terminate() == STOPPED
    old = copy(site, "old")
    site.start()
    open_tables(site, operator, "4", "5", "6")
    key = VerifierKey.parse(ask(site, "GET", "/v1/keys").json()["keys"][0]["vkey"])
    note = note_of(site)
    site.kill()
    new = copy(site, "new")
    put_back(site, old)
    return Copies(old, new, Checkpoint.open(note, key), note, key, operator)


def write_until_refused(
    site: Site, operator: str, name: int, said: list[Answer], told: threading.Event
) -> None:
    """Open tables, one after the other, until that is refused; at least once after `told`."""
    for number in range(10_000):
        was_told = told.is_set()
        try:
            answer = ask(site, "POST", "/v1/tables", BODY, bearer=operator, key=f"{name}-{number}")
        except Broken:
            return
        said.append(answer)
        if answer.status != 201 and was_told:
            return


def forks(site: Site, copies: Copies) -> bool:
    """Go on until the log is as long as the one that was shown: are there two of this size?"""
    while (head := Checkpoint.open(note_of(site), copies.key)).size < copies.shown.size:
        open_tables(site, copies.operator, f"again-{head.size}")
    return head.size == copies.shown.size and head.root != copies.shown.root


def test_who_holds_a_newer_checkpoint_freezes_it_under_load(site, copies):
    """F3: it verifies its own signature on a head that it does not have."""
    site.start()  # nothing on this machine can tell
    assert Checkpoint.open(note_of(site), copies.key).size == 3
    said: list[list[Answer]] = [[] for _ in range(WRITERS)]
    told = threading.Event()
    threads = [
        threading.Thread(target=write_until_refused, args=(site, copies.operator, n, said[n], told))
        for n in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    answer = present(site, copies.note)
    told.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert (answer.status, answer.code) == (503, "log_frozen")

    # Each writer met the refusal in the end, and no acknowledgement came after one.
    acknowledged = 0
    for answers in said:
        statuses = [one.status for one in answers]
        assert statuses[-1] == 503
        assert answers[-1].code == "log_frozen"
        first = statuses.index(503)
        assert set(statuses[:first]) <= {201}
        assert set(statuses[first:]) == {503}
        acknowledged += first
    head = Checkpoint.open(note_of(site), copies.key)
    assert head.size >= 3 + acknowledged
    assert ask(site, "GET", "/readyz").status == 503
    frozen = [line for line in site.err.read_text().splitlines() if '"log.frozen"' in line]
    assert len(frozen) == 1
    assert '"level":"CRITICAL"' in frozen[0]
    assert f'"size":{copies.shown.size}' in frozen[0]

    # Killed and started again, it says why it does not; and still, when started once more.
    site.kill()
    for _ in range(2):
        with pytest.raises(StartFailed) as failed:
            site.start()
        assert failed.value.status == 1
        assert "data.anchor.seen" in failed.value.said
        assert failed.value.said.count("\n") == 1
        assert f"{copies.shown.size}" in failed.value.said


def test_with_the_newest_state_it_goes_on(site, copies):
    """The way out: what was rolled back is put back, and the service forgets what it was told."""
    site.start()
    assert present(site, copies.note).status == 503
    assert site.terminate() == STOPPED
    with pytest.raises(StartFailed, match=r"data\.anchor\.seen"):
        site.start()
    put_back(site, copies.new)
    site.start()
    assert present(site, copies.note).json()["size"] == copies.shown.size
    assert not site.anchor.with_name("data.anchor.seen").exists()
    open_tables(site, copies.operator, "7")
    assert Checkpoint.open(note_of(site), copies.key).size == copies.shown.size + 1
    assert site.terminate() == STOPPED
    assert site.fsck()[0] == 0


def test_control_if_nobody_says_so_the_log_forks(site, copies):
    """Why checkpoints are presented: there are two heads of one size, and both are signed."""
    site.start()
    assert forks(site, copies)


def test_control_a_service_that_does_not_listen_forks(site, copies):
    """And why it has to freeze: told, it says so and goes on."""
    site.start("deaf")
    assert present(site, copies.note).status == 503
    assert forks(site, copies)


def test_control_what_the_log_extends_is_no_reason_to_freeze(site, copies):
    """An old checkpoint, and one by a key that is not the log's."""
    site.start()
    old = note_of(site)
    forged = copies.note.replace(f"\n{copies.shown.size}\n", f"\n{copies.shown.size + 1}\n")
    open_tables(site, copies.operator, "other")
    assert present(site, old).status == 200
    assert present(site, forged).code == "checkpoint_invalid"
    open_tables(site, copies.operator, "another")
