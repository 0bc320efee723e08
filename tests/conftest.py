"""Settings for all tests."""

import os
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from fairdeal_verifier.ed25519 import verify_signature

# The verifier speaks the language of its environment, and tests read English.
os.environ["LC_ALL"] = "C.UTF-8"

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
