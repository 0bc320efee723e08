"""What nobody ended when the log came to its end. Spec: AUD-2, HAND-18."""

from collections.abc import Iterator
from contextlib import suppress

from fairdeal_audit.progress import Finding, Progress
from fairdeal_audit.store import Store
from fairdeal_audit.table import event_at
from fairdeal_audit.tiles import WIDTH, Folder
from fairdeal_verifier import log_events
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.events import parse
from fairdeal_verifier.kinds import MAX_SEATS

_SECOND = 1000


def overdue(log: Folder, store: Store, now: int, grace: int) -> Iterator[Finding]:
    """Finds hands and tables that nobody ended, and hands that nobody disclosed.

    Args:
        log: The log.
        store: What its tables have come to.
        now: The latest of its times, in milliseconds.
        grace: Milliseconds after a deadline before it counts as missed.
    """
    for name, progress in store.overdue(now - grace):
        number = progress.hand
        if progress.due:
            text = f"hand {progress.due} has ended and is not disclosed"
            yield Finding(progress.last, "WITHHELD", name, progress.due, text)
        elif _had_time(log, progress, now, grace):
            what = f"hand {number}" if progress.running else "the idle table"
            late = (now - progress.deadline) // _SECOND
            text = f"nobody ended {what}, {late} s after its deadline"
            yield Finding(progress.last, "OVERDUE", name, number, text)


def _had_time(log: Folder, progress: Progress, now: int, grace: int) -> bool:
    """Says if a table's time has passed once more after its deadline, while the log went on.

    A service that was stopped gives every hand its full time again. It was running at the latest
    when the log had its first event after the deadline and the grace; that is searched for by
    halves, since the log's times ascend, but for what is made side by side. Spec: AUD-2, HAND-18.
    """
    allowed = progress.deadline - event_at(log, progress.last).at
    low, high = progress.last + 1, log.size
    while low < high:
        middle = (low + high) // 2
        if _time(log, middle) > progress.deadline + grace:
            high = middle
        else:
            low = middle + 1
    return low < log.size and _time(log, low) + allowed <= now


def _time(log: Folder, index: int) -> int:
    """Reads the time of an event; of an entry that is none, that of one not far before it."""
    for one in range(index, max(index - WIDTH, -1), -1):
        text = log.entry(one).decode("ascii", "replace")
        with suppress(FormatError, UnreadableError):
            return parse(text, MAX_SEATS).at
        with suppress(FormatError, UnreadableError):
            return log_events.parse(text).at
    return 0
