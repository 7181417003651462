import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, choose } from "../../src/discovery/choose.ts";
import { tool } from "../tool-factory.ts";

const candidate = (name: string, probability: number | null, over: Partial<Candidate> = {}) => ({
  tool: tool({ name }),
  score: 1,
  probability,
  exact_name: false,
  kept: false,
  ...over,
});
const names = (chosen: Candidate[]) => chosen.map(({ tool: { name } }) => name);

describe("the visible part of a ranking", () => {
  const ranked = [candidate("a", 0.4), candidate("b", 0.2), candidate("c", 0.1)];

  it("is the first k where the best is above the floor, those below it included", () => {
    expect(names(choose(ranked, { k: 2, floor: 0.3 }).chosen)).toEqual(["a", "b"]);
  });

  it("is nothing where none reaches the floor, and says so of each", () => {
    const { chosen, fell } = choose(ranked, { k: 2, floor: 0.41 });
    expect(chosen).toEqual([]);
    expect(ranked.map(fell)).toEqual(["floor", "floor", "floor"]);
  });

  it("an exact name is above every floor, and so is everything without a calibration", () => {
    const named = [candidate("a", 0.1, { exact_name: true }), candidate("b", 0.05)];
    expect(names(choose(named, { k: 10, floor: 1 }).chosen)).toEqual(["a", "b"]);
    expect(names(choose([candidate("a", null)], { k: 10, floor: 1 }).chosen)).toEqual(["a"]);
  });

  it("has what is kept, in its rank, within k", () => {
    const kept = [...ranked, candidate("d", 0.01, { kept: true })];
    expect(names(choose(kept, { k: 2, floor: 0 }).chosen)).toEqual(["a", "d"]);
    expect(names(choose(kept, { k: 2, floor: 0.9 }).chosen)).toEqual(["d"]);
  });

  it("skips what is too large for what is left of the budget, within the first k", () => {
    const cost: Record<string, number> = { a: 50, b: 80, c: 30 };
    const budget = { tokens: 100, of: ({ name }: { name: string }) => cost[name]! };
    const { chosen, tokens, fell } = choose(ranked, { k: 3, floor: 0, budget });
    expect([names(chosen), tokens]).toEqual([["a", "c"], 80]);
    expect(ranked.map(fell)).toEqual([null, "budget", null]);
    const two = choose(ranked, { k: 2, floor: 0, budget });
    expect([names(two.chosen), ranked.map(two.fell)]).toEqual([["a"], [null, "budget", "rank"]]);
  });

  it("never has more than k or the budget, and is the ranking less what fell", () => {
    const arbitrary = fc.record({
      probability: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      exact_name: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(arbitrary, { maxLength: 30 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 200 }),
        (list, k, tokens) => {
          const ranking = list.map(({ probability, exact_name }, i) =>
            candidate(`t${i}`, probability, { exact_name }),
          );
          const of = ({ name }: { name: string }) => 10 + name.length;
          const choice = choose(ranking, { k, floor: 0.5, budget: { tokens, of } });
          expect(choice.chosen.length).toBeLessThanOrEqual(k);
          expect(choice.tokens).toBeLessThanOrEqual(tokens);
          expect(choice.chosen).toEqual(ranking.filter((item) => choice.fell(item) === null));
        },
      ),
    );
  });
});
