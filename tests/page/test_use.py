"""The page as players use it: by keyboard, on a telephone, from a link, with bad files."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from itertools import count
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page

from fairdeal.hashing import Digest
from fairdeal.seeds import Commitment, SeatSeed, seal
from tests.page.parity import INDEX, KEY, ROOT, SEEDS, WEB

PAGE = ROOT / "verifier/fairdeal_verifier/verify.html"
URL = PAGE.as_uri()
AXE = WEB / "node_modules/axe-core/axe.min.js"
LANGUAGES = ("en", "ru", "es", "zu", "ta")
SCREENS = ROOT / "build/screens"
WORDS = {0: "verified", 1: "failed", 3: "incomplete", 4: "unreadable"}


class Visit:
    """An open page, and all that it did besides showing itself."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda r: self.requests.append(r.url))
        page.on("console", lambda m: self.complaints.append(m.text))
        page.on("pageerror", lambda e: self.complaints.append(str(e)))

    def open(self, url: str = URL) -> Visit:
        self.page.goto(url)
        self.page.wait_for_selector("main h1, main h2")
        return self

    def bring(self, *files: tuple[str, bytes]) -> None:
        """Choose files; when their verdict stands, the old one has gone."""
        self.page.evaluate("for (const e of document.querySelectorAll('.verdict')) e.remove()")
        self.page.set_input_files(
            "input[type=file]",
            [{"name": n, "mimeType": "application/json", "buffer": data} for n, data in files],
        )
        self.page.wait_for_selector(".verdict")

    def verdict(self) -> tuple[str, str | None]:
        """The word of the banner, and the id that it names."""
        banner = self.page.locator(".verdict").first
        word = (banner.get_attribute("class") or "").split()[-1]
        first = banner.locator(".first code")
        return word, first.first.text_content() if first.count() else None

    def overflow(self) -> int:
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    options: dict[str, Any] = getattr(
        request, "param", {"viewport": {"width": 1100, "height": 900}}
    )
    context = browser.new_context(accept_downloads=False, locale="en-GB", **options)
    visit = Visit(context.new_page())
    yield visit
    context.close()


def read(name: str) -> tuple[str, bytes]:
    return name, (SEEDS / name).read_bytes()


def test_it_is_one_small_file_that_names_no_other():
    data = PAGE.read_text("utf-8")
    assert len(data.encode()) < 150_000
    assert not re.search(r"""(?:src|href)=["'](?!#)""", data)
    assert "default-src 'none'" in data
    assert "connect-src 'none'" in data
    assert "unsafe" not in data.split("</head>")[0]


def test_control_a_request_and_a_complaint_would_be_seen(visit):
    visit.page.route(
        "**/*",
        lambda route: (
            route.fulfill(body="<h1>x</h1>") if "x.test" in route.request.url else route.continue_()
        ),
    )
    visit.page.set_content("<main><h1>x</h1></main><img src='http://x.test/i.png'>")
    visit.page.evaluate("console.error('seen')")
    visit.page.wait_for_timeout(100)
    assert visit.requests
    assert "seen" in visit.complaints


def test_the_policy_lets_nothing_connect(visit):
    visit.open()
    blocked = visit.page.evaluate(
        "fetch('data:text/plain,x').then(() => 'let through', () => 'refused')"
    )
    assert blocked == "refused"


