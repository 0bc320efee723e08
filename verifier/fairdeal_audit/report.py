"""Says what an audit found, in words or as JSON. Spec: AUD-2, AUD-3."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fairdeal_audit.fetch import Fetched
from fairdeal_audit.heads import write
from fairdeal_audit.judge import judge
from fairdeal_audit.proofs import evidence_for, own_note, twins_of
from fairdeal_audit.replay import Outcome
from fairdeal_audit.tiles import Folder
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.words import Said, words_of

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
    twins = twins_of(tree, outcome.findings)
    for number, finding in enumerate(outcome.findings, 1):
        # Only what holds by itself is written: of a hand that fails because an entry is missing, or
        # that does not follow the one before, no file of this hand alone proves anything.
        made = [(one, key) for one in evidence_for(finding, tree, note, outcome.keys, twins)]
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


def to_text(report: dict[str, Any], language: str = "en") -> str:
    """Says the report in words; what was found stays in English, for whoever is shown it."""
    line = Lines(language)
    counts, findings = report["counts"], report["findings"]
    named = ("tables", "hands", "verified", "aborted", "empty", "running", "hidden")
    lines = [
        line("audit.log", origin=report["origin"], size=report["size"], root=report["root"]),
        line("audit.hands", **{name: counts[name] for name in named}),
    ]
    lines += [
        line("audit.key_changed", entry=one["entry"], key=one["key"]) for one in report["rotations"]
    ]
    if report["continues"]:
        lines.append(_continued(report["continues"], line))
    for one in findings[:_SHOWN]:
        where = line("audit.at_entry", entry=str(one["entry"]))
        if one["table"]:
            where = line("audit.at_entry_of", entry=str(one["entry"]), table=one["table"])
        lines.append(f"{one['code']}  {where}: {one['text']}")
        if one["evidence"]:
            lines.append(f"    {line('audit.evidence', name=one['evidence'])}")
    if len(findings) > _SHOWN:
        lines.append(line("audit.more", n=len(findings) - _SHOWN, name=REPORT))
    if findings:
        lines.append(line("audit.findings", n=len(findings)))
    else:
        lines += [line("audit.clean"), line("audit.clean_means"), line("audit.clean_not")]
    return "\n".join(lines) + "\n"


class Lines:
    """Makes lines of the catalogue; numbers are set in groups of three."""

    def __init__(self, language: str) -> None:
        """Takes one of LANGUAGES."""
        self._words = words_of(language)

    def __call__(self, key: str, /, **values: int | str) -> str:
        """Gives a line."""
        shown = {n: f"{one:,}" if isinstance(one, int) else one for n, one in values.items()}
        return self._words.say(Said(key, shown), self._words.plain)


def _continued(one: dict[str, Any], line: Lines) -> str:
    by = line("audit.old_signed" if one["is_signed_by_old"] else "audit.old_unsigned")
    said = line(
        "audit.continues",
        origin=one["old_origin"],
        size=one["old_size"],
        kept=one["kept_size"],
        lost=one["lost"],
    )
    return f"{said}; {by}"


def fetched_text(fetched: Fetched, language: str = "en") -> str:
    """Says what a fetch came to."""
    head = fetched.head
    text = Lines(language)("audit.log", origin=head.origin, size=head.size, root=head.root.hex())
    return f"{text}\n" + (f"{fetched.code}  {fetched.text}\n" if fetched.code else "")
