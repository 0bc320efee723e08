"""The checks that need more than the hand itself: log, receipts, signatures, the player's notes."""

from fairdeal_verifier.ed25519 import verify_signature
from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.events import Step
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.hand import Replay
from fairdeal_verifier.note import LogKey, Receipt
from fairdeal_verifier.notes import Given, NotedReceipt
from fairdeal_verifier.outcome import FAIL, NOT_APPLICABLE, PASS, SKIP, Check
from fairdeal_verifier.primitives import message, u8, u32be
from fairdeal_verifier.rotation import Keys
from fairdeal_verifier.witness import WitnessKey, shown_time
from fairdeal_verifier.words import Said, say

# Bounds on work that an honest hand never comes near: a check in this language takes a millisecond.
MAX_RECEIPTS = 256
MAX_SEAT_SIGNATURES = 4096
MAX_TOLD = 8  # of a witness's bad lines: a text may be made of them

Messages = dict[int, bytes]


def check_inclusion(file: HandFile) -> Check:
    """`log.inclusion`. Spec: LOG-1, LOG-5, FILE-5."""
    receipt = file.receipt
    values = (
        f"entry {receipt.index} of {receipt.checkpoint.size}, root {receipt.checkpoint.root.hex()}"
    )
    if receipt.includes(file.last.raw):
        return Check("log.inclusion", PASS, "", values)
    return Check(
        "log.inclusion", FAIL, "the proof does not lead from the last step to the root", values
    )


def check_log_signature(file: HandFile, given: Given) -> Check:
    """`log.signature`. Spec: LOG-3, LOG-27, SIG-1, VER-8."""
    text, trusted = file.table.body["log_key"], given.keys
    own, head = LogKey.parse(text), file.receipt.checkpoint
    values = f"key {own.public_key.hex()} of {own.name}"
    if trusted is not None and own not in trusted.keys:
        return Check(
            "log.signature", FAIL, "the table names another log key than the one you trust", values
        )
    if not head.is_signed_by(own):
        return Check("log.signature", FAIL, "the signature is not good", values)
    if trusted is not None and trusted.at(head.size) != own:
        note = f"the log had another key when it had {head.size} entries"
        return Check("log.signature", FAIL, note, values)
    if given.key is None:
        return Check("log.signature", SKIP, say("note.own_key"), values)
    said = say("note.rotated", key=given.key) if given.key != text else ""
    return Check("log.signature", PASS, said, values)


def check_receipts(file: HandFile, given: Given, sealed_head: Step | None) -> Check:
    """`receipt`. Spec: LOG-5, VER-2."""
    keys = given.keys or Keys((LogKey.parse(file.table.body["log_key"]),))
    if len(given.receipts) > MAX_RECEIPTS:
        return Check("receipt", FAIL, f"more than {MAX_RECEIPTS} receipts were given")
    roots = {file.receipt.checkpoint.size: file.receipt.checkpoint.root}
    signed: dict[str, bool] = {}
    covered: set[bytes] = set()
    mixed: Said | None = None
    for number, noted in enumerate(given.receipts, 1):
        try:
            receipt = Receipt.parse(noted.text)
        except FormatError as error:
            return Check("receipt", FAIL, f"receipt {number}: {error}")
        checkpoint = receipt.checkpoint
        text = checkpoint.text + repr(checkpoint.signatures)
        if text not in signed:
            signed[text] = keys.have_signed(checkpoint)
        if not signed[text]:
            return Check("receipt", FAIL, f"receipt {number} is not signed by the log key")
        if roots.setdefault(checkpoint.size, checkpoint.root) != checkpoint.root:
            note = f"receipt {number} shows another log of one size: keep it, it is evidence"
            return Check("receipt", FAIL, note)
        step = _event_of(file, noted, receipt, sealed_head)
        if step is None:
            places = _other_hand(file, given) if noted.digest is not None else None
            if places is None:
                note = f"receipt {number} fits no step of this file: keep both, they are evidence"
                return Check("receipt", FAIL, note)
            # Two files mixed up: what may be evidence, in a later receipt, is told before that.
            mixed = mixed or say("note.other_hand_receipt", n=number, **places)
            continue
        covered.add(step.digest)
    if mixed is not None:
        return Check("receipt", FAIL, mixed)
    count = len(given.receipts)
    if sealed_head is not None and sealed_head.digest in covered:
        return Check("receipt", PASS, say("note.receipts", n=count), sealed_head.head)
    are_keys_a_help = sealed_head is not None and file.keys
    said = say("note.no_receipt_keys" if are_keys_a_help else "note.no_receipt")
    return Check("receipt", NOT_APPLICABLE, said, f"{count} given")


