import type { Allowed, Neighbour, VectorIndex, Views } from "../vector-index.ts";

/** Exact search: one pass over each allowed range, then a selection by tool. */
export function exactIndex({ rows, starts }: Views): VectorIndex {
  /** The best view of the tool, by the scores of the last scan. */
  function bestView(scores: Float32Array, tool: number): number {
    let view = starts[tool]!;
    for (let row = view + 1; row < starts[tool + 1]!; row++)
      if (scores[row]! > scores[view]!) view = row;
    return view;
  }

  return {
    plan: "exact",
    size: rows.count,
    rowsIn: ({ ranges }) =>
      ranges.reduce((sum, { start, end }) => sum + starts[end]! - starts[start]!, 0),

    nearest(vector, count, { ranges, excluded }: Allowed) {
      const scan = rows.scanner(vector);
      let best: Neighbour[] = [];
      let bar = -Infinity;
      for (const { start, end } of ranges) {
        const scores = scan(starts[start]!, starts[end]!);
        for (let tool = start; tool < end; tool++) {
          const view = bestView(scores, tool);
          const score = scores[view]!;
          // Tools come in order, so the earlier one wins a tie.
          if (score <= bar || (excluded.size > 0 && excluded.has(tool))) continue;
          best.push({ tool, view, score });
          if (best.length === 2 * count) {
            best = nearestFirst(best, count);
            bar = best.at(-1)!.score;
          }
        }
      }
      return nearestFirst(best, count);
    },

    best(vector, tool) {
      const scores = rows.scanner(vector)(starts[tool]!, starts[tool + 1]!);
      const view = bestView(scores, tool);
      return { tool, view, score: scores[view]! };
    },
  };
}

function nearestFirst(neighbours: Neighbour[], count: number): Neighbour[] {
  return neighbours.toSorted((a, b) => b.score - a.score || a.tool - b.tool).slice(0, count);
}
