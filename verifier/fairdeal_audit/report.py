"""Says what an audit found, in words or as JSON. Spec: AUD-2, AUD-3."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fairdeal_audit.fetch import Fetched
from fairdeal_audit.heads import write
from fairdeal_audit.judge import judge
from fairdeal_audit.proofs import evidence_for, own_note
from fairdeal_audit.replay import Outcome
from fairdeal_audit.tiles import Folder
from fairdeal_verifier.note import LogKey

REPORT = "report.json"
EVIDENCE = "evidence"
MOST_EVIDENCE = 100
_SHOWN = 50


def write_evidence(folder: Path, key: LogKey, outcome: Outcome) -> dict[int, str]:
    """Writes evidence for the first findings; what an earlier replay wrote is replaced.

    Returns:
        File names by the finding's number.
    """
    names: dict[int, str] = {}
    for old in (folder / EVIDENCE).glob("[0-9]*.json"):
        old.unlink()
    tree = Folder(folder, outcome.head.size)
    note = own_note(outcome.head, outcome.keys)
    for number, finding in enumerate(outcome.findings, 1):
        # Only what holds by itself is written: of a hand that fails because an entry is missing, or
        # that does not follow the one before, no file of this hand alone proves anything.
        made = [(one, key) for one in evidence_for(finding, tree, note, outcome.keys)]
        proof = outcome.lost.get(finding.text)
        if proof is not None and finding.code == "LOST":
            made.append((proof.evidence, proof.key))
        for evidence, judged_by in made:
            if judge(evidence, judged_by):
                names[number] = f"{EVIDENCE}/{number:04}-{evidence.code}.json"
                write(folder / names[number], evidence.encode())
                break
        if len(names) == MOST_EVIDENCE:
            break
    return names


def to_json(outcome: Outcome, names: dict[int, str]) -> dict[str, Any]:
    """Gives the report; of one log always the same."""
    findings = [
        {
            "code": one.code,
            "entry": one.index,
            "table": one.table,
            "hand": one.hand,
            "text": one.text,
            "evidence": names.get(number),
        }
        for number, one in enumerate(outcome.findings, 1)
    ]
    return {
        "format": "fairdeal-audit/1",
        "origin": outcome.head.origin,
        "size": outcome.head.size,
        "root": outcome.head.root.hex(),
        "rotations": [
            {"entry": one.event.size, "key": f"{one.event.new.name}+{one.event.new.key_id.hex()}"}
            for one in outcome.keys.rotations
            if one.event.size < outcome.head.size
        ],
        "continues": asdict(outcome.continued) if outcome.continued else None,
        "counts": asdict(outcome.tally) | {"running": outcome.running, "hidden": outcome.hidden},
        "findings": findings,
    }


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Keeps the report."""
    write(folder / REPORT, (json.dumps(report, indent=1) + "\n").encode())


def to_text(report: dict[str, Any]) -> str:
    """Says the report in words."""
    counts, findings = report["counts"], report["findings"]
    hands = (
        f"{counts['tables']:,} tables, {counts['hands']:,} hands: {counts['verified']:,} verified "
        f"({counts['aborted']:,} of all aborted, {counts['empty']:,} closed with nothing after the "
        f"deal), {counts['running']:,} under way, {counts['hidden']:,} not due to be disclosed yet"
    )
    lines = [f"{report['origin']}: {report['size']:,} entries, root {report['root']}", hands]
    lines += [
        f"its key changed at entry {one['entry']:,}: {one['key']} from then on"
        for one in report["rotations"]
    ]
    if report["continues"]:
        lines.append(_continued(report["continues"]))
    for one in findings[:_SHOWN]:
        where = f"entry {one['entry']}" + (f" of {one['table']}" if one["table"] else "")
        lines.append(f"{one['code']}  {where}: {one['text']}")
        if one["evidence"]:
            lines.append(f"    evidence: {one['evidence']}")
    if len(findings) > _SHOWN:
        lines.append(f"and {len(findings) - _SHOWN:,} more, in {REPORT}")
    verdict = f"{len(findings):,} FINDINGS" if findings else "CLEAN"
    closing = (
        "Clean means: nobody who has this whole log will find one of its hands wrong, missing or "
        "twice.\nIt does not show that others were given the same log: compare checkpoints with "
        "them, and keep receipts."
    )
    return "\n".join([*lines, verdict, *([] if findings else [closing])]) + "\n"


def _continued(one: dict[str, Any]) -> str:
    by = (
        "and its key has signed that"
        if one["is_signed_by_old"]
        else ("but its key has not signed that, which proves nothing about it")
    )
    return (
        f"it continues {one['old_origin']} of {one['old_size']:,} entries, {one['kept_size']:,} of "
        f"them kept, {one['lost']:,} hands lost; {by}"
    )


def fetched_text(fetched: Fetched) -> str:
    """Says what a fetch came to."""
    head = fetched.head
    text = f"{head.origin}: {head.size:,} entries, root {head.root.hex()}\n"
    return text + (f"{fetched.code}  {fetched.text}\n" if fetched.code else "")
