"""One headless Chromium for all tests of this folder, and a running service with a few hands."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from fairdeal_api.terminal.processes import Service
from tests.api.play import Operator
from tests.page.parity import ROOT, WEB, Asked, Said

FILE = ROOT / "verifier" / "fairdeal_verifier" / "verify.html"
SCREENS = ROOT / "build" / "screens"
_CLIPBOARD = """
Object.defineProperty(navigator, "clipboard", {value: {
  writeText: (text) => { window.copied = text; window.told?.(text); return Promise.resolve(); }
}});
window.longTasks = [];
window.watch = new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.longTasks.push(one.duration);
});
window.watch.observe({type: "longtask", buffered: true});
"""
_VERDICT = """() => {
  const verdict = document.querySelector("main .verdict");
  const word = [...verdict.classList].find(one => one !== "verdict").toUpperCase();
  const failed = verdict.querySelector(".first code")?.innerText ?? null;
  return [word, failed, document.querySelector("#keep") !== null];
}"""
_PRESS = "button => new Promise(told => { window.told = told; button.click(); })"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found is not None, (
        "Chromium is needed (Debian: chromium), and `make test` could not install it."
    )
    # Its own driver process; no browser is fetched. The sandbox needs a kernel that not every
    # container has, and nothing but our own page is opened.
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--disable-quic", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync", "--no-first-run"],
        )  # fmt: skip
        yield browser
        browser.close()


class Running:
    """A service, and hands that have been played at it."""

    def __init__(self, folder: Path) -> None:
        self.process = Service(folder)
        self.url = self.process.wait().url
        self.client = httpx2.Client(base_url=self.url, trust_env=False)
        key = self.process.operator_key()
        self.hands: list[dict[str, Any]] = []
        for game in ("kozel", "mus", "azi", "svoi"):
            table = Operator(self.client, key, game)
            table.open()
            table.deal()
            self.hands.append(table.close())
        self._key = key

    def under_way(self) -> str:
        """A table with a hand that has just begun: in two minutes it is aborted."""
        table = Operator(self.client, self._key, "kozel")
        table.open()
        return table.table

    def end(self) -> None:
        self.client.close()
        self.process.end()


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("service"))
    yield running
    running.end()


@pytest.fixture(params=["file", "service"])
def address(request: pytest.FixtureRequest) -> str:
    """Where the page is opened from."""
    if request.param == "file":
        return FILE.as_uri()
    return f"{request.getfixturevalue('service').url}/verify"


class Sheet:
    """The page that checks hands, opened; it notes all that it asks for and complains of."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.set_default_timeout(60_000)
        page.on("request", lambda one: self.requests.append(one.url))
        page.on("console", lambda one: self.complaints.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda one: self.complaints.append(str(one)))
        page.add_init_script(_CLIPBOARD)
        page.goto(address)
        page.locator("main").first.wait_for(state="attached")  # its script is unpacked first

    def give(self, *files: tuple[str, bytes]) -> None:
        """Choose files, as a player does, and wait for what the page says of them."""
        self.page.evaluate("document.querySelector('main .verdict')?.setAttribute('data-old', '')")
        self.page.locator("input[type=file]").set_input_files(
            [{"name": n, "mimeType": "application/octet-stream", "buffer": d} for n, d in files]
        )
        self.settle()

    def settle(self) -> None:
        self.page.locator("main .verdict:not([data-old])").wait_for()

    def ask(self, asked: Asked, *, keyless: bool = False) -> None:
        """Give a hand, with the key to trust and whatever else belongs to it."""
        more = [] if keyless else [("log.vkey", asked.key.encode())]
        more += [] if asked.rotations is None else [("rotations", asked.rotations.encode())]
        more += [(f"{i}.receipt", one.encode()) for i, one in enumerate(asked.receipts)]
        more += [(f"{i}.vkey", one.encode()) for i, one in enumerate(asked.witnesses)]
        more += [("notes.json", asked.notes.encode())] if asked.notes else []
        self.give(("hand.fair.json", asked.data), *more)

    @property
    def word(self) -> str:
        classes = (self.page.locator("main .verdict").first.get_attribute("class") or "").split()
        return next(one for one in classes if one != "verdict").upper()

    @property
    def failed(self) -> str | None:
        first = self.page.locator("main .verdict .first code")
        return first.first.inner_text() if first.count() else None

    def verdict(self) -> tuple[str, str | None, bool]:
        """Word, failed check, and whether there is a report, at one look: they were waited for."""
        word, failed, kept = self.page.evaluate(_VERDICT)
        return word, failed, kept

    def report(self, *, by_mouse: bool = False) -> dict[str, Any]:
        """The report as a player copies it.

        Args:
            by_mouse: Press the button with the mouse; that takes longer than to verify the hand.
        """
        button = self.page.locator("#keep button").nth(1)
        if by_mouse:
            button.click()
            self.page.wait_for_function("window.copied !== undefined")
            return json.loads(self.page.evaluate("window.copied"))
        return json.loads(button.evaluate(_PRESS))

    def said(self) -> Said:
        """What the report says; behind each note stands what was compared."""
        report = self.report()
        checks = tuple((check["id"], check["status"]) for check in report["checks"])
        notes = tuple(check["detail"] for check in report["checks"])
        return Said(report["verdict"], report["exit"], report["failed"], checks, notes)

    def close(self) -> None:
        """No test leaves a page that has asked for something or complained."""
        assert self.requests == [self.address.partition("#")[0]] or self.requests == [self.address]
        assert self.complaints == []
        self.page.context.close()


@pytest.fixture
def sheet(browser: Browser) -> Iterator[Any]:
    """Opens the page; at the end none may have asked for anything but itself."""
    opened: list[Sheet] = []

    def open_it(address: str = FILE.as_uri(), **more: Any) -> Sheet:
        page = browser.new_context(**{"locale": "en-GB", **more}).new_page()
        opened.append(Sheet(page, address))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def axe() -> str:
    file = WEB / "node_modules" / "axe-core" / "axe.min.js"
    assert file.is_file(), "axe-core is needed: `make test` installs it (npm ci in verifier/web)."
    return file.read_text("utf-8")
