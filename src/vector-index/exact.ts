import type { Allowed, Neighbour, VectorIndex, Views } from "../vector-index.ts";

/** Exact search: one pass over each allowed range, then a selection by tool. */
export function exactIndex({ rows, starts }: Views): VectorIndex {
  /** The best view among the tool's, by the scores of the last scan. */
  function bestOf(scores: Float32Array, tool: number): Neighbour {
    let view = starts[tool]!;
    for (let row = view + 1; row < starts[tool + 1]!; row++)
      if (scores[row]! > scores[view]!) view = row;
    return { tool, view, score: scores[view]! };
  }

  return {
    plan: "exact",
    size: rows.count,

    nearest(vector, count, { ranges, excluded }: Allowed) {
      const scan = rows.scanner(vector);
      let best: Neighbour[] = [];
      let bar = -Infinity;
      for (const { start, end } of ranges) {
        const scores = scan(starts[start]!, starts[end]!);
        for (let tool = start; tool < end; tool++) {
          if (excluded.has(tool)) continue;
          const found = bestOf(scores, tool);
          if (found.score <= bar) continue; // tools come in order: the earlier one wins a tie
          best.push(found);
          if (best.length === 4 * count) {
            best = nearestFirst(best, count);
            bar = best.at(-1)!.score;
          }
        }
      }
      return nearestFirst(best, count);
    },

    best: (vector, tool) => bestOf(rows.scanner(vector)(starts[tool]!, starts[tool + 1]!), tool),
  };
}

function nearestFirst(neighbours: Neighbour[], count: number): Neighbour[] {
  return neighbours.toSorted((a, b) => b.score - a.score || a.tool - b.tool).slice(0, count);
}
