"""Our service and our witnesses. Spec: WIT-6..9."""

from __future__ import annotations

import json
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx2
import pytest
from typer.testing import CliRunner

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import WitnessKey
from fairdeal.log.note import SigningKey
from fairdeal.log.proof import Receipt
from fairdeal_api import system
from fairdeal_api.cli import app
from fairdeal_api.ledger import Frozen
from fairdeal_api.service import initialise
from fairdeal_api.settings import ConfigurationError, Settings, load
from fairdeal_api.system import StartRefused
from fairdeal_api.witnessing import circle
from fairdeal_verifier.verify import verify
from tests.api.conftest import Site
from tests.api.play import Operator, bearer, expect, idempotency
from tests.audit.hosts import Hosts, byte_by_byte
from tests.witness.stand import wait_until


@pytest.fixture
def made(tmp_path):
    """Settings of a service that is made; more of them are given when it is run."""
    base = {"data": tmp_path / "data", "mode": "test", "origin": "deal.example/log"}
    log = initialise(Settings(**base))

    def settings(*stands, **more):
        return Settings(**base, witnesses=[one.at for one in stands], **more)

    settings.log = log
    return settings


def served(site):
    return site.client.get("/log/checkpoint").text


def size_of(note):
    return int(note.split("\n")[1])


def cosigners(note, *stands):
    checkpoint = Checkpoint.parse_text(note.partition("\n\n")[0] + "\n")
    found = set()
    for stand in stands:
        if f"— {stand.key.name} " in note:
            stand.key.find(checkpoint, note.partition("\n\n")[2])
            found.add(stand.key.name)
    return found


def tables(site, count=1):
    operator = None
    for _ in range(count):
        operator = Operator(site.client, site.key(f"club{system.monotonic()}"), "kozel")
    return operator


def state(site):
    return expect(site.client.get("/v1/witnesses"))


def test_without_witnesses_all_is_as_before(made):
    with Site(made()) as site:
        tables(site)
        assert served(site) == site.service.ledger.checkpoint
        assert served(site).count("— ") == 1
        assert state(site)["witnesses"] == []
        assert not state(site)["late"]
        assert expect(site.client.get("/v1/keys"))["witnesses"] == []


def test_a_checkpoint_is_served_once_the_quorum_has_cosigned_it(made, make_witness):
    """WIT-6, WIT-8."""
    one = make_witness().start(made.log)
    two = make_witness("witness.example/w2").start(made.log)
    with Site(made(one, two, witness_quorum=2)) as site:
        assert cosigners(served(site), one, two) == {one.key.name, two.key.name}  # of the empty log
        operator = tables(site, 3)
        operator.open()
        wait_until(lambda: size_of(served(site)) == site.service.ledger.size)
        note = served(site)
        assert cosigners(note, one, two) == {one.key.name, two.key.name}
        assert one.held(made.log.name) == two.held(made.log.name) == size_of(note)
        found = state(site)
        assert found["cosigned_size"] == found["size"] == size_of(note)
        assert [w["vkey"] for w in found["witnesses"]] == [str(one.key), str(two.key)]
        assert all(w["answering"] and w["cosigned_at"] for w in found["witnesses"])
        assert expect(site.client.get("/v1/keys"))["witnesses"] == [str(one.key), str(two.key)]
        metrics = site.service.metrics.text()
        assert f"fairdeal_cosigned_size {size_of(note)}\n" in metrics
        assert "fairdeal_witnesses_late 0\n" in metrics


def test_receipts_have_the_log_s_line_only_unless_cosignatures_are_asked_for(made, make_witness):
    """WIT-8, FILE-5."""
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        tables(site)
        wait_until(lambda: size_of(served(site)) == site.service.ledger.size)
        plain = site.client.get("/v1/receipts/0").text
        assert plain.count("— ") == 1
        cosigned = site.client.get("/v1/receipts/0?cosigned=1").text
        raw = next(site.service.reader.entries(0, 1).__iter__())
        for text in (plain, cosigned):
            Receipt.parse(text).verify(raw, made.log)
        assert cosigners(Receipt.parse(cosigned).note, one) == {one.key.name}
        assert site.client.get("/v1/receipts/0?cosigned=2").status_code == 400
        assert site.client.get("/v1/receipts/1?cosigned=1").status_code == 404


