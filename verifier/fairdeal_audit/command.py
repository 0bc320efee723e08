"""What the command `fairdeal-audit` does. Spec: audit.md."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from fairdeal_audit.compare import compare
from fairdeal_audit.evidence import MAX_EVIDENCE, Evidence
from fairdeal_audit.fetch import Fetched, fetch
from fairdeal_audit.heads import keep_key, trusted_key, write
from fairdeal_audit.judge import judge
from fairdeal_audit.keys import kept_rotations
from fairdeal_audit.options import parser
from fairdeal_audit.replay import replay
from fairdeal_audit.report import (
    EVIDENCE,
    Lines,
    fetched_text,
    to_json,
    to_text,
    write_evidence,
    write_report,
)
from fairdeal_audit.source import source_of
from fairdeal_audit.tiles import IncompleteError
from fairdeal_verifier import streams
from fairdeal_verifier.encoding import UnreadableError
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Rotation, read_rotations
from fairdeal_verifier.trusted import key_of

CLEAN, FINDINGS, USAGE, INCOMPLETE, UNREADABLE = range(5)
# Made here, with what else takes a while before the command can be stopped in order.
_PARSER = parser()


def _needed_key(options: argparse.Namespace, folders: Sequence[Path] = ()) -> LogKey:
    """Gives the key of the option, or of the first folder that keeps one."""
    text = key_of(options.key)
    for folder in folders:
        return trusted_key(folder, text, kept_rotations(folder))
    if text is None:
        raise ValueError("give the log's key with --key")
    return LogKey.parse(text)


def _end(code: int, text: str) -> int:
    """Writes what was found; gives the exit code.

    What the terminal cannot show is written as an escape, never lost. Findings stay findings if
    nobody reads them, and a report that a full disk has swallowed is not clean.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"  # it is None where it was closed
    try:
        streams.write(sys.stdout, text.encode(encoding, "backslashreplace").decode(encoding))
    except BrokenPipeError:
        pass
    except OSError as error:
        _tell(f"fairdeal-audit: what was found cannot be written: {error.strerror}\n")
        return code or USAGE
    return code


def _tell(text: str) -> None:
    """Says something on standard error; that nobody can be told changes nothing."""
    with suppress(OSError):
        streams.write(sys.stderr, text)


_said = 0.0


def _say(options: argparse.Namespace, text: str, *, last: bool) -> None:
    """Tells of progress, about once a second."""
    global _said  # noqa: PLW0603 - when something was said last
    if not options.quiet and (last or time.monotonic() - _said > 1):
        _said = time.monotonic()
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        _tell(text + ("\r" if is_terminal else "\n"))


def _fetch(options: argparse.Namespace) -> tuple[int, Fetched]:
    """Fetches once; evidence is written into the folder."""
    folder: Path = options.dir
    text = key_of(options.key)
    key = trusted_key(folder, text, kept_rotations(folder))
    source = source_of(options.url)
    folder.mkdir(parents=True, exist_ok=True)
    keep_key(folder, text)

    def told(done: int, size: int) -> None:
        _say(options, f"{done:,} of {size:,} entries", last=done == size)

    fetched = fetch(source, folder, key, told)
    if fetched.evidence is not None:
        head = f"{fetched.head.size}-{fetched.head.root.hex()[:16]}"
        name = f"{EVIDENCE}/{fetched.code.lower()}-{head}.json"
        write(folder / name, fetched.evidence.encode())
    return FINDINGS if fetched.code else CLEAN, fetched


def _run_fetch(options: argparse.Namespace) -> int:
    code, fetched = _fetch(options)
    if options.json:
        head = fetched.head
        value = {"code": fetched.code, "root": head.root.hex(), "size": head.size}
        return _end(code, json.dumps(value | {"text": fetched.text}) + "\n")
    return _end(code, fetched_text(fetched, options.lang))


