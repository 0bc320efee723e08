"""The service's pages for people."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from fairdeal_api.rotation import rotate
from fairdeal_api.service import initialise
from fairdeal_api.site import front, packaged
from fairdeal_api.site.hand import fragment
from fairdeal_api.site.html import Html, fill
from fairdeal_api.site.words import Words, chosen, languages
from fairdeal_api.store import FinishedRow
from fairdeal_verifier.verify import verify
from tests.api.conftest import Site
from tests.api.play import Operator, expect

VOID = {"meta", "link", "br", "hr", "img", "input"}
LOADS = {"src", "srcset", "poster", "data", "action", "formaction", "background", "ping"}


class Page(HTMLParser):
    """A page as a browser takes it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._raw = ""
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._raw = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag):
        self._raw = ""

    def handle_data(self, data):
        {"script": self.scripts, "style": self.styles}.get(self._raw, self.words).append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def links(self) -> list[str]:
        return [found["href"] for tag, found in self.tags if tag == "a"]


def get(site, path, *, status=200, language="en", method="GET", **more):
    answer = site.client.request(
        method, path, headers={"accept-language": language, **more}, follow_redirects=False
    )
    assert answer.status_code == status, answer.text
    return answer


def page(site, path, **more) -> Page:
    answer = get(site, path, **more)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Page(answer.text)


@pytest.fixture(scope="module")
def hand(shared):
    table = Operator(shared.client, shared.key("pages"), "mus")
    table.open()
    table.deal()
    table.answer = table.close()
    return table


# --- the page that checks hands -----------------------------------------------------------------


def test_verify_is_the_packaged_file_byte_for_byte(shared):
    file = (packaged.folder() / "verify.html").read_bytes()
    answer = get(shared, "/verify")
    assert answer.content == file
    assert answer.headers["etag"] == f'"{hashlib.sha256(file).hexdigest()}"'
    assert answer.headers["content-length"] == str(len(file))


def test_verify_is_not_sent_again_to_who_has_it(shared):
    etag = get(shared, "/verify").headers["etag"]
    for known in (etag, f'"other", {etag}', f"W/{etag}"):
        assert get(shared, "/verify", status=304, **{"if-none-match": known}).content == b""
    assert get(shared, "/verify", **{"if-none-match": '"other"'}).content


def test_the_header_is_at_least_as_strict_as_the_policy_in_the_page(shared):
    def directives(policy):
        return {one.split()[0]: one.split()[1:] for one in policy.split(";") if one.strip()}

    answer = get(shared, "/verify")
    own = next(
        found["content"]
        for tag, found in Page(answer.text).tags
        if found.get("http-equiv") == "Content-Security-Policy"
    )
    header = directives(answer.headers["content-security-policy"])
    assert header.items() >= directives(own).items()
    assert header["default-src"] == ["'none'"]
    assert header["connect-src"] == ["'none'"]
    assert header["frame-ancestors"] == ["'none'"]
    assert not {"'unsafe-inline'", "'unsafe-eval'"} & {s for all_ in header.values() for s in all_}


# --- what holds for each of them ----------------------------------------------------------------


@pytest.fixture(params=["/", "/verify", "hand", "/v/tbl_unknown/1"])
def path(request, hand):
    return hand.answer["verify_url"] if request.param == "hand" else request.param


def test_headers(shared, path):
    answer = get(shared, path, status=404 if "unknown" in path else 200)
    for name, value in {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }.items():
        assert answer.headers.get_list(name) == [value]
    assert len(answer.headers.get_list("content-security-policy")) == 1
    assert "set-cookie" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers


