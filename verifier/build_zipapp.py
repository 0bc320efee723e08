"""Builds the verifier into one file that any Python 3.11 runs, the same bytes every time.

`python -m zipapp` copies modification times into the archive, so two builds of the same source
differ. Here every entry has one date, one mode and no compression (what zlib writes depends on its
version), and the entries are in the order of their names.

    python verifier/build_zipapp.py dist/fairdeal-verify.pyz
"""

import argparse
import hashlib
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "fairdeal_verifier"
SHEBANG = b"#!/usr/bin/env python3\n"
MAIN = b"import sys\n\nfrom fairdeal_verifier.__main__ import main\n\nsys.exit(main())\n"
DATE = (1980, 1, 1, 0, 0, 0)
MODE = 0o100644
UNIX = 3


def entries() -> list[tuple[str, bytes]]:
    """Lists what goes into the archive, by name."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file())
    package = (
        (path.relative_to(PACKAGE.parent).as_posix(), path.read_bytes())
        for path in files
        if "__pycache__" not in path.parts
    )
    return sorted([("__main__.py", MAIN), *package])


def build(target: Path) -> str:
    """Writes the archive.

    Args:
        target: The file to write; its folder is made if need be.

    Returns:
        The SHA-256 of the file, in hex.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as out:
        out.write(SHEBANG)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for name, content in entries():
                info = zipfile.ZipInfo(name, DATE)
                info.create_system = UNIX
                info.external_attr = MODE << 16
                archive.writestr(info, content)
    target.chmod(0o755)
    return hashlib.sha256(target.read_bytes()).hexdigest()


def main() -> None:
    """Builds the archive that the command line names."""
    parser = argparse.ArgumentParser(description="Build the verifier into one file.")
    parser.add_argument("target", type=Path, nargs="?", default=Path("dist/fairdeal-verify.pyz"))
    target = parser.parse_args().target
    print(f"{build(target)}  {target}")


if __name__ == "__main__":
    main()
