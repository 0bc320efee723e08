/** Signed notes, checkpoints and receipts of the log. Spec: LOG-2..5. */

/** A line of signature below a note. */
export interface Line {
  readonly name: string;
  readonly id: Uint8Array;
  readonly signature: Uint8Array;
}

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** What is signed. */
  readonly text: string;
  readonly lines: readonly Line[];
}

export interface Receipt {
  readonly index: number;
  readonly path: readonly Uint8Array[];
  readonly checkpoint: Checkpoint;
}
