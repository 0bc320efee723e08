/** The games, and what a table's terms may say of them. Spec: GAME-3, GAME-5, TBL-1. */

import type { EventOf } from "../events.ts";
import { PLAY } from "../play/index.ts";
import type { Values } from "../play/base.ts";
import type { Json } from "../outcome.ts";
import { azi } from "./azi.ts";
import type { DealingGame } from "./base.ts";
import { kozel } from "./kozel.ts";
import { mus } from "./mus.ts";
import { svoi } from "./svoi.ts";

export const GAMES: ReadonlyMap<string, DealingGame> = new Map(Object.entries({ kozel, mus, azi, svoi }));

function allowed(values: Values | readonly Json[], value: Json): boolean {
  if ("least" in values) return typeof value === "number" && value >= values.least && value <= values.most;
  return (values as readonly Json[]).includes(value);
}

/** Why a table's game cannot be played by its ruleset and number of seats, or "". */
export function rulesetFault({ game, ruleset, seats, referee }: EventOf<"table.opened">["body"]): string {
  const dealing = GAMES.get(game);
  if (!dealing) return "the game is not known (TBL-1)";
  const options = new Map<string, Values | readonly Json[]>(Object.entries(dealing.options));
  if (referee) for (const [option, values] of Object.entries(PLAY.get(game)?.options ?? {})) options.set(option, values);
  const named = Object.keys(ruleset);
  if (named.length !== options.size || !named.every((option) => options.has(option))) return "the ruleset does not have exactly the options of the game (GAME-3)";
  for (const [option, values] of options) {
    if (!allowed(values, ruleset[option] ?? null)) return `the ruleset's option ${option} has no value of the game (GAME-3)`;
  }
  return seats < dealing.least || seats > dealing.most ? "the game is not played by so many seats (TBL-1)" : "";
}
