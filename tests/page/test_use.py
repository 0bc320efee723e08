"""The page as players use it: in their language, by keyboard, on a telephone, from a link."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import zlib
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.page.conftest import FILE, SCREENS, Sheet
from tests.page.parity import INDEX, KEY, ROOT, SEEDS, vector

CHECKED = {"bypass_csp": True}
"""axe is a script of ours, which the page's own policy refuses."""


def test_control_a_request_and_a_complaint_would_be_seen(browser):
    page = Sheet(browser.new_context(**CHECKED).new_page(), FILE.as_uri())
    page.page.route("http://x.test/*", lambda route: route.fulfill(body="x"))
    page.page.evaluate("new Image().src = 'http://x.test/i.png'; console.error('seen')")
    page.page.wait_for_timeout(100)
    assert "http://x.test/i.png" in page.requests
    assert "error: seen" in page.complaints
    page.page.context.close()


def test_the_policy_lets_nothing_connect(sheet):
    page = sheet()
    blocked = page.page.evaluate(
        "fetch('data:text/plain,x').then(() => 'let through', () => 'refused')"
    )
    assert blocked == "refused"
    assert page.complaints
    assert all("Content Security Policy" in complaint for complaint in page.complaints)
    page.complaints.clear()


SQUEEZED = """
[...document.querySelectorAll("main span, main p, main button, main td")].filter(one => {
  const box = one.getBoundingClientRect();
  const thin = one.textContent.length > 6 && box.width > 0 && box.width < 48 && box.height > 72;
  return thin || (one.matches("summary > span") && one.scrollWidth > one.clientWidth + 1);
}).map(one => one.textContent)"""


AXE = """axe.run({resultTypes: ["violations"]}).then(({violations}) =>
  violations.map(one => `${one.id}: ${one.nodes[0].html.slice(0, 150)}`))"""
"""All rules; what they find in order is some megabytes, and stays there."""


def faults(page: Page, axe: str) -> list[str]:
    """What axe finds, whether the page is wider than the window, and words squeezed to letters."""
    if page.evaluate("window.axe === undefined"):
        page.evaluate(f"{axe}; undefined")
    found = page.evaluate(AXE)
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [
        *found,
        *([f"wider than the window by {wider}"] if wider > 0 else []),
        *(f"squeezed, or out of its box: {text[:40]}" for text in page.evaluate(SQUEEZED)),
    ]


def open_folds(page: Page) -> None:
    for inside in (".group", ".check", ".numbers"):
        page.evaluate(
            "selector => { for (const e of [...document.querySelectorAll(selector)].slice(0, 12))"
            " e.click() }",
            f"#checks {inside}:not([open]) > summary",
        )


@pytest.mark.parametrize(
    ("language", "width", "scheme"),
    [
        ("en", 1280, "light"), ("en", 360, "dark"), ("ru", 360, "light"), ("es", 360, "dark"),
        ("zu", 360, "light"), ("ta", 360, "dark"), ("ta", 1280, "light"),
    ],
)  # fmt: skip
def test_each_language_is_accessible_and_fits_a_telephone(sheet, axe, language, width, scheme):
    size = {"width": width, "height": 800}
    address = f"{FILE.as_uri()}#lang={language}"
    page = sheet(address, viewport=size, color_scheme=scheme, **CHECKED)
    page.page.locator("h1").first.wait_for()
    assert page.page.evaluate("document.documentElement.lang") == language
    SCREENS.mkdir(parents=True, exist_ok=True)
    wrong = {}
    states = {
        "start": None,
        "unconfirmed": ["azi-played.fair.json"],  # before a key is given: it is remembered
        "kozel": ["kozel-played.fair.json", "log.vkey"],
        "mus": ["mus-reshuffled.fair.json", "log.vkey"],
        "azi": ["azi-played.fair.json", "log.vkey"],
        "svoi": ["svoi-played.fair.json", "log.vkey"],
        "failed": ["kozel-chain_fail.fair.json", "log.vkey"],
        "match": ["azi-match_1.fair.json", "azi-match_2.fair.json", "log.vkey"],
    }
    for state, files in states.items():
        if files:
            page.give(*[(name, (SEEDS / name).read_bytes()) for name in files])
        # As it is first seen: with all opened it is a strip of some 15,000 pixels.
        page.page.screenshot(path=SCREENS / f"{state}-{language}-{width}.png", full_page=True)
        open_folds(page.page)
        if found := faults(page.page, axe):
            wrong[state] = found
        text = page.page.locator("main").inner_text()
        assert not re.search(r"\b(?:page|report|check|why|story|note)\.[a-z_]+\b(?!\.)", text)
    assert wrong == {}