def test_head_is_as_get_without_the_body(shared, path):
    status = 404 if "unknown" in path else 200
    whole, head = (get(shared, path, method=one, status=status) for one in ("GET", "HEAD"))
    dropped = {"x-request-id"}
    assert {k: v for k, v in head.headers.items() if k not in dropped} == {
        k: v for k, v in whole.headers.items() if k not in dropped
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused(shared, path, method):
    answer = shared.client.request(method, path)
    expect(answer, 405, "method_not_allowed")
    assert set(answer.headers["allow"].replace(" ", "").split(",")) == {"GET", "HEAD"}


def test_what_messengers_add_to_a_link_does_not_matter(shared, path):
    status = 404 if "unknown" in path else 200
    assert get(shared, f"{path}?fbclid=x&utm_source=y", status=status)


@pytest.mark.parametrize("language", languages())
def test_the_services_own_pages_load_nothing_and_obey_their_policy(shared, hand, language):
    for path, status in (("/", 200), (hand.answer["verify_url"], 200), ("/v/x/1", 404)):
        answer = get(shared, path, language=language, status=status)
        found = Page(answer.text)
        assert dict(found.tags[0:2])["html"]["lang"] == language
        for tag, attributes in found.tags:
            assert tag not in ("link", "img", "iframe", "object", "embed", "form", "base")
            assert not LOADS & attributes.keys()
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
        policy = answer.headers["content-security-policy"]
        for kind, texts in (("script", found.scripts), ("style", found.styles)):
            for text in texts:
                digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
                assert re.search(rf"{kind}-src 'sha256-{re.escape(digest)}';", policy)
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert not re.search(r"\{\w+\}|site\.\w", found.text)
        assert {"?lang=en"} <= set(found.links())
        assert all(link.startswith(("/", "?lang=")) for link in found.links())


# --- the front page -----------------------------------------------------------------------------


def test_the_front_page_shows_the_log(shared, hand):
    found = page(shared, "/")
    note = get(shared, "/log/checkpoint").text
    key = get(shared, "/v1/keys").json()["keys"][0]["vkey"]
    assert " ".join(note.split()) in found.text
    assert found.text.count(key) == 2
    assert f"Entries{note.splitlines()[1]}" in found.text.replace("Entries ", "Entries")
    assert re.search(r"\d\d:\d\d:\d\d UTC \(\d+ (s|min) ago\)", found.text)
    assert "No independent witness" in found.text
    assert "test mode" in found.text
    assert {"/verify", "/docs", "/openapi.json", "/v1/hands"} <= set(found.links())


def test_every_link_of_the_front_page_leads_somewhere(shared, hand):
    links = [link for link in page(shared, "/").links() if link.startswith("/")]
    assert len(links) > 6
    for link in links:
        assert get(shared, link).content


def test_the_newest_hands_come_first_and_are_few(site):
    table = Operator(site.client, site.key(), "kozel")
    for _ in range(front.NEWEST + 2):
        table.open()
        table.deal()
        table.close()
    hands = [link for link in page(site, "/").links() if link.startswith("/v/")]
    assert hands == [f"/v/{table.table}/{n}" for n in range(front.NEWEST + 2, 2, -1)]


def test_a_hand_under_way_is_not_shown(site):
    table = Operator(site.client, site.key(), "kozel")
    table.open()
    table.deal()
    found = page(site, "/")
    assert table.table not in found.text
    assert "No hand has ended yet." in found.text


def test_an_empty_log_has_a_front_page(site):
    assert "Entries0" in page(site, "/").text.replace(" ", "")


def test_hands_that_are_not_anchored_yet_are_not_shown(site, monkeypatch):
    """LOG-6: the database is ahead by a moment, and nobody is told."""
    table = Operator(site.client, site.key(), "kozel")
    table.open()
    table.deal()
    index = table.close()["events"][0]["index"]
    assert len(get(site, "/v1/hands").json()["hands"]) == 1
    ledger = type(site.service.ledger)
    monkeypatch.setattr(ledger, "size", property(lambda _: index))
    assert get(site, "/v1/hands").json()["hands"] == []
    assert "/v/" not in " ".join(page(site, "/").links())


def test_nothing_is_shown_unescaped():
    bad = "<script>alert(1)</script>\"'&"
    row = FinishedRow(0, bad, 1, "kozel", "closed", 0)
    found = Page(front._hands(Words("en"), [row]))
    assert "script" not in {tag for tag, _ in found.tags}
    assert bad in found.text
    assert f"/v/{bad}/1" in found.links()
    assert fill("<b>{x}</b>", x=Html("<i>")) == "<b><i></b>"
    assert html.unescape(fill("{x}", x=bad)) == bad


def test_a_hostile_host_is_not_repeated(shared):
    for host in ('"><script>alert(1)</script>', "a b", "x" * 300):
        found = get(shared, "/", host=host).text
        assert host not in found
        assert html.escape(host) not in found
    assert (
        "fetch http://deal.example:8080/log audit"
        in get(shared, "/", host="deal.example:8080").text
    )


def test_behind_a_proxy_with_tls_auditors_are_told_so(shared):
    """Control: any other value than a proxy's changes nothing."""
    for said, scheme in (("https", "https"), ("javascript", "http"), ("https, http", "http")):
        answer = get(shared, "/", host="deal.example", **{"x-forwarded-proto": said})
        assert f"fetch {scheme}://deal.example/log audit" in answer.text
        assert "x-forwarded-proto" in answer.headers["vary"]


# --- the page of a hand -------------------------------------------------------------------------


def parts(link: str) -> dict[str, str]:
    address, _, text = link.partition("#")
    assert address == "/verify"
    return dict(part.split("=", 1) for part in text.split("&"))


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), -15)


def carried(link: str) -> tuple[bytes, str]:
    """The file and the key in a link to the page that checks hands, and that nothing else is."""
    found = parts(link)
    assert found.keys() == {"h", "key"}
    return unpacked(found["h"]), unquote(found["key"])


def test_every_answer_about_an_ended_hand_has_the_link(shared, hand):
    link = f"/v/{hand.table}/1"
    assert hand.answer["verify_url"] == link
    assert hand.state()["verify_url"] == link
    (listed,) = [h for h in get(shared, "/v1/hands?limit=200").json()["hands"]
                 if h["table"] == hand.table]  # fmt: skip
    assert listed["verify_url"] == link


