import { describe, expect, it } from "vitest";
import { fitLogistic, logistic } from "../../src/calibration/logistic.ts";
import { randomOf } from "../vector-index/contract.ts";

describe("logistic regression", () => {
  it("finds the log odds of a table: 3 of 4 against 1 of 4", () => {
    // p(1|0) = 1/4 and p(1|1) = 3/4: intercept ln(1/3) = -1.0986, slope 2 ln 3 = 2.1972.
    const rows = [0, 0, 0, 0, 1, 1, 1, 1].map((x, i) => ({
      terms: [1, x],
      label: Number([3, 4, 5, 6].includes(i)),
      weight: 100,
    }));
    const [intercept, slope] = fitLogistic(rows, 2);
    expect(intercept).toBeCloseTo(-1.0986, 3);
    expect(slope).toBeCloseTo(2.1972, 3);
  });

  it("recovers the weights that made the labels", () => {
    const half = randomOf(7);
    const random = () => half() + 0.5;
    const truth = [-1, 2, -3];
    const rows = Array.from({ length: 20_000 }, () => {
      const terms = [1, random() * 2 - 1, random() * 2 - 1];
      return { terms, label: Number(random() < logistic(truth, terms)), weight: 1 };
    });
    fitLogistic(rows, 3).forEach((weight, i) => expect(weight).toBeCloseTo(truth[i]!, 0));
  });

  it("counts a row by its weight, and stays finite where the labels are separable", () => {
    const heavy = fitLogistic(
      [
        { terms: [1], label: 1, weight: 3 },
        { terms: [1], label: 0, weight: 1 },
      ],
      1,
    );
    expect(logistic(heavy, [1])).toBeCloseTo(0.75, 3);
    const separable = fitLogistic(
      [-2, -1, 1, 2].map((x) => ({ terms: [1, x], label: Number(x > 0), weight: 1 })),
      2,
    );
    expect(separable.every(Number.isFinite)).toBe(true);
  });
});
