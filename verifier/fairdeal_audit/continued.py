"""A log that follows one which has ended: its first entries, and the other log.

Spec: LOG-30, LOG-33, AUD-10
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fairdeal_audit.tiles import WIDTH, Folder, IncompleteError
from fairdeal_verifier import log_events
from fairdeal_verifier.ed25519 import verify_signature
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.events import Step
from fairdeal_verifier.log_events import signed_message
from fairdeal_verifier.note import LogKey, checkpoint_text
from fairdeal_verifier.rotation import Keys

_OWN = ("at", "part", "lost", "sigs")
"""Members in which the parts differ."""
_NAMED = 20
_ENDS = ("hand.closed", "hand.aborted")

Hand = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Continued:
    """What a log says of the one that it continues.

    Attributes:
        old_origin: The other log's.
        old_size: Of its newest checkpoint that is known.
        kept_size: How many of its entries could be kept.
        lost: How many of its hands are said to be lost.
        is_signed_by_old: Whether the other log's key has said so too.
    """

    old_origin: str
    old_size: int
    kept_size: int
    lost: int
    is_signed_by_old: bool


def parse(raw: bytes) -> Step | None:
    """Reads an entry, if it is a `log.continued`."""
    if b'"type":"log.continued"' not in raw:
        return None
    try:
        step = log_events.parse(raw.decode("ascii"))
    except (FormatError, UnreadableError, UnicodeDecodeError):
        return None
    return step if step.type == "log.continued" else None


def parts_of(log: Folder) -> int:
    """Says how many entries at its beginning a log has for this, by its first one."""
    first = parse(log.entry(0)) if log.size else None
    return first.body["parts"] if first else 0


def fault(log: Folder, index: int, step: Step, keys: Keys) -> str:
    """Says why a `log.continued` is not good where it stands, or "". Spec: LOG-30."""
    alone = fault_alone(step, index, keys.name)
    if alone:
        return alone
    if LogKey.parse(step.body["log_key"]) != keys.at(0):
        return "log.continued names another first key"
    if index == 0:
        return ""
    before, first = parse(log.entry(index - 1)), parse(log.entry(0))
    if before is None or first is None:
        return "the part of log.continued before it is not there"
    return parts_fault(first, before, step)


def fault_alone(step: Step, index: int, origin: str) -> str:
    """Says why a `log.continued` is not good at an index of a log, by itself alone, or ""."""
    if step.body["part"] != index:
        return f"part {step.body['part']} of log.continued stands at index {index}"
    if step.body["origin"] != origin:
        return "log.continued is of another origin"
    return own_fault(step.body)


def parts_fault(first: Step, before: Step, step: Step) -> str:
    """Says why a part does not go on from the one before it, or ""."""
    body = step.body
    alike = [{n: v for n, v in one.body.items() if n not in _OWN} for one in (first, step)]
    if alike[0] != alike[1] or ("old" in body["sigs"]) != ("old" in first.body["sigs"]):
        return "the parts of log.continued are not alike"
    if before.body["lost"] and body["lost"] and before.body["lost"][-1] >= body["lost"][0]:
        return "the lost hands do not ascend from one part to the next"
    return ""


def own_fault(body: dict[str, Any]) -> str:
    """Says what is wrong with it, wherever it stands, or ""."""
    new, old = LogKey.parse(body["log_key"]), LogKey.parse(body["old_key"])
    if body["origin"] != new.name or body["old_origin"] != old.name:
        return "a key of log.continued is of another origin"
    if is_test(new.name) != is_test(old.name):
        return "log.continued leads from a live log to one of a test, or back"
    if new.name == old.name or new.public_key == old.public_key:
        return "log.continued follows its own origin or key"
    sizes, roots = (body["old_size"], body["kept_size"]), (body["old_root"], body["kept_root"])
    if sizes[1] > sizes[0] or (sizes[0] == sizes[1] and roots[0] != roots[1]):
        return "log.continued keeps more than there was, or something else"
    text = checkpoint_text(old.name, body["old_size"], bytes.fromhex(body["old_root"]))
    if not verify_signature(old.public_key, text.encode(), bytes.fromhex(body["old_sig"])):
        return "the old key has not signed the old checkpoint that log.continued names"
    said = signed_message("continue", body)
    for name, key in (("new", new), ("old", old)):
        signature = body["sigs"].get(name)
        if signature is not None and not verify_signature(
            key.public_key, said, bytes.fromhex(signature)
        ):
            return f"the {name} key has not signed log.continued"
    return ""


def is_test(origin: str) -> bool:
    """Says if a log is of a service in test mode, whose decks repeat on purpose. Spec: LOG-33."""
    return origin.endswith("/test")


def noted(log: Folder) -> Continued | None:
    """Sums up what a log says of the one that it continues. Spec: AUD-10."""
    first = parse(log.entry(0)) if log.size else None
    if first is None:
        return None
    body = first.body
    return Continued(
        body["old_origin"],
        body["old_size"],
        body["kept_size"],
        sum(1 for _ in lost_hands(log)),
        "old" in body["sigs"],
    )


def lost_hands(log: Folder) -> Iterator[Hand]:
    """Gives the hands that a log says are lost, in its order."""
    for index in range(min(parts_of(log), log.size)):
        step = parse(log.entry(index))
        if step is not None:
            yield from [(table, hand) for table, hand in step.body["lost"]]


def open_hands(log: Folder, size: int) -> set[Hand]:
    """Gives the hands that are open in the first entries of a log."""
    under_way: set[Hand] = set()
    for number in range(-(-size // WIDTH)):
        for raw in islice(log.bundle(number), size - number * WIDTH):
            if b'"type":"hand.' not in raw:
                continue
            try:
                event = json.loads(raw)
                hand = (event["table"], event["hand"])
            except (ValueError, LookupError, TypeError, RecursionError):
                continue  # what is no event opens and ends nothing
            if event["type"] == "hand.opened":
                under_way.add(hand)
            elif event["type"] in _ENDS:
                under_way.discard(hand)
    return under_way


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that a log says of another and that is not so.

    Attributes:
        text: What, in a sentence.
        kind: `old_root`, `kept_root`, `unsaid` (a hand that is not said to be lost), `wrong` (one
            that is and was not open), or "".
        hand: Which.
    """

    text: str
    kind: str = ""
    hand: Hand | None = None