def test_control_axe_finds_what_is_wrong(sheet, axe):
    page = sheet(**CHECKED).page
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any("button-name" in fault for fault in faults(page, axe))


def test_by_the_keyboard_alone(sheet):
    page = sheet().page
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


def test_the_hash_that_it_shows_is_that_of_its_file(sheet):
    page = sheet()
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_verifier", "--page-hash"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    digest = re.search(r"[0-9a-f]{64}", done.stdout)
    assert digest
    assert digest[0] in re.sub(r"\s", "", page.page.locator("#about").inner_text())


def test_who_cannot_run_it_is_told_in_five_languages(browser):
    """Without scripts, and in a browser too old to unpack the page; and nobody else is told."""
    cannot = {
        "no scripts": browser.new_context(java_script_enabled=False),
        "too old": browser.new_context(),
        "can": browser.new_context(),
    }
    cannot["too old"].add_init_script("delete window.DecompressionStream")
    pages = {name: context.new_page() for name, context in cannot.items()}
    for page in pages.values():
        page.goto(FILE.as_uri())
    page.wait_for_timeout(2500)  # they wait for two seconds, so that it never only flashes
    for name in ("no scripts", "too old"):
        pages[name].locator("#off p:visible").first.wait_for()
    said = {}
    for name, page in pages.items():
        visible = page.locator("#off p:visible")
        said[name] = visible.evaluate_all("all => all.map(one => one.lang)")
        if visible.count():
            assert "Firefox 113" in visible.first.inner_text()
        page.context.close()
    five = ["en", "ru", "es", "zu", "ta"]
    assert said == {"no scripts": five, "too old": five, "can": []}


def test_a_check_that_breaks_off_is_said_and_not_passed(sheet):
    """In a browser that lacks something of which nobody has thought."""
    page = sheet()
    page.page.evaluate("Array.prototype.findLastIndex = undefined")  # what the referee uses
    page.page.locator("input[type=file]").set_input_files(SEEDS / "mus-played.fair.json")
    problem = page.page.locator(".problem")
    problem.wait_for()
    assert "fairdeal-verify" in problem.inner_text()
    assert page.page.locator("main .verdict, progress").count() == 0
    assert page.complaints  # whoever looks into the console sees what it was
    page.complaints.clear()


def test_a_hand_in_the_link(sheet):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress((SEEDS / "mus-played.fair.json").read_bytes()) + packer.flush()
    link = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    page = sheet(f"{FILE.as_uri()}#h={link}&key={quote(KEY, safe='')}")
    page.settle()
    assert page.word == "CONSISTENT"  # a link's key is not trusted by itself
    page.page.click(".ask .primary")
    page.page.wait_for_selector("main .verdict.verified")


def test_from_the_link_in_an_answer_to_a_verdict_in_two_clicks(browser, service):
    for played in service.hands:
        link = service.url + played["verify_url"]
        page = Sheet(browser.new_context().new_page(), link)  # the first click
        page.page.click(".ask .primary")  # the second
        page.page.wait_for_selector("main .verdict.verified")
        assert all(url.startswith(f"{service.url}/") for url in page.requests)
        assert page.complaints == []
        page.page.context.close()


def test_the_service_serves_the_same_page(sheet, service):
    page = sheet(f"{service.url}/verify")
    for name in ("kozel-played.fair.json", "azi-bank_fail.fair.json"):
        page.ask(vector(name))
        assert (page.word == "VERIFIED", page.failed) == (
            INDEX[name]["exit"] == 0,
            INDEX[name]["failed"],
        )
    response = page.page.request.get(page.address)
    assert response.body() == FILE.read_bytes()
