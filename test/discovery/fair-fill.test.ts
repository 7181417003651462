import { describe, expect, it } from "vitest";
import type { Scored } from "../../src/discovery/arms.ts";
import { fillFairly } from "../../src/discovery/fair-fill.ts";

const scored = (row: number, score: number): Scored => ({
  row,
  score,
  cosine: score,
  view: row,
  bm25: 0,
  exact_name: false,
  contrast: undefined,
});
const order = (a: Scored, b: Scored) => b.score - a.score || a.row - b.row;
const rowsOf = (ranked: Scored[]) => ranked.map(({ row }) => row);

describe("several asks share the k", () => {
  const whole = [
    scored(0, 0.9),
    scored(1, 0.8),
    scored(2, 0.7),
    scored(3, 0.6),
    scored(8, 0.1),
    scored(9, 0.1),
  ];

  it("a tool scores the larger of the whole's and its best part's less 0.05", () => {
    const ranked = fillFairly(whole, [[scored(8, 0.99)], [scored(2, 0.72)]], 4, order);
    expect(ranked.find(({ row }) => row === 8)!.score).toBeCloseTo(0.94);
    expect(ranked.find(({ row }) => row === 2)!.score).toBeCloseTo(0.7);
    expect(rowsOf(ranked).slice(0, 2)).toEqual([8, 0]);
  });

  it("each part's best k / (2 * parts) are among the k, in the places of the last that no part is due", () => {
    const ranked = fillFairly(
      whole,
      [[scored(8, 0.2), scored(1, 0.1)], [scored(9, 0.2)]],
      4,
      order,
    );
    expect(rowsOf(ranked)).toEqual([0, 1, 8, 9]);
  });

  it("nothing is pushed out where every part is served already", () => {
    expect(
      rowsOf(fillFairly(whole, [[scored(0, 0.9)], [scored(1, 0.8)]], 4, order)).slice(0, 4),
    ).toEqual([0, 1, 2, 3]);
  });
});
