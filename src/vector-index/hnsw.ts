import type { Neighbour, VectorIndex, Views } from "../vector-index.ts";
import type { Graph } from "./graph.ts";

/** Breadth of a search, at least: recall@64 from 0.985 at 100,000 rows up (bench:crossover). */
const EF_MIN = 160;

/**
 * Approximate search through a graph of stable ids. Scores are the exact index's own, so that the
 * two plans agree on every tool that both find.
 */
export function hnswIndex(
  graph: Graph,
  views: Views,
  exact: VectorIndex,
  keys: readonly string[],
): VectorIndex {
  const { rows, starts } = views;
  const owner = new Uint32Array(rows.count);
  for (let tool = 0; tool < starts.length - 1; tool++)
    owner.fill(tool, starts[tool]!, starts[tool + 1]!);
  // Two tools may share a view's text and so its point: an id has a list of rows.
  const rowsOf = new Map<number, number[]>();
  keys.forEach((key, row) => {
    const id = graph.idOf(key);
    const known = rowsOf.get(id);
    if (known) known.push(row);
    else rowsOf.set(id, [row]);
  });

  return {
    plan: "hnsw",
    size: rows.count,
    rowsIn: exact.rowsIn,
    scorer: exact.scorer,

    nearest(vector, count, allowed) {
      const isAllowed = (tool: number) =>
        !allowed.excluded.has(tool) &&
        allowed.ranges.some(({ start, end }) => tool >= start && tool < end);
      const isFiltered = exact.rowsIn(allowed) < rows.count || allowed.excluded.size > 0;
      // Ids of other revisions have no row here.
      const filter = (id: number) => rowsOf.get(id)?.some((row) => isAllowed(owner[row]!)) ?? false;
      const needsFilter = isFiltered || graph.live > rowsOf.size;
      // Several views of one tool may crowd the answer: ask for more until enough tools are found.
      for (let ask = count; ; ask *= 2) {
        const ids = graph.search(
          vector,
          ask,
          Math.max(EF_MIN, 2 * ask),
          needsFilter ? filter : undefined,
        );
        const tools = new Set<number>();
        for (const id of ids)
          for (const row of rowsOf.get(id) ?? [])
            if (isAllowed(owner[row]!)) tools.add(owner[row]!);
        if (tools.size >= count || ids.length < ask || ask >= rows.count) {
          const found: Neighbour[] = Array.from(tools, exact.scorer(vector));
          return found.toSorted((a, b) => b.score - a.score || a.tool - b.tool).slice(0, count);
        }
      }
    },
  };
}
