import { describe, expect, it } from "vitest";
import { solve } from "../src/cholesky.ts";

describe("Cholesky", () => {
  it("solves by hand: [[4,2],[2,3]] X = [[8,2],[7,3]]", () => {
    // x = (8*3 - 2*7)/8 = 1.25, (4*7 - 2*8)/8 = 1.5; second column (2*3 - 2*3)/8 = 0, (4*3 - 2*2)/8 = 1.
    const x = solve(Float64Array.of(4, 2, 2, 3), Float64Array.of(8, 2, 7, 3), 2, 2);
    [1.25, 0, 1.5, 1].forEach((value, i) => expect(x[i]).toBeCloseTo(value, 12));
  });

  it("refuses what is not positive definite", () => {
    expect(() => solve(Float64Array.of(0, 0, 0, 0), new Float64Array(4), 2, 2)).toThrow(/positive/);
  });
});
