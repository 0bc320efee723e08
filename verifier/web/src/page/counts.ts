/**
 * What a game counts, after each step: chips and the bank, points and tricks, what stands from hand to hand. The
 * numbers are the referee's reading of the play (`Report.scenes`) and, between hands, the match that the file states.
 */

import type { HandFile } from "../verify/file.ts";
import { isObject } from "../verify/json.ts";
import type { Scene } from "../verify/outcome.ts";
import type { Report } from "../verify/report.ts";
import type { View } from "./view.ts";

type Kind = "seat" | "team" | "table" | "match";
/** Whose number it is. */
export type Owner = `seat ${number}` | `team ${number}` | "table" | "match";

export interface Count {
  readonly owner: Owner;
  /** Its sentence is `page.count.<name>`; of a lance of Mus, the lance's own. */
  readonly name: string;
  readonly n: number;
}

/** How the play stands; `counted` is false where it should be followed and cannot be. */
export interface Standing {
  readonly counts: readonly Count[];
  readonly turn: readonly number[];
  readonly mano: number | null;
  readonly counted: boolean;
}

const TEAMS = [0, 1];
/** Events that change how the play stands. */
const OF_PLAY = /^(?:cards|play|hand\.(?:dealt|closed))/;

export class Counting {
  readonly #file: HandFile;
  readonly #report: Report;
  /** Steps that have a scene, ascending. */
  readonly #steps: readonly number[];
  /** From this step on nothing is known. */
  readonly #lost: number;

  constructor(file: HandFile, report: Report) {
    this.#file = file;
    this.#report = report;
    this.#steps = [...report.scenes.keys()];
    const from = this.#steps.at(-1) ?? 0;
    // Between the deal and the exchange of sixes nobody has played yet.
    const lost = file.steps.findIndex(({ type }, step) => step > from && OF_PLAY.test(type));
    this.#lost = lost < 0 ? file.steps.length : lost;
  }

  after(step: number): Standing {
    const { game, referee } = this.#file.table.body;
    const at = this.#steps.findLast((one) => one <= step);
    const scene = step < this.#lost && at !== undefined ? (this.#report.scenes.get(at) ?? null) : null;
    const mano = game === "mus" ? scene?.counts["mano"] : null;
    return {
      counts: referee ? [...this.#ofPlay(game, scene, step), ...this.#ofMatch(game, step)] : [],
      turn: scene?.turn ?? [],
      mano: typeof mano === "number" ? mano : null,
      counted: !referee || step < this.#lost,
    };
  }

  /** Those of a step's counts that are other than one step before. */
  changed(step: number, counts: readonly Count[]): readonly Count[] {
    const before = step > 0 ? this.after(step - 1).counts : [];
    const same = (a: Count, b: Count): boolean => a.owner === b.owner && a.name === b.name && a.n === b.n;
    return before.length > 0 ? counts.filter((one) => !before.some((other) => same(one, other))) : [];
  }

  #ofPlay(game: string, scene: Scene | null, step: number): Count[] {
    const counts = scene?.counts ?? {};
    const bank = counts["bank"];
    switch (game) {
      case "azi": {
        if (!scene) return step < this.#lost ? this.#stated(0, ["table", "bank", "bank"], ["seat", "chips", "stacks"]) : [];
        const tricks = numbers(counts["tricks"]);
        const bidding = bank !== 0 && scene.laid.length === 0 && tricks.every((n) => n === 0);
        return [
          ...each("table", "bank", [bank]),
          ...each("seat", "chips", counts["stacks"]),
          ...(bidding ? each("seat", "bid", counts["bids"]) : each("seat", "tricks", tricks)).filter(({ n }) => n > 0),
        ];
      }
      case "kozel":
        return scene ? [...each("team", "points", counts["points"]), ...each("team", "tricks", counts["tricks"])] : [];
      case "mus": {
        if (!scene) return step < this.#lost ? this.#stated(0, ["team", "score", "score"]) : [];
        const { lance, level } = counts;
        return [
          ...each("team", "score", counts["score"]),
          ...(typeof lance === "string" && lance ? [{ owner: "table", name: `lance.${lance}`, n: 0 } as const] : []),
          ...(lance && level !== 0 ? each("table", "bet", [level]) : []),
        ];
      }
      default: // Svoi Kozyri: who has no cards left has won
        return scene ? each("seat", "cards", scene.hands.map((hand) => hand.length)) : [];
    }
  }

  /** What stands from hand to hand; changed by the hand's end. */
  #ofMatch(game: string, step: number): Count[] {
    switch (game) {
      case "kozel":
        return this.#stated(step, ["team", "defeat", "defeat"]);
      case "mus":
        return this.#file.table.body.ruleset["games"] === 1 ? [] : this.#stated(step, ["team", "games", "games"]);
      case "svoi": {
        const all = this.#stated(step, ["seat", "wins", "wins"], ["match", "draws", "draws"]);
        return all.some(({ n }) => n > 0) ? all : []; // before anything was won or drawn it says nothing
      }
      default:
        return [];
    }
  }

  /** Members of the match: the one before the hand, or, after the last step, the one that it leads to. */
  #stated(step: number, ...asked: readonly (readonly [kind: Kind, name: string, member: string])[]): Count[] {
    const { last, opened, steps } = this.#file;
    const ended = step === steps.length - 1 && step < this.#lost && last.type === "hand.closed";
    const match = (ended ? last.body.result?.["match"] : opened.body.match) ?? null;
    return asked.flatMap(([kind, name, member]) => {
      const value = isObject(match) ? match[member] : undefined;
      return each(kind, name, kind === "match" || kind === "table" ? [value] : value);
    });
  }
}

/** A list of numbers; the match of a false file may be anything. */
function numbers(value: unknown): number[] {
  return Array.isArray(value) && value.length <= 10 && value.every((n) => Number.isSafeInteger(n)) ? (value as number[]) : [];
}

function each(kind: Kind, name: string, value: unknown): Count[] {
  const list = numbers(value);
  if (kind === "team" && list.length !== TEAMS.length) return [];
  return list.map((n, at) => ({ owner: kind === "match" || kind === "table" ? kind : `${kind} ${at}`, name, n }));
}

/** "chips: 980" */
export function countText(view: View, { name, n }: Count): string {
  return name.startsWith("lance.") ? view.t(name) : view.t(`page.count.${name}`, { n });
}

/** "team 0: seats 0, 2" */
export function teamText(view: View, team: number): string {
  return view.t("page.team", { team, seats: [team, team + 2] });
}

/** Several numbers in one sentence, each with whose it is: for who listens, and for paper. */
export function countsText(view: View, counts: readonly Count[]): string {
  const owners = [...new Set(counts.map((one) => one.owner))];
  const name = (owner: Owner): string => {
    const [kind, at] = owner.split(" ");
    return kind === "seat" ? `${view.t("report.seat", { seat: Number(at) })}, ` : kind === "team" ? `${teamText(view, Number(at))}, ` : "";
  };
  return owners.map((owner) => name(owner) + counts.filter((one) => one.owner === owner).map((one) => countText(view, one)).join(", ")).join("; ");
}
