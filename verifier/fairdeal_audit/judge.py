"""Judges evidence by nothing but itself and the log's key. Spec: AUD-5, AUD-6."""

from base64 import b64encode
from collections.abc import Callable
from itertools import pairwise

from fairdeal_audit.continued import is_test
from fairdeal_audit.evidence import Evidence, Statement
from fairdeal_audit.hands import cards_twice
from fairdeal_audit.judge_keys import key_fault, two_successors
from fairdeal_audit.judge_lost import lost_fault
from fairdeal_audit.statements import Entries, NothingError, are_of_one_table, head_in
from fairdeal_audit.tiles import roots_by_consistency
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.events import Step
from fairdeal_verifier.file import HandFile, read
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.outcome import FAIL, PASS, Report
from fairdeal_verifier.rotation import Keys, lead, write_rotations
from fairdeal_verifier.verify import verify

_ENDS = ("hand.closed", "hand.aborted")
_BETWEEN = ("hand.disclosed", "seat.reissued")
_NEEDED = ("format", "chain", "log.inclusion", "log.signature")
_COUNTED = (
    *("terms", "server.commitment", "seal.", "chain.", "order", "shuffle", "deck.cards"),
    *("deck.root", "first", "deal", "pick.", "draw.", "discard.", "show.", "reshuffle.", "play"),
    *("end", "seat.signature."),
)
_COUNTED_UNDISCLOSED = ("terms", "order", "end")


def judge(evidence: Evidence, key: LogKey) -> str:
    """Judges.

    Args:
        evidence: What was read.
        key: The log's key, or one of them if it has had several.

    Returns:
        Why the log's owner is guilty, or "" if nothing is proved.

    Spec: AUD-6, AUD-9
    """
    if evidence.consistency is not None and evidence.code not in ("FORK", "KEY", "LOST"):
        return ""
    try:
        rotations = lead(list(evidence.rotations or ()))
        keys = Keys.of(key, rotations)
        if evidence.code == "HAND":
            return _hand(evidence.statements, keys, key)
        if evidence.code == "KEY":
            return key_fault(evidence, keys)
        if evidence.code == "LOST":
            return lost_fault(evidence, keys)
        if evidence.code == "FORK" and "checkpoint" in evidence.statements[0]:
            return _heads(evidence, keys)
        if evidence.code == "FORK":
            return "" if evidence.consistency else _two_entries(evidence.statements, keys)
        return _JUDGES[evidence.code](Entries(evidence.statements, keys))
    except (NothingError, FormatError, UnreadableError, UnicodeError):
        return ""


def _heads(evidence: Evidence, keys: Keys) -> str:
    heads = [head_in(one) for one in evidence.statements]
    if len(heads) != 2 or not all(keys.have_signed(head) for head in heads):
        raise NothingError
    first, second = heads
    if evidence.consistency is None:
        if first.size == second.size and first.root != second.root:
            return f"it has signed two roots for {first.size} entries"
        return ""
    roots = roots_by_consistency(first.size, second.size, evidence.consistency)
    if roots is not None and roots[1] == second.root and roots[0] != first.root:
        return f"its {second.size} entries do not begin with the {first.size} it had signed"
    return ""


def _two_entries(statements: tuple[Statement, ...], keys: Keys) -> str:
    return two_successors(statements, keys) or _one_index(Entries(statements, keys))


def _one_index(entries: Entries) -> str:
    if len(entries.raws) != 2:
        raise NothingError
    if entries.indices[0] == entries.indices[1] and entries.raws[0] != entries.raws[1]:
        return f"it has given receipts for two entries at index {entries.indices[0]}"
    return ""


def _are_linked(steps: list[Step]) -> bool:
    return all(
        after.body["seq"] == before.body["seq"] + 1 and after.body["prev"] == before.head
        for before, after in pairwise(steps)
    )


def _chain(entries: Entries) -> str:
    steps = entries.steps(2, 2)
    if not are_of_one_table(steps):
        return ""
    first, second = steps
    seq = first.body["seq"]
    if second.body["seq"] == seq and first.raw != second.raw:
        return f"the table has two events with seq {seq}"
    if second.body["seq"] != seq + 1:
        return ""
    if second.body["prev"] != first.head:
        return f"prev of the event with seq {seq + 1} is not the digest of the one before"
    if second.at < first.at:
        return f"the event with seq {seq + 1} is earlier than the one before"
    return ""


