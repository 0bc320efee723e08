"""What a player brings and does, game by game; and files that nobody should bring."""

from __future__ import annotations

import base64
import json

import pytest

from fairdeal.notes import Notes
from fairdeal.seeds import SeatSeed
from fairdeal_verifier.verify import verify
from tests.page.conftest import FILE, SCREENS
from tests.page.parity import KEY, ROOT, SEEDS, Asked, vector

LARGEST = "mus-reshuffled.fair.json"
LANGUAGES = ROOT / "verifier" / "fairdeal_verifier" / "languages"


def hand(name):
    return (SEEDS / name).read_bytes()


def own_seed(name, seat):
    events = [json.loads(raw) for raw in json.loads(hand(name))["events"]]
    opened = [event["seeds"] for event in events if event["type"] == "seeds.opened"]
    return [seeds[str(seat)] for seeds in opened if str(seat) in seeds]


def mine(page):
    return {check["id"]: check["status"] for check in page.report()["checks"]}["mine"]


def test_ones_own_notes(sheet):
    name = "kozel-short.fair.json"
    opened = json.loads(json.loads(hand(name))["events"][1])
    notes = Notes(KEY, opened["table"], opened["hand"], 2)
    notes.seeds = [SeatSeed.from_hex(own_seed(name, 2)[0])]
    page = sheet()
    page.give(("hand", hand(name)), ("notes.json", notes.encode()))
    assert mine(page) == "PASS"
    notes.seeds = [SeatSeed(bytes(32))]
    page.give(("hand", hand(name)), ("notes.json", notes.encode()))
    assert (page.word, page.failed) == ("FAILED", "mine")


@pytest.mark.parametrize("language", ["en", "ru", "es", "zu", "ta"])
def test_notes_of_another_hand_are_told_as_that(sheet, language):
    """In the reader's language, by the same checks as the command does, in the same words."""
    words = json.loads((LANGUAGES / f"{language}.json").read_text("utf-8"))["messages"]
    notes = hand("azi-noted.notes.json")
    data = hand("azi-played.fair.json")
    noted = json.loads(notes)
    opened = json.loads(json.loads(data)["events"][1])
    places = {"noted": noted["hand"], "noted_at": noted["table"]}
    places |= {"hand": opened["hand"], "table": opened["table"]}
    page = sheet(f"{FILE.as_uri()}#lang={language}")
    page.give(("hand", data), ("notes.json", notes))
    verdict = page.page.locator("main .verdict")
    assert (page.word, page.failed) == ("FAILED", "receipt")
    shown = verdict.inner_text()
    assert words["note.other_hand_receipt"].format(n=1, **places) in shown
    assert words["page.verdict.mixed"] in shown
    assert words["page.verdict.failed"] not in shown  # it is nothing to show to others
    mixed = words["note.other_hand"].format(**places)
    told = page.page.locator("#mine .check.fail .fault").all_inner_texts()
    assert [mixed in one for one in told] == [True, True]
    theirs = {one["id"]: one for one in page.report()["checks"]}
    for check in verify(data, notes=notes).to_json()["checks"]:
        if check["status"] == "FAIL":
            assert theirs[check["id"]] == check
        assert theirs[check["id"]]["status"] == check["status"]
    # The controls: the notes of this hand, and a file in which something is wrong besides.
    page.give(("hand", hand("azi-noted.fair.json")), ("notes.json", notes))
    assert (page.word, page.failed) == ("VERIFIED", None)
    assert page.page.locator(".fault:visible").count() == 0
    page.give(("hand", hand("azi-bank_fail.fair.json")), ("notes.json", notes))
    assert page.failed == "play"
    assert words["page.verdict.failed"] in verdict.inner_text()
    assert words["page.verdict.mixed"] not in verdict.inner_text()


OLD = "document.querySelector('main .verdict').setAttribute('data-old', '')"
"""So that `settle` waits for the next one."""


def test_notes_come_along_with_a_match(sheet):
    """Each is held against its own hand; what was typed for one hand is not for the next."""
    names = ["azi-match_1.fair.json", "azi-match_2.fair.json"]
    files = [(name, hand(name)) for name in names]
    notes = []
    for name, seat in zip(names, (0, 2), strict=True):
        opened = json.loads(json.loads(hand(name))["events"][1])
        kept = Notes(KEY, opened["table"], opened["hand"], seat)
        kept.seeds = [SeatSeed.from_hex(own_seed(name, seat)[0])]
        notes.append((f"{name}.notes", kept.encode()))
    key = ("log.vkey", KEY.encode())
    page = sheet()

    def of_each_hand():
        found = []
        for at in range(len(names)):
            page.page.locator("#match li button").nth(at).click()
            page.page.wait_for_selector("#checks")
            found.append((page.word, mine(page)))
            page.page.fill("#my-seed", own_seed(names[at], 0)[0])
            page.page.evaluate(OLD)
            page.page.click("#mine form button")
            page.settle()
            assert mine(page) == ("PASS" if found[-1][0] == "VERIFIED" else "FAIL")
            page.page.get_by_role("button", name="Back to the match").click()
            page.page.wait_for_selector("#match")
        return found

    page.give(*files, *notes, key)
    assert of_each_hand() == [("VERIFIED", "PASS")] * 2
    page.give(*files, notes[1], key)
    assert of_each_hand() == [("VERIFIED", "N/A"), ("VERIFIED", "PASS")]
    # The control: notes that are of no hand of the match fit none.
    page.give(*files, ("notes.json", hand("azi-noted.notes.json")), key)
    assert of_each_hand() == [("FAILED", "FAIL")] * 2


