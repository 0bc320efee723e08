/** What a verification comes to: its checks, and the verdict that follows from them. Spec: VER-2, VER-4. */

import type { HandFile } from "./file.ts";
import type { Check, Hand, Said, Scene, Told, Trace } from "./outcome.ts";

export type Word = "VERIFIED" | "FAILED" | "INCOMPLETE" | "CONSISTENT" | "UNREADABLE";

/** The outcome of one verification. */
export interface Report {
  readonly word: Word;
  /** 0 verified, 1 failed, 3 incomplete, 4 unreadable. */
  readonly exit: 0 | 1 | 3 | 4;
  /** As the Python verifier writes it: `VERIFIED (aborted: idle, no seat)`. */
  readonly verdict: string;
  /** The id of the first check that failed. */
  readonly failed: string | null;
  /** Why the file cannot be read. */
  readonly reason: Said | null;
  readonly checks: readonly Check[];
  /** The file as it was read; null if it is not in its form. */
  readonly file: HandFile | null;
  readonly hand: Hand | null;
  readonly story: readonly Told[];
  /** With a referee, by the index of the event into `HandFile.steps`: how the play stood after it. */
  readonly scenes: ReadonlyMap<number, Scene>;
  readonly traces: readonly Trace[];
}
