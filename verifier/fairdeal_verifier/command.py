"""What the command `fairdeal-verify` does."""

import argparse
import os
import pkgutil
import re
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from fairdeal_verifier import __version__, streams
from fairdeal_verifier.encoding import MAX_FILE
from fairdeal_verifier.match import verify_match
from fairdeal_verifier.notes import Notes
from fairdeal_verifier.report import Style, match_to_json, match_to_text, to_json, to_text
from fairdeal_verifier.trusted import key_of
from fairdeal_verifier.verify import verify
from fairdeal_verifier.words import LANGUAGES, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = 2
_SEED = re.compile(r"([0-9])=([0-9a-f]{64})")


class UsageError(ValueError):
    """The command line is not what it has to be."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairdeal-verify",
        description="Checks a dealt hand. Offline, and by nothing but its file and what you kept.",
        epilog="Exit code: 0 verified, 1 failed, 2 usage, 3 incomplete, 4 unreadable.",
    )
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="HAND.fair.json, or - for standard input"
    )
    parser.add_argument(
        "--match",
        metavar="FILE",
        nargs="+",
        help="several hands of one table, in order: also checks that they follow each other",
    )
    parser.add_argument(
        "--key", metavar="VKEY", help="the log key to trust, or a file that holds it"
    )
    parser.add_argument(
        "--mine",
        metavar="SEAT=SEED",
        action="append",
        default=[],
        help="the seed that you noted, in hex, or a file with your notes; again for more",
    )
    parser.add_argument(
        "--receipt",
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help="receipts you kept",
    )
    parser.add_argument(
        "--witness",
        metavar="VKEY",
        action="append",
        default=[],
        help="a witness that must have cosigned a receipt you give; again for more",
    )
    parser.add_argument(
        "--rotations",
        metavar="FILE",
        help="what the log serves at /log/rotations: its keys, by the one that you trust",
    )
    parser.add_argument("--explain", action="store_true", help="say why, and what was compared")
    parser.add_argument("--trace", action="store_true", help="show every draw of each shuffle")
    parser.add_argument(
        "--json", action="store_true", help="write one JSON object, in English whatever --lang says"
    )
    parser.add_argument(
        "--lang",
        choices=LANGUAGES,
        help="language of the report; else that of LC_ALL, LC_MESSAGES or LANG, else English",
    )
    parser.add_argument(
        "--page-hash",
        metavar="PAGE",
        nargs="?",
        const="",
        help="print the SHA-256 of verify.html, the page that checks hands in a browser, as it is"
        " packed with this tool; with PAGE, say if that file is the same (exit code 0) or not (1)",
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    parser.add_argument("--version", action="version", version=f"fairdeal-verify {__version__}")
    return parser


def _read(name: str) -> bytes:
    """Reads a file, no more of it than one byte beyond what is allowed."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(MAX_FILE + 1)
        with Path(name).open("rb") as source:
            return source.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {name!r}: {why}") from None


def _mine(options: list[str]) -> tuple[dict[int, list[str]], Notes | None]:
    seeds: dict[int, list[str]] = {}
    notes: Notes | None = None
    for option in options:
        match = _SEED.fullmatch(option)
        if match:
            seeds.setdefault(int(match[1]), []).append(match[2])
        elif re.fullmatch(r"[0-9]+=.*", option):
            raise UsageError("--mine takes SEAT=SEED, the seed as 64 hex digits in lower case")
        elif notes is not None:
            raise UsageError("--mine takes one notes file")
        else:
            notes = Notes.parse(_read(option))
    return seeds, notes


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "ascii"  # it is None where it was closed


def _can_show(text: str) -> bool:
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:
        return False
    return True


