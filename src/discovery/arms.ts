import type { Snapshot } from "../snapshot.ts";
import type { Allowed, Neighbour } from "../vector-index.ts";

/** Weight and saturation of the lexical arm: the model card's fusion, `cosine + 0.5 * b / (b + 40)`. */
const LEXICAL_WEIGHT = 0.5;
const LEXICAL_HALF = 40;
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
}

/** More than any fused score can make up for. */
const EXACT_NAME_BONUS = 2;

export interface Arms {
  scored: Scored[];
  /** Milliseconds. */
  dense_ms: number;
  lexical_ms: number;
  /** Rank of a tool in its arm, from 1; null where the arm did not reach it. */
  denseRank(row: number): number | null;
  lexicalRank(row: number): number | null;
}

export type Ablation = "hybrid" | "dense" | "lexical";

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
  },
  allowed: Allowed,
  also: readonly number[] = [],
): Arms {
  const { vector, named, k, arms } = question;
  const startedAt = performance.now();
  const neighbours =
    arms === "lexical"
      ? []
      : snapshot.dense.nearest(vector, Math.max(CANDIDATES_MIN, 2 * k), allowed);
  const denseAt = performance.now();
  const lexical = snapshot.lexical.score(
    arms === "dense" ? "" : question.query,
    allowed.ranges,
    allowed.excluded,
  );
  const share = (row: number) =>
    (LEXICAL_WEIGHT * lexical.of(row)) / (lexical.of(row) + LEXICAL_HALF);

  const fuse = ({ tool: row, view, score: cosine }: Neighbour): Scored => ({
    row,
    view,
    cosine,
    bm25: lexical.of(row),
    exact_name: named.has(row),
    score: (arms === "lexical" ? 0 : cosine) + share(row) + (named.has(row) ? EXACT_NAME_BONUS : 0),
  });
  const byRow = new Map(neighbours.map((neighbour) => [neighbour.tool, fuse(neighbour)]));
  const cosineCeiling = arms === "lexical" ? 0 : (neighbours.at(-1)?.score ?? 1);
  const bar =
    [...byRow.values()].map(({ score }) => score).toSorted((a, b) => b - a)[k - 1] ?? -Infinity;
  for (const row of lexical.rows) {
    if (!byRow.has(row) && cosineCeiling + share(row) >= bar)
      byRow.set(row, fuse(snapshot.dense.best(vector, row)));
  }
  for (const row of [...named, ...also]) {
    if (!byRow.has(row)) byRow.set(row, fuse(snapshot.dense.best(vector, row)));
  }

  const denseRanks = new Map(neighbours.map(({ tool }, index) => [tool, index + 1]));
  return {
    scored: [...byRow.values()].toSorted(
      (a, b) => b.score - a.score || compareNames(snapshot, a.row, b.row),
    ),
    dense_ms: denseAt - startedAt,
    lexical_ms: performance.now() - denseAt,
    denseRank: (row) => denseRanks.get(row) ?? null,
    lexicalRank(row) {
      const own = lexical.of(row);
      return own === 0
        ? null
        : 1 + lexical.rows.reduce((above, other) => above + Number(lexical.of(other) > own), 0);
    },
  };
}

function compareNames(snapshot: Snapshot, a: number, b: number): number {
  return snapshot.tools[a]!.name < snapshot.tools[b]!.name ? -1 : 1;
}