def compare_with(log: Folder, old: Folder, old_keys: Keys) -> Iterator[Difference]:
    """Holds what a log says of another against this other one.

    Args:
        log: The log that continues.
        old: The one that has ended, as far as it was fetched.
        old_keys: Its keys.

    Yields:
        What does not fit.

    Raises:
        IncompleteError: The other log was not fetched as far as it was kept.
        ValueError: This log continues none, or another.

    Spec: AUD-10
    """
    first = parse(log.entry(0)) if log.size else None
    if first is None:
        raise ValueError("this log does not continue another")
    body = first.body
    if body["old_origin"] != old_keys.name:
        raise ValueError(f"this log continues {body['old_origin']}, not {old_keys.name}")
    if old.size < body["kept_size"]:
        raise IncompleteError(
            f"of the old log {old.size} entries were fetched, and {body['kept_size']} were kept"
        )
    if LogKey.parse(body["old_key"]) != old_keys.at(body["old_size"]):
        yield Difference(f"its old_key is not the one in force at {body['old_size']} entries")
    for what in ("old", "kept"):
        size, root = body[f"{what}_size"], bytes.fromhex(body[f"{what}_root"])
        if size <= old.size and old.root(size) != root:
            text = f"{what}_root is not the old log's root at {size} entries"
            yield Difference(text, f"{what}_root")
    said, found = set(lost_hands(log)), open_hands(old, body["kept_size"])
    for hands, kind, what in (
        (found - said, "unsaid", "was open and is not said to be lost"),
        (said - found, "wrong", "is said to be lost and was not open"),
    ):
        for table, hand in sorted(hands)[:_NAMED]:
            yield Difference(f"hand {hand} of {table} {what}", kind, (table, hand))
        if len(hands) > _NAMED:
            yield Difference(f"and {len(hands) - _NAMED} more: {what}")