HOSTILE = {
    "html": b'{"<img src=x onerror=alert(1)>":"<script>alert(2)</script>"}',
    "cut off": (SEEDS / "kozel-played.fair.json").read_bytes()[:2000],
    "deep": b"[" * 1_000_000,
    "binary": bytes(range(256)) * 500,
    "empty": b"",
    "numbers": b'{"format":1e999999}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gives_a_sentence(visit, name):
    visit.open()
    visit.page.on("dialog", lambda dialog: visit.complaints.append("a dialog opened"))
    visit.bring(("hand.fair.json", HOSTILE[name]))
    assert visit.verdict()[0] in ("unreadable", "failed")
    assert len(visit.page.locator(".verdict").first.inner_text()) > 30
    assert visit.complaints == []


def test_a_file_that_is_too_long_is_not_read(visit):
    visit.open()
    data = b"a" * (5 * 1024 * 1024 + 1)
    visit.page.set_input_files(
        "input[type=file]", [{"name": "x", "mimeType": "text/plain", "buffer": data}]
    )
    visit.page.wait_for_selector("[role=alert] *")
    assert "5 MiB" in visit.page.locator("[role=alert]").first.inner_text()


def axe(visit: Visit) -> list[str]:
    visit.page.evaluate(AXE.read_text("utf-8"))
    found = visit.page.evaluate("axe.run()")
    return [f"{v['id']}: {v['nodes'][0]['html'][:150]}" for v in found["violations"]]


CHECKED: dict[str, Any] = {"bypass_csp": True}
"""axe is a script of ours, which the page's own policy refuses."""


def open_folds(visit: Visit) -> None:
    for inside in (".group", ".check", ".numbers"):
        visit.page.evaluate(
            "selector => { for (const e of [...document.querySelectorAll(selector)].slice(0, 12))"
            " e.click() }",
            f"#checks {inside}:not([open]) > summary",
        )


@pytest.mark.parametrize(
    ("visit", "language"),
    [
        ({**CHECKED, "viewport": {"width": width, "height": 800}, "color_scheme": scheme}, tag)
        for tag, width, scheme in (
            ("en", 1280, "light"), ("en", 360, "dark"), ("ru", 360, "light"), ("es", 360, "dark"),
            ("zu", 360, "light"), ("ta", 360, "dark"), ("ta", 1280, "light"),
        )
    ],
    indirect=["visit"],
)  # fmt: skip
def test_each_language_is_accessible_and_fits_a_telephone(visit, language):
    visit.open(f"{URL}#lang={language}")
    assert visit.page.evaluate("document.documentElement.lang") == language
    SCREENS.mkdir(parents=True, exist_ok=True)
    width = visit.page.viewport_size["width"]
    wrong = {}
    states = {
        "start": None,
        "kozel": ["kozel-played.fair.json", "log.vkey"],
        "mus": ["mus-reshuffled.fair.json", "log.vkey"],
        "unconfirmed": ["azi-played.fair.json"],
        "failed": ["kozel-chain_fail.fair.json", "log.vkey"],
        "match": ["azi-match_1.fair.json", "azi-match_2.fair.json", "log.vkey"],
    }
    for state, files in states.items():
        if files:
            visit.bring(*[read(name) for name in files])
            open_folds(visit)
        found = axe(visit)
        if visit.overflow() > 0:
            found.append(f"wider than the window by {visit.overflow()}")
        if found:
            wrong[state] = found
        visit.page.screenshot(path=SCREENS / f"{state}-{language}-{width}.png", full_page=True)
        text = visit.page.locator("main").inner_text()
        assert not re.search(r"\b(?:page|report|check|why|story|note)\.[a-z_]+\b(?!\.)", text)
    assert wrong == {}
    assert visit.complaints == []


@pytest.mark.parametrize("visit", [{"bypass_csp": True}], indirect=True)
def test_control_axe_finds_what_is_wrong(visit):
    visit.open()
    visit.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any("button-name" in fault for fault in axe(visit))


def test_by_the_keyboard_alone(visit):
    visit.open()
    page = visit.page
    with page.expect_file_chooser() as chosen:
        for _ in range(12):
            page.keyboard.press("Tab")
            name = page.evaluate("document.activeElement.textContent")
            if name == "Choose files":
                page.keyboard.press("Enter")
                break
    chosen.value.set_files([str(SEEDS / "kozel-played.fair.json")])
    page.wait_for_selector(".verdict.consistent")

    def reach(what: str, test: str) -> None:
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate(f"(e => {test})(document.activeElement)"):
                shape = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert shape != "none", f"the focus on {what} cannot be seen"
                return
        raise AssertionError(f"{what} cannot be reached")

    reach("the key's confirmation", "e.matches('.ask .primary')")
    page.keyboard.press("Enter")
    page.wait_for_selector(".verdict.verified")
    reach("the next step", "e.getAttribute('aria-label') === 'Next step'")
    page.keyboard.press("Enter")
    reach("a group of checks", "e.matches('#checks .group > summary')")
    page.keyboard.press("Enter")
    assert page.locator("#checks .group[open]").count() >= 1
    reach("a check", "e.matches('#checks .check > summary')")
    page.keyboard.press("Enter")
    reach("its numbers", "e.matches('#checks .numbers > summary')")
    page.keyboard.press("Enter")
    assert page.locator("#checks .numbers[open]").count() == 1
    assert visit.complaints == []


def test_a_tampered_copy_is_found_and_left_again(visit):
    visit.open()
    visit.bring(read("kozel-played.fair.json"), read("log.vkey"))
    page = visit.page
    changes = page.eval_on_selector_all("#change option", "options => options.map(o => o.value)")
    assert len(changes) >= 5
    for change in changes:
        page.select_option("#change", change)
        page.click("#tamper button")
        page.wait_for_selector(".copy")
        assert visit.verdict()[0] == "failed", change
        assert visit.verdict()[1]
        page.click(".copy button")
        page.wait_for_selector(".verdict.verified")


def test_an_own_seed_is_the_one_that_was_used(visit):
    visit.open()
    visit.bring(read("kozel-played.fair.json"), read("log.vkey"))
    page = visit.page
    file = json.loads((SEEDS / "kozel-played.fair.json").read_bytes())
    seeds: dict[str, str] = {}
    for raw in file["events"]:
        event = json.loads(raw)
        if event["type"] == "seeds.opened":
            seeds |= event["seeds"]
    page.fill("#my-seed", "00" * 32)
    page.click("#mine form button")
    page.wait_for_selector(".verdict.failed")
    assert visit.verdict()[1] == "mine"
    page.fill("#my-seed", seeds["0"])
    page.click("#mine form button")
    page.wait_for_selector(".verdict.verified")
    assert visit.complaints == []


def test_the_page_does_not_freeze(visit):
    """The longest task of a verification, in the browser's own words, is a small part of it all."""
    visit.open()
    visit.page.evaluate(
        "window.tasks = []; new PerformanceObserver(l => { for (const e of l.getEntries())"
        " window.tasks.push(e.duration) }).observe({entryTypes: ['longtask']})"
    )
    visit.bring(read("svoi-played.fair.json"), read("log.vkey"))
    visit.page.wait_for_timeout(300)
    tasks = visit.page.evaluate("window.tasks")
    assert max(tasks, default=0) < 1000, tasks


def test_the_hash_that_it_shows_is_that_of_its_file(visit):
    visit.open()
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_verifier", "--page-hash"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    digest = re.search(r"[0-9a-f]{64}", done.stdout)
    assert digest
    shown = re.sub(r"\s", "", visit.page.locator("#about").inner_text())
    assert digest[0] in shown


def test_a_hand_in_the_link(visit):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress((SEEDS / "mus-played.fair.json").read_bytes()) + packer.flush()
    link = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    visit.open(f"{URL}#h={link}&key={quote(KEY, safe='')}")
    visit.page.wait_for_selector(".verdict.consistent")  # a link's key is not trusted by itself
    visit.page.click(".ask .primary")
    visit.page.wait_for_selector(".verdict.verified")
    assert visit.complaints == []


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A real service with one hand that was played; its address, and the link in its answer."""
    folder = tmp_path_factory.mktemp("served")
    cli = [sys.executable, "-m", "fairdeal_api.cli"]
    data = ["--data", str(folder / "data")]
    subprocess.run([*cli, "init", *data], check=True, capture_output=True)
    made = subprocess.run(
        [*cli, "operator-key", "create", *data, "--name", "page"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    token = re.search(r"fd_\S+", made.stdout)
    assert token
    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen([*cli, "serve", *data, "--port", "0"], stdout=out, stderr=out)
    try:
        for _ in range(300):
            found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text("utf-8"))
            if found:
                break
            time.sleep(0.1)
        assert found, log.read_text("utf-8")
        yield found[0], play_a_hand(found[0], token[0])
    finally:
        process.terminate()
        process.wait(20)


def play_a_hand(base: str, token: str) -> str:
    """A hand of Mus with one operator; the link to check it, as its last answer gives it."""
    numbers = count(1)

    def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Idempotency-Key": f"page-test-{next(numbers)}",
        }
        request = Request(base + path, json.dumps(body).encode(), headers)
        with urlopen(request, timeout=20) as answer:
            value: dict[str, Any] = json.load(answer)
        return value

    table = post("/v1/tables", {"game": "mus", "custody": "operator"})
    terms = Digest.from_hex(table["terms"])
    commitment = Commitment(bytes.fromhex(table["next_commitment"]))
    seeds = {seat: SeatSeed(bytes([seat + 1]) * 32) for seat in range(4)}
    seals = {str(s): seal(terms, 1, s, commitment, seed).hex() for s, seed in seeds.items()}
    hands = f"/v1/tables/{table['table']}/hands"
    post(hands, {"seals": seals})
    post(f"{hands}/1/deal", {"seeds": {str(seat): seed.hex() for seat, seed in seeds.items()}})
    return base + str(post(f"{hands}/1/close", {})["verify_url"])


def test_from_the_link_in_an_answer_to_a_verdict_in_two_clicks(visit, service):
    base, link = service
    clicks = 0
    visit.page.goto(link)  # the first click: the link
    clicks += 1
    visit.page.wait_for_selector(".ask .primary", timeout=15_000)
    visit.page.click(".ask .primary")
    clicks += 1
    visit.page.wait_for_selector(".verdict.verified")
    assert clicks == 2
    assert {url.split("#")[0].split("/")[2] for url in visit.requests} == {base.split("/")[2]}
    assert visit.complaints == []


def test_the_service_serves_the_same_page(visit, service):
    base, _ = service
    visit.open(f"{base}/verify")
    assert len(visit.requests) == 1
    for name in ("kozel-played.fair.json", "azi-bank_fail.fair.json"):
        visit.bring(read(name), read("log.vkey"))
        expected = INDEX[name]
        assert visit.verdict() == (WORDS[expected["exit"]], expected["failed"])
    assert len(visit.requests) == 1
    assert visit.complaints == []
    response = visit.page.request.get(f"{base}/verify")
    assert response.body() == PAGE.read_bytes()
