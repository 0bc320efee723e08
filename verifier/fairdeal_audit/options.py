"""The options of `fairdeal-audit`."""

import argparse
from pathlib import Path

from fairdeal_audit import __version__
from fairdeal_audit.replay import GRACE
from fairdeal_verifier.words import LANGUAGES


def parser() -> argparse.ArgumentParser:
    """Gives what reads a command line."""
    whole = argparse.ArgumentParser(
        prog="fairdeal-audit",
        description="Audits a whole log: nothing missing, nothing twice, every hand right.",
        epilog="Exit code: 0 clean, 1 findings, 2 usage, 3 incomplete, 4 unreadable.",
    )
    whole.add_argument("--version", action="version", version=f"fairdeal-audit {__version__}")
    commands = whole.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--key", metavar="VKEY", help="the log key to trust, or a file that holds it"
    )
    common.add_argument("--json", action="store_true", help="write one JSON object")
    common.add_argument(
        "--lang",
        choices=LANGUAGES,
        default="en",
        help="language of what is said; what was found, and JSON, are in English",
    )
    common.add_argument("--quiet", action="store_true", help="say nothing of progress")
    many = argparse.ArgumentParser(add_help=False)
    many.add_argument("-j", type=int, default=1, metavar="N", help="so many processes")
    many.add_argument(
        "--grace", type=int, default=GRACE, metavar="SECONDS", help="after a deadline (3600)"
    )
    one = commands.add_parser("fetch", parents=[common], help="fetch a log and check its tree")
    one.add_argument("url", help="address or folder below which `checkpoint` and `tile/` lie")
    one.add_argument("dir", type=Path)
    one = commands.add_parser("replay", parents=[common, many], help="replay what was fetched")
    one.add_argument("dir", type=Path)
    one.add_argument(
        "--continues", type=Path, metavar="OLD", help="folder of the log that this one continues"
    )
    one = commands.add_parser("compare", parents=[common], help="can two heads be of one log?")
    one.add_argument("heads", nargs=2, metavar="CP", help="checkpoint, receipt or hand's file")
    one.add_argument("--dir", type=Path, action="append", default=[], help="a fetched folder")
    one.add_argument("--rotations", metavar="FILE", help="what the log serves of its keys")
    one.add_argument("-o", "--output", type=Path, help="where to write evidence")
    one = commands.add_parser("judge", parents=[common], help="does this evidence prove anything?")
    one.add_argument("evidence", help="a file, or - for standard input")
    one = commands.add_parser(
        "watch", parents=[common, many], help="audit until something is found"
    )
    one.add_argument("url")
    one.add_argument("dir", type=Path)
    one.add_argument("--every", type=int, default=60, metavar="SECONDS")
    one.add_argument("--times", type=int, default=0, metavar="N", help="stop after so many rounds")
    one.add_argument(
        "--patience",
        type=int,
        default=900,
        metavar="SECONDS",
        help="how long a log that does not answer, or not in full, is asked again (900)",
    )
    return whole
