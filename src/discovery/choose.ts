import type { ToolSpec } from "../tool.ts";

/** A ranked tool on its way into the visible set. */
export interface Candidate {
  tool: ToolSpec;
  score: number;
  /** That the tool is acceptable; null without a calibration. */
  probability: number | null;
  exact_name: boolean;
  /** In use in this conversation: it stays while it is eligible. */
  kept: boolean;
}

/** The rule by which an eligible tool fell out of the visible set. */
export type Fell = "floor" | "rank" | "budget";

export interface Choice<T> {
  chosen: T[];
  /** Tokens of the chosen tools' definitions, where they are counted. */
  tokens: number | null;
  fell(candidate: T): Fell | null;
}

/** Whether a tool by itself is a match; without a calibration, and named exactly, it always is. */
export function isAbove(
  { probability, exact_name }: Pick<Candidate, "probability" | "exact_name">,
  floor: number,
): boolean {
  return exact_name || probability === null || probability >= floor;
}

/** How many tools may be chosen. */
export interface Room {
  k: number;
  /** Least probability of the best; 0 lets everything through. */
  floor: number;
  /** Tokens of a definition, and how many there may be in all; without it only `k` counts. */
  budget?: { tokens: number; of(tool: ToolSpec): number } | undefined;
}

/**
 * The visible part of a ranking, in its order. The match floor is asked of the best: where no tool
 * reaches it and none is named exactly, nothing is offered but what is kept; where one does, the
 * others come with it, since the model chooses among them. Then kept tools have their place first,
 * and what fits the token budget of the k, best first: a tool too large for what is left does not
 * keep a smaller one out.
 */
export function choose<T extends Candidate>(
  ranked: readonly T[],
  { k, floor, budget }: Room,
): Choice<T> {
  const isMatch = ranked.some((candidate) => isAbove(candidate, floor));
  const kept = ranked.filter((candidate) => candidate.kept);
  const others = ranked
    .filter((candidate) => !candidate.kept)
    .slice(0, Math.max(0, k - kept.length));
  let tokens = 0;
  const within = new Set<T>();
  const add = (candidate: T, force: boolean) => {
    const cost = budget ? budget.of(candidate.tool) : 0;
    if (budget && !force && tokens + cost > budget.tokens) return;
    tokens += cost;
    within.add(candidate);
  };
  for (const candidate of kept) add(candidate, true);
  if (isMatch) for (const candidate of others) add(candidate, false);
  return {
    chosen: ranked.filter((candidate) => within.has(candidate)),
    tokens: budget ? tokens : null,
    fell(candidate) {
      if (within.has(candidate)) return null;
      if (!isMatch) return "floor";
      return others.includes(candidate) ? "budget" : "rank";
    },
  };
}
