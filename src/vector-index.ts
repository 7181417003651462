import type { RowRange } from "./rows.ts";
import type { Rows } from "./vector-index/rows.ts";

export { exactIndex } from "./vector-index/exact.ts";
export { Graph } from "./vector-index/graph.ts";
export { hnswIndex } from "./vector-index/hnsw.ts";
export { GRAPH_ROWS_MIN, type Plan, planned } from "./vector-index/planner.ts";
export { allocateRows, type Rows } from "./vector-index/rows.ts";

/**
 * What a search may touch: tools by number, as ascending disjoint half-open ranges, less the
 * single tools that a precondition hides.
 */
export interface Allowed {
  ranges: readonly RowRange[];
  excluded: ReadonlySet<number>;
}

/** One tool found: its number, the cosine of its best view, and that view's row. */
export interface Neighbour {
  tool: number;
  view: number;
  score: number;
}

/** A nearest-neighbour index over the views of tools. Costs count rows, answers count tools. */
export interface VectorIndex {
  readonly plan: "exact" | "hnsw";
  /** Rows, one a view. */
  readonly size: number;
  /**
   * The `count` allowed tools whose best view is nearest to `vector` (unit length), nearest
   * first, ties by number; fewer where fewer are allowed.
   */
  nearest(vector: Float32Array, count: number, allowed: Allowed): Neighbour[];
  /** Rows of the allowed ranges; single excluded tools are not taken off. */
  rowsIn(allowed: Allowed): number;
  /** Scores one tool after the other as `nearest` scores them; valid until the next search. */
  scorer(vector: Float32Array): (tool: number) => Neighbour;
}

/** The views of all tools: tool `t` has the rows `starts[t] … starts[t + 1]`. */
export interface Views {
  rows: Rows;
  starts: Uint32Array;
}
