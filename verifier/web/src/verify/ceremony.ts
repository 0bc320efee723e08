/** The seeds of a hand: what was sealed, opened, and which deal keys they make. Spec: SEED-1, SEED-3, SEAL-1, KEY-1. */

/**
 * What the later checks need to know of the seeds; made by the checks `server.commitment`, `seal.N`
 * and `chain.E.N`.
 */
export interface Seeds {
  /** `server.commitment`, every `seal.N` and every `chain.E.N` that was made has passed (VER-3). */
  readonly good: boolean;
  /** Whether each contributing seat has opened its `x_epoch` in the file. */
  complete(epoch: number): boolean;
  /** K_epoch; null unless the server seed is disclosed and the epoch's seeds are complete. */
  key(epoch: number): Uint8Array | null;
}