def _language(asked: str | None) -> str:
    """Chooses the language: the one asked for, else the environment's.

    A report that the terminal can only show as question marks would hide what it says, so a
    language that cannot be written is not used.
    """
    setting = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = asked or re.split(r"[_.@]", setting)[0]
    if language not in LANGUAGES:
        return "en"
    if _can_show("".join(words_of(language).messages.values())):
        return language
    if asked:
        _complain(f"{_encoding()} cannot write all of {asked}, so this is English")
    return "en"


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _style(color: str, language: str | None = None) -> Style:
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    colour = color == "always" or (color == "auto" and not is_plain and _is_terminal())
    return Style(colour=colour, symbols=_can_show("♣♦♥♠"), language=_language(language))


def _write(text: str) -> None:
    """Writes what the terminal can show; what it cannot is written as an escape, never lost."""
    if not _can_show(text):
        text = text.replace("·", "-").encode(_encoding(), "backslashreplace").decode(_encoding())
    streams.write(sys.stdout, text)


def _complain(text: str) -> None:
    """Says on standard error what is wrong; the exit code says it too, if nobody can be told."""
    with suppress(OSError):
        streams.write(sys.stderr, f"fairdeal-verify: {text}\n")


def _hand(options: argparse.Namespace) -> tuple[int, str]:
    """Verifies one file; gives the exit code and the report."""
    seeds, notes = _mine(options.mine)
    report = verify(
        _read(options.file),
        key=key_of(options.key),
        mine=seeds,
        receipts=[_read(name) for name in options.receipt],
        notes=notes,
        witnesses=options.witness,
        rotations=_read(options.rotations) if options.rotations is not None else None,
        trace=options.trace,
    )
    if options.json:
        return report.exit, to_json(report) + "\n"
    style = _style(options.color, options.lang)
    return report.exit, to_text(report, style, explain=options.explain)


def _match(options: argparse.Namespace) -> tuple[int, str]:
    """Verifies the files of a match; gives the exit code and the report. Spec: VER-7."""
    if options.mine or options.receipt or options.witness:
        raise UsageError(
            "--mine, --receipt and --witness are for one hand; check it on its own as well"
        )
    names = options.match
    match = verify_match(
        (_read(name) for name in names),
        key=key_of(options.key),
        rotations=_read(options.rotations) if options.rotations is not None else None,
        trace=options.trace,
    )
    if options.json:
        return match.exit, match_to_json(match, names) + "\n"
    style = _style(options.color, options.lang)
    return match.exit, match_to_text(match, names, style, explain=options.explain)


def _page(name: str) -> tuple[int, str]:
    """Prints the hash of the packed page; gives 1 if the file named is another page."""
    packed = pkgutil.get_data("fairdeal_verifier", "verify.html") or b""
    digest = sha256(packed).hexdigest()
    if not name:
        return 0, f"{digest}  verify.html\n"
    found = sha256(_read(name)).hexdigest()
    if found == digest:
        return 0, f"{digest}  {name}: the page of fairdeal-verify {__version__}\n"
    return 1, f"{found}  {name}: NOT the page of fairdeal-verify {__version__}, {digest}\n"


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Runs the command.

    Returns:
        The exit code. Spec: VER-4
    """
    parser = _parser()
    options, more = parser.parse_known_args(arguments)
    if any(text.startswith("-") for text in more):
        parser.error("unrecognized arguments: " + " ".join(more))
    try:
        if more or [options.file, options.match, options.page_hash].count(None) != 2:
            raise UsageError(
                "give one file, or the files of a match with --match; --receipt takes all files "
                "that follow it, so the hand's goes before it"
            )
        if options.page_hash is not None:
            code, text = _page(options.page_hash)
        else:
            code, text = _match(options) if options.match else _hand(options)
    except ValueError as error:
        _complain(str(error))
        return USAGE
    try:
        _write(text)
    except BrokenPipeError:
        pass  # whoever read the report has seen enough; the exit code still says the verdict
    except OSError as error:
        _complain(f"the report cannot be written: {error.strerror}")
        return code or USAGE  # a full disk is no verdict, and takes none away
    return code
