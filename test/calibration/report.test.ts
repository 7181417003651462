import { describe, expect, it } from "vitest";
import { auroc, type Judged, lostAt, report } from "../../src/calibration/report.ts";

/** The cosine stands for the probability. */
const p = ({ cosine }: { cosine: number }) => cosine;
const judged = (
  answerable: boolean,
  ...tools: [cosine: number, acceptable: boolean][]
): Judged => ({
  answerable,
  tools: tools.map(([cosine, acceptable]) => ({
    features: { cosine, lexical: 0, margin: 0, eligible: 1 },
    acceptable,
  })),
});

describe("what a floor costs", () => {
  const cases = [
    judged(true, [0.9, true], [0.3, false]),
    judged(true, [0.4, false], [0.2, true]),
    judged(true, [0.1, false]), // its tool was not retrieved: a floor loses nothing there
    judged(true, [0.05, true]),
    judged(false, [0.6, false]),
    judged(false, [0.2, false]),
  ];

  it("is read off the best tool of each case", () => {
    const { floors, cases: counts } = report(cases, p, 0.25);
    expect(counts).toEqual({ answerable: 4, no_tool: 2 });
    // At 0.25: of the no-tool cases 0.6 stays; of the answerable 0.1 and 0.05 fall, 0.05 with its tool.
    expect(floors.find(({ floor }) => floor === 0.25)).toEqual({
      floor: 0.25,
      false_offer: 0.5,
      false_abstain: 0.5,
      lost: 0.25,
    });
    expect(floors[0]).toEqual({ floor: 0, false_offer: 1, false_abstain: 0, lost: 0 });
    expect(lostAt(cases, p)(0.5)).toBe(0.5);
    expect(lostAt([], p)(0.5)).toBeNull();
  });

  it("bins tools by what was predicted: the share that is acceptable beside it", () => {
    const { reliability } = report(cases, p, 0);
    // 0.2 (acceptable) and 0.2 (not) are the bin from 0.2; 0.1 and 0.05 lie below it.
    expect(reliability[2]).toEqual({ from: 0.2, to: 0.3, tools: 2, predicted: 0.2, observed: 0.5 });
    expect(reliability[7]).toMatchObject({ tools: 0, predicted: null, observed: null });
  });
});

it("AUROC counts the pairs that are in order, ties by half", () => {
  expect(auroc([0.9, 0.5], [0.5, 0.1])).toBe(0.875); // 3 of 4 pairs and one tie
  expect(auroc([1], [0])).toBe(1);
  expect(auroc([0], [1])).toBe(0);
  expect(auroc([], [1])).toBeNull();
});