def test_a_hand_s_cosigned_receipt_passes_the_verifier(made, make_witness):
    """WIT-8, WIT-10: from the service to the standalone verifier, with its control."""
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        operator = tables(site)
        sealed = operator.open()["events"][-1]
        assert '"type":"seeds.sealed"' in sealed["event"]
        operator.deal()
        operator.close()
        wait_until(lambda: size_of(served(site)) == site.service.ledger.size)
        file = site.client.get(operator.url("/transcript")).content
        url = f"/v1/receipts/{sealed['index']}"
        cosigned, plain = site.client.get(url + "?cosigned=1").text, site.client.get(url).text
    for receipt, status in ((cosigned, "PASS"), (plain, "FAIL")):
        report = verify(file, key=str(made.log), receipts=[receipt], witnesses=[str(one.key)])
        assert {check.id: check.status for check in report}["log.witness"] == status
        assert report.exit == (0 if status == "PASS" else 1)


def test_while_the_quorum_lags_the_head_before_is_served_and_nobody_waits(made, make_witness):
    """WIT-6, WIT-8: the witness sleeps; clients are answered all the same."""
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        one.asleep = True
        begun = time.monotonic()
        tables(site)
        # After so long it would not be waited for any more.
        assert time.monotonic() - begun < circle._SECONDS
        assert site.service.ledger.size == 1
        assert size_of(served(site)) == 0
        assert site.client.get("/v1/receipts/0").status_code == 200
        assert site.client.get("/v1/receipts/0?cosigned=1").status_code == 404  # not in that head
        one.asleep = False
        wait_until(lambda: size_of(served(site)) == 1)


def test_one_request_at_a_time_and_heads_in_between_are_passed_over(made, make_witness):
    """WIT-6."""
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        one.delay = 0.3
        before = len(one.bodies)
        tables(site, 30)
        wait_until(lambda: size_of(served(site)) == 30)
        asked = len(one.bodies) - before
    assert one.most_under_way == 1
    assert 1 <= asked < 15


def test_one_of_two_is_enough_for_a_quorum_of_one(made, make_witness):
    one = make_witness().start(made.log)
    gone = make_witness("witness.example/w2")
    with Site(made(one, gone, witness_quorum=1)) as site:
        tables(site)
        wait_until(lambda: size_of(served(site)) == 1)
        assert cosigners(served(site), one, gone) == {one.key.name}
        assert [w["answering"] for w in state(site)["witnesses"]] == [True, False]
        assert not state(site)["late"]


def test_serve_goes_on_flagged_and_shows_the_newest_head(made, make_witness):
    """WIT-8, WIT-9."""
    one = make_witness().start(made.log)
    with Site(made(one, witness_patience=1)) as site:
        operator = tables(site)
        wait_until(lambda: size_of(served(site)) == 1)
        one.stop()
        operator.open()
        size = site.service.ledger.size
        assert size_of(served(site)) == 1
        wait_until(lambda: state(site)["late"])
        assert size_of(served(site)) == size
        assert served(site).count("— ") == 1
        assert site.client.get("/readyz").status_code == 200
        assert "fairdeal_witnesses_late 1\n" in site.service.metrics.text()
        operator.deal()
        operator.close()
        operator.open()  # nothing is refused
        one.start()
        wait_until(lambda: not state(site)["late"])
        wait_until(lambda: size_of(served(site)) == site.service.ledger.size)
        assert cosigners(served(site), one) == {one.key.name}


def test_no_new_hands_while_the_quorum_is_late_and_open_ones_end(made, make_witness):
    """WIT-9."""
    one = make_witness().start(made.log)
    with Site(made(one, witness_patience=1, witness_policy="no_new_hands")) as site:
        operator = tables(site)
        other = tables(site)
        operator.open()
        one.stop()
        url, head = f"/v1/tables/{other.table}/hands", bearer(other.key)
        site.client.post("/v1/tables", json={"game": "kozel", "custody": "operator"},
                         headers={**head, **idempotency()})  # fmt: skip
        wait_until(lambda: state(site)["late"])
        key = idempotency()
        refused = site.client.post(url, json={}, headers={**head, **key})
        problem = expect(refused, 503, "not_witnessed")
        assert problem["retryable"] is True
        assert refused.headers["retry-after"] == "1"
        assert site.client.get("/readyz").status_code == 200
        # A hand that is open goes on; only what follows it is refused.
        end = operator.url("/close")
        mine = bearer(operator.key)
        operator.deal()
        expect(
            site.client.post(end, json={"next": {}}, headers={**mine, **idempotency()}),
            503, "not_witnessed",
        )  # fmt: skip
        expect(site.client.post(end, json={}, headers={**mine, **idempotency()}))
        one.start()
        wait_until(lambda: not state(site)["late"])
        expect(site.client.post(url, json={}, headers={**head, **key}), 201)


def test_a_409_is_answered_by_a_proof_from_the_size_held(made, make_witness):
    """WIT-6: the service starts with nothing in memory, the witness with a head."""
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        tables(site, 3)
        wait_until(lambda: one.held(made.log.name) == 3)
    before = len(one.bodies)
    with Site(made()) as site:
        tables(site, 4)  # behind the witness's back
    with Site(made(one)) as site:
        assert [body.split(b"\n")[0] for body in one.bodies[before:]] == [b"old 0", b"old 3"]
        assert size_of(served(site)) == 7
        assert cosigners(served(site), one) == {one.key.name}


