"""The audit of a running service, over HTTP. Spec: AUD-1, AUD-2, AUD-8."""

from __future__ import annotations

import subprocess
import sys

from tests.api.play import Operator, expect
from tests.api.test_process import new_key, serving


def audit(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_audit", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def played(client, key, game, hands=2):
    table = Operator(client, key, game)
    for _ in range(hands):
        table.open()
        table.deal()
        table.close()
    return table


def test_a_running_service_is_clean_and_goes_on(tmp_path):
    with serving(tmp_path / "data") as (_process, client):
        key = new_key(tmp_path / "data")
        vkey = expect(client.get("/v1/keys"))["keys"][0]["vkey"]
        log = f"{str(client.base_url).rstrip('/')}/log"
        for game in ("kozel", "mus", "azi", "svoi"):
            played(client, key, game)
        code, said = audit("fetch", log, tmp_path / "dir", "--key", vkey)
        assert code == 0, said
        code, said = audit("replay", tmp_path / "dir", "-j", 2)
        assert code == 0, said
        assert "4 tables, 8 hands: 8 verified" in said
        assert "CLEAN" in said
        table = played(client, key, "mus", 1)
        table.open()  # is under way
        code, said = audit(
            "watch", log, tmp_path / "dir", "--times", 2, "--every", 0, "--grace", 10
        )
        assert code == 0, said
        assert "5 tables, 10 hands: 9 verified" in said
        assert "1 under way" in said
    code, said = audit("fetch", log, tmp_path / "dir")
    assert code == 3, "it does not run any more"
    assert "does not answer" in said