def test_loose_receipts_come_along_with_a_match(sheet):
    """Each is held against the hand that it is of; the command takes none with a match."""
    names = [f"azi-match_{n}.fair.json" for n in (1, 2, 3)]
    files = [(name, hand(name)) for name in names]
    # A file's proof is a receipt as well, of its last step.
    proofs = [json.loads(hand(name))["proof"].encode() for name in names]
    page = sheet()

    def of_each_hand(*receipts):
        page.give(*files, *((f"{n}.receipt", one) for n, one in enumerate(receipts)),
                  ("log.vkey", KEY.encode()))  # fmt: skip
        found = []
        for at in range(len(names)):
            page.page.locator("#match li button").nth(at).click()
            page.page.wait_for_selector("#checks")
            found.append((page.word, page.failed))
            page.page.get_by_role("button", name="Back to the match").click()
            page.page.wait_for_selector("#match")
        return found

    good, bad = ("VERIFIED", None), ("FAILED", "receipt")
    unchecked = page.page.get_by_text("Your notes and receipts are not checked yet")
    assert of_each_hand() == [good] * 3
    assert unchecked.count() == 0
    assert of_each_hand(*proofs) == [good] * 3
    assert unchecked.is_visible()  # the match is VERIFIED without them
    # The controls: it is given to its hand, where it fails if nobody has signed it.
    assert of_each_hand(proofs[0], unsigned(proofs[1]), proofs[2]) == [good, bad, good]
    # One that is of no hand there fits none, whatever its index.
    other = json.loads(hand("svoi-match_1.fair.json"))["proof"].encode()
    assert of_each_hand(*proofs, other) == [bad] * 3
    assert of_each_hand(*proofs, hand("kozel-cosigned.receipt")) == [bad] * 3
    # A hand brought by itself has no others.
    page.give(files[0], ("a", proofs[0]), ("b", proofs[1]), ("log.vkey", KEY.encode()))
    assert (page.word, page.failed) == bad


def unsigned(receipt):
    """The same with another signature."""
    head, _, encoded = receipt.rstrip().rpartition(b" ")
    line = bytearray(base64.b64decode(encoded))
    line[-40] ^= 1
    return head + b" " + base64.b64encode(line) + b"\n"


def test_of_many_notes_those_of_the_hand_are_taken(sheet):
    opened = json.loads(json.loads(hand("azi-played.fair.json"))["events"][1])
    other = Notes(KEY, opened["table"], opened["hand"], 0).encode()
    page = sheet()
    all_ = [("a", other), ("b", hand("azi-noted.notes.json"))]
    for notes in (all_, all_[::-1]):
        page.give(("hand", hand("azi-noted.fair.json")), *notes)
        assert (page.word, mine(page)) == ("VERIFIED", "PASS")
    page.give(("notes", other))
    assert (page.word, page.failed) == ("FAILED", "mine")


def test_notes_that_are_none_give_a_sentence_and_no_verdict(sheet):
    """Nor does the command say anything of the hand then."""
    page = sheet()
    damaged = hand("azi-noted.notes.json").replace(b'"hand"', b'"hant"')
    files = [{"name": n, "mimeType": "", "buffer": d}
             for n, d in (("hand", hand("azi-noted.fair.json")), ("notes", damaged))]  # fmt: skip
    page.page.locator("input[type=file]").set_input_files(files)
    page.page.locator(".problem").wait_for()
    assert "notes cannot be read" in page.page.locator(".problem").inner_text()
    assert page.page.locator("main .verdict").count() == 0
    page.give(("hand", hand("azi-noted.fair.json")), ("notes", hand("azi-noted.notes.json")))
    assert page.word == "VERIFIED"
    assert page.page.locator(".problem").count() == 0
    # Nor is it an error that the hand is still to come.
    page = sheet()
    page.page.locator("input[type=file]").set_input_files(SEEDS / "azi-noted.notes.json")
    page.page.locator(".problem.missing").wait_for()
    assert page.page.locator(".problem svg").count() == 0


