"""The documents hold what they promise: links lead somewhere, requirements are followed by name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") or part == "node_modules" for part in path.parts)
)
REQUIREMENT = re.compile(r"^\*\*([A-Z]+-\d+)\*\* ((?:`[a-z ]+`)+)", re.MULTILINE)
MARKS = {
    "core": ("fairdeal",),
    "verifier": ("verifier/fairdeal_verifier", "verifier/fairdeal_audit"),
    "service": ("api/fairdeal_api",),
    "client": ("api/fairdeal_api/client", "api/fairdeal_api/client.py"),
}
FAMILY = re.compile(r"([A-Z]{2,6})-(\d+)(?:\.\.(\d+)|((?:, \d+)+))?")


def requirements() -> dict[str, set[str]]:
    """Every requirement of the specification, and who must follow it."""
    found = {}
    for page in sorted((ROOT / "docs/spec").glob("*.md")):
        for name, marks in REQUIREMENT.findall(page.read_text("utf-8")):
            if page.name != "README.md":
                assert name not in found, f"{name} is there twice"
                found[name] = set(marks.strip("`").split())
    return found


def cited(*folders: str) -> set[str]:
    """Requirements that files in these folders name, ranges such as HAND-9..13 included."""
    names = set()
    for folder in folders:
        path = ROOT / folder
        files = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.json")]
        for file in files:
            for family, first, last, more in FAMILY.findall(file.read_text("utf-8")):
                numbers = {int(first), *map(int, re.findall(r"\d+", more))}
                numbers |= set(range(int(first), int(last) + 1)) if last else set()
                names |= {f"{family}-{number}" for number in numbers}
    return names


def test_the_specification_has_requirements():
    assert len(requirements()) > 70


@pytest.mark.parametrize("mark", MARKS)
def test_each_requirement_is_cited_by_who_must_follow_it(mark):
    asked = {name for name, marks in requirements().items() if mark in marks}
    assert asked
    missing = sorted(asked - cited(*MARKS[mark]))
    assert not missing, f"{mark} does not cite {missing}"


def test_each_requirement_has_a_test_or_a_vector():
    missing = sorted(requirements().keys() - cited("tests", "seeds"))
    assert not missing, f"no test and no vector cites {missing}"


def test_nobody_cites_a_requirement_that_is_not_there():
    families = {name.split("-")[0] for name in requirements()}
    named = {
        n
        for n in cited("fairdeal", "verifier", "api", "tests", "seeds")
        if n.split("-")[0] in families
    }
    assert not sorted(named - requirements().keys())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_commands_that_exist():
    text = (ROOT / "README.md").read_text("utf-8")
    targets = set(re.findall(r"^make (\w+)", text, re.MULTILINE))
    assert {"demo", "test"} <= targets
    made = (ROOT / "Makefile").read_text("utf-8")
    for target in targets:
        assert re.search(rf"^{target}:", made, re.MULTILINE)


def test_nothing_names_this_machine():
    files = subprocess.run(
        ["git", "grep", "-lIE", r"(^|[^A-Za-z0-9_.])/(work|farm)/|\.\./shared"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not [name for name in files.stdout.split() if not name.startswith("tests/")]
