import { describe, expect, it } from "vitest";
import { intervalOf, pairedInterval } from "../../src/routing.ts";

const bits = (ones: number, zeros: number) =>
  Float64Array.from([...Array(ones).fill(1), ...Array(zeros).fill(0)]);

describe("the 95 % bootstrap interval", () => {
  it("is about 1.96 standard errors to each side: 0.5 of 400 is 0.5 ± 0.049", () => {
    const [low, high] = intervalOf(bits(200, 200))!;
    expect(low).toBeCloseTo(0.451, 1);
    expect(high).toBeCloseTo(0.549, 1);
    expect(high - low).toBeGreaterThan(0.085);
    expect(high - low).toBeLessThan(0.11);
  });

  it("is the same every time, a point where all are equal, null where there is none", () => {
    expect(intervalOf(bits(3, 5))).toEqual(intervalOf(bits(3, 5)));
    expect(intervalOf(bits(7, 0))).toEqual([1, 1]);
    expect(intervalOf(Float64Array.of(Number.NaN))).toBeNull();
  });

  it("leaves out the records that do not qualify", () => {
    expect(intervalOf(Float64Array.of(1, Number.NaN, 1))).toEqual([1, 1]);
  });
});

describe("the paired interval", () => {
  it("is narrow where the same cases are hard for both", () => {
    const before = bits(500, 500);
    const after = before.map((value, i) => (i < 510 ? 1 : value)); // ten cases won, none lost
    const { difference, interval, cases } = pairedInterval(before, after)!;
    expect([difference, cases]).toEqual([0.01, 1_000]);
    expect(interval[0]).toBeGreaterThan(0);
  });

  it("counts only the cases that count in both", () => {
    const pair = pairedInterval(
      Float64Array.of(0, Number.NaN, 1),
      Float64Array.of(1, 1, Number.NaN),
    );
    expect(pair).toEqual({ difference: 1, interval: [1, 1], cases: 1 });
    expect(pairedInterval(Float64Array.of(Number.NaN), Float64Array.of(1))).toBeNull();
  });
});

it("of zeros and ones is the binomial's own: 3 of 10 is 0 to 0.6", () => {
  // Binomial(10, 0.3): P(<=0) = 0.0282 is the first over 0.025, so 0/10; P(<=5) = 0.9527, P(<=6) = 0.9894: 6/10.
  expect(intervalOf(bits(3, 7))).toEqual([0, 0.6]);
  // Half of 10,000: 0.5 ± 1.96 * 0.005.
  const [low, high] = intervalOf(bits(5_000, 5_000))!;
  expect(low).toBeCloseTo(0.4902, 3);
  expect(high).toBeCloseTo(0.5098, 3);
});
