import type { Allowed, VectorIndex } from "../vector-index.ts";

export type Plan = "exact" | "hnsw";

/**
 * The crossover, in one place, measured by `npm run bench:crossover` on real vectors of 384
 * dimensions: the exact scan costs by the eligible row; HNSW costs about the same at any size, and
 * with a filter the more the smaller the eligible share, since it walks until enough are allowed.
 */
const EXACT_MS_A_ROW = 3.8e-5;
const HNSW_MS = 0.9;
/** HNSW must be this much better: its answer is approximate. */
const ADVANTAGE_MIN = 1.5;
/** Fewer eligible rows than this are never searched through the graph. */
const HNSW_ROWS_MIN = 2_000;

/** Rows from which a graph is worth building: below, no share of them is searched through it. */
export const GRAPH_ROWS_MIN = Math.ceil((HNSW_MS * ADVANTAGE_MIN) / EXACT_MS_A_ROW);

/** The cheaper plan over the allowed rows, or the forced one. */
export function choosePlan(eligible: number, total: number, isFiltered: boolean): Plan {
  if (eligible < HNSW_ROWS_MIN) return "exact";
  const hnswMs = isFiltered ? (HNSW_MS * total) / eligible : HNSW_MS;
  return eligible * EXACT_MS_A_ROW > hnswMs * ADVANTAGE_MIN ? "hnsw" : "exact";
}

/** Exact and HNSW behind one door. `forced` is for tests and benchmarks that must reach a plan. */
export interface PlannedSearch {
  index: VectorIndex;
  plan: Plan;
}

export function planned(
  exact: VectorIndex,
  hnsw: VectorIndex | undefined,
  allowed: Allowed,
  forced: Plan | undefined,
): PlannedSearch {
  if (!hnsw || forced === "exact") return { index: exact, plan: "exact" };
  if (forced === "hnsw") return { index: hnsw, plan: "hnsw" };
  const eligible = exact.rowsIn(allowed);
  const isFiltered = eligible < exact.size || allowed.excluded.size > 0;
  const plan = choosePlan(eligible, exact.size, isFiltered);
  return { index: plan === "hnsw" ? hnsw : exact, plan };
}
