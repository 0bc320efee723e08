"""Judges evidence about the log's keys. Spec: AUD-5, LOG-26, LOG-27, LOG-28."""

from fairdeal_audit import continued
from fairdeal_audit.evidence import Evidence, Statement
from fairdeal_audit.keys import is_out_of_force
from fairdeal_audit.statements import Entries, NothingError, are_of_one_table, head_in
from fairdeal_audit.tiles import roots_by_consistency
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Keys, Rotated, Rotation


def two_successors(statements: tuple[Statement, ...], keys: Keys) -> str:
    """Judges two changes of one key, whose receipts their own new keys have signed."""
    if len(statements) != 2 or not all("entry" in one for one in statements):
        return ""
    try:
        first, second = [Rotation.parse(one["entry"], one["receipt"]) for one in statements]
    except (FormatError, UnreadableError, UnicodeError):
        return ""
    if first.event.old == second.event.old in keys.keys and first.event.raw != second.event.raw:
        return f"its key {first.event.old.key_id.hex()} has named two successors"
    return ""


def key_fault(evidence: Evidence, keys: Keys) -> str:
    """Judges what a change of keys makes wrong. Spec: AUD-5, LOG-26, LOG-27, LOG-28."""
    first, *others = evidence.statements
    if "checkpoint" in (others[0] if len(others) == 1 else ()):
        return _signed_out_of_force(first, others[0], evidence, keys)
    entries = Entries(evidence.statements, keys)
    if len(others) == 0:
        if b'"type":"table.opened"' in entries.raws[0]:
            return _another_origin(entries, evidence)
        if b'"type":"log.continued"' in entries.raws[0]:
            return "" if evidence.consistency else _bad_continuation(entries)
        return _wrong_in_itself(entries, evidence)
    if evidence.consistency is not None or len(others) > 2:
        return ""
    event = _good_change(entries, 0)
    (table, *later) = entries.steps(2, 3, skip=1)
    if table.type != "table.opened":
        return ""
    changed, opened = entries.indices[:2]
    if later:
        is_between = opened < changed < entries.indices[2]
        if is_between and are_of_one_table([table, *later]):
            return f"a table goes on that began before the log's key changed at {changed}"
        return ""
    named = LogKey.parse(table.body["log_key"])
    if opened > changed and named == event.old:
        return f"a table of entry {opened} names the key that ended at entry {changed}"
    if opened < changed and named == event.new:
        return f"a table of entry {opened} names the key that began at entry {changed}"
    return ""


def _signed_out_of_force(
    first: Statement, second: Statement, evidence: Evidence, keys: Keys
) -> str:
    event = _good_change(Entries((first,), keys), 0)
    head = head_in(second)
    if evidence.consistency is None and is_out_of_force(event, head):
        return f"at {head.size} entries a key has signed that is not in force, or another root"
    return ""


def _another_origin(entries: Entries, evidence: Evidence) -> str:
    (table,) = entries.steps(1, 1)
    if table.type != "table.opened" or evidence.consistency is not None:
        return ""
    names = {table.body["origin"], LogKey.parse(table.body["log_key"]).name}
    return "" if names == {entries.keys.name} else "a table in it names another log's origin"


def _bad_continuation(entries: Entries) -> str:
    step = continued.parse(entries.raws[0])
    if step is None:
        return ""
    return continued.fault_alone(step, entries.indices[0], entries.keys.name)


def _wrong_in_itself(entries: Entries, evidence: Evidence) -> str:
    """Judges `log.rotated` alone, or with what leads to the root before it."""
    index, receipt = entries.indices[0], entries.receipts[0]
    event = Rotated.parse(entries.raws[0].decode("ascii"))
    if evidence.consistency is None:
        if event.size != index:
            return f"the log.rotated at index {index} says that it stands at {event.size}"
        if event.origin != entries.keys.name:
            return "its log.rotated is of another origin"
        return event.fault()
    if event.size != index:
        return ""
    head = receipt.checkpoint
    roots = roots_by_consistency(index, head.size, evidence.consistency)
    if roots is not None and roots[1] == head.root and roots[0] != event.root:
        return f"the log.rotated at index {index} names another root than that before it"
    return ""


def _good_change(entries: Entries, number: int) -> Rotated:
    """Reads a `log.rotated` that is good in the sense of LOG-26, its root apart."""
    event = Rotated.parse(entries.raws[number].decode("ascii"))
    if event.size != entries.indices[number] or event.origin != entries.keys.name or event.fault():
        raise NothingError
    return event
