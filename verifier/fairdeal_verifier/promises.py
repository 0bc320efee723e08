"""The checks of what was fixed before the deal: the chain, the terms, the commitment, the seals."""

from collections.abc import Iterator

from fairdeal_verifier.ed25519 import can_be_key
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.outcome import FAIL, NOT_APPLICABLE, PASS, SKIP, Check
from fairdeal_verifier.play import PLAYS
from fairdeal_verifier.primitives import commitment_to, link_to, seal_of
from fairdeal_verifier.words import say


def check_chain(file: HandFile) -> Check:
    """`chain`. Spec: EVT-2, HAND-1."""
    opened = file.opened
    values = f"{len(file.steps)} steps up to {file.last.head}"
    before = file.table
    for number, step in enumerate(file.steps):
        body = step.body
        where = f"step {number}, {step.type}"
        if body["table"] != file.table.body["table"]:
            return Check("chain", FAIL, f"{where}, is of another table", values)
        if step.at < before.at:
            return Check("chain", FAIL, f"{where}, is earlier than the one before", values)
        if number:
            if body["hand"] != file.hand:
                return Check("chain", FAIL, f"{where}, is of another hand", values)
            if body["seq"] != before.body["seq"] + 1:
                return Check(
                    "chain", FAIL, f"{where}, does not count on from the one before", values
                )
            if body["prev"] != before.head:
                return Check("chain", FAIL, f"{where}, does not name the one before", values)
        before = step
    seq, prev = opened.body["seq"], opened.body["prev"]
    if seq < 2 * file.hand - 1:
        # Each hand before this one took two events at least: it was opened, and it ended.
        note = f"hand {file.hand} cannot have begun as step {seq} of its table"
        return Check("chain", FAIL, note, values)
    if not prev or (seq == 1 and prev != file.table.head):
        return Check("chain", FAIL, "the hand does not name the step before it", values)
    return Check("chain", PASS, "", values)


def rules_fault(file: HandFile) -> str:
    """Says why no game can be played at this table. Spec: TBL-1, GAME-3, GAME-5."""
    if file.seats not in file.game.seat_numbers:
        return f"{file.game.name} is not played by {file.seats} seats"
    options = PLAYS[file.game.id].options if file.referee else {}
    return file.game.ruleset_fault(file.table.body["ruleset"], options)


def _table_fault(file: HandFile) -> str:
    """Says what else is wrong with the table. Spec: TBL-1."""
    body = file.table.body
    if body["seq"] != 0 or body["prev"] != "":
        return "table.opened is not the first event of its table"
    if not file.contribute:
        return "no seat contributes"
    if LogKey.parse(body["log_key"]).name != body["origin"]:
        return "the origin is not the name in the log key"
    for seat, key in sorted(file.keys.items()):
        if not can_be_key(key):
            return f"the key of seat {seat} is none that a signature could be checked with"
    return ""


def check_terms(file: HandFile) -> Check:
    """`terms`. Spec: TBL-1, GAME-3, HAND-1, PLAY-1."""
    opened = file.opened.body
    values = f"T is {file.table.head}; the hand names {opened['terms']}"
    fault = _table_fault(file) or rules_fault(file)
    if not fault and opened["terms"] != file.table.head:
        fault = "the hand names other terms"
    if not fault and opened["commitment"] == opened["next_commitment"]:
        fault = "the next commitment is the same as this one"
    if not fault and not file.referee and opened["match"] is not None:
        fault = "the hand is part of a match although the table has no referee"
    announced = file.table.body["next_commitment"]
    if not fault and file.hand == 1 and opened["commitment"] != announced:
        fault = "the commitment is not the one announced with the table"
    if (
        not fault
        and file.hand > 1
        and announced in (opened["commitment"], opened["next_commitment"])
    ):
        fault = "the commitment of the table's first hand is used again"
    return Check("terms", FAIL if fault else PASS, fault, values)


def check_commitment(file: HandFile) -> Check:
    """`server.commitment`. Spec: SEED-1."""
    if file.reason == "lost":
        return Check("server.commitment", NOT_APPLICABLE, say("note.lost"))
    if file.server_seed is None:
        return Check("server.commitment", SKIP, say("note.not_disclosed"))
    found = commitment_to(file.server_seed)
    values = f"committed to {file.commitment.hex()}, opened {found.hex()}"
    if found == file.commitment:
        return Check("server.commitment", PASS, "", values)
    return Check("server.commitment", FAIL, "the secret is not the one committed to", values)


def check_seals(file: HandFile) -> Iterator[Check]:
    """`seal.N`. Spec: SEAL-1."""
    sealed: dict[int, list[str]] = {}
    for step in file.steps:
        if step.type == "seeds.sealed":
            for seat, seal in step.body["seals"].items():
                sealed.setdefault(int(seat), []).append(seal)
    opened: dict[int, list[bytes]] = {}
    for epoch, seat, seed in file.seeds:
        if epoch == 0:
            opened.setdefault(seat, []).append(seed)
    for seat in file.contribute:
        check_id = f"seal.{seat}"
        seals = sealed.get(seat, [])
        if seat not in opened:
            if file.is_final:
                yield Check(check_id, NOT_APPLICABLE, say("note.ended_unopened"))
            else:
                yield Check(check_id, SKIP, say("note.not_opened"))
            continue
        found = {
            seal_of(file.terms, file.hand, seat, file.commitment, seed).hex()
            for seed in opened[seat]
        }
        values = f"sealed {', '.join(seals) or 'nothing'}; opened {', '.join(sorted(found))}"
        if found == set(seals):
            yield Check(check_id, PASS, "", values)
        else:
            yield Check(check_id, FAIL, "the seed is not the one that was sealed", values)


def check_links(file: HandFile) -> Iterator[Check]:
    """`chain.E.N`. Spec: SEED-2, SEED-3."""
    opened: dict[tuple[int, int], set[bytes]] = {}
    for epoch, seat, seed in file.seeds:
        opened.setdefault((epoch, seat), set()).add(seed)
    for epoch, seat in sorted(opened):
        if epoch == 0:
            continue
        found = {link_to(seed) for seed in opened[epoch, seat]}
        is_good = found == opened.get((epoch - 1, seat))
        note = "" if is_good else "the seed does not belong to the chain of the seat's earlier one"
        yield Check(f"chain.{epoch}.{seat}", PASS if is_good else FAIL, note)
