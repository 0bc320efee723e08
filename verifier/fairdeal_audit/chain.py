"""Follows one table's chain through the log. Spec: AUD-2, TBL-2, HAND-1, HAND-17."""

from typing import Any

from fairdeal_audit.hands import faults_of, hand_of, match_fault
from fairdeal_audit.keys import table_fault
from fairdeal_audit.progress import Finding
from fairdeal_audit.table import MOST_OF_A_CODE, Table
from fairdeal_verifier.events import Step
from fairdeal_verifier.primitives import commitment_to

_MOST_LINKS = 64
_SECOND = 1000


class Chain(Table):
    """One table, followed entry by entry: what may come after what."""

    def follow(self, index: int, step: Step) -> None:
        """Takes the table's next event."""
        state, body = self.progress, step.body
        if state.opened < 0:
            if step.type != "table.opened" or body["seq"]:
                if "GAP" not in state.counts:
                    self.find(index, "GAP", "the table's beginning is not in the log")
                if step.type != "table.opened":
                    return
            elif body["prev"]:
                self.find(index, "CHAIN", "the first event names one before it")
            self._begin(index, step)
            return
        if state.closed:
            self.find(index, "ENTRY", f"{step.type} follows table.closed")
            return
        ended = self._keys.ended_between(state.opened, index)
        if ended >= 0:
            text = f"the table began before the log's key changed at {ended}"
            self.find(index, "KEY", text, ended, state.opened, index)
        if not self._is_next(index, step):
            return
        self._steps[state.opened] = self._steps.get(state.opened) or self._read(state.opened)
        self._steps[index] = step
        if state.due and not (step.type == "hand.disclosed" and body["hand"] == state.due):
            # The end of the hand is the event before.
            self.find(
                index,
                "WITHHELD",
                f"{step.type} follows the end of hand {state.due}, which is not disclosed",
                state.opened,
                state.last,
                index,
                hand=state.due,
            )
        state.due = 0
        handlers = {
            "hand.opened": self._on_opened,
            "hand.closed": self._on_end,
            "hand.aborted": self._on_end,
            "hand.disclosed": self._on_disclosed,
            "table.closed": self._on_table_closed,
            "seat.reissued": self._on_reissued,
            "table.opened": self._on_table_opened,
        }
        handlers.get(step.type, self._on_hand)(index, step)
        state.last = index
        self._set_deadline(step)
        if not state.running and not state.due:
            kept = (state.opened, state.announced, *state.before, index)
            self._steps = {one: self._steps[one] for one in kept if one in self._steps}

    def _begin(self, index: int, step: Step) -> None:
        state = self.progress
        state.opened = state.last = state.announced = index
        state.seats = step.body["seats"]
        state.links = [index]
        self._steps = {index: step}
        self.tally.tables += 1
        self._set_deadline(step)
        text, entries = table_fault(self._keys, index, step)
        if text:
            self.find(index, "KEY", text, *entries)

    def _on_opened(self, index: int, step: Step) -> None:
        """Spec: HAND-1."""
        state, body = self.progress, step.body
        terms = self.step(state.opened)
        number = body["hand"]
        if state.running:
            self.find(
                index, "NUMBER", "a hand is opened while another is under way", state.last, index
            )
            self._find_cards(state.running)
        elif number != state.hand + 1:
            links = (*state.links, index)
            text = f"hand {number} follows hand {state.hand}"
            self.find(
                index, "NUMBER", text, *(links if len(links) <= _MOST_LINKS else ()), hand=number
            )
        if body["terms"] != terms.head:
            self.find(
                index, "TERMS", "the hand names other terms", state.opened, index, hand=number
            )
        announcing = self.step(state.announced)
        if body["commitment"] != announcing.body["next_commitment"]:
            proof = (state.announced, index) if number == state.hand + 1 else ()
            text = "the commitment is not the one announced before"
            self.find(index, "COMMITMENT", text, *proof, hand=number)
        self.values.append(("commitment", body["commitment"], index, number))
        state.hand, state.announced, state.running = number, index, [index]
        self.tally.hands += 1

    def _on_hand(self, index: int, step: Step) -> None:
        state, body = self.progress, step.body
        if not state.running:
            self.find(index, "HAND", f"{step.type} stands between hands", hand=body["hand"])
            return
        if body["hand"] != state.hand:
            self.find(
                index, "NUMBER", "an event within a hand names another hand", state.last, index
            )
            return
        state.running.append(index)
        if step.type == "seeds.sealed":
            self.values += [("seal", one, index, state.hand) for one in body["seals"].values()]
        elif step.type == "seeds.opened":
            self.values += [("seed", one, index, state.hand) for one in body["seeds"].values()]

    def _on_end(self, index: int, step: Step) -> None:
        state = self.progress
        self._on_hand(index, step)
        if not state.running or state.running[-1] != index:
            return
        indices, state.running = state.running, []
        self._find_cards(indices)
        types = [self.step(one).type for one in indices]
        dealt = [one for one, kind in zip(indices, types, strict=True) if kind == "hand.dealt"]
        if step.type == "hand.aborted":
            self.tally.aborted += 1
        elif types[-2:-1] == ["hand.dealt"]:
            self.tally.empty += 1
        if state.before:
            state.followed[state.hand] = state.before
        state.before = [indices[0], *dealt[:1], index]
        state.links = [index]
        if step.type == "hand.aborted" and step.body["reason"] == "lost":
            self._verify(index, indices, None)
            return
        state.hidden[state.hand] = indices
        if self.step(state.opened).body["disclosure"] == "hand":
            state.due = state.hand

    def _on_disclosed(self, index: int, step: Step) -> None:
        """Spec: HAND-17."""
        state, number = self.progress, step.body["hand"]
        state.links.append(index)
        indices = state.hidden.pop(number, None)
        if state.running and number != state.hand:
            text = "a hand is disclosed within another"
            self.find(index, "NUMBER", text, state.last, index, hand=number)
        elif indices is None:
            self.find(
                index, "HAND", "a hand is disclosed that is not there to be disclosed", hand=number
            )
        if indices:
            self._verify(index, indices, step)

    def _verify(self, index: int, indices: list[int], disclosure: Step | None) -> None:
        """Puts a hand through the verifier. Spec: AUD-2, VER-2."""
        state = self.progress
        table = self.step(state.opened)
        steps = [table, *[self.step(one) for one in indices]]
        number = steps[1].body["hand"]
        file = hand_of(steps, disclosure.body if disclosure else None)
        before = state.followed.pop(number, None)
        faults = faults_of(file)
        if before:
            fault = match_fault([table, *[self.step(one) for one in before]], file)
            faults += [("match", fault)] if fault else []
        self.tally.verified += not faults
        if not faults:
            return
        check, note = faults[0]
        text = f"hand {number} fails {check}: {note}"
        entries = (state.opened, *indices)
        counts = state.counts
        counts["HAND"] = counts.get("HAND", 0) + 1
        if counts["HAND"] <= MOST_OF_A_CODE:
            at = index if disclosure else None
            self.findings.append(Finding(index, "HAND", self.name, number, text, entries, at))

    def _on_reissued(self, index: int, _step: Step) -> None:
        """Spec: TBL-2."""
        state = self.progress
        state.links.append(index)
        if state.running:
            self.find(index, "HAND", "a seat is reissued within a hand")
        elif self.step(state.opened).body["custody"] != "seats":
            self.find(index, "HAND", "a seat is reissued that the operator holds")

    def _on_table_closed(self, index: int, step: Step) -> None:
        """Spec: TBL-2, HAND-17."""
        state = self.progress
        for number in sorted(state.hidden):
            self.find(index, "WITHHELD", f"closed without hand {number} disclosed", hand=number)
        if state.running:
            self.find(index, "HAND", "the table is closed within a hand")
            self._find_cards(state.running)
        announced = self.step(state.announced).body["next_commitment"]
        opened = commitment_to(bytes.fromhex(step.body["unused_seed"])).hex()
        if opened != announced:
            self.find(index, "COMMITMENT", "unused_seed does not open the last commitment")
        # A hand of this commitment would be dealt from a seed that everybody knows.
        self.values.append(("commitment", opened, index, 0))
        state.closed, state.running, state.hidden, state.followed = True, [], {}, {}
        state.links, state.before = [], []

    def _on_table_opened(self, index: int, _step: Step) -> None:
        self.find(index, "CHAIN", "the table is opened within its chain")

    def _set_deadline(self, step: Step) -> None:
        """Says when the table is overdue, were this its last event. Spec: HAND-16, TBL-3."""
        state = self.progress
        timeouts: dict[str, Any] = self.step(state.opened).body["timeouts"]
        names = ("seal", "open", "hand", "turn") if state.running else ("table",)
        allowed = 0 if state.due else _SECOND * max(timeouts[name] for name in names)
        state.deadline = 0 if state.closed else step.at + allowed
