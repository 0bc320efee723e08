"""A data folder that is cloned with its anchor, and run twice. Spec: WIT-7, LOG-7.

Database and anchor agree in both copies, so neither can tell by itself. The witness can.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey
from fairdeal_api.system import EXIT_FROZEN
from tests.faults.site import STOPPED, Site, StartFailed
from tests.faults.wire import Answer
from tests.witness.stand import Stand, wait_until

ORIGIN = "clone.example/log"


def ask(site: Site, method: str, path: str, body: Any = None, **more: Any) -> Answer:
    with site.wire() as wire:
        return wire.ask(method, path, body, **more)


def make_pair(launcher, tmp_path, stand: Stand | None) -> tuple[Site, Site, VerifierKey]:
    """A service that has logged something, and its clone; neither runs."""
    flags = ["--origin", ORIGIN]
    first = Site(launcher, tmp_path / "first", *flags)
    first.start(init=True)
    key = VerifierKey.parse(ask(first, "GET", "/v1/keys").json()["keys"][0]["vkey"])
    if stand is not None:
        stand.start(key)
        flags += ["--witness", f"{stand.url} {stand.key}", "--witness-patience", "1"]
    log_something(first)
    assert first.terminate() == STOPPED
    first.flags = flags
    clone = Site(launcher, tmp_path / "clone", *flags)
    shutil.copytree(first.data, clone.data)
    shutil.copy(first.anchor, clone.anchor)
    return first, clone, key


def log_something(site: Site) -> None:
    key = site.operator_key("club")
    answer = ask(
        site,
        "POST",
        "/v1/tables",
        {"game": "kozel", "custody": "operator"},
        bearer=key,
        key="1",
    )
    assert answer.status == 201, answer.body


def head(site: Site, key: VerifierKey) -> Checkpoint:
    return Checkpoint.open(ask(site, "GET", "/log/checkpoint").body.decode(), key)


def test_the_second_to_reach_the_witness_freezes(launcher, tmp_path, make_witness):
    """WIT-7: both run at once, and both have logged one entry more, each its own."""
    stand = make_witness()
    first, clone, key = make_pair(launcher, tmp_path, stand)
    with first, clone:
        first.start()
        clone.start()
        log_something(first)
        wait_until(lambda: stand.held(ORIGIN) == 2)
        log_something(clone)
        assert clone.died() == EXIT_FROZEN
        assert '"event":"witness.conflict"' in clone.err.read_text()
        assert head(first, key).size == 2  # the first goes on
        log_something(first)
        wait_until(lambda: stand.held(ORIGIN) == 3)
        # Nor can the clone be started again.
        with pytest.raises(StartFailed, match="does not extend") as refused:
            clone.start()
        assert refused.value.status == 1


def test_a_clone_that_is_started_later_is_refused(launcher, tmp_path, make_witness):
    """WIT-7: the witness is ahead of what the clone knows."""
    stand = make_witness()
    first, clone, _ = make_pair(launcher, tmp_path, stand)
    with first, clone:
        first.start()
        log_something(first)
        wait_until(lambda: stand.held(ORIGIN) == 2)
        with pytest.raises(StartFailed, match="does not extend") as refused:
            clone.start()
        assert refused.value.status == 1


def test_control_without_a_witness_the_log_forks(launcher, tmp_path):
    """Why a witness is needed: two heads of one size under one key, and nobody objects."""
    first, clone, key = make_pair(launcher, tmp_path, None)
    with first, clone:
        first.start()
        clone.start()
        log_something(first)
        log_something(clone)
        one, two = head(first, key), head(clone, key)
        assert one.size == two.size == 2
        assert one.root != two.root
