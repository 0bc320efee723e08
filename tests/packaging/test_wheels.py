"""The three wheels, built and installed as a user would have them, away from the checkout.

An editable install puts the repository on `sys.path` and hides what a wheel forgot, so nothing
here runs in the repository, and the new environment does not see the links of the one in use.
"""

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {
    "fairdeal": ROOT,
    "fairdeal_api": ROOT / "api",
    "fairdeal_verifier": ROOT / "verifier",
}
MORE = {"fairdeal_verifier": {"fairdeal_audit"}}
"""Packages that come along in a wheel."""
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]


def run(*command: str | Path, cwd: Path) -> str:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    done = subprocess.run(
        command, cwd=cwd, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    house = tmp_path_factory.mktemp("wheels")
    built = {}
    for package, folder in PROJECTS.items():
        run(
            *PIP,
            "wheel",
            "--quiet",
            "--no-index",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            house,
            folder,
            cwd=house,
        )
        (built[package],) = house.glob(f"{package}-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheels, tmp_path_factory) -> Path:
    """The interpreter of a new environment that has the three wheels and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    interpreter = folder / "bin" / "python"
    run(
        *PIP,
        "--python",
        interpreter,
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        *wheels.values(),
        cwd=folder,
    )
    return interpreter


@pytest.fixture(scope="module")
def python_with_dependencies(python) -> Path:
    """The same, which also sees third-party packages, but not through the editable links.

    A folder added by a `.pth` file is searched for packages; its own `.pth` files are not read.
    """
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    (target,) = run(python, "-I", "-c", code, cwd=python.parent).split()
    folders = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (Path(target) / "dependencies.pth").write_text("\n".join(folders) + "\n")
    return python


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def required(wheel: Path) -> set[str]:
    lines = metadata(wheel).get_all("Requires-Dist") or []
    return {re.match(r"[A-Za-z0-9._-]+", line)[0].lower() for line in lines}


def test_the_verifier_needs_nothing(wheels):
    assert required(wheels["fairdeal_verifier"]) == set()


def test_the_core_needs_cryptography_only(wheels):
    assert required(wheels["fairdeal"]) == {"cryptography"}


def test_the_service_needs_the_core_and_brings_the_verifier(wheels):
    """It serves the verifier's page; that it never imports its code is tested with the layout."""
    assert {"fairdeal", "fairdeal-verifier"} <= required(wheels["fairdeal_api"])


def test_an_installed_service_finds_the_page_that_the_verifier_packs(python_with_dependencies):
    code = """
import sys
from fairdeal_api.site import packaged, words
assert packaged.page().content == (packaged.folder() / "verify.html").read_bytes()
assert words.words("en")("what")
assert not [name for name in sys.modules if name.startswith("fairdeal_verifier")]
print(packaged.folder())
"""
    python = python_with_dependencies
    said = run(python, "-I", "-W", "error", "-c", code, cwd=python.parent).strip()
    assert python.parents[1] in Path(said).parents


@pytest.mark.parametrize("package", PROJECTS)
def test_a_wheel_holds_its_package_and_its_licence(wheels, package):
    files = contents(wheels[package])
    tops = {name.partition("/")[0] for name in files}
    packages = {package, *MORE.get(package, ())}
    assert {top for top in tops if not top.endswith(".dist-info")} == packages
    assert {f"{one}/py.typed" for one in packages} <= set(files)
    (licence,) = (name for name in files if name.endswith(".dist-info/licenses/LICENSE"))
    with zipfile.ZipFile(wheels[package]) as archive:
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("package", PROJECTS)
def test_a_wheel_forgets_no_file(wheels, package):
    folder = PROJECTS[package]
    sources = {
        path.relative_to(folder).as_posix()
        for one in (package, *MORE.get(package, ()))
        for path in (folder / one).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources <= set(contents(wheels[package]))


def imported_from(python: Path, package: str) -> Path:
    """Imports every module of a package (but `__main__`) and says where the package is."""
    code = f"""
import importlib, pkgutil
import {package} as package
for module in pkgutil.walk_packages(package.__path__, "{package}."):
    if not module.name.endswith(".__main__"):
        importlib.import_module(module.name)
print(package.__file__)
"""
    return Path(run(python, "-I", "-W", "error", "-c", code, cwd=python.parent).strip())


@pytest.mark.parametrize("package", ["fairdeal_verifier", "fairdeal_audit"])
def test_the_verifier_imports_alone(python, package):
    place = imported_from(python, package)
    assert python.parents[1] in place.parents


def test_the_audit_is_a_command(python):
    said = run(python.parent / "fairdeal-audit", "--version", cwd=python.parent)
    assert said.startswith("fairdeal-audit ")


@pytest.mark.parametrize("package", PROJECTS)
def test_every_module_of_a_wheel_imports(python_with_dependencies, package):
    place = imported_from(python_with_dependencies, package)
    assert python_with_dependencies.parents[1] in place.parents


def test_the_archive_of_the_verifier_is_the_same_twice(tmp_path):
    builder = ROOT / "verifier" / "build_zipapp.py"
    for name in ("one.pyz", "two.pyz"):
        run(sys.executable, builder, tmp_path / name, cwd=tmp_path)
    assert (tmp_path / "one.pyz").read_bytes() == (tmp_path / "two.pyz").read_bytes()
    assert zipfile.is_zipfile(tmp_path / "one.pyz")
