"""The front page: what this is, the newest hands, the log and who watches it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from fairdeal.encoding import format_time, parse_time
from fairdeal_api.replies import Reply
from fairdeal_api.site.frame import page
from fairdeal_api.site.html import Html, fill, joined
from fairdeal_api.site.words import Words
from fairdeal_api.store import FinishedRow
from fairdeal_api.system import wall_clock

if TYPE_CHECKING:
    from fairdeal_api.service import Service

NEWEST: Final = 20
_UNITS: Final = (("age_d", 86_400_000), ("age_h", 3_600_000), ("age_m", 60_000), ("age_s", 1000))

_BODY: Final = """\
{test}<h1>{what}</h1>
<p>{before}</p>
<p>{after}</p>
<p><a class="go" href="/verify">{check}</a></p>
<p class="soft">{check_note}</p>
<h2 id="hands">{newest}</h2>
{hands}
<h2 id="log">{log}</h2>
<p>{log_text}</p>
<dl><dt>{size}<dd>{entries}<dt>{entry}<dd>{age}</dl>
<pre role="group" tabindex="0" aria-label="{state}">{note}</pre>
<h3>{key}</h3>
<pre role="group" tabindex="0" aria-label="{key}">{vkey}</pre>
<p>{key_note}</p>
<h2 id="witnesses">{witnesses}</h2>
{members}
<h2 id="audit">{audit}</h2>
<p>{audit_text}</p>
<pre role="group" tabindex="0" aria-label="{audit}">{commands}</pre>
<h2 id="programs">{programs}</h2>
<p class="list">{links}</p>"""


def front(service: Service, text: Words, here: str) -> Reply:
    """The front page of a service. Nothing of it is anybody's secret.

    Args:
        service: Whose state is shown.
        text: In which words.
        here: The address that the reader has asked, or a stand-in.
    """
    size, note = service.witnesses.shown(service.ledger)
    key = str(service.verifier_key)
    body = text.fill(
        _BODY,
        test=_warning(text("test_mode") if service.settings.mode == "test" else Html()),
        hands=_hands(text, service.reader.finished_before(service.ledger.size, NEWEST)),
        entries=size,
        age=_age(service, text, size),
        note=note,
        vkey=key,
        members=_members(service, text),
        commands=f"fairdeal-audit fetch {here}/log audit --key '{key}'\n"
        "fairdeal-audit replay audit",
        links=_links(text),
    )
    return page(text, Html("fairdeal"), body)


def _warning(words: Html) -> Html:
    return fill('<p class="warn">{words}</p>\n', words=words) if words else words


def _hands(text: Words, rows: list[FinishedRow]) -> Html:
    if not rows:
        return text.fill("<p>{none}</p>")
    lines = joined(
        text.fill(
            "<tr><td>{game}<td>{hand}<td><code>{table}</code><td>{ended}<td>{state}"
            '<td><a href="/v/{table}/{hand}" aria-label="{label}">{check_row}</a>\n',
            game=text.game(row.game),
            hand=row.hand,
            table=row.table_id,
            ended=_minute(row.at),
            state=text(row.state),
            label=text("check_label", hand=row.hand, table=row.table_id),
        )
        for row in rows
    )
    heads = joined(
        fill('<th scope="col">{word}', word=text(key))
        for key in ("game", "hand", "table", "ended", "result", "check_row")
    )
    return text.fill(
        '<div class="wide" tabindex="0" role="region" aria-label="{newest}">'
        "<table><thead><tr>{heads}</thead><tbody>\n{lines}</tbody></table></div>",
        heads=heads,
        lines=lines,
    )


def _minute(at: int) -> str:
    return format_time(at)[:16].replace("T", " ")


def _age(service: Service, text: Words, size: int) -> Html:
    """When the newest entry under the checkpoint was made: a checkpoint itself has no time."""
    if not size:
        return text("none_yet")
    at = parse_time(json.loads(service.reader.entries(size - 1, size)[0])["at"])
    passed = max(0, wall_clock() - at)
    unit, length = next((one for one in _UNITS if passed >= one[1]), _UNITS[-1])
    return fill(
        "{time} UTC ({age})",
        time=format_time(at)[:19].replace("T", " "),
        age=text(unit, n=passed // length),
    )


def _members(service: Service, text: Words) -> Html:
    witnesses = service.witnesses
    if not witnesses.members:
        return text.fill("<p>{no_witnesses}</p>")
    lines = joined(
        fill(
            "<tr><td>{name}<td>{size}<td>{answering}\n",
            name=one.key.name,
            size=one.held,
            answering=text("silent" if one.failures else "answering"),
        )
        for one in witnesses.members
    )
    return text.fill(
        "{warning}<p>{rule}</p>"
        '<div class="wide" tabindex="0" role="region" aria-label="{witnesses}"><table><thead><tr>'
        '<th scope="col">{witnesses}<th scope="col">{cosigned}<th scope="col">{result}</thead>'
        "<tbody>\n{lines}</tbody></table></div>",
        warning=_warning(text("late") if witnesses.is_late else Html()),
        rule=text("quorum", n=witnesses.quorum, all=len(witnesses.members)),
        lines=lines,
    )


def _links(text: Words) -> Html:
    places = (
        ("/docs", text("docs")),
        ("/openapi.json", Html("OpenAPI")),
        ("/v1/hands", text("hands_list")),
        ("/v1/keys", text("keys")),
        ("/log/checkpoint", text("checkpoint")),
    )
    return joined(
        fill('<a href="{place}">{words}</a> ', place=place, words=words) for place, words in places
    )
