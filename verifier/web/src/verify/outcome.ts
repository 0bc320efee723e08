/** What a verification finds, piece by piece. Spec: VER-2. */

export type Status = "PASS" | "FAIL" | "SKIP" | "N/A";

/** A value of JSON. Integers only (ENC-3): a reader of this protocol meets no other number. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A sentence of the catalogue, by its key, with what stands in its placeholders. */
export interface Said {
  readonly key: string;
  readonly values?: Readonly<Record<string, string | number | readonly string[] | readonly number[]>>;
}

/** One check. */
export interface Check {
  /** As in VER-2: `seal.2`, `draw.1`. */
  readonly id: string;
  readonly status: Status;
  /** What this hand adds to the id's sentence; why it was not made; of a FAIL, which files were mixed up. In the reader's language. */
  readonly note?: Said;
  /** FAIL without a note: what is wrong, in English and in terms of the spec; for whoever the player shows it to. */
  readonly fault?: string;
  /** What was compared with what: numbers, hashes. */
  readonly values?: string;
}

/** One draw of a shuffle: cards i and j change places. `taken` ends with the byte that counted. */
export interface Draw {
  readonly i: number;
  readonly j: number;
  readonly taken: readonly number[];
}

/** Every draw of one epoch's shuffle, with the numbers around it. */
export interface Trace {
  readonly epoch: number;
  readonly cards: readonly string[];
  readonly draws: readonly Draw[];
  readonly order: readonly string[];
  /** Hex: the deal key, the deck's root, and the salt of each position. */
  readonly key: string;
  readonly root: string;
  readonly salts: readonly string[];
}

/** One thing that happened in the play, made from an event of the hand. */
export interface Told {
  /** Index into `HandFile.steps` of the event that it tells of. */
  readonly step: number;
  /** Belongs to the line before. */
  readonly indented: boolean;
  readonly said: Said;
}

/** A card on the table in the midst of the play: in a trick, on the pile. */
export interface Laid {
  readonly seat: number;
  readonly card: string;
  /** It lies face down: nobody but its seat knew it then. */
  readonly hidden: boolean;
}

/** How the play stands right after an event, for a page that steps through it. */
export interface Scene {
  /** Seats on turn; none while something is due, or when the play is over. */
  readonly turn: readonly number[];
  /** The seats' cards. */
  readonly hands: readonly (readonly string[])[];
  /** In the order in which they were laid; the top of a pile comes last. */
  readonly laid: readonly Laid[];
  /**
   * What the game counts. Kozel: `stock`, and by team `points`, `tricks`. Mus: `lance`, `level`, `mano`, and
   * by team `score`. Azi: `bank`, `highest`, and by seat `stacks`, `bids`, `tricks`. Svoi Kozyri: nothing.
   */
  readonly counts: Readonly<Record<string, number | string | readonly number[]>>;
}

/** What a player calls the hand: who got which cards. Cards are names as in SHUF-1. */
export interface Hand {
  readonly table: string;
  readonly number: number;
  readonly game: string;
  /** The size of the deck. */
  readonly cards: number;
  readonly seats: number;
  readonly at: string;
  readonly first: number | null;
  /** The reason, or null. */
  readonly aborted: string | null;
  readonly missing: readonly number[];
  /** In the order of the deal; empty lists as long as they are not disclosed. */
  readonly dealt: ReadonlyMap<number, readonly string[]>;
  readonly drawn: ReadonlyMap<number, readonly string[]>;
  /** The indicator, or the card turned at the deal. */
  readonly turned: string | null;
  readonly trumps: ReadonlyMap<number, string>;
}

/** One event of a file, parsed. */
export interface Step {
  readonly type: string;
  readonly seq: number;
  /** All members, `type` and `seq` among them, in the types that EVT-1 gives them. */
  readonly body: { readonly [field: string]: Json };
  /** The bytes that are hashed, and their SHA-256. */
  readonly raw: Uint8Array;
  readonly digest: Uint8Array;
}
