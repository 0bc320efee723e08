"""What a clean clone holds, and what imports what.

Import-linter holds the layers. Here stands what it cannot say: "nothing third-party at all", and
rules about text. The checks are functions from source to findings, so that each can be shown a
source that breaks its rule.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "fairdeal"
SERVICE = ROOT / "api" / "fairdeal_api"
VERIFIER = ROOT / "verifier" / "fairdeal_verifier"
AUDIT = ROOT / "verifier" / "fairdeal_audit"

# Put together from pieces, so that this file does not find itself.
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:" + "|".join(["wor" + "k", "far" + "m"]) + r")/")
REGISTRIES = re.compile(
    "|".join(
        re.escape(host)
        for host in (
            "pypi" + ".org",
            "pythonhosted" + ".org",
            "registry." + "npmjs",
            "registry." + "yarnpkg",
            "deb." + "debian.org",
            "index" + "-url",
        )
    )
)
SECRETS = {
    "claim_code",
    "mac",
    "operator_key",
    "password",
    "seat_seed",
    "seat_token",
    "secret",
    "seed",
    "server_seed",
    "token",
}


def modules(package: Path) -> list[Path]:
    found = sorted(package.rglob("*.py"))
    assert found, package
    return found


def imported(source: str) -> Iterator[str]:
    """Yields the top-level names that a source imports, also inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name | ast.Attribute)
            and getattr(node.func, "id", getattr(node.func, "attr", "")).strip("_")
            in {"import", "import_module"}
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value).partition(".")[0]


def foreign(source: str, allowed: set[str]) -> set[str]:
    return {name for name in imported(source) if name not in sys.stdlib_module_names | allowed}


def plain_comparisons(source: str) -> list[int]:
    """Finds the lines that compare a secret by `==` or `!=`, whose time tells where they differ."""

    def is_secret(node: ast.expr) -> bool:
        return getattr(node, "id", getattr(node, "attr", None)) in SECRETS

    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            pairs = zip(operands, node.ops, operands[1:], strict=False)
            lines += [
                node.lineno
                for left, operator, right in pairs
                if isinstance(operator, ast.Eq | ast.NotEq)
                and (is_secret(left) or is_secret(right))
                and not isinstance(left, ast.Constant)
                and not isinstance(right, ast.Constant)
            ]
    return lines


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[A-Za-z0-9._-]+", line)[0].lower() for line in requirements}


def listed(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("-")]


def repository_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=False,
        capture_output=True,
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


# --- who imports whom ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", modules(VERIFIER), ids=lambda path: path.name)
def test_the_verifier_imports_the_standard_library_only(path):
    assert foreign(path.read_text("utf-8"), {"fairdeal_verifier"}) == set()


@pytest.mark.parametrize("path", modules(AUDIT), ids=lambda path: path.name)
def test_the_audit_imports_the_standard_library_and_the_verifier(path):
    assert foreign(path.read_text("utf-8"), {"fairdeal_verifier", "fairdeal_audit"}) == set()


@pytest.mark.parametrize("path", modules(CORE), ids=lambda path: path.name)
def test_the_core_imports_nothing_but_cryptography(path):
    assert foreign(path.read_text("utf-8"), {"fairdeal", "cryptography"}) == set()


@pytest.mark.parametrize("path", modules(SERVICE), ids=lambda path: path.name)
def test_the_service_does_not_import_the_verifier(path):
    assert {"fairdeal_verifier", "fairdeal_audit"}.isdisjoint(imported(path.read_text("utf-8")))


@pytest.mark.parametrize("path", modules(CORE), ids=lambda path: path.name)
def test_the_core_draws_nothing_by_itself(path):
    source = path.read_text("utf-8")
    assert {"random", "secrets", "uuid"}.isdisjoint(imported(source))
    assert "urandom" not in source


@pytest.mark.parametrize("path", modules(CORE) + modules(SERVICE), ids=lambda path: path.name)
def test_secrets_are_compared_in_constant_time(path):
    assert plain_comparisons(path.read_text("utf-8")) == [], "use hmac.compare_digest"


@pytest.mark.parametrize(
    "source",
    [
        "import fairdeal",
        "from fairdeal.merkle import root",
        "def f():\n    import fairdeal.cards as cards",
        "import importlib\nimportlib.import_module('fairdeal.cards')",
        "__import__('fairdeal')",
    ],
)
def test_control_an_import_of_the_core_is_found(source):
    assert foreign(source, {"fairdeal_verifier"}) == {"fairdeal"}


@pytest.mark.parametrize("source", ["a.server_seed == b", "if seed != other: pass"])
def test_control_a_plain_comparison_is_found(source):
    assert plain_comparisons(source) == [1]


# --- files --------------------------------------------------------------------------------------


def test_the_licences_are_one():
    texts = {(ROOT / at / "LICENSE").read_bytes() for at in (".", "api", "verifier")}
    assert len(texts) == 1
    assert not any((ROOT / at / "LICENSE").is_symlink() for at in ("api", "verifier"))


def test_the_versions_are_one():
    assert len({project(ROOT / at)["version"] for at in (".", "api", "verifier")}) == 1


@pytest.mark.parametrize("name", ["run.txt", "dev.txt"])
def test_requirements_are_pinned_hashed_and_name_no_place(name):
    text = (ROOT / "requirements" / name).read_text("utf-8")
    entries = [entry for entry in text.replace("\\\n", " ").splitlines() if entry.strip()]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}", entry), entry
    assert "://" not in text
    assert "file:" not in text


def test_development_pins_what_the_demo_pins():
    run, dev = (
        set(
            re.findall(
                r"^[a-z0-9.-]+==\S+", (ROOT / "requirements" / name).read_text(), re.MULTILINE
            )
        )
        for name in ("run.txt", "dev.txt")
    )
    assert run <= dev


def test_the_demo_installs_what_the_packages_ask_for():
    asked = names(project(ROOT)["dependencies"]) | names(project(ROOT / "api")["dependencies"])
    assert names(listed(ROOT / "requirements" / "run.in")) == (
        asked - {"fairdeal", "fairdeal-verifier"} | {"hatchling", "editables"}
    )


def test_no_file_names_a_machine_path_or_a_registry():
    found = []
    for path in repository_files():
        text = path.read_text("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE_PATHS.search(line) or REGISTRIES.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
    assert found == []


def test_control_machine_paths_and_registries_are_found():
    assert MACHINE_PATHS.search("cd /" + "work/main")
    assert not MACHINE_PATHS.search("docs/" + "work/index.md")
    assert REGISTRIES.search("https://pypi" + ".org/simple")
