import type { Allowed, Neighbour, VectorIndex, Views } from "../vector-index.ts";
import type { Scan } from "./rows.ts";

/**
 * Exact search: one pass over each allowed range, then a selection by tool. Many rows are passed
 * over in codes of 8 bits first, and only those whose score may still be among the nearest are
 * scored in full: the codes' error has a proven bound, so nothing is missed.
 */
export function exactIndex({ rows, starts }: Views): VectorIndex {
  /** The best view of the tool, by the scores of the last scan. */
  function bestView(scores: Float32Array, tool: number): number {
    let view = starts[tool]!;
    for (let row = view + 1; row < starts[tool + 1]!; row++)
      if (scores[row]! > scores[view]!) view = row;
    return view;
  }

  /** The allowed tools whose score is no more than `slack` below the `count`-th best, in order of number. */
  function select(
    scan: Scan,
    count: number,
    { ranges, excluded }: Allowed,
    slack: number,
  ): Neighbour[] {
    const best = new LargestScores(count);
    const found: Neighbour[] = [];
    let scores: Float32Array = new Float32Array();
    for (const { start, end } of ranges) {
      scores = scan(starts[start]!, starts[end]!);
      for (let tool = start; tool < end; tool++) {
        const score = scores[bestView(scores, tool)]!;
        if (score > best.least && !(excluded.size > 0 && excluded.has(tool))) best.add(score);
      }
    }
    const bar = best.least - slack;
    for (const { start, end } of ranges) {
      for (let tool = start; tool < end; tool++) {
        const view = bestView(scores, tool);
        if (scores[view]! < bar || (excluded.size > 0 && excluded.has(tool))) continue;
        found.push({ tool, view, score: scores[view]! });
      }
    }
    return found;
  }

  function inFull(scan: Scan, tool: number): Neighbour {
    const scores = scan(starts[tool]!, starts[tool + 1]!);
    const view = bestView(scores, tool);
    return { tool, view, score: scores[view]! };
  }

  return {
    plan: "exact",
    size: rows.count,
    rowsIn: ({ ranges }) =>
      ranges.reduce((sum, { start, end }) => sum + starts[end]! - starts[start]!, 0),

    nearest(vector, count, allowed) {
      const rough = rows.roughScanner?.(vector);
      if (!rough) return nearestFirst(select(rows.scanner(vector), count, allowed, 0), count);
      const maybe = select(rough.scan, count, allowed, 2 * rough.error);
      const scanFully = rows.scanner(vector);
      for (const found of maybe) Object.assign(found, inFull(scanFully, found.tool));
      return nearestFirst(maybe, count);
    },

    scorer(vector) {
      const scan = rows.scanner(vector);
      return (tool) => inFull(scan, tool);
    },
  };
}

function nearestFirst(neighbours: Neighbour[], count: number): Neighbour[] {
  return neighbours.toSorted((a, b) => b.score - a.score || a.tool - b.tool).slice(0, count);
}

/** The `count` largest of what is added, as a binary heap with the least of them on top. */
class LargestScores {
  readonly #heap: Float32Array;

  constructor(count: number) {
    this.#heap = new Float32Array(count).fill(-Infinity);
  }

  /** The least of them; -Infinity until there are `count`. */
  get least(): number {
    return this.#heap[0]!;
  }

  /** Takes the place of the least. */
  add(score: number): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= score) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = score;
  }
}