def test_hands_of_two_tables_are_no_match_and_no_fault(sheet):
    """Who has mixed up two evenings is not told to show the files to others."""
    page = sheet()
    page.give(("hand", hand("azi-noted.fair.json")))
    page.page.locator("input[type=file]").set_input_files(
        [SEEDS / "azi-match_1.fair.json", SEEDS / "kozel-short.fair.json"]
    )
    page.page.locator(".problem").wait_for()
    assert "several tables" in page.page.locator(".problem").inner_text()
    assert page.page.locator("#match").count() == 0
    assert page.page.locator("main .verdict").count() == 1  # of what was there before
    # The controls: one table is a match, and so is a file that does not say of which it is.
    page.give(*[(n, hand(n)) for n in ("azi-match_1.fair.json", "azi-match_2.fair.json")])
    assert page.page.locator("#match").count() == 1
    page.give(("a", hand("azi-match_1.fair.json")), ("b", b"{}"))
    assert page.page.locator("#match").count() == 1


def test_the_key_of_a_match_is_asked_for_once(sheet):
    files = [(n, hand(n)) for n in ("azi-match_1.fair.json", "azi-match_2.fair.json")]
    page = sheet()
    page.give(*files)
    assert page.word == "CONSISTENT"
    assert page.page.locator("#proved li").count() > 3  # what a pass does not prove: VER-6
    page.page.click(".ask .primary")
    page.page.wait_for_selector("#match")
    page.page.wait_for_selector("main .verdict.verified")
    assert page.report()["exit"] == 0
    # One that is confirmed at a hand is confirmed for the match.
    page = sheet()
    page.give(*files)
    page.page.locator("#match li button").first.click()
    page.page.wait_for_selector("#checks")
    page.page.click(".ask .primary")
    page.page.wait_for_selector("main .verdict.verified")
    page.page.get_by_role("button", name="Back to the match").click()
    page.page.wait_for_selector("#match")
    page.page.wait_for_selector("main .verdict.verified")
    assert [one["report"]["exit"] for one in page.report()["files"]] == [0, 0]


ON = """steps => Array.from({length: steps}, () => {
  document.querySelectorAll(".stepper button")[2].click();
  return document.querySelector(".caption").innerText;
})"""
"""One step on, so many times; what is said at each."""


def test_the_play_can_be_stepped_through(sheet):
    for game in ("kozel", "mus", "azi", "svoi"):
        page = sheet()
        page.ask(Asked(hand(f"{game}-played.fair.json")))
        steps = page.page.locator("#table li button.step")
        count = steps.count()
        assert count > 8
        last = page.page.locator(".stepper button").last
        last.click()
        assert page.page.locator("[aria-current=step]").count() == 1
        page.page.locator(".stepper button").first.click()
        seen = page.page.evaluate(ON, count - 1)
        assert len(seen) == len(set(seen)) == count - 1
        assert page.page.locator(".board").inner_html()


@pytest.mark.parametrize("language", ["en", "ru", "es", "zu", "ta"])
def test_chips_and_points_are_told_to_eyes_and_ears(sheet, language):
    """As in the terminal: "the bank holds 70" when the tricks begin."""
    words = json.loads((LANGUAGES / f"{language}.json").read_text("utf-8"))["messages"]

    def says(key, **values):
        text = words[key]
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    page = sheet(f"{FILE.as_uri()}#lang={language}")
    page.ask(Asked(hand("azi-played.fair.json")))
    board, caption = page.page.locator(".board"), page.page.locator(".caption")
    next_step = page.page.locator(".stepper button").nth(2)
    before = board.inner_text()  # at the deal, when the antes are paid
    for chips in ("bank: 40", "chips: 990"):
        key, n = chips.split(": ")
        assert says(f"page.count.{key}", n=n) in before
    assert board.locator(".new").count() == 5
    for _ in range(4):
        next_step.click()
    bank = says("page.count.bank", n=70)
    assert bank in board.locator(".middle").inner_text()
    assert bank in board.locator(".new").all_inner_texts()
    # Who cannot see the board hears in the step's own words what has changed, once.
    heard = caption.locator(".hidden").all_inner_texts()
    assert len(heard) == 1
    assert bank in heard[0]
    assert says("report.seat", seat=3) in heard[0]
    assert says("page.turn") in board.locator(".seat.at-0").inner_text()
    next_step.click()
    assert caption.locator(".hidden").count() == 0

    page.ask(Asked(hand("kozel-played.fair.json")))
    page.page.locator(".stepper button").last.click()
    teams = board.locator(".teams > div").all_inner_texts()
    for text, points, tricks, defeat in zip(teams, (76, 44), (5, 1), (0, 2), strict=True):
        assert says("page.count.points", n=points) in text
        assert says("page.count.tricks", n=tricks) in text
        assert says("page.count.defeat", n=defeat) in text
    # On paper the last numbers stand in one line.
    assert says("page.count.points", n=76) in page.page.locator(".paper").evaluate(
        "one => one.textContent"
    )


