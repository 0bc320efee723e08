"""What evidence states, and that the log holds it. Spec: AUD-4, AUD-5."""

from fairdeal_audit.evidence import Statement
from fairdeal_audit.heads import parse_head
from fairdeal_verifier.encoding import are_in_one_form
from fairdeal_verifier.events import Step, parse
from fairdeal_verifier.kinds import MAX_SEATS
from fairdeal_verifier.note import Checkpoint, Receipt
from fairdeal_verifier.rotation import Keys


class NothingError(Exception):
    """A statement does not hold, so nothing follows from it."""


class Entries:
    """The entries of some evidence, each shown to be in the log."""

    def __init__(self, statements: tuple[Statement, ...], keys: Keys) -> None:
        if not all("entry" in one for one in statements):
            raise NothingError
        self.receipts: list[Receipt] = []
        self.indices: list[int] = []
        self.raws: list[bytes] = []
        self.keys = keys
        signed: set[str] = set()
        for one in statements:
            receipt = Receipt.parse(one["receipt"])
            note = one["receipt"].partition("\n\n")[2]
            if note not in signed and not keys.have_signed(receipt.checkpoint):
                raise NothingError
            signed.add(note)
            raw = one["entry"].encode("utf-8")
            if not receipt.includes(raw):
                raise NothingError
            self.indices.append(receipt.index)
            self.receipts.append(receipt)
            self.raws.append(raw)

    def steps(self, least: int, most: int, *, skip: int = 0) -> list[Step]:
        """Gives them, but for the first ones that are skipped, as events of tables."""
        if not least <= len(self.raws) <= most:
            raise NothingError
        steps = []
        for raw in self.raws[skip:]:
            text = raw.decode("ascii")
            step = parse(text, MAX_SEATS)
            if not are_in_one_form([text], [step.body]):
                raise NothingError
            steps.append(step)
        return steps


def head_in(statement: Statement) -> Checkpoint:
    """Reads the checkpoint of a statement; by whom it is signed is not looked at."""
    if "checkpoint" not in statement:
        raise NothingError
    return parse_head(statement["checkpoint"].encode("utf-8"))


def are_of_one_table(steps: list[Step]) -> bool:
    """Says if events are of one table."""
    return len({step.body["table"] for step in steps}) == 1
