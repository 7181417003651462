import { exactSearch, MetricKind } from "usearch";
import type { Allowed, Neighbour, VectorIndex, Views } from "../vector-index.ts";
import { dot } from "./dot.ts";

/** Below this many rows a call into the native library costs more than the scan it saves. */
const NATIVE_ROWS_MIN = 64;
/** Rows asked for beyond what is wanted, so that near ties are settled by our own arithmetic. */
const SLACK = 16;

/** Exact search over contiguous rows: each allowed range is a subarray, searched without a copy. */
export function exactIndex({ dimension, vectors, starts }: Views): VectorIndex {
  if (dimension % 4 !== 0)
    throw new Error(`vectors of ${dimension} dimensions: a multiple of 4 is needed`);
  const size = vectors.length / dimension;
  const tools = starts.length - 1;
  const owner = new Uint32Array(size);
  for (let tool = 0; tool < tools; tool++) owner.fill(tool, starts[tool]!, starts[tool + 1]!);

  /** Rows of [start, end) that are nearest, at least `count` of them where there are as many; unordered. */
  function rowsNear(
    vector: Float32Array,
    start: number,
    end: number,
    count: number,
  ): Iterable<number> {
    if (end - start <= Math.max(NATIVE_ROWS_MIN, count)) return rowsBetween(start, end);
    const subarray = vectors.subarray(start * dimension, end * dimension);
    const { keys } = exactSearch(subarray, vector, dimension, count, MetricKind.IP, 1);
    return Array.from(keys, (key) => start + Number(key));
  }

  return {
    plan: "exact",
    size,
    nearest(vector, count, allowed) {
      const best = new Map<number, Neighbour>();
      for (const range of allowed.ranges) {
        const start = starts[range.start]!;
        const end = starts[range.end]!;
        const toolsThere = range.end - range.start - excludedIn(allowed, range.start, range.end);
        const wanted = Math.min(count + SLACK, toolsThere);
        // Several views of one tool may crowd the answer: ask for more until enough tools are found.
        for (let ask = count + SLACK; ; ask *= 4) {
          let found = 0;
          const seen = new Set<number>();
          for (const row of rowsNear(vector, start, end, Math.min(ask, end - start))) {
            const tool = owner[row]!;
            if (allowed.excluded.has(tool)) continue;
            if (!seen.has(tool)) {
              seen.add(tool);
              found++;
            }
            const score = dot(vector, vectors, row * dimension);
            const known = best.get(tool);
            if (!known || score > known.score) best.set(tool, { tool, view: row, score });
          }
          if (found >= wanted || ask >= end - start) break;
        }
      }
      return [...best.values()]
        .toSorted((a, b) => b.score - a.score || a.tool - b.tool)
        .slice(0, count);
    },
  };
}

function* rowsBetween(start: number, end: number): Iterable<number> {
  for (let row = start; row < end; row++) yield row;
}

function excludedIn({ excluded }: Allowed, start: number, end: number): number {
  let count = 0;
  for (const tool of excluded) if (tool >= start && tool < end) count++;
  return count;
}