def test_a_witness_that_was_restarted_goes_on_from_its_state(made, make_witness):
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        tables(site, 2)
        wait_until(lambda: size_of(served(site)) == 2)
        one.stop()
        tables(site, 2)
        one.start()
        assert one.held(made.log.name) == 2
        wait_until(lambda: size_of(served(site)) == 4)


@pytest.mark.parametrize("status", [400, 403, 404, 500, 200])
def test_a_witness_that_refuses_or_lies_is_tried_again(made, make_witness, status):
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        one.status, one.text = status, b"\xe2\x80\x94 witness.example/w1 AAAA\n"
        tables(site)
        wait_until(lambda: not state(site)["witnesses"][0]["answering"])
        assert size_of(served(site)) == 0
        one.status = 0
        wait_until(lambda: size_of(served(site)) == 1)
        assert state(site)["witnesses"][0]["answering"]


def test_an_endless_answer_is_cut_off(made, make_witness):
    one = make_witness().start(made.log)
    one.status, one.text = 200, b"x" * 5_000_000
    with Site(made(one)) as site:
        assert not state(site)["witnesses"][0]["answering"]


@pytest.fixture
def slow(make_witness):
    """A witness that answers byte by byte, and never to the end of its head."""
    hosts = Hosts()
    one = make_witness()
    one.port = urlsplit(hosts(lambda: byte_by_byte(b"HTTP/1.1 200 OK\r\nA: b"))).port
    one.hosts = hosts
    yield one
    hosts.stop()


def test_a_start_does_not_wait_for_an_answer_without_an_end(made, slow, monkeypatch):
    monkeypatch.setattr(circle, "_SECONDS", 0.5)
    with Site(made(slow)) as site:  # it would wait for ever: see the control
        assert not state(site)["witnesses"][0]["answering"]


