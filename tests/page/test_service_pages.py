"""The service's own pages in a browser: they load nothing, fit a telephone, and axe has no word."""

from __future__ import annotations

import json

import pytest

from tests.page.conftest import SCREENS

LANGUAGES = ["en", "ru", "es", "zu", "ta"]


def test_without_javascript_the_page_of_a_hand_has_a_download(browser, service):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(service.url + service.hands[0]["verify_url"])
    with page.expect_download() as download:
        page.locator("a[download]").click()
    assert json.loads(download.value.path().read_bytes())["format"] == "fairdeal-hand/1"
    context.close()


@pytest.mark.parametrize(
    ("language", "scheme"), [*((language, "light") for language in LANGUAGES), ("en", "dark")]
)
def test_the_services_own_pages(browser, service, axe, language, scheme):
    table = service.under_way()
    for name, path in {"front": "/", "unknown": "/v/x/1", "not_final": f"/v/{table}/1"}.items():
        context = browser.new_context(
            locale=language, color_scheme=scheme, viewport={"width": 360, "height": 740}
        )
        page = context.new_page()
        asked = []
        page.on("request", lambda one, asked=asked: asked.append(one.url))
        page.goto(service.url + path)
        assert page.evaluate("document.documentElement.lang") == language
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.evaluate(axe + "; undefined")
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["target"]) for one in found] == [], path
        assert asked == [service.url + path]
        SCREENS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENS / f"service-{name}-{language}-{scheme}.png", full_page=True)
        context.close()