def check_witnesses(file: HandFile, given: Given, sealed_head: Step | None) -> Check:
    """`log.witness`: a receipt counts or does not, and one that does not spoils no other.

    Spec: WIT-2, WIT-10, VER-2
    """
    if not given.witnesses:
        return Check("log.witness", NOT_APPLICABLE, say("note.no_witness"))
    if not given.receipts:
        return Check("log.witness", SKIP, say("note.nothing_cosigned"))
    if len(given.receipts) > MAX_RECEIPTS:
        return Check("log.witness", FAIL, f"more than {MAX_RECEIPTS} receipts were given")
    keys = given.keys or Keys((LogKey.parse(file.table.body["log_key"]),))
    newest: dict[WitnessKey, int] = {}
    bad: list[str] = []
    for number, noted in enumerate(given.receipts, 1):
        try:
            receipt = Receipt.parse(noted.text)
        except FormatError:
            continue  # `receipt` says so
        times: dict[WitnessKey, int] = {}
        for witness in given.witnesses:
            found = witness.times(receipt.checkpoint)
            if found is None:
                bad.append(f"the cosignature of {witness.name} in receipt {number} is not good")
            elif found:
                times[witness] = max(found)
        if (
            times
            and keys.have_signed(receipt.checkpoint)
            and _event_of(file, noted, receipt, sealed_head) is not None
        ):
            for witness, time in times.items():
                newest[witness] = max(time, newest.get(witness, 0))
    missing = [witness.name for witness in given.witnesses if witness not in newest]
    if missing:
        note = f"{', '.join(missing)} cosigned none of the receipts that fit this hand"
        return Check("log.witness", FAIL, "; ".join((note, *bad[:MAX_TOLD])))
    seen = [f"{one.name} at {shown_time(time)}" for one, time in newest.items()]
    values = "; ".join((*seen, *bad[:MAX_TOLD]))
    return Check("log.witness", PASS, "", values)


def _event_of(
    file: HandFile, noted: NotedReceipt, receipt: Receipt, sealed_head: Step | None
) -> Step | None:
    """Finds the event that a receipt includes; the sealed head is the likeliest."""
    steps = [file.table, *file.steps]
    if sealed_head is not None:
        steps.insert(0, sealed_head)
    for step in steps:
        is_meant = noted.digest is None or noted.digest == step.head
        if is_meant and receipt.includes(step.raw):
            return step
    return None


def _messages(file: HandFile) -> list[tuple[Step, Messages]]:
    """Lists what each event makes its seats say. Spec: TAG-1, SIG-2."""
    told: list[tuple[Step, Messages]] = []
    locks = dict.fromkeys(range(file.seats), 0)
    place = (file.terms, u32be(file.hand))
    for step in file.steps:
        body = step.body
        said: Messages = {}
        if not file.keys:
            # Nobody has a key, so no message is needed; `sigs` has to be looked at all the same.
            if "sigs" not in body:
                continue
        elif step.type == "trumps.declared":
            for seat, suit in body["trumps"].items():
                said[int(seat)] = message(
                    "declare", *place, u8(int(seat)), file.commitment, suit.encode("ascii")
                )
        elif step.type == "seeds.sealed":
            for seat, seal in body["seals"].items():
                said[int(seat)] = message(
                    "seal", *place, u8(int(seat)), file.commitment, bytes.fromhex(seal)
                )
        elif step.type == "seeds.opened":
            under = (bytes.fromhex(body["head"]), u32be(body["epoch"]))
            for seat, seed in body["seeds"].items():
                said[int(seat)] = message("open", *under, u8(int(seat)), bytes.fromhex(seed))
        elif step.type == "cards.discarded":
            for seat, one in body["discards"].items():
                k = locks[int(seat)]
                locks[int(seat)] += 1
                lock = (u32be(k), u8(one["count"]), bytes.fromhex(one["lock"]))
                said[int(seat)] = message("lock", *place, u8(int(seat)), *lock)
        else:
            continue
        told.append((step, said))
    return told