def _run_replay(options: argparse.Namespace) -> int:
    if options.j < 1 or options.grace < 0:
        raise ValueError("-j and --grace take a number of at least 1 and 0")
    folder: Path = options.dir
    text = key_of(options.key)
    key = trusted_key(folder, text, kept_rotations(folder))

    def told(done: int, size: int, new: int, hands: int, seconds: float) -> None:
        left = seconds * (size - done) / new
        rate = hands / max(seconds, 0.001)
        text = f"{done:,} of {size:,} entries, {rate:,.0f} hands/s, {left:.0f} s left"
        _say(options, text, last=done == size)

    outcome = replay(
        folder,
        key,
        processes=options.j,
        grace=options.grace,
        continues=getattr(options, "continues", None),
        told=told,
    )
    report = to_json(outcome, write_evidence(folder, key, outcome))
    write_report(folder, report)
    text = json.dumps(report) + "\n" if options.json else to_text(report, options.lang)
    return _end(FINDINGS if outcome.findings else CLEAN, text)


def _run_compare(options: argparse.Namespace) -> int:
    key = _needed_key(options, options.dir)
    data = [Path(name).read_bytes() for name in options.heads]
    changes: tuple[Rotation, ...] = ()
    if options.rotations is not None:
        changes = read_rotations(Path(options.rotations).read_bytes())
    compared = compare(data[0], data[1], key, options.dir, changes)
    evidence = ""
    if compared.evidence is not None and options.output is not None:
        write(options.output, compared.evidence.encode())
        evidence = str(options.output)
    if options.json:
        value = {"code": compared.code, "text": compared.text, "evidence": evidence or None}
        text = json.dumps(value) + "\n"
    else:
        line = Lines(options.lang)
        text = f"{compared.code or line('audit.one_log')}: {compared.text}\n"
        text += f"    {line('audit.evidence', name=evidence)}\n" if evidence else ""
    return _end(FINDINGS if compared.code else CLEAN, text)


def _run_judge(options: argparse.Namespace) -> int:
    key = _needed_key(options)
    if options.evidence == "-":
        data = sys.stdin.buffer.read(MAX_EVIDENCE + 1)
    else:
        with Path(options.evidence).open("rb") as source:
            data = source.read(MAX_EVIDENCE + 1)
    evidence = Evidence.parse(data)
    why = judge(evidence, key)
    if options.json:
        text = json.dumps({"code": evidence.code if why else None, "text": why})
    else:
        line = Lines(options.lang)
        text = line("audit.guilty", code=evidence.code, why=why) if why else line("audit.nothing")
    return _end(FINDINGS if why else CLEAN, f"{text}\n")


def _run_watch(options: argparse.Namespace) -> int:
    """Audits again and again. Spec: AUD-8."""
    if min(options.every, options.patience) < 0:
        raise ValueError("--every and --patience take a number of seconds")
    rounds = 0
    good: float | None = None
    while True:
        rounds += 1
        began = time.monotonic()
        try:
            code = _run_fetch(options) or _run_replay(options)
            good = time.monotonic()
        except IncompleteError as error:
            # A service that is stopped for a moment is no finding; one that stays away, or that
            # was never there, is told.
            if good is None or began - good >= options.patience or rounds == options.times:
                raise
            code = CLEAN
            _tell(f"fairdeal-audit: incomplete, and asked again: {error}\n")
        if code or rounds == options.times:
            return code
        time.sleep(options.every)


_COMMANDS = {
    "fetch": _run_fetch,
    "replay": _run_replay,
    "compare": _run_compare,
    "judge": _run_judge,
    "watch": _run_watch,
}


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Lets a polite kill end the command as Ctrl-C does; who has started it deaf finds it so."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)  # `timeout` sends it twice; once is enough
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Returns:
        The exit code: 0 clean, 1 findings, 2 usage, 3 incomplete, 4 unreadable.
    """
    options = _PARSER.parse_args(arguments)
    try:
        with _ended_by_signals():
            return _COMMANDS[options.command](options)
    except IncompleteError as error:
        _tell(f"fairdeal-audit: incomplete: {error}\n")
        return INCOMPLETE
    except UnreadableError as error:
        _tell(f"fairdeal-audit: unreadable: {error}\n")
        return UNREADABLE
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        _tell(f"fairdeal-audit: {what}{error.strerror or error}\n")
        return USAGE
    except ValueError as error:
        _tell(f"fairdeal-audit: {error}\n")
        return USAGE
    except KeyboardInterrupt:
        _tell("\nfairdeal-audit: stopped; what was done is kept\n")
        return INCOMPLETE