def test_it_prints(sheet):
    page = sheet()
    page.ask(Asked(hand("mus-played.fair.json")))
    pdf = page.page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 10_000
    page.page.emulate_media(media="print")
    assert "VERIFIED" in page.page.locator("body").inner_text().upper()
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.page.screenshot(path=SCREENS / "print.png", full_page=True)


def test_a_tampered_copy_is_found_and_left_again(sheet):
    page = sheet()
    page.ask(vector("kozel-played.fair.json"))
    options = page.page.locator("#change option")
    changes = [one.get_attribute("value") for one in options.all()]
    assert len(changes) >= 5
    for change in changes:
        page.page.select_option("#change", change)
        page.page.click("#tamper button")
        page.page.wait_for_selector(".copy")
        assert page.word == "FAILED", change
        assert page.failed
        page.page.click(".copy button")
        page.page.wait_for_selector("main .verdict.verified")


def test_an_own_seed_is_the_one_that_was_used(sheet):
    name = "kozel-played.fair.json"
    page = sheet()
    page.ask(vector(name))
    page.page.fill("#my-seed", "00" * 32)
    page.page.click("#mine form button")
    page.page.wait_for_selector("main .verdict.failed")
    assert page.failed == "mine"
    page.page.fill("#my-seed", own_seed(name, 0)[0])
    page.page.click("#mine form button")
    page.page.wait_for_selector("main .verdict.verified")


@pytest.mark.parametrize("name", [LARGEST, "svoi-played.fair.json"])
def test_it_never_freezes(sheet, name):
    """No slice of work is long: compared with what the whole takes, and with the machine's pace."""
    page = sheet()
    page.page.evaluate("window.longTasks.length = 0")
    began = page.page.evaluate("performance.now()")
    page.ask(Asked(hand(name)))
    page.report()
    whole = page.page.evaluate("performance.now()") - began
    longest = max([0, *page.page.evaluate("window.longTasks")])
    assert longest < min(1000, max(400, whole)), (longest, whole)


# --- odd files ----------------------------------------------------------------------------------

HTML = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def with_html():
    """A file whose every text is HTML; the events stay JSON."""
    file = json.loads(hand("kozel-short.fair.json"))
    for i, raw in enumerate(file["events"]):
        event = json.loads(raw)
        event["table"] = HTML
        file["events"][i] = json.dumps(event, sort_keys=True, separators=(",", ":"))
    file["proof"] = HTML
    return json.dumps(file, sort_keys=True, separators=(",", ":")).encode()


HOSTILE = {
    "empty": b"",
    "binary": bytes(range(256)) * 400,
    "html": HTML.encode(),
    "html_keys": json.dumps({HTML: HTML}).encode(),
    "cut_off": hand("kozel-played.fair.json")[:2000],
    "numbers": b'{"format":1e999999}',
    "html_texts": with_html(),
    "deep": b"[" * 100_000,
    "deep_objects": b'{"a":' * 50_000,
    "too_long": b'{"format":"' + b"x" * (5 * 1024 * 1024),
    "utf16": hand("kozel-short.fair.json").decode().encode("utf-16"),
    "null": b"null",
    "prototype": b'{"__proto__":{"format":"fairdeal-hand/1"},"events":[]}',
    "many": b'{"format":"fairdeal-hand/1","events":[' + b'"{}",' * 200_000 + b'"{}"]}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gives_a_sentence(sheet, name):
    page = sheet()
    page.page.on("dialog", lambda one: page.complaints.append(one.message))
    page.page.locator("input[type=file]").set_input_files(
        {"name": f"{HTML}.json", "mimeType": "text/html", "buffer": HOSTILE[name]}
    )
    said = page.page.locator("main .verdict, .problem").first
    said.wait_for()
    if page.page.locator("main .verdict").count():
        assert page.word in ("UNREADABLE", "FAILED")
        assert len(said.inner_text()) > 30
    assert len(said.inner_text()) > 10
    assert ("5 MiB" in said.inner_text()) == (name == "too_long")
    assert "VERIFIED" not in said.inner_text().upper()
    assert page.page.locator("main img, main script").count() == 0
    # It can be used afterwards.
    page.ask(vector("kozel-short.fair.json"))
    assert page.word == "VERIFIED"


@pytest.mark.parametrize(
    "fragment", ["h=!!!", "h=", "h=AAAA", "key=%", "lang=xx", "h=" + "A" * 5000]
)
def test_a_broken_link_gives_a_sentence(sheet, fragment):
    page = sheet(f"{FILE.as_uri()}#{fragment}")
    page.page.locator("h1").first.wait_for()
    assert page.page.locator("main").inner_text()
