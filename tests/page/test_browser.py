"""The page in Chromium: the verdicts of the verifier in Python, and nothing asked of anybody."""

from __future__ import annotations

import re
import subprocess

from fairdeal_api.site.hand import fragment
from tests.page.conftest import FILE
from tests.page.mutations import mutated
from tests.page.parity import (
    INDEX,
    KEY,
    MATCHES,
    SEEDS,
    WEB,
    Asked,
    by_python,
    node,
    rotated,
    vector,
)
from tests.page.test_verdicts import broken, settled


def agrees(sheet, asked: Asked) -> str:
    """Ask the page; empty if it says what Python says."""
    ours = by_python(asked)
    sheet.ask(asked)
    word = ours.verdict.split()[0].rstrip(",")
    *seen, has_report = sheet.verdict()
    if seen != [word, ours.failed]:
        return f"{seen} and not {[word, ours.failed]}"
    if not has_report:
        # A file of which nothing can be shown has no report to copy.
        return "" if ours.exit == 4 or ours.failed == "format" else "no report"
    theirs = sheet.said()
    a, b = settled(theirs), settled(ours)
    is_same = a._replace(notes=()) == b._replace(notes=())
    # What was compared comes behind the note, and each verifier writes that in its own way.
    if is_same and all(
        detail.startswith(note) for detail, note in zip(a.notes, b.notes, strict=True)
    ):
        return ""
    return f"{theirs} and not {ours}"


def test_every_vector(sheet, address):
    page = sheet(address)
    found = {name: agrees(page, vector(name)) for name in INDEX}
    assert {name: fault for name, fault in found.items() if fault} == {}


OF_TWO_TABLES = {"kozel-match_mixed_fail", "mus-unreadable_fail", "mus-unreadable_gap_fail"}


def test_every_match(sheet, address):
    page = sheet(address)
    for name, expected in MATCHES.items():
        files = [(file, (SEEDS / file).read_bytes()) for file in expected["files"]]
        if name.endswith("order_fail"):
            continue  # the page puts files in order by itself: the file manager's means nothing
        if name in OF_TWO_TABLES:
            # The command was asked for a match; here two files were dropped, and may be mixed up.
            page.page.locator("input[type=file]").set_input_files(
                [SEEDS / file for file in expected["files"]]
            )
            page.page.get_by_text("several tables").wait_for()
            continue
        page.give(*files, ("log.vkey", KEY.encode()))
        report = page.report()
        assert (report["exit"], report["failed"]) == (expected["exit"], expected["failed"]), name
        assert [one["report"]["exit"] for one in report["files"]] == [
            INDEX[file]["exit"] for file in expected["files"]
        ]


def test_fifty_spoilt_files(sheet, address):
    page = sheet(address)
    found = {one.name: agrees(page, Asked(one.data)) for one in list(mutated(2000))[::40]}
    assert len(found) == 50
    assert {name: fault for name, fault in found.items() if fault} == {}


def test_control_a_page_that_is_broken_on_purpose_is_found(sheet, tmp_path):
    web = broken(tmp_path, ("ceremony.ts", "agree(made, sealed) ?", "true ?"))
    build = [
        node(),
        WEB / "node_modules" / "vite" / "bin" / "vite.js",
        "build",
        "--outDir",
        tmp_path,
    ]
    done = subprocess.run(build, cwd=web, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    page = sheet((tmp_path / "verify.html").as_uri())
    names = [name for name in INDEX if str(INDEX[name]["failed"]).startswith("seal.")]
    assert names
    assert all(agrees(page, vector(name)) for name in names)


def test_a_log_whose_key_has_changed(sheet):
    """One page for most: rotations that lead nowhere are not kept for the next file."""
    page = sheet()
    found = {}
    for case, asked in rotated().items():
        if asked.rotations is None and page.page.locator("main .verdict").count():
            page = sheet()  # rotations that are good are kept, as the key is
        if asked.rotations is None or is_list(asked.rotations):
            found[case] = agrees(page, asked)
    assert len(found) > 25
    assert {case: fault for case, fault in found.items() if fault} == {}


def test_who_noted_an_earlier_key_is_led_to_this_one(sheet):
    """The rotations may come in the link, or after the verdict."""
    asked = rotated()["two rotations away"]
    assert asked.rotations
    page = sheet()
    page.ask(asked._replace(rotations=None))
    assert (page.word, page.failed) == ("FAILED", "log.signature")
    assert "/log/rotations" in page.page.locator(".ask").inner_text()
    page.give(("rotations.json", asked.rotations.encode()))
    assert (page.word, page.failed) == ("VERIFIED", None)
    page.page.locator("#checks .group > summary", has_text="public log").click()
    page.page.locator("#checks .check > summary", has_text="signed by the key").click()
    page.page.locator("#checks .check[open]", has_text=asked.key).wait_for()

    link = fragment(asked.data, asked.key, asked.rotations.encode())
    page = sheet(f"{FILE.as_uri()}#{link}")
    page.settle()
    assert page.word == "CONSISTENT"  # a link's key is asked about, wherever it leads to
    page.page.fill("#key", asked.key)
    page.page.click(".ask form button")
    page.page.wait_for_selector("main .verdict.verified")

    page.give(("rotations.json", b'{"format":"fairdeal-rotations/1"}'))
    assert page.word == "UNREADABLE"
    assert "rotations" in page.page.locator("main .verdict").inner_text()
    page.give(("hand.json", asked.data))
    assert (page.word, page.failed) == ("FAILED", "log.signature")


def test_a_match_by_an_earlier_key(sheet):
    asked = rotated()["two rotations away"]
    assert asked.rotations
    page = sheet()
    page.give(("1", asked.data), ("2", asked.data), ("log.vkey", asked.key.encode()))
    failed = {one["report"]["failed"] for one in page.report()["files"]}
    page.give(("rotations.json", asked.rotations.encode()))
    exits = {one["report"]["exit"] for one in page.report()["files"]}
    assert (failed, exits) == ({"log.signature"}, {0})


def is_list(rotations: str) -> bool:
    """Whether the page takes it for rotations, and not for a hand."""
    return '"fairdeal-rotations/' in rotations


def test_without_a_key_nothing_is_proved(sheet, address):
    page = sheet(address)
    page.ask(vector("mus-played.fair.json"), keyless=True)
    assert page.word == "CONSISTENT"
    page.page.locator(".ask button.primary").first.click()
    page.page.locator("main .verdict.verified").wait_for()
    assert page.report(by_mouse=True)["exit"] == 0


def test_it_is_one_small_file_that_names_no_other():
    data = FILE.read_bytes()
    assert len(data) < 150_000
    assert not [
        one
        for one in (b" src=", b"<link", b"@import", b"url(http", b"<iframe")
        if one in data.split(b"<script>")[0]
    ]
    assert not re.search(rb"""(?:src|href)=["'](?!#)""", data)
    head = data.split(b"</head>")[0]
    assert b"default-src 'none'" in head
    assert b"connect-src 'none'" in head
    assert b"unsafe" not in head
