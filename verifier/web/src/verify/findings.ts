/** Collects checks as they are made, in the order of VER-2. */

import type { Check, Said, Status } from "./outcome.ts";

/** A sentence of the catalogue. */
export function said(key: string, values?: Said["values"]): Said {
  return values ? { key, values } : { key };
}

export class Findings {
  readonly checks: Check[] = [];

  /** `note` is a Said or a key without placeholders. */
  pass(id: string, note?: Said | string, values?: string): void {
    this.#add(id, "PASS", note, undefined, values);
  }

  /** What is wrong: in English, or a sentence of the catalogue if the player has only mixed up two files. */
  fail(id: string, fault: string | Said, values?: string): void {
    if (typeof fault === "string") this.#add(id, "FAIL", undefined, fault, values);
    else this.#add(id, "FAIL", fault, undefined, values);
  }

  skip(id: string, note: Said | string, values?: string): void {
    this.#add(id, "SKIP", note, undefined, values);
  }

  na(id: string, note: Said | string): void {
    this.#add(id, "N/A", note);
  }

  /** PASS without a fault, FAIL with one. */
  judge(id: string, fault: string, note?: Said | string, values?: string): void {
    if (fault) this.fail(id, fault, values);
    else this.pass(id, note, values);
  }

  status(id: string): Status | undefined {
    return this.checks.find((check) => check.id === id)?.status;
  }

  #add(id: string, status: Status, note?: Said | string, fault?: string, values?: string): void {
    const check: { -readonly [K in keyof Check]: Check[K] } = { id, status };
    if (note !== undefined) check.note = typeof note === "string" ? { key: note } : note;
    if (fault !== undefined) check.fault = fault;
    if (values !== undefined) check.values = values;
    this.checks.push(check);
  }
}
