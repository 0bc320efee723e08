"""The files of hands, and what the standalone verifier says of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairdeal_api.terminal.processes import run

# In English whatever the environment says: this reads the verdict's words.
_VERIFIER: Final = ("-m", "fairdeal_verifier", "--lang", "en")
_FAILED: Final = re.compile(r"FAIL +([a-z0-9.]+)")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier said: its whole report, which begins with the verdict."""

    report: str

    @property
    def words(self) -> str:
        """The verdict: `VERIFIED`, and what stands with it."""
        return self._line(0).split("  ")[0]

    @property
    def failed(self) -> str:
        """The id of the check that the verdict names; empty if none failed."""
        found = _FAILED.match(self._line(1))
        return found[1] if found else ""

    @property
    def reason(self) -> str:
        """Why it failed, in the verifier's words."""
        return self._line(1).partition(self.failed)[2].strip() if self.failed else ""

    def _line(self, number: int) -> str:
        lines = self.report.splitlines()
        return lines[number] if number < len(lines) else ""


def verify(file: Path, key: Path, notes: Path | None = None) -> Verdict:
    """Run the verifier on a file, with the log's key and, if given, what one seat has kept."""
    mine = ["--mine", str(notes)] if notes is not None else []
    return Verdict(run([*_VERIFIER, "--key", str(key), *mine, str(file)], any_code=True))


def verify_match(files: Sequence[Path], key: Path) -> Verdict:
    """Run the verifier on hands that follow each other."""
    names = [str(file) for file in files]
    arguments = [*_VERIFIER, "--key", str(key), "--match", *names]
    return Verdict(run(arguments, any_code=True))


class Records:
    """A folder with the hands of one table, one player's notes, and the log's key."""

    def __init__(self, folder: Path, log_key: str) -> None:
        """Make the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.files: list[Path] = []
        self.key = folder / "log.vkey"
        self.key.write_text(log_key + "\n", "utf-8")

    def save(self, number: int, content: bytes, notes: Path) -> Path:
        """Keep a hand's file and the notes of it."""
        file = self.folder / f"hand-{number}.fair.json"
        file.write_bytes(content)
        shutil.copyfile(notes, self.notes_of(file))
        self.files.append(file)
        return file

    def rescue(self, seat: Path, name: str = "") -> Iterator[Path]:
        """Keep what a seat's folder holds of an end before the end: evidence, and open notes.

        Args:
            seat: The folder; its secrets stay there.
            name: In the names of the files, for a seat that is not the player's own.

        Yields:
            Each file that was not there before, once it is.

        Raises:
            OSError: One cannot be written, and is not there.
        """
        for path in sorted((*seat.glob("evidence*.json"), *seat.glob("hand-*.notes.json"))):
            target = self.folder / f"{name}{path.name}"
            if target.exists():
                continue
            try:
                shutil.copyfile(path, target)
            except OSError:
                target.unlink(missing_ok=True)  # a part of it shows nobody anything
                raise
            yield target

    def notes_of(self, file: Path) -> Path:
        """The notes that belong to a file."""
        return file.with_name(file.name.replace(".fair.", ".notes."))

    def verify(self, file: Path) -> Verdict:
        """Run the verifier on one hand, with the notes of it."""
        return verify(file, self.key, self.notes_of(file))

    def verify_match(self) -> Verdict:
        """Run it on all hands, as a match."""
        return verify_match(self.files, self.key)
