import type { LexicalScores } from "../lexical-index.ts";
import type { Snapshot } from "../snapshot.ts";
import { type Allowed, type Neighbour, type Plan, planned } from "../vector-index.ts";
import { against, type Contrast } from "./contrast.ts";

/** Weight and saturation of the lexical arm: `cosine + 0.6 * b / (b + 40)`. The card has 0.5; 0.6 is
 * better by 0.002 macro nDCG@10 and 0.005 all@10, any weight from 0.3 to 0.8 within 0.005. */
const LEXICAL_WEIGHT = 0.6;
const LEXICAL_HALF = 40;
/** How much more the words weigh in a query without a Latin letter. */
const FOREIGN_FACTOR = 4;
/** Dense candidates a query looks at, at least. */
const CANDIDATES_MIN = 64;

/** One tool with what each arm says of it. */
export interface Scored {
  row: number;
  /** `cosine + lexical share`; an exact name adds `EXACT_NAME_BONUS`. */
  score: number;
  cosine: number;
  /** The view's row whose cosine that is. */
  view: number;
  bm25: number;
  exact_name: boolean;
  /** The avoid_when that cost it rank. */
  contrast: Contrast | undefined;
}

/** The lexical share of a score before its weight, 0 to 1. */
export function saturated(bm25: number): number {
  return bm25 / (bm25 + LEXICAL_HALF);
}

/** More than any fused score can make up for. */
export const EXACT_NAME_BONUS = 2;

export interface Arms {
  plan: Plan;
  scored: Scored[];
  /** Milliseconds. */
  dense_ms: number;
  lexical_ms: number;
  /** Ranks of rows in an arm, from 1; null where the arm did not reach one. */
  denseRanks(rows: readonly number[]): (number | null)[];
  lexicalRanks(rows: readonly number[]): (number | null)[];
}

export type Ablation = "hybrid" | "dense" | "lexical";

/** What an ablation may leave out beside an arm. */
export type Mechanism = "contrast" | "exact_names";

/**
 * The `k` allowed tools with the highest fused score, exactly: a tool outside the dense candidates
 * has at most the cosine of their last, so only those whose lexical share can make up the
 * difference are scored. `also` names rows to score whatever their rank.
 */
export function searchArms(
  snapshot: Snapshot,
  question: {
    query: string;
    vector: Float32Array;
    named: ReadonlySet<number>;
    k: number;
    arms: Ablation;
    plan: Plan | undefined;
    without: ReadonlySet<Mechanism>;
  },
  allowed: Allowed,
  also: readonly number[] = [],
): Arms {
  const { vector, named, k, arms } = question;
  const weight = lexicalWeight(question.query);
  const { index: dense, plan } = planned(snapshot.dense, snapshot.hnsw, allowed, question.plan);
  const startedAt = performance.now();
  const neighbours =
    arms === "lexical" ? [] : dense.nearest(vector, Math.max(CANDIDATES_MIN, 2 * k), allowed);
  const denseAt = performance.now();
  const lexical = snapshot.lexical.score(
    arms === "dense" ? "" : question.query,
    allowed.ranges,
    allowed.excluded,
  );

  const fuse = ({ tool: row, view, score: cosine }: Neighbour): Scored => {
    const bm25 = lexical.scores[row]!;
    const exact_name = named.has(row);
    const score =
      (arms === "lexical" ? 0 : cosine) +
      weight * saturated(bm25) +
      (exact_name ? EXACT_NAME_BONUS : 0);
    return { row, view, cosine, bm25, exact_name, score, contrast: undefined };
  };
  const byRow = new Map<number, Scored>();
  const scoreOf = snapshot.dense.scorer(vector);
  const add = (row: number) => {
    if (!byRow.has(row)) byRow.set(row, fuse(scoreOf(row)));
  };
  for (const neighbour of neighbours) byRow.set(neighbour.tool, fuse(neighbour));

  const sorted = Float64Array.from(byRow.values(), ({ score }) => score).toSorted();
  const bar = sorted.at(-k) ?? -Infinity;
  const cosineCeiling = arms === "lexical" ? 0 : (neighbours.at(-1)?.score ?? 1);
  const bm25Min = bm25For(bar - cosineCeiling, weight);
  for (const row of lexical.rows) if (lexical.scores[row]! >= bm25Min) add(row);
  for (const row of named) add(row);
  for (const row of also) add(row);

  const scored = [...byRow.values()].toSorted(bestFirst(snapshot));
  if (arms !== "lexical" && !question.without.has("contrast")) {
    const judged = scored.slice(0, Math.max(CANDIDATES_MIN, 2 * k));
    for (const found of [...judged, ...also.map((row) => byRow.get(row)!)]) {
      if (found.contrast) continue;
      const contrast = against(snapshot, vector, found);
      if (!contrast) continue;
      found.contrast = contrast;
      found.score -= contrast.penalty;
    }
    scored.sort(bestFirst(snapshot));
  }

  return {
    plan,
    scored,
    dense_ms: denseAt - startedAt,
    lexical_ms: performance.now() - denseAt,
    denseRanks(rows) {
      const ranks = new Map(neighbours.map(({ tool }, index) => [tool, index + 1]));
      return rows.map((row) => ranks.get(row) ?? null);
    },
    lexicalRanks: (rows) => ranksAmong(lexical, rows),
  };
}

/** The least BM25 whose share of the fused score is `share`. */
function bm25For(share: number, weight: number): number {
  if (share <= 0) return 0;
  return share >= weight ? Infinity : (LEXICAL_HALF * share) / (weight - share);
}

/**
 * The model reads Latin script; of others it knows single letters, and its cosines are near noise.
 * There the words count more (bench:languages).
 */
function lexicalWeight(query: string): number {
  const letters = query.match(/\p{L}/gu)?.length ?? 0;
  const foreign = query.match(/(?!\p{sc=Latin})\p{L}/gu)?.length ?? 0;
  return LEXICAL_WEIGHT * (1 + (letters > 0 ? (FOREIGN_FACTOR * foreign) / letters : 0));
}

/** Rank of each of the rows among all that matched, in one pass over those. */
function ranksAmong(
  { rows: matched, scores }: LexicalScores,
  rows: readonly number[],
): (number | null)[] {
  const own = Float32Array.from(new Set(rows.map((row) => scores[row]!))).toSorted();
  // above[i] counts the matched rows that outrank own[0 … i - 1] and no more.
  const above = new Uint32Array(own.length + 1);
  for (const row of matched) {
    const score = scores[row]!;
    let i = 0;
    while (i < own.length && own[i]! < score) i++;
    above[i]!++;
  }
  return rows.map((row) => {
    if (scores[row] === 0) return null;
    const at = own.indexOf(scores[row]!);
    return 1 + above.subarray(at + 1).reduce((sum, count) => sum + count, 0);
  });
}

/** The order of every ranking: score, ties by name. */
export function bestFirst(snapshot: Snapshot): (a: Scored, b: Scored) => number {
  return (a, b) =>
    b.score - a.score || (snapshot.tools[a.row]!.name < snapshot.tools[b.row]!.name ? -1 : 1);
}
