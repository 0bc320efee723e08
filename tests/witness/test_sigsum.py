"""A witness that we did not write: sigsum-witness of Debian, against our log and beside our own.

It is fetched from the distribution's backports by apt, into a folder of the test's; nothing of the
system is changed. Where that is not possible these tests fail and say why: they are the only ones
that a misreading of C2SP, made twice by us, would not pass. Spec: WIT-1..4, WIT-6.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import WitnessKey
from fairdeal.log.note import SigningKey
from fairdeal.log.witness import Submission
from fairdeal_api.service import initialise
from fairdeal_api.settings import Settings
from fairdeal_api.witnessing.memory import Memory
from fairdeal_api.witnessing.memory import initialise as initialise_witness
from fairdeal_api.witnessing.server import WitnessApp
from tests.api.conftest import Site
from tests.api.play import Operator
from tests.witness.stand import OneLog, wait_until

SECRET = hashlib.sha256(b"sigsum log").digest()


def run(*command, **more):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **more
    )


def fetch(folder: Path) -> Path:
    """Download and unpack sigsum-go; the folder of its programs, or why there is none."""
    sources = Path("/etc/apt/sources.list.d/debian.sources")
    if shutil.which("apt-get") is None or not sources.exists():
        pytest.fail("sigsum-witness is not there: this is no Debian with deb822 sources")
    parts = []
    for paragraph in re.split(r"\n\s*\n", sources.read_text("utf-8")):
        suite = re.search(r"^Suites: (\w+)(?: \w+-updates)?$", paragraph, re.MULTILINE)
        if suite:
            parts.append(paragraph.replace(suite[0], f"Suites: {suite[1]}-backports"))
    if not parts:
        pytest.fail("sigsum-witness is not there: apt's sources name no release to backport to")
    for name in ("parts", "lists/partial", "cache/archives/partial", "etc"):
        (folder / name).mkdir(parents=True)
    (folder / "parts/backports.sources").write_text("\n\n".join(parts) + "\n", "utf-8")
    options = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "parts",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", *[part for name, at in options.items() for part in ("-o", f"{name}={at}")]]
    for command in ([*apt, "update"], [*apt, "download", "sigsum-go"]):
        done = run(*command, cwd=folder, timeout=600)
        if done.returncode:
            pytest.fail(f"sigsum-witness is not there: `{command[-1]}` of apt-get failed")
    package = next(folder.glob("sigsum-go_*.deb"), None)
    if package is None or run("dpkg", "-x", package, folder / "root").returncode:
        pytest.fail("sigsum-witness is not there: the package cannot be unpacked")
    return folder / "root/usr/bin"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return fetch(tmp_path_factory.mktemp("sigsum"))


class Sigsum:
    """sigsum-witness with a key of its own, for one log."""

    def __init__(self, programs: Path, folder: Path, log_key: bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        witness, log = folder / "witness", folder / "log.pub"
        made = run(programs / "sigsum-key", "generate", "-o", witness)
        assert made.returncode == 0, made.stderr
        made = run(programs / "sigsum-key", "from-hex", "-o", log, input=log_key.hex() + "\n")
        assert made.returncode == 0, made.stderr
        public = run(programs / "sigsum-key", "to-hex", "-k", f"{witness}.pub").stdout.strip()
        name = "sigsum.org/v1/witness/" + hashlib.sha256(bytes.fromhex(public)).hexdigest()
        self.key = WitnessKey(name, bytes.fromhex(public))
        vkey = run(
            programs / "sigsum-key", "to-vkey", "-k", f"{witness}.pub",
            "-n", name, "-t", "cosignature/v1",
        )  # fmt: skip
        self.vkey = vkey.stdout.strip()
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{address}"
        self._process = subprocess.Popen(
            [
                programs / "sigsum-witness", "-k", witness, "--log-key", log,
                "--state-file", folder / "state", address,
            ],
            # Debian builds it in a mode in which Go turns its newer request patterns off.
            env={**os.environ, "GODEBUG": "httpmuxgo121=0"},
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(self._listens)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", int(self.url.rsplit(":", 1)[1]))) == 0

    def post(self, body: bytes) -> httpx2.Response:
        return httpx2.post(self.url + "/add-checkpoint", content=body, trust_env=False)

    def close(self) -> None:
        self._process.kill()
        self._process.wait(60)


def sigsum_origin(public: bytes) -> str:
    return "sigsum.org/v1/tree/" + hashlib.sha256(public).hexdigest()


@pytest.fixture
def start(programs, tmp_path):
    started = []

    def one(log_key: bytes) -> Sigsum:
        started.append(Sigsum(programs, tmp_path / f"sigsum-{len(started)}", log_key))
        return started[-1]

    yield one
    for witness in started:
        witness.close()


def test_both_read_a_witness_s_key_alike(start):
    """WIT-1."""
    public = SigningKey("x", SECRET).verifier.key
    sigsum = start(public)
    assert str(sigsum.key) == sigsum.vkey


def test_our_service_is_cosigned_by_it(start, tmp_path):
    """WIT-2, WIT-6: its origin is a setting, as that witness needs it."""
    # The origin holds the key's hash, so the key comes before the folder that is made for it.
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    scratch = Settings(data=tmp_path / "scratch", origin="scratch.example/log")
    initialise(scratch)
    secret = bytes.fromhex((scratch.keys_path / "log.key").read_text().strip())
    public = SigningKey("x", secret).verifier.key
    sigsum = start(public)
    at = [{"url": sigsum.url, "vkey": str(sigsum.key)}]
    settings = Settings(
        data=tmp_path / "data", origin=sigsum_origin(public), witnesses=at, witness_start="refuse"
    )
    make_with_key(settings, secret)
    with Site(settings) as site:
        for name in ("a", "b", "c"):
            Operator(site.client, site.key(name), "kozel").open()
        size = site.service.ledger.size
        wait_until(lambda: site.client.get("/log/checkpoint").text.split("\n")[1] == str(size))
        note = site.client.get("/log/checkpoint").text
        checkpoint = Checkpoint.open(note, site.service.verifier_key)
        assert sigsum.key.find(checkpoint, note.partition("\n\n")[2].partition("\n")[2]).time
    # Again from nothing in memory: it says 409 first.
    with Site(settings) as site:
        Operator(site.client, site.key("d"), "kozel")
        wait_until(lambda: site.client.get("/log/checkpoint").text.split("\n")[1] == str(size + 1))


def make_with_key(settings: Settings, secret: bytes) -> None:
    """A folder whose log key is given: `initialise` with its entropy replaced."""
    with pytest.MonkeyPatch.context() as patch:
        real = os.urandom
        keys = iter((real(32), secret))  # sealing key, log key
        patch.setattr("fairdeal_api.system.os.urandom", lambda n: next(keys, None) or real(n))
        initialise(settings)


def requests(log: OneLog, sigsum: bool) -> list[tuple[str, bytes]]:
    """A table of requests; the state goes from nothing to size 5, then to 9."""
    note = log.head(9).sign(log.key)
    proof = log.proof(5, 9)
    forged = log.head(9).text() + "\n" + log.head(8).sign(log.key).split("\n\n")[1]
    stranger = OneLog("stranger.example/log", SECRET)

    def raw(old, path, head):
        return Submission(old, tuple(path), head.sign(log.key)).encode()

    table = [
        ("an empty log", raw(0, (), log.head(0))),
        ("the first head", raw(0, (), log.head(5))),
        ("the same again", raw(5, (), log.head(5))),
        ("from nothing", raw(0, (), log.head(9))),
        ("from a smaller size", raw(4, log.proof(4, 9), log.head(9))),
        ("from a larger size", raw(7, log.proof(7, 9), log.head(9))),
        ("old above the size", raw(9, (), log.head(5))),
        ("an older head", raw(4, (), log.head(4))),
        ("an older head from nothing", raw(0, (), log.head(4))),
        ("another history", raw(5, proof, log.head(9, bytes(32)))),
        ("a proof cut off", raw(5, proof[:-1], log.head(9))),
        ("a proof too long", raw(5, [*proof, bytes(32)], log.head(9))),
        ("nodes swapped", raw(5, proof[::-1], log.head(9))),
        ("another signature", Submission(5, proof, forged).encode()),
        ("a log that is not known", stranger.ask(0, 5)),
        ("junk", b"junk"),
        ("nothing", b""),
        ("a leading zero", Submission(5, proof, note).encode().replace(b"old 5", b"old 05")),
        ("a hash cut off", Submission(5, proof, note).encode().replace(b"=\n", b"\n", 1)),
        ("CRLF", Submission(5, proof, note).encode().replace(b"\n", b"\r\n")),
        ("no final newline", Submission(5, proof, note).encode()[:-1]),
        ("the next head", Submission(5, proof, note).encode()),
        ("the next head, once more from 5", Submission(5, proof, note).encode()),
        ("an unknown cosignature beside", Submission(9, (), note + cosigned()).encode()),
    ]
    differ = [
        # tlog-witness now asks for 409; this release says 422.
        ("another root of the size held", raw(9, (), log.head(9, bytes(32)))),
        # It finds fault with the request; we with the proof.
        ("a proof where none is due", raw(9, proof, log.head(9))),
        ("no proof where one is due", raw(9, (), log.head(20))),
    ]
    return differ if sigsum else table


def cosigned() -> str:
    return "— w.example " + base64.b64encode(bytes(76)).decode() + "\n"


def sigsum_log() -> OneLog:
    public = SigningKey("x", hashlib.sha256(b"log").digest()).verifier.key
    return OneLog(sigsum_origin(public))


@pytest.fixture
def pair(start, tmp_path):
    """The same log at both."""
    log = sigsum_log()
    sigsum = start(log.key.verifier.key)
    initialise_witness(tmp_path / "ours", "witness.example/w1")
    memory = Memory(tmp_path / "ours", [log.key.verifier])
    client = TestClient(WitnessApp(memory))
    yield log, sigsum, lambda body: client.post("/add-checkpoint", content=body), memory
    memory.close()


def outcome(answer, key, body):
    """Status, the size that a 409 names, and whether a 200 has a good cosignature."""
    size = answer.text if answer.status_code == 409 else ""
    media = answer.headers["content-type"].partition(";")[0] if answer.status_code == 409 else ""
    if answer.status_code == 200:
        text = body.decode().partition("\n\n")[2].partition("\n\n")[0] + "\n"
        assert key.find(Checkpoint.parse_text(text), answer.text).time > 1_700_000_000
    return answer.status_code, size, media


def test_ours_and_it_answer_alike(pair):
    """WIT-3, WIT-4: case after case, each on the state that the cases before have left."""
    log, sigsum, ours, memory = pair
    seen = set()
    for case, body in requests(log, sigsum=False):
        theirs = outcome(sigsum.post(body), sigsum.key, body)
        mine = outcome(ours(body), memory.key.verifier, body)
        assert mine == theirs, case
        seen.add(mine[0])
    assert seen == {200, 400, 403, 404, 409, 422}


def test_where_the_two_differ_both_refuse(pair):
    log, sigsum, ours, memory = pair
    for body in (log.ask(0, 5), log.ask(5, 9)):
        assert sigsum.post(body).status_code == ours(body).status_code == 200
    statuses = [
        (sigsum.post(body).status_code, ours(body).status_code)
        for _, body in requests(log, sigsum=True)
    ]
    assert statuses == [(422, 409), (400, 422), (400, 422)]
    assert memory.held(log.key.name) == 9
