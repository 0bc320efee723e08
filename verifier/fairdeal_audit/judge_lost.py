"""Judges what a log says of the one that it continues, by its own words. Spec: AUD-5, LOG-30."""

from collections.abc import Sequence
from itertools import pairwise

from fairdeal_audit import continued
from fairdeal_audit.evidence import Evidence, Statement
from fairdeal_audit.statements import Entries, NothingError
from fairdeal_audit.tiles import roots_by_consistency
from fairdeal_verifier.encoding import are_in_one_form
from fairdeal_verifier.events import Body, Step, parse
from fairdeal_verifier.kinds import MAX_SEATS
from fairdeal_verifier.note import Receipt, checkpoint_text
from fairdeal_verifier.rotation import Keys

_ENDS = ("hand.closed", "hand.aborted")
_OUTSIDE = ("hand.opened", "hand.disclosed")


def lost_fault(evidence: Evidence, keys: Keys) -> str:
    """Says what is wrong with what a log says of the one before it, or "" if nothing is proved."""
    statements = evidence.statements
    count = next((n for n, one in enumerate(statements) if not _is_part(one)), len(statements))
    parts, others = _parts(statements[:count], keys), statements[count:]
    body = parts[0].body
    if evidence.consistency is not None:
        return "" if others or len(parts) > 1 else _kept_root(body, evidence.consistency)
    if len(others) == 1 and len(parts) == 1:
        return _was_not_open(body, *_old_entry(body, others[0]))
    if len(others) == 2 and len(parts) == body["parts"]:
        return _was_open(parts, [_old_entry(body, one) for one in others])
    return ""


def _is_part(statement: Statement) -> bool:
    return continued.parse(statement.get("entry", "").encode("utf-8")) is not None


def _parts(statements: tuple[Statement, ...], keys: Keys) -> list[Step]:
    """Reads the `log.continued`, which the log has to hold where they say that they stand."""
    if not statements:
        raise NothingError
    entries = Entries(statements, keys)
    parts = []
    for index, raw in zip(entries.indices, entries.raws, strict=True):
        step = continued.parse(raw)
        if step is None or continued.fault_alone(step, index, keys.name):
            raise NothingError
        parts.append(step)
    for before, step in pairwise(parts):
        follows = step.body["part"] == before.body["part"] + 1
        if not follows or continued.parts_fault(parts[0], before, step):
            raise NothingError
    return parts


def _old_entry(body: Body, statement: Statement) -> tuple[int, Step]:
    """Reads an event of the old log, by the checkpoint of it that `log.continued` names."""
    if "entry" not in statement:
        raise NothingError
    receipt = Receipt.parse(statement["receipt"])
    root = bytes.fromhex(body["old_root"])
    named = checkpoint_text(body["old_origin"], body["old_size"], root)
    text = statement["entry"]
    step = parse(text, MAX_SEATS)
    is_there = receipt.checkpoint.text == named and receipt.includes(step.raw)
    if not is_there or not are_in_one_form([text], [step.body]):
        raise NothingError
    return receipt.index, step


def _kept_root(body: Body, nodes: tuple[bytes, ...]) -> str:
    roots = roots_by_consistency(body["kept_size"], body["old_size"], nodes)
    if roots is None or roots[1].hex() != body["old_root"] or roots[0].hex() == body["kept_root"]:
        return ""
    return f"the {body['kept_size']} entries that it says it kept are not the old log's first ones"


def _was_not_open(body: Body, index: int, step: Step) -> str:
    hand = [step.body["table"], step.body.get("hand")]
    if hand not in body["lost"]:
        return ""
    name = f"hand {hand[1]} of {hand[0]} is said to be lost"
    if step.type in _ENDS and index < body["kept_size"]:
        return f"{name}, and entry {index} of the old log, which was kept, ends it"
    if step.type == "hand.opened" and index >= body["kept_size"]:
        return f"{name}, and was opened at entry {index} of the old log, after those that were kept"
    return ""


def _was_open(parts: Sequence[Step], events: list[tuple[int, Step]]) -> str:
    (start, first), (end, second) = events
    kept = parts[0].body["kept_size"]
    hand = [first.body["table"], first.body.get("hand")]
    is_one_hand = hand[1] is not None and hand == [second.body["table"], second.body.get("hand")]
    is_within = first.type not in (*_ENDS, "hand.disclosed") and second.type not in _OUTSIDE
    is_linked = (second.body["seq"], second.body["prev"]) == (first.body["seq"] + 1, first.head)
    is_between = start < kept <= end
    if not (is_one_hand and is_within and is_linked and is_between):
        return ""
    if any(hand in part.body["lost"] for part in parts):
        return ""
    return (
        f"hand {hand[1]} of {hand[0]} was open when {kept} entries of the old log were there, and "
        "is not said to be lost (or its table forks in the old log)"
    )
