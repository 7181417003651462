import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Allowed,
  allocateRows,
  type VectorIndex,
  type Views,
} from "../../src/vector-index.ts";

const DIMENSION = 16;

/** A deterministic generator: the same seed, the same vectors. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32 - 0.5;
  };
}

export function unit(random: () => number): number[] {
  const vector = Array.from({ length: DIMENSION }, random);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

function viewsFrom(vectors: number[][], starts: Uint32Array): Views {
  const rows = allocateRows(vectors.length, DIMENSION);
  vectors.forEach((vector, row) => rows.set(row, Float32Array.from(vector)));
  return { rows, starts };
}

export function viewsOf(viewsByTool: readonly number[], random: () => number): Views {
  const starts = Uint32Array.from([0, ...viewsByTool]);
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  return viewsFrom(
    Array.from({ length: starts.at(-1)! }, () => unit(random)),
    starts,
  );
}

/** Every allowed tool's best cosine, best first: the oracle. */
export function oracle(
  { rows: { vectors }, starts }: Views,
  query: Float32Array,
  allowed: Allowed,
): { tool: number; score: number }[] {
  return allowed.ranges
    .flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i))
    .filter((tool) => !allowed.excluded.has(tool))
    .map((tool) => {
      let score = -Infinity;
      for (let row = starts[tool]!; row < starts[tool + 1]!; row++) {
        score = Math.max(
          score,
          query.reduce((sum, value, i) => sum + value * vectors[row * DIMENSION + i]!, 0),
        );
      }
      return { tool, score };
    })
    .toSorted((a, b) => b.score - a.score || a.tool - b.tool);
}

/**
 * What every index promises; each implementation runs it. `recallMin` is 1 for an exact index; an
 * approximate one declares its budget, met over all the queries of a property together.
 */
export function contract(
  name: string,
  build: (views: Views) => VectorIndex | Promise<VectorIndex>,
  recallMin = 1,
): void {
  describe(`${name}: the contract of a vector index`, () => {
    const cases = fc.record({
      seed: fc.integer({ min: 1, max: 2 ** 31 }),
      viewsByTool: fc.array(fc.integer({ min: 1, max: 5 }), {
        minLength: 1,
        maxLength: 300,
        size: "max",
      }),
      cuts: fc.array(fc.nat(300), { maxLength: 6 }),
      excludeEvery: fc.integer({ min: 2, max: 9 }),
      count: fc.integer({ min: 1, max: 40 }),
    });

    it("finds the allowed tools whose best view is nearest, whatever the ranges", async () => {
      let wanted = 0;
      let hit = 0;
      await fc.assert(
        fc.asyncProperty(cases, async ({ seed, viewsByTool, cuts, excludeEvery, count }) => {
          const random = randomOf(seed);
          const views = viewsOf(viewsByTool, random);
          const tools = viewsByTool.length;
          const edges = [...new Set([0, ...cuts.map((cut) => cut % (tools + 1)), tools])].toSorted(
            (a, b) => a - b,
          );
          const ranges = edges
            .slice(1)
            .flatMap((end, i) => (i % 2 === 0 ? [{ start: edges[i]!, end }] : []));
          const excluded = new Set(
            Array.from({ length: tools }, (_, i) => i).filter((i) => i % excludeEvery === 0),
          );
          const query = Float32Array.from(unit(random));
          const allowed = { ranges, excluded };
          const expected = oracle(views, query, allowed).slice(0, count);
          const found = (await build(views)).nearest(query, count, allowed);
          const tools_ = found.map(({ tool }) => tool);
          if (recallMin === 1) expect(tools_).toEqual(expected.map(({ tool }) => tool));
          expect(new Set(tools_).size).toBe(Math.min(count, expected.length));
          const scores = new Map(
            oracle(views, query, allowed).map(({ tool, score }) => [tool, score]),
          );
          for (const { tool, score } of found) expect(score).toBeCloseTo(scores.get(tool)!, 5);
          wanted += expected.length;
          hit += expected.filter(({ tool }) => tools_.includes(tool)).length;
        }),
        { numRuns: 60 },
      );
      expect(hit / wanted).toBeGreaterThanOrEqual(recallMin);
    });

    it("yields distinct tools where one tool's many views crowd the query", async () => {
      const at = (angle: number) => [
        Math.cos(angle),
        Math.sin(angle),
        ...Array.from({ length: 14 }, () => 0),
      ];
      const crowd = Array.from({ length: 400 }, () => at(0));
      const others = Array.from({ length: 50 }, (_, i) => at(0.5 + i / 100));
      const starts = Uint32Array.from([0, 400, ...others.map((_, i) => 401 + i)]);
      const index = await build(viewsFrom([...crowd, ...others], starts));
      const everything = { ranges: [{ start: 0, end: 51 }], excluded: new Set<number>() };
      const found = index.nearest(Float32Array.from(at(0)), 10, everything);
      expect(found.map(({ tool }) => tool)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });

    it("reads a query that lies inside a larger buffer", async () => {
      const random = randomOf(7);
      const views = viewsOf(
        Array.from({ length: 500 }, () => 1),
        random,
      );
      const query = Float32Array.from(unit(random));
      const padded = new Float32Array(DIMENSION + 5);
      padded.set(query, 5);
      const allowed = { ranges: [{ start: 100, end: 500 }], excluded: new Set<number>() };
      const index = await build(views);
      const found = index.nearest(query, 20, allowed);
      expect(index.nearest(padded.subarray(5), 20, allowed)).toEqual(found);
      const nearest = oracle(views, query, allowed).slice(0, 20);
      const expected = new Set(nearest.map(({ tool }) => tool));
      expect(found.filter(({ tool }) => expected.has(tool)).length / 20).toBeGreaterThanOrEqual(
        recallMin,
      );
    });

    it("scores one tool as it ranks it", async () => {
      const random = randomOf(9);
      const index = await build(viewsOf([2, 3, 1, 4], random));
      const query = Float32Array.from(unit(random));
      const everything = { ranges: [{ start: 0, end: 4 }], excluded: new Set<number>() };
      for (const neighbour of index.nearest(query, 4, everything)) {
        expect(index.scorer(query)(neighbour.tool)).toEqual(neighbour);
      }
    });

    it("finds nothing where nothing is allowed", async () => {
      const index = await build(viewsOf([1, 1], randomOf(1)));
      const query = Float32Array.from(unit(randomOf(2)));
      expect(index.nearest(query, 10, { ranges: [], excluded: new Set() })).toEqual([]);
      const none = { ranges: [{ start: 0, end: 2 }], excluded: new Set([0, 1]) };
      expect(index.nearest(query, 10, none)).toEqual([]);
    });
  });
}
