"""What the pages have in common: head, style, policy, headers."""

from __future__ import annotations

from importlib import resources
from typing import Final

from fairdeal_api.replies import BRIEFLY, HTML, Header, Reply
from fairdeal_api.site.html import Html, fill, joined, source
from fairdeal_api.site.words import Words, languages, words

STYLE: Final = resources.files(__package__).joinpath("style.css").read_text("utf-8")
_STYLE_SOURCE: Final = source(STYLE)
_PAGE: Final = """\
<!doctype html>
<html lang="{code}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{style}</style>
<header><a href="/">fairdeal</a><nav aria-label="{language}">{links}</nav></header>
<main>
{body}
</main>
</html>
"""


def policy(script: str = "") -> bytes:
    """The content security policy of a page with the style above, and at most one script."""
    scripts = f"script-src {source(script)}; " if script else ""
    return (
        f"default-src 'none'; {scripts}style-src {_STYLE_SOURCE}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ).encode()


def headers(content_policy: bytes, *more: Header) -> list[Header]:
    """All headers of a page."""
    return [
        HTML,
        (b"content-security-policy", content_policy),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        *more,
    ]


def page(text: Words, title: Html, body: Html, *, status: int = 200, script: str = "") -> Reply:
    """A page in one language, with links to the others."""
    links = joined(
        fill('<a href="?lang={code}" lang="{code}"{current}>{name}</a>\n', code=code,
             name=words(code).name,
             current=Html(' aria-current="true"' if code == text.language else ""))
        for code in languages()
    )  # fmt: skip
    content = text.fill(
        _PAGE, code=text.language, title=title, style=Html(STYLE), links=links, body=body
    )
    more = [
        BRIEFLY,
        (b"content-language", text.language.encode()),
        (b"vary", b"accept-language, x-forwarded-proto"),
    ]
    return Reply(content.encode(), status, headers(policy(script), *more), whole=True)
