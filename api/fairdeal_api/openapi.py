"""The OpenAPI file and the documentation page, from the operations that the router has."""

from __future__ import annotations

import html
import json
import re
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from fairdeal_api import __version__, answers
from fairdeal_api.problems import KINDS, MEDIA_TYPE
from fairdeal_api.routes import all_operations
from fairdeal_api.routes.operation import Operation, Parameter

_TAGS: Final = {
    "tables": "Terms, the chain of events, the end.",
    "hands": "A deck's life, from opening to disclosure.",
    "seats": "What a seat's own device does.",
    "games": "What can be dealt.",
    "log": "The public log, as C2SP tlog-tiles.",
    "service": "Keys, health, documentation.",
    "pages": "For people; plain HTML that loads nothing from anywhere.",
}
_ANSWERS: Final = {
    200: "Done.",
    201: "Done, and new.",
    404: "There is no such thing; said in words.",
    409: "Not yet; said in words.",
}
_PATH_PARAMETERS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "table": ({"type": "string", "pattern": "^tbl_[0-9a-hjkmnp-tv-z]{26}$"}, "Id of a table"),
    "hand": ({"type": "integer", "minimum": 1, "maximum": 2**32 - 1}, "Number of a hand"),
    "seat": ({"type": "integer", "minimum": 0, "maximum": 9}, "Number of a seat"),
    "game": ({"type": "string", "pattern": "^[a-z0-9_]{1,32}$"}, "Name of a game"),
    "index": ({"type": "integer", "minimum": 0, "maximum": 2**53 - 1}, "Index in the log"),
    "path": ({"type": "string", "pattern": "^[0-9a-zx./]{1,80}$"}, "Path of a tile"),
}


def _ref(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required,
        "description": parameter.description,
        "schema": parameter.schema,
    }


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    found = []
    for name in re.findall(r"{(\w+)", operation.path):
        schema, description = _PATH_PARAMETERS[name]
        found.append(_parameter(Parameter(name, "path", schema, description, required=True)))
    found += [_parameter(parameter) for parameter in operation.query]
    if operation.keyed:
        schema = {"type": "string", "pattern": "^[!-~]{1,128}$"}
        text = "The same key and body give the same answer; made by the caller"
        key = Parameter("Idempotency-Key", "header", schema, text, required=True)
        found.append({**_parameter(key), "example": "5f0c1d9e-open-hand-3"})
    if operation.versioned:
        schema = {"type": "string", "pattern": r'^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$'}
        text = "Tags of which one is the table's ETag, its newest event number; a weak one never is"
        found.append(_parameter(Parameter("If-Match", "header", schema, text)))
    return found


def _problem_example(code: str) -> dict[str, Any]:
    kind = KINDS[code]
    value: dict[str, Any] = {
        "type": f"/docs#{code}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.title,
        "instance": "urn:fairdeal:request:4be1c0a7d2f3-17",
        "code": code,
        "retryable": kind.retryable,
    }
    if kind.status == 422:
        value["errors"] = [{"pointer": "/seals/0", "code": "string_pattern_mismatch"}]
    return {"value": value}


def _responses(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status, model in operation.answers:
        if isinstance(model, str):
            content = {model: {"schema": {"type": "string"}}}
        else:
            content = {"application/json": {"schema": _ref(model)}}
        text = _ANSWERS[status]
        found[str(status)] = {"description": text, "content": content}
        if operation.versioned:
            etag = {"description": "The table's newest event number", "schema": {"type": "string"}}
            found[str(status)]["headers"] = {"ETag": etag}
    if operation.id in {"getTable", "getHand", "getVerifier"}:
        found["304"] = {"description": "Nothing has changed since the version in If-None-Match."}
    by_status: dict[int, list[str]] = {}
    for code in operation.codes:
        by_status.setdefault(KINDS[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        found[str(status)] = {
            "description": " ".join(KINDS[code].title for code in codes),
            "content": {
                MEDIA_TYPE: {
                    "schema": _ref(answers.Problem),
                    "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
                }
            },
        }
    return found


def _operation(operation: Operation) -> dict[str, Any]:
    value: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": _responses(operation),
        "security": {
            "public": [],
            "operator": [{"operator": []}],
            "seat": [{"seat": []}, {"operator": []}],
        }[operation.caller],
    }
    if operation.body is not None:
        media: dict[str, Any] = {"schema": _ref(operation.body)}
        media["examples"] = {"usual": {"value": operation.body.example}}
        value["requestBody"] = {"required": True, "content": {"application/json": media}}
    return value


@lru_cache(maxsize=1)
def document() -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    operations = all_operations()
    models: set[type[BaseModel]] = {answers.Problem}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        models |= {model for _, model in operation.answers if not isinstance(model, str)}
        if operation.body is not None:
            models.add(operation.body)
        path = operation.path.replace(":path", "")
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation)
    _, schemas = models_json_schema(
        [(model, "validation") for model in sorted(models, key=lambda m: m.__name__)],
        ref_template="#/components/schemas/{model}",
    )
    bearer = {"type": "http", "scheme": "bearer"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "fairdeal",
            "version": __version__,
            "summary": "Provably fair dealing for card games",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": schemas["$defs"],
            "examples": {code: _problem_example(code) for code in KINDS},
            "securitySchemes": {
                "operator": {**bearer, "description": "`fd_live_..` or `fd_test_..`"},
                "seat": {**bearer, "description": "`fds_..`, from a claim code"},
            },
        },
    }


@lru_cache(maxsize=1)
def encoded() -> bytes:
    """The document as the file `api/openapi.json` has it."""
    return (json.dumps(document(), indent=1, ensure_ascii=False) + "\n").encode()


_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "div{overflow-x:auto}table{border-collapse:collapse}"
    "td{padding:.2rem 1rem .2rem 0;vertical-align:top}td:not(:last-child){white-space:nowrap}"
    "tr:target{outline:2px solid}"
)
_CALLERS: Final = {"seat": "seat or operator"}


def _words(text: str) -> str:
    """Escaped, and what stands between grave accents as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def _table(rows: list[tuple[str, ...]]) -> str:
    """A table; the first of each row is its id."""
    return (
        "<div><table>"
        + "".join(f"<tr id={name}><td>{'<td>'.join(cells)}\n" for name, *cells in rows)
        + "</table></div>"
    )


@lru_cache(maxsize=1)
def page() -> bytes:
    """The documentation page."""
    operations = "".join(
        f"<h3>{tag}</h3><p>{_words(text)}</p>"
        + _table(
            [
                (
                    operation.id,
                    f"<code>{operation.method}</code>",
                    f"<code>{html.escape(operation.path.replace(':path', ''))}</code>",
                    _CALLERS.get(operation.caller, operation.caller),
                    _words(operation.summary),
                )
                for operation in all_operations()
                if operation.tag == tag
            ]
        )
        for tag, text in _TAGS.items()
    )
    codes = _table(
        [
            (code, str(kind.status), f"<code>{code}</code>", _words(kind.title))
            for code, kind in KINDS.items()
        ]
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f"<title>fairdeal API</title><style>{_STYLE}</style>"
        "<h1>fairdeal API</h1><p>Machine-readable: <a href=/openapi.json>/openapi.json</a>.</p>"
        f"<h2>Operations</h2>{operations}<h2>Errors</h2>{codes}</html>\n"
    ).encode()
