import { expect, it } from "vitest";
import type { Scored } from "../../src/discovery/arms.ts";
import { featuresOf } from "../../src/discovery/features.ts";

const scored = (score: number, exact_name = false): Scored => ({
  row: 0,
  view: 0,
  cosine: 0.5,
  bm25: 40,
  score,
  exact_name,
  contrast: undefined,
});
const margins = (...ranking: Scored[]) =>
  featuresOf(ranking, 7).map(({ margin }) => Number(margin.toFixed(6)));

it("the first of a ranking leads the second by its margin, the others trail the first", () => {
  expect(margins(scored(0.9), scored(0.7), scored(0.4))).toEqual([0.2, -0.2, -0.5]);
  expect(margins(scored(0.9), scored(0.9))).toEqual([0, 0]);
  expect(margins(scored(0.9))).toEqual([0]);
});

it("an exact name's bonus is no margin", () => {
  expect(margins(scored(2.3, true), scored(0.7))).toEqual([-0.4, 0.4]);
});

it("BM25 is saturated: half at 40", () => {
  expect(featuresOf([scored(1)], 7)[0]).toEqual({
    cosine: 0.5,
    lexical: 0.5,
    margin: 0,
    eligible: 7,
  });
});
