"""Verifies one hand: the checks of VER-2, one after the other, and nothing but the file to go by.

Each check is a function of its own that gives a `Check`. None of them raises and none stops the
others; what a check needs and cannot have makes it SKIP (VER-3), and a SKIP never passes (VER-5).
"""

from collections.abc import Iterable, Mapping, Sequence

from fairdeal_verifier.dealing import ReplayChecks, skip_the_replay
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.evidence import (
    check_inclusion,
    check_log_signature,
    check_mine,
    check_receipts,
    check_seat_signatures,
    check_witnesses,
)
from fairdeal_verifier.file import HandFile, read
from fairdeal_verifier.hand import Replay
from fairdeal_verifier.notes import Given, Notes
from fairdeal_verifier.outcome import NOT_APPLICABLE, PASS, Check, Draw, Hand, Report, Told, Trace
from fairdeal_verifier.primitives import SealedDeck, trace_shuffle
from fairdeal_verifier.promises import (
    check_chain,
    check_commitment,
    check_links,
    check_seals,
    check_terms,
    rules_fault,
)
from fairdeal_verifier.rotation import read_rotations
from fairdeal_verifier.words import say


def verify(
    data: bytes,
    *,
    key: str | None = None,
    mine: Mapping[int, str | Sequence[str]] | None = None,
    receipts: Iterable[bytes | str] = (),
    notes: bytes | Notes | None = None,
    witnesses: Iterable[str] = (),
    rotations: bytes | None = None,
    trace: bool = False,
) -> Report:
    """Verifies a hand's file.

    Args:
        data: The file. No bytes whatever make this function raise.
        key: The log key to trust, a vkey; else the one of the notes.
        mine: By seat, the `x_0` that its player noted, or the list `x_0`, `x_1`..
        receipts: Receipts that the player kept.
        notes: The player's notes.
        witnesses: Vkeys of the witnesses that must have cosigned a receipt.
        rotations: What the log serves as `rotations`, if its key has changed.
        trace: Record every draw of each shuffle.

    Returns:
        The report.

    Raises:
        ValueError: Something other than `data` is not what it has to be.

    Spec: VER-1, VER-2, VER-5, VER-8
    """
    try:
        changes = read_rotations(rotations) if rotations is not None else ()
    except UnreadableError:
        return Report.unreadable(say("unreadable.rotations"))
    given = Given.of(key, mine, receipts, notes, witnesses, changes)
    return verify_given(data, given, trace=trace)[0]


def verify_given(data: bytes, given: Given, *, trace: bool) -> tuple[Report, HandFile | None]:
    """Verifies a hand's file by what is given, and hands out the file if its format is right."""
    try:
        file = read(data)
    except UnreadableError as error:
        return Report.unreadable(error.why), None
    except FormatError as error:
        return Report.unformatted(str(error)), None
    return _verify_file(file, given, trace=trace), file


def hand_checks(file: HandFile) -> tuple[list[Check], Replay | None, list[Told]]:
    """Makes the checks that need nothing but the hand: all before `log.inclusion`.

    Returns:
        The checks, the replay if the table's rules allow one, and the play in words.

    Spec: VER-2, VER-3
    """
    checks = [Check("format", PASS), check_chain(file), check_terms(file)]
    seeds = [check_commitment(file), *check_seals(file), *check_links(file)]
    checks += seeds
    # Before a seat has opened, its seal is N/A; then no epoch is complete either.
    are_seeds_good = seeds[0].status == PASS and all(
        c.status in (PASS, NOT_APPLICABLE) for c in seeds
    )
    if rules_fault(file):
        return [*checks, *skip_the_replay(file)], None, []
    replay = Replay(file, are_seeds_good=are_seeds_good)
    replayed = ReplayChecks(file, replay, are_seeds_good=are_seeds_good)
    return [*checks, *replayed], replay, replayed.story


def _verify_file(file: HandFile, given: Given, *, trace: bool) -> Report:
    checks, replay, story = hand_checks(file)
    sealed_head = replay.sealed_head if replay else None
    checks += [
        check_inclusion(file),
        check_log_signature(file, given),
        check_witnesses(file, given, sealed_head),
        check_receipts(file, given, sealed_head),
        *check_seat_signatures(file),
        check_mine(file, given, replay),
    ]
    traces = tuple(_trace(deck) for deck in replay.decks.used.values()) if trace and replay else ()
    return Report.of(checks, _describe(file, replay), traces, tuple(story))


def _trace(deck: SealedDeck) -> Trace:
    draws = tuple(Draw(i, j, tuple(taken)) for i, j, taken in trace_shuffle(deck.key, deck.cards))
    return Trace(deck.epoch, deck.cards, draws, tuple(deck.order))


def _describe(file: HandFile, replay: Replay | None) -> Hand:
    """Sums the hand up for a player."""
    dealt: dict[int, tuple[str, ...]] = {}
    drawn: dict[int, list[str]] = {}
    turned, first, cards = "", None, 0
    if replay is not None:
        cards = len(replay.game.deck())
        if replay.dealt is not None:
            body = replay.dealt.body
            first = body["first"]
            turned = body["indicator"] or "".join(one["card"] for one in body["shown"][:1])
            for seat, positions in body["positions"].items():
                names = [replay.decks.card_at((0, position)) for position in positions]
                dealt[int(seat)] = tuple(name for name in names if name)
        for step in file.steps:
            for seat, epoch, position in step.body["draws"] if step.type == "cards.drawn" else ():
                card = replay.decks.card_at((epoch, position))
                if card is not None:
                    drawn.setdefault(seat, []).append(card)
    return Hand(
        table=file.opened.body["table"],
        number=file.hand,
        game=file.game.id,
        cards=cards,
        seats=file.seats,
        at=file.opened.body["at"],
        first=first,
        aborted=file.reason,
        missing=tuple(file.last.body["missing"]) if file.reason else (),
        dealt=dealt,
        drawn={seat: tuple(held) for seat, held in sorted(drawn.items())},
        turned=turned,
        trumps=dict(replay.game.trumps) if replay else {},
    )
