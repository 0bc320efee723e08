"""`page_verify`: the page's verifier in Chromium, against the Python verifier on the same file.

A hand of Mus with three reshuffles. Runs of the two take turns; the page's verifier is built from
its sources as the page is. The first run in a fresh page, which a player waits for, is apart.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.floor import report
from fairdeal_verifier.verify import verify

ROOT = Path(__file__).parents[1]
WEB = ROOT / "verifier/web"
SEEDS = ROOT / "seeds"
HAND = SEEDS / "mus-reshuffled.fair.json"
ROUNDS = 60
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def library(folder: Path) -> str:
    """The verifier of the page as one script, under the name `fairdeal`."""
    node = shutil.which("node", path=str(Path(sys.executable).parent))
    bundler = WEB / "node_modules/rolldown/bin/cli.mjs"
    if node is None or not bundler.is_file():
        raise SystemExit("`make test` installs what page_verify needs")
    out = folder / "verify.js"
    options = ["--format", "iife", "--name", "fairdeal", "--minify", "--file", str(out)]
    command = [node, str(bundler), "src/verify/index.ts", *options]
    subprocess.run(command, cwd=WEB, check=True, stdout=subprocess.DEVNULL)
    return out.read_text("utf-8")


def main() -> None:
    """Print the figures."""
    data = HAND.read_bytes()
    key = (SEEDS / "log.vkey").read_text("utf-8").strip()
    if verify(data, key=key).exit != 0:
        raise SystemExit("the hand to measure is not valid")
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("page_verify needs Chromium (Debian: chromium)")
    ours: list[float] = []
    theirs: list[float] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.add_script_tag(content=library(Path(folder)))
        page.evaluate(
            "([data, key]) => { window.run = () => {"
            " const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));"
            " const start = performance.now(); const found = fairdeal.verify(bytes, {key});"
            " const end = performance.now();"
            " if (found.exit !== 0) throw new Error(found.verdict);"
            " return (end - start) / 1000 } }",
            [base64.b64encode(data).decode(), key],
        )
        first = page.evaluate("run()")
        for _ in range(ROUNDS):
            theirs.append(page.evaluate("run()"))
            start = time.perf_counter()
            verify(data, key=key)
            ours.append(time.perf_counter() - start)
        browser.close()
    report(
        "page_verify", min(theirs) / min(ours), "times the Python verifier", 3,
        milliseconds=round(1000 * min(theirs), 1), python=round(1000 * min(ours), 1),
        first_run=round(1000 * first, 1), bytes=len(data),
    )  # fmt: skip
