"""Settings for all tests, and which of them may run side by side."""

import os
import signal
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from fairdeal_verifier.ed25519 import verify_signature

# The verifier speaks the language of its environment, and tests read English.
os.environ["LC_ALL"] = "C.UTF-8"

# Under `nohup`, or in a script's background, these are ignored, and what is started here would
# inherit that. It does not inherit a handler.
for _signal in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)

# No deadlines: a shared machine is slow now and then, and that is not a fault of the code.
settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# The same examples in every run, so that a change is never failed for what another one did.
settings.register_profile(
    "ci",
    settings.get_profile("default"),
    derandomize=True,
    print_blob=True,
)
# For `make soak`, and by hand: HYPOTHESIS_PROFILE=thorough make test
settings.register_profile("thorough", settings.get_profile("default"), max_examples=5000)

settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)


@pytest.fixture
def quick(monkeypatch):
    """The verifier remembers signatures: what is mutated thousands of times mostly keeps them."""
    remembered = cache(verify_signature)
    for module in ("evidence", "note", "rotation"):
        monkeypatch.setattr(f"fairdeal_verifier.{module}.verify_signature", remembered)


# `make test` runs in two workers. What starts processes, times something or drives a browser goes
# through one of them, one test after the other and from the beginning: it never meets its like,
# only a worker that computes. All else is shared out file by file, so that both end together; last
# come files of processes without a clock, which may meet anything.
_ALONE = (
    "tests/audit/test_source.py",
    "tests/faults/",
    "tests/page/",
    "tests/witness/",
    *(
        f"tests/api/test_{name}.py"
        for name in (
            "bad_day",
            "deadlines",
            "demo",
            "full_matches",
            "parallel",
            "play_cli",
            "process",
            "referee_deadlines",
        )
    ),
)
_LAST = (
    "tests/docs/test_examples.py",
    "tests/api/test_continuation.py",
    *(
        f"tests/faults/test_{name}.py"
        for name in ("backup", "folder", "leaks", "older_form", "operator")
    ),
)
_NOT_ALONE = "tests/page/test_verdicts.py"  # in Node, one file after the other


def _turn(nodeid: str) -> int:
    """0: alone, from the beginning; 1: shared out; 2: shared out last."""
    if nodeid.startswith(_LAST):
        return 2
    return int(not nodeid.startswith(_ALONE) or nodeid.startswith(_NOT_ALONE))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - one process does without

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return super()._split_scope(nodeid) if _turn(nodeid) else "alone"

    config.option.loadscopereorder = False  # in the order that is made below
    return Scheduling(config, log)


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _turn(item.nodeid))
