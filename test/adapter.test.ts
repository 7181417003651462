import { describe, expect, it } from "vitest";
import { adapt, fitAdapter, type Pair } from "../src/adapter.ts";
import { randomOf, unit } from "./vector-index/contract.ts";

const cosine = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);

describe("a learned adapter", () => {
  const random = randomOf(3);
  const vector = () => Float32Array.from(unit(random));
  /** Requests whose tools are the same vectors with two axes swapped. */
  const pairs = Array.from({ length: 400 }, (): Pair => {
    const query = vector();
    const tool = Float32Array.from(query);
    [tool[0], tool[1]] = [query[1]!, query[0]!];
    return { query, tool };
  });
  const { dimension } = { dimension: pairs[0]!.query.length };

  it("finds the map that made the pairs, and gives unit vectors", () => {
    const adapter = fitAdapter(pairs, dimension, 1e-6, 1);
    const query = vector();
    const expected = Float32Array.from(query);
    [expected[0], expected[1]] = [query[1]!, query[0]!];
    expect(cosine(adapt(adapter, query), expected)).toBeCloseTo(1, 4);
    expect(cosine(adapt(adapter, query), adapt(adapter, query))).toBeCloseTo(1, 5);
  });

  it("leaves the query nearly as it is under a heavy ridge, or a step of 0", () => {
    const query = vector();
    expect(cosine(adapt(fitAdapter(pairs, dimension, 1e6, 1), query), query)).toBeCloseTo(1, 4);
    expect(cosine(adapt(fitAdapter(pairs, dimension, 1, 0), query), query)).toBeCloseTo(1, 6);
  });
});