def test_a_hand_under_way_has_no_link(site):
    table = Operator(site.client, site.key(), "kozel")
    table.open()
    assert table.state()["verify_url"] is None


def test_the_page_of_a_hand_leads_to_its_check(shared, hand):
    answer = get(shared, hand.answer["verify_url"])
    found = Page(answer.text)
    (link,) = [a["href"] for tag, a in found.tags if a.get("id") == "check"]
    file, key = carried(link)
    assert file == shared.client.get(hand.url("/transcript")).content
    assert key == get(shared, "/v1/keys").json()["keys"][0]["vkey"]
    assert found.scripts == ['location.replace(document.getElementById("check").href)']
    assert "connect-src" not in answer.headers["content-security-policy"]  # default: 'none'


def test_without_javascript_there_is_a_download(shared, hand):
    found = page(shared, hand.answer["verify_url"])
    (download,) = [a for tag, a in found.tags if "download" in a]
    assert download["href"] == hand.url("/transcript")
    assert download["download"] == f"{hand.table}-1.fair.json"
    assert "Hand 1, Mus" in found.text
    assert "needs JavaScript" in found.text
    assert get(shared, download["href"]).json()["format"] == "fairdeal-hand/1"


@pytest.mark.parametrize(
    "path",
    [
        "/v/tbl_00000000000000000000000000/1",
        "/v/x/1",
        "/v/%3Cimg%20src=x%20onerror=alert(1)%3E/1",
        "/v/{table}/2",
        "/v/{table}/0",
        "/v/{table}/01",
        "/v/{table}/99999999999999999999",
        "/v/{table}/%3Cb%3E",
    ],
)
def test_an_unknown_hand_is_said_in_words_and_nothing_is_repeated(shared, hand, path):
    answer = get(shared, path.format(table=hand.table), status=404)
    assert "There is no such hand here." in Page(answer.text).text
    assert "alert" not in answer.text
    assert hand.table not in answer.text


def test_a_hand_under_way_is_said_in_words(site):
    table = Operator(site.client, site.key(), "kozel")
    table.open()
    found = page(site, f"/v/{table.table}/1", status=409)
    assert "has not ended yet" in found.text
    table.deal()
    assert page(site, f"/v/{table.table}/1", status=409).scripts == []
    table.close()
    assert page(site, f"/v/{table.table}/1").scripts


def test_a_fragment_is_deflate_and_base64url():
    file = json.dumps(list(range(5000))).encode()
    text = fragment(file, "deal.example/log+5a0c+Ab/c=")
    assert re.fullmatch(r"h=[A-Za-z0-9_-]+&key=[A-Za-z0-9.%_-]+", text)
    assert carried("/verify#" + text) == (file, "deal.example/log+5a0c+Ab/c=")


def test_the_link_leads_from_every_key_that_the_log_has_had(settings):
    initialise(settings)
    with Site(settings) as site:
        old_key = str(site.service.verifier_key)
    rotate(settings)
    with Site(settings) as site:
        table = Operator(site.client, site.key(), "kozel")
        table.open()
        table.deal()
        table.close()
        asked = f"/v/{table.table}/1"
        link = re.search(r'id="check" href="([^"]+)"', site.client.get(asked).text)
        assert link
        found = parts(html.unescape(link[1]))
        assert found.keys() == {"h", "key", "rotations"}
        rotations = unpacked(found["rotations"])
        assert json.loads(rotations) == site.client.get("/log/rotations").json()
        file = unpacked(found["h"])
    assert unquote(found["key"]) != old_key
    assert verify(file, key=old_key, rotations=rotations).exit == 0
    assert verify(file, key=old_key).failed == "log.signature"


# --- languages ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        (b"", "en"),
        (b"*", "en"),
        (b"es", "es"),
        (b"es-MX,es;q=0.9", "es"),
        (b"fr, ru;q=0.5, es;q=0.4", "ru"),
        (b"en;q=0.2, TA-in;q=0.7", "ta"),
        (b"zu;q=0", "en"),
        (b"ru;q=7, \xff\x00, ;;;=", "en"),
        (b"ru," * 10_000, "ru"),
    ],
)
def test_the_language_is_the_one_asked_for(accept, language):
    if language in languages():
        assert chosen(None, accept) == language
    assert chosen("en", accept) == "en"
    assert chosen("xx", b"en") == "en"


def test_a_language_can_be_named_in_the_address(shared):
    for language in languages():
        answer = get(shared, f"/?lang={language}", language="en")
        assert answer.headers["content-language"] == language
    assert get(shared, "/?lang=../../x").headers["content-language"] == "en"


@pytest.mark.parametrize("language", languages())
def test_every_text_is_there_and_its_places_are_those_of_english(language):
    def places(text):
        return sorted(re.findall(r"\{(\w+)\}", text))

    english, own = (
        {k: v for k, v in Words(one)._messages.items() if k.startswith("site.")}
        for one in ("en", language)
    )
    assert english.keys() == own.keys()
    assert {k: places(v) for k, v in english.items()} == {k: places(v) for k, v in own.items()}
