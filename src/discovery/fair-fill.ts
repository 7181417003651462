import type { Scored } from "./arms.ts";

/** One ask of a request that has several. */
export interface Part {
  text: string;
  /** Its unit vector. */
  vector: Float32Array;
}

/** What a tool loses where only a part asks for it: the model card's figure. */
const PART_PENALTY = 0.05;

/**
 * The whole request's ranking with what its parts found: a tool's score is the larger of the
 * whole's and its best part's less a penalty, and each part has its share of the k: its best
 * `k / (2 * parts)` tools take the places of the last ones. `whole` has every tool that a part found.
 */
export function fillFairly(
  whole: readonly Scored[],
  parts: readonly (readonly Scored[])[],
  k: number,
  order: (a: Scored, b: Scored) => number,
): Scored[] {
  const best = new Map(whole.map((found) => [found.row, found]));
  for (const scored of parts) {
    for (const found of scored) {
      const score = found.score - PART_PENALTY;
      if (score > best.get(found.row)!.score) best.set(found.row, { ...found, score });
    }
  }
  const ranked = [...best.values()].toSorted(order);
  const share = Math.max(1, Math.floor(k / (2 * parts.length)));
  const due = new Set(parts.flatMap((scored) => scored.slice(0, share).map(({ row }) => row)));
  const missed = ranked.slice(k).filter(({ row }) => due.has(row));
  if (missed.length === 0) return ranked;
  const kept = ranked.slice(0, k);
  for (let i = kept.length - 1; i >= 0 && kept.length > k - missed.length; i--) {
    if (!due.has(kept[i]!.row)) kept.splice(i, 1);
  }
  return [...kept, ...missed].slice(0, k);
}
