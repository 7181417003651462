import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Allowed, exactIndex, type VectorIndex, type Views } from "../src/vector-index.ts";

const DIMENSION = 8;

/** A deterministic generator: the same seed, the same vectors. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32 - 0.5;
  };
}

function unit(random: () => number): number[] {
  const vector = Array.from({ length: DIMENSION }, random);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

function viewsOf(viewsByTool: readonly number[], random: () => number): Views {
  const starts = Uint32Array.from([0, ...viewsByTool]);
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  const vectors = Float32Array.from(
    Array.from({ length: starts.at(-1)! }, () => unit(random)).flat(),
  );
  return { dimension: DIMENSION, vectors, starts };
}

/** Every allowed tool's best cosine, best first: the oracle. */
function oracle(
  { vectors, starts }: Views,
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

/** What every index promises; each implementation runs it. */
function contract(name: string, build: (views: Views) => VectorIndex): void {
  describe(`${name}: the contract of a vector index`, () => {
    const cases = fc.record({
      seed: fc.integer({ min: 1, max: 2 ** 31 }),
      viewsByTool: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 300 }),
      cuts: fc.array(fc.nat(300), { maxLength: 6 }),
      excludeEvery: fc.integer({ min: 2, max: 9 }),
      count: fc.integer({ min: 1, max: 40 }),
    });

    it("finds the allowed tools whose best view is nearest, whatever the ranges", () => {
      fc.assert(
        fc.property(cases, ({ seed, viewsByTool, cuts, excludeEvery, count }) => {
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
          const expected = oracle(views, query, { ranges, excluded }).slice(0, count);
          const found = build(views).nearest(query, count, { ranges, excluded });
          expect(found.map(({ tool }) => tool)).toEqual(expected.map(({ tool }) => tool));
          found.forEach(({ score }, i) => expect(score).toBeCloseTo(expected[i]!.score, 5));
        }),
        { numRuns: 60 },
      );
    });

    it("yields distinct tools where one tool's many views crowd the query", () => {
      const crowd = Array.from({ length: 400 }, () => [1, 0, 0, 0, 0, 0, 0, 0]);
      const others = Array.from({ length: 50 }, (_, i) => {
        const angle = 0.5 + i / 100;
        return [Math.cos(angle), Math.sin(angle), 0, 0, 0, 0, 0, 0];
      });
      const starts = Uint32Array.from([0, 400, ...others.map((_, i) => 401 + i)]);
      const index = build({
        dimension: DIMENSION,
        vectors: Float32Array.from([...crowd, ...others].flat()),
        starts,
      });
      const found = index.nearest(Float32Array.from(crowd[0]!), 10, {
        ranges: [{ start: 0, end: 51 }],
        excluded: new Set(),
      });
      expect(found.map(({ tool }) => tool)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });

    it("finds nothing where nothing is allowed", () => {
      const index = build(viewsOf([1, 1], randomOf(1)));
      const query = Float32Array.from(unit(randomOf(2)));
      expect(index.nearest(query, 10, { ranges: [], excluded: new Set() })).toEqual([]);
      expect(
        index.nearest(query, 10, { ranges: [{ start: 0, end: 2 }], excluded: new Set([0, 1]) }),
      ).toEqual([]);
    });
  });
}

contract("exact", exactIndex);