def check_seat_signatures(file: HandFile) -> list[Check]:
    """`seat.signature.N`. Spec: SIG-2, SIG-1."""
    faults: dict[int, str] = {}
    counts = dict.fromkeys(range(file.seats), 0)
    beyond: set[int] = set()
    for step, said in _messages(file):
        sigs = step.body["sigs"]
        for text in sigs:
            seat = int(text)
            if seat not in file.keys:
                faults.setdefault(
                    seat, f"a signature of a seat without a key stands in {step.type}"
                )
            elif seat not in said:
                faults.setdefault(seat, f"its signature stands in a {step.type} of others")
        for seat, data in said.items():
            if seat not in file.keys or seat in faults:
                continue
            signature = sigs.get(str(seat))
            if signature is None:
                faults[seat] = f"its signature is missing in {step.type}"
            elif sum(counts.values()) >= MAX_SEAT_SIGNATURES:
                beyond.add(seat)
            elif verify_signature(file.keys[seat], data, bytes.fromhex(signature)):
                counts[seat] += 1
            else:
                faults[seat] = f"its signature in {step.type} is not good"
    checks = []
    for seat in range(file.seats):
        check_id = f"seat.signature.{seat}"
        if seat in faults:
            checks.append(Check(check_id, FAIL, faults[seat]))
        elif seat not in file.keys:
            checks.append(Check(check_id, NOT_APPLICABLE, say("note.no_key")))
        elif seat in beyond:
            checks.append(Check(check_id, SKIP, say("note.many_signatures")))
        else:
            values = f"{counts[seat]} by key {file.keys[seat].hex()}"
            checks.append(Check(check_id, PASS, "", values))
    return checks


def check_mine(file: HandFile, given: Given, replay: Replay | None) -> Check:
    """`mine`. Spec: NOTE-1, VER-2."""
    notes = given.notes
    noted = sorted(given.seeds.items())
    if notes is not None:
        places = _other_hand(file, given)
        if places is not None:
            return Check("mine", FAIL, say("note.other_hand", **places))
        noted.append((notes.seat, list(notes.seeds)))
    strangers = [seat for seat, _ in noted if seat >= file.seats]
    if strangers:
        return Check("mine", FAIL, f"the table has no seat {strangers[0]}")
    if not any(seeds for _, seeds in noted) and not (notes and notes.cards):
        return Check("mine", NOT_APPLICABLE, say("note.nothing_noted"))
    opened = {(epoch, seat): seed for epoch, seat, seed in file.seeds}
    skipped: Said | None = None
    for seat, seeds in noted:
        for epoch, seed in enumerate(seeds):
            if (epoch, seat) not in opened:
                skipped = say("note.seed_not_opened", seat=seat, epoch=epoch)
            elif opened[epoch, seat] != seed:
                note = f"seat {seat}'s seed for epoch {epoch} is another in the file than you noted"
                return Check("mine", FAIL, note)
    if notes is not None and notes.cards:
        check = _check_cards(given, replay)
        if check.status == FAIL or (check.status == SKIP and skipped is None):
            return check
    if skipped:
        return Check("mine", SKIP, skipped)
    seats = ", ".join(str(seat) for seat, seeds in noted if seeds)
    cards = len(notes.cards) if notes else 0
    return Check("mine", PASS, "", f"seeds of seat {seats or 'none'}; {cards} cards")


def _other_hand(file: HandFile, given: Given) -> dict[str, int | str] | None:
    """Gives what to say of notes that are of another hand than the file; else None."""
    notes, table = given.notes, file.opened.body["table"]
    if notes is None or (notes.table, notes.hand) == (table, file.hand):
        return None
    return {"noted": notes.hand, "noted_at": notes.table, "hand": file.hand, "table": table}


def _check_cards(given: Given, replay: Replay | None) -> Check:
    """Checks the cards that a player has noted."""
    notes = given.notes
    if notes is None or replay is None:
        return Check("mine", SKIP, say("note.cards_unchecked"))
    received = replay.game.holdings[notes.seat].received
    # Before disclosure the file names at least the cards that were shown.
    stated = {(one["epoch"], one["position"]): one["card"] for one in replay.file.shown}
    skipped: Said | None = None
    for place, card in notes.cards:
        where = f"position {place[1]} of epoch {place[0]}"
        if place not in received:
            note = f"you noted {card} at {where}, which your seat never got"
            return Check("mine", FAIL, note)
        # With bad seeds nobody knows where the cards lay. Spec: VER-3
        by_seeds = replay.decks.card_at(place) if replay.decks.are_seeds_good else None
        there = by_seeds or stated.get(place)
        if there is None:
            skipped = say("note.cards_undisclosed")
        elif there != card:
            note = f"you noted {card} at {where}; in the file it is {there}"
            return Check("mine", FAIL, note)
    return Check("mine", SKIP, skipped) if skipped else Check("mine", PASS)