def _number(entries: Entries) -> str:
    steps = entries.steps(2, 64)
    if not are_of_one_table(steps) or not _are_linked(steps):
        return ""
    first, last = steps[0], steps[-1]
    if len(steps) == 2 and "hand" in first.body and first.type not in (*_ENDS, "hand.disclosed"):
        number = last.body.get("hand", first.body["hand"])
        if number != first.body["hand"]:
            return f"an event within hand {first.body['hand']} names hand {number}"
        return ""
    before: int = 0 if first.type == "table.opened" else first.body.get("hand", 0)
    if first.type not in ("table.opened", *_ENDS) or last.type != "hand.opened":
        return ""
    if any(step.type not in _BETWEEN for step in steps[1:-1]):
        return ""
    if last.body["hand"] != before + 1:
        return f"hand {last.body['hand']} follows hand {before}"
    return ""


def _terms(entries: Entries) -> str:
    steps = entries.steps(2, 2)
    table, hand = steps
    if _types(steps) != ["table.opened", "hand.opened"] or not are_of_one_table(steps):
        return ""
    if hand.body["terms"] != table.head:
        return f"hand {hand.body['hand']} names other terms than its table"
    return ""


def _commitment(entries: Entries) -> str:
    steps = entries.steps(2, 2)
    before, after = steps
    if before.type not in ("table.opened", "hand.opened") or after.type != "hand.opened":
        return ""
    number = before.body.get("hand", 0)
    if not are_of_one_table(steps) or after.body["hand"] != number + 1:
        return ""
    if after.body["commitment"] != before.body["next_commitment"]:
        return f"the commitment of hand {number + 1} is not the one announced before"
    return ""


def _reuse(entries: Entries) -> str:
    steps = entries.steps(2, 2)
    if _types(steps) != ["hand.opened"] * 2 or is_test(entries.keys.name):
        return ""
    first, second = [step.body for step in steps]
    if (first["table"], first["hand"]) == (second["table"], second["hand"]):
        return ""
    if first["commitment"] == second["commitment"]:
        return "one commitment stands in two hands"
    return ""


def _card(entries: Entries) -> str:
    steps = entries.steps(1, 2)
    if not are_of_one_table(steps) or len({step.body.get("hand") for step in steps}) != 1:
        return ""
    if cards_twice(steps) is not None:
        return "in one epoch of a hand a card is at two positions, or a position has two cards"
    return ""


def _withheld(entries: Entries) -> str:
    steps = entries.steps(3, 3)
    table, end, after = steps
    if table.type != "table.opened" or end.type not in _ENDS or not are_of_one_table(steps):
        return ""
    if table.body["disclosure"] != "hand" or end.body.get("reason") == "lost":
        return ""
    if not _are_linked([end, after]):
        return ""
    number = end.body["hand"]
    if after.type == "hand.disclosed" and after.body["hand"] == number:
        return ""
    return f"the end of hand {number} is followed by {after.type} and not by its disclosure"


def _types(steps: list[Step]) -> list[str]:
    return [step.type for step in steps]


def _hand(statements: tuple[Statement, ...], keys: Keys, key: LogKey) -> str:
    """Judges a hand's file, all of which the log has to hold. Spec: AUD-5."""
    if "file" not in statements[0]:
        return ""
    data = statements[0]["file"].encode("utf-8")
    rotations = write_rotations(keys.rotations) if keys.rotations else None
    report, file = verify(data, key=_vkey(key), rotations=rotations), read(data)
    if not all(report.status(check) == PASS for check in _NEEDED):
        return ""
    if file.opened.body["terms"] != file.table.head:
        return ""
    if file.disclosed is not None:
        if len(statements) != 2 or not _is_disclosed_so(file, statements[1:], keys):
            return ""
        return _counted(report, file, _COUNTED)
    return _counted(report, file, _COUNTED_UNDISCLOSED) if len(statements) == 1 else ""


def _is_disclosed_so(file: HandFile, statements: tuple[Statement, ...], keys: Keys) -> bool:
    (step,) = Entries(statements, keys).steps(1, 1)
    names = ("table", "hand")
    opened, disclosed = file.opened.body, file.disclosed or {}
    return (
        step.type == "hand.disclosed"
        and all(step.body[name] == opened[name] for name in names)
        and all(step.body[name] == disclosed[name] for name in ("server_seed", "discards"))
    )


def _counted(report: Report, file: HandFile, counted: tuple[str, ...]) -> str:
    for check in report:
        fits = any(
            check.id.startswith(one) if one.endswith(".") else check.id == one for one in counted
        )
        if check.status == FAIL and fits:
            return f"hand {file.hand} fails {check.id}: {check.note}"
    return ""


def _vkey(key: LogKey) -> str:
    data = b64encode(b"\x01" + key.public_key).decode("ascii")
    return f"{key.name}+{key.key_id.hex()}+{data}"


_JUDGES: dict[str, Callable[[Entries], str]] = {
    "CHAIN": _chain,
    "NUMBER": _number,
    "TERMS": _terms,
    "COMMITMENT": _commitment,
    "REUSE": _reuse,
    "CARD": _card,
    "WITHHELD": _withheld,
}
