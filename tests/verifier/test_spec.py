"""The specification and the package cite each other."""

import re
from pathlib import Path

import fairdeal_audit
import fairdeal_verifier
from fairdeal_verifier.texts import reason, sentence

SPEC = Path(__file__).parents[2] / "docs" / "spec"
PAGES = [
    page
    for package in (fairdeal_verifier, fairdeal_audit)
    for page in Path(package.__file__).parent.rglob("*.py")
]
"""All of the distribution."""


def requirements(who: str) -> set[str]:
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(SPEC.glob("*.md")))
    return {
        m[1]
        for m in re.finditer(r"^\*\*([A-Z]+-\d+)\*\* `([a-z ]+)`", text, re.MULTILINE)
        if who in m[2].split()
    }


def cited() -> set[str]:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    # `KOZ-1 to KOZ-7` cites what lies between as well, but each is to be found by its own name.
    return set(re.findall(r"\b[A-Z]{2,6}-\d+\b", text))


def test_every_requirement_for_a_verifier_is_cited():
    wanted = requirements("verifier")
    assert len(wanted) > 60
    assert sorted(wanted - cited()) == []


def test_nothing_is_cited_that_is_not_there():
    known = {
        prefix
        for one in requirements("core") | requirements("verifier")
        for prefix in [one.split("-")[0]]
    }
    everything = set().union(
        *(requirements(who) for who in ("core", "verifier", "service", "client"))
    )
    strangers = {one for one in cited() if one.split("-")[0] in known} - everything
    assert sorted(strangers) == []


def test_every_check_of_the_table_has_a_sentence_and_a_reason():
    text = (SPEC / "verify.md").read_text(encoding="utf-8")
    ids = [
        one
        for row in re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE)
        for one in re.findall(r"`([^`]+)`", row)
    ]
    assert len(ids) > 25
    for one in ids:
        check_id = one.replace("E", "1").replace("N", "2").replace("K", "3")
        assert str(sentence(check_id))
        assert str(reason(check_id))


def test_every_module_is_short():
    for page in PAGES:
        assert len(page.read_text(encoding="utf-8").splitlines()) <= 300, page