def test_control_a_timeout_of_silence_does(slow):
    with (
        httpx2.Client(trust_env=False, timeout=1.5) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        asked = pool.submit(client.post, slow.url)
        with pytest.raises(TimeoutError):
            asked.result(3)
        slow.hosts.stop()


# --- a witness ahead, or of another history -----------------------------------------------------


def frozen(monkeypatch, site):
    """What would have ended the process, instead of it."""
    ends = []
    monkeypatch.setattr(site.service.ledger, "_fatal", ends.append)
    return ends


def copied(made, tmp_path, name="clone"):
    """A copy of the data folder and of its anchor, as a machine's clone has them."""
    shutil.copytree(tmp_path / "data", tmp_path / name)
    shutil.copy(tmp_path / "data.anchor", tmp_path / f"{name}.anchor")
    return tmp_path / name


def test_a_start_is_refused_if_a_witness_is_ahead(made, make_witness, tmp_path):
    """WIT-7, LOG-7: database and anchor were restored together; only the witness knows."""
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        tables(site, 2)
        wait_until(lambda: one.held(made.log.name) == 2)
    old = copied(made, tmp_path)
    with Site(made(one)) as site:
        tables(site, 2)
        wait_until(lambda: one.held(made.log.name) == 4)
    settings = made(one).model_copy(update={"data": old, "anchor": None})
    with pytest.raises(StartRefused, match="does not extend"):
        Site(settings)
    # The control: without the witness nobody can tell, and the log would be forked.
    with Site(settings.model_copy(update={"witnesses": ()})) as site:
        assert site.service.ledger.size == 2


def test_a_start_is_refused_if_a_witness_has_another_history(made, make_witness, tmp_path):
    """WIT-7: of the same size, and of a smaller one."""
    one = make_witness().start(made.log)
    with Site(made()) as site:
        tables(site)
    clone = copied(made, tmp_path)
    with Site(made(one)) as site:
        tables(site, 2)
        wait_until(lambda: one.held(made.log.name) == 3)
    for more in (2, 2):  # to 3 entries, then to 5
        settings = made().model_copy(update={"data": clone, "anchor": None})
        with Site(settings) as site:
            tables(site, more)
        with pytest.raises(StartRefused, match="does not extend"):
            Site(settings.model_copy(update={"witnesses": (one.at,)}))


def test_a_running_service_freezes_if_a_witness_is_ahead(made, make_witness, monkeypatch, capsys):
    """WIT-7."""
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        tables(site)
        wait_until(lambda: size_of(served(site)) == 1)
        ends = frozen(monkeypatch, site)
        one.status, one.text, one.media = 409, b"1000\n", b"text/x.tlog.size"
        tables(site)
        wait_until(lambda: ends)
        assert isinstance(ends[0], Frozen)
        assert site.service.ledger._broken  # nothing more is signed or acknowledged
        said = capsys.readouterr().err
        assert re.search(r'"event":"witness.conflict","level":"critical"', said)


def test_control_a_witness_that_is_not_ahead_freezes_nobody(made, make_witness, monkeypatch):
    one = make_witness().start(made.log)
    with Site(made(one)) as site:
        ends = frozen(monkeypatch, site)
        tables(site, 2)
        one.status, one.text, one.media = 409, b"1\n", b"text/x.tlog.size"
        tables(site)
        wait_until(lambda: not state(site)["witnesses"][0]["answering"])
        assert not ends


@pytest.mark.parametrize("policy", ["go_on", "refuse"])
def test_a_witness_that_is_silent_at_the_start(made, make_witness, policy):
    gone = make_witness()
    if policy == "refuse":
        with pytest.raises(StartRefused, match="gives no cosignature"):
            Site(made(gone, witness_start=policy))
    else:
        with Site(made(gone)) as site:
            tables(site)
            assert size_of(served(site)) == 1  # there is no cosigned head to show yet
            gone.start(made.log)
            wait_until(lambda: state(site)["cosigned_size"] == 1)


# --- settings -----------------------------------------------------------------------------------

VKEY_BYTES = SigningKey("x", bytes(32)).verifier.key
VKEY = str(WitnessKey("w.example", VKEY_BYTES))


@pytest.mark.parametrize(
    "more",
    [
        {"witnesses": [{"url": "ftp://w.example", "vkey": VKEY}]},
        {"witnesses": [{"url": "http://me:secret@w.example", "vkey": VKEY}]},
        {"witnesses": [{"url": "http://w.example?x", "vkey": VKEY}]},
        {"witnesses": [{"url": "http://w.example", "vkey": VKEY[:-1]}]},
        {
            "witnesses": [
                {"url": "http://w.example", "vkey": str(SigningKey("x", bytes(32)).verifier)}
            ]
        },
        {"witnesses": [{"url": "http://w.example", "vkey": VKEY}] * 2},
        {"witness_quorum": 1},
        {"witness_policy": "stop"},
        {"witness_patience": 0},
    ],
)
def test_settings_that_are_refused(more):
    with pytest.raises(ValueError, match="witness"):
        Settings(**more)


def test_the_quorum_is_by_default_more_than_half():
    def quorum(count):
        at = [{"url": f"http://w{n}.example", "vkey": str(WitnessKey(f"w{n}", bytes([n]) * 32))}
              for n in range(count)]  # fmt: skip
        return Settings(witnesses=at).quorum

    assert [quorum(count) for count in range(6)] == [0, 1, 2, 2, 3, 3]


def test_witnesses_are_read_from_file_environment_and_flags(tmp_path, monkeypatch):
    other = str(WitnessKey("v.example", VKEY_BYTES))
    file = tmp_path / "fairdeal.toml"
    file.write_text(f'[[witnesses]]\nurl = "http://w.example"\nvkey = "{VKEY}"\n', "utf-8")
    one, two = {"url": "http://w.example", "vkey": VKEY}, {"url": "http://v.example", "vkey": other}

    def names(**flags):
        return [at.vkey.split("+")[0] for at in load(file, **flags).witnesses]

    assert names() == ["w.example"]
    monkeypatch.setenv("FAIRDEAL_WITNESSES", json.dumps([two]))
    assert names() == ["v.example"]
    assert names(witnesses=[one, two]) == ["w.example", "v.example"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("w.example", "FAIRDEAL_WITNESSES is not JSON"),
        ("{}", r"witnesses \(FAIRDEAL_WITNESSES\)"),
        ('[{"url": "http://w.example"}]', r"witnesses.0.vkey \(FAIRDEAL_WITNESSES\)"),
        ('[{"url": "http://w.example", "vkey": "x"}]', "must be a witness's vkey"),
    ],
)
def test_a_setting_that_is_wrong_is_said_in_a_sentence(monkeypatch, text, sentence):
    monkeypatch.setenv("FAIRDEAL_WITNESSES", text)
    with pytest.raises(ConfigurationError, match=sentence):
        load()


def test_a_flag_takes_url_and_vkey():
    done = CliRunner().invoke(app, ["serve", "--data", "nowhere", "--witness", VKEY])
    assert done.exit_code == 2
    assert "URL and the vkey" in done.output
    done = CliRunner().invoke(app, ["serve", "--data", "nowhere", "--witness", f"http://w {VKEY}"])
    assert done.exit_code == 1  # the witness is read; there is no service in that folder
    assert "no service" in done.output
