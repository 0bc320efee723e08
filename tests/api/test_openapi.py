"""The OpenAPI file, and a fuzzer that holds the service to it."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fairdeal_api import openapi
from fairdeal_api.problems import KINDS
from fairdeal_api.routes import all_operations
from tests.api.play import Operator, bearer, idempotency


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_every_operation_is_described():
    document = openapi.document()
    assert document["openapi"] == "3.1.0"
    seen = set()
    for path, method, operation in operations(document):
        assert re.fullmatch(r"[a-z]+[A-Za-z]*", operation["operationId"])
        seen.add(operation["operationId"])
        assert operation["tags"]
        assert operation["summary"]
        names = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
        assert names == set(re.findall(r"{(\w+)}", path))
        assert {"500", "503"} <= operation["responses"].keys()
        if method in ("post", "put"):
            media = operation["requestBody"]["content"]["application/json"]
            assert media["examples"]
            assert {"400", "413", "415", "422"} <= operation["responses"].keys()
        if method == "post":
            required = {p["name"] for p in operation["parameters"] if p.get("required")}
            assert "Idempotency-Key" in required
    assert len(seen) == len(all_operations())


def test_every_reference_leads_somewhere():
    document = openapi.document()
    text = openapi.encoded().decode()
    for kind, name in set(re.findall(r"#/components/(\w+)/(\w+)", text)):
        assert name in document["components"][kind]


def test_every_code_is_declared_somewhere_and_none_is_unknown():
    declared = {code for operation in all_operations() for code in operation.codes}
    assert declared <= KINDS.keys()
    assert KINDS.keys() - declared <= {"not_found", "seat_only", "deadline_not_reached"}


@pytest.mark.parametrize("operation", all_operations(), ids=lambda operation: operation.id)
def test_examples_fit_their_models(operation):
    if operation.body is not None:
        operation.body.model_validate(operation.body.example)


def test_the_served_file_is_the_file(shared):
    assert shared.client.get("/openapi.json").content == openapi.encoded()


def test_the_page_has_every_operation_and_code_once(shared):
    """A problem's `type` leads to its code there. Control: what is none has no place."""
    page = shared.client.get("/docs").text
    places = Counter(re.findall(r"<tr id=(\w+)>", page))
    assert places == Counter([*KINDS, *(operation.id for operation in all_operations())])
    assert "nothing_of_ours" not in places
    assert "`" not in page
    assert "<code>table</code>" in page


def test_schemathesis(shared):
    key = shared.key("fuzzer")
    schema = schemathesis.openapi.from_dict(openapi.document())
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    problems = []
    for result in schema.get_all_operations():
        problems += fuzz(result.ok(), checks, key, shared)
    assert problems == []


def fuzz(operation, checks, key, site):
    """Half of the cases are about a table that exists, or nothing but 404 would be seen."""
    found = []
    table = Operator(site.client, key, "mus")
    table.open()
    if operation.label.rsplit("/", 1)[-1] not in ("deal", "seal", "seed"):
        table.deal()
    real = {"table": table.table, "hand": 1, "seat": 1, "index": 0, "path": "0/000.p/1"}

    @settings(
        max_examples=20,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), existing=st.integers(0, 3))
    def run(case, existing):
        if existing:
            known = {name: real.get(name, value) for name, value in case.path_parameters.items()}
            case.path_parameters = known
        headers = bearer(key)
        sent = case.as_transport_kwargs(base_url="http://test", headers=headers)
        sent["headers"] = {**sent["headers"], **idempotency()}
        if "wait" in (sent.get("params") or {}):
            sent["params"] = {**sent["params"], "wait": 0}
        for name in ("cookies", "timeout"):
            sent.pop(name, None)
        response = site.client.request(**sent)
        try:
            case.validate_response(response, checks=checks)
        except Exception as error:  # noqa: BLE001 - collected, to show all of them
            found.append(f"{operation.label}: {error}")

    run()
    return found
