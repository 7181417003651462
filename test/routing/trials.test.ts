import { expect, it } from "vitest";
import { consistencyOf, type RoutingRecord } from "../../src/routing.ts";

const names = new Set(["a", "b"]);
const trial = (task_id: string, selected: string): RoutingRecord => ({
  case: { task_id, goal: "g", acceptable: ["a"] },
  registry_names: names,
  exposed_names: names,
  retrieved_names: names,
  selected,
  retrieval_k: 5,
});

it("selection consistency and pass^k, by hand", () => {
  const records = [
    ...["a", "a", "a", "a"].map((selected) => trial("1", selected)), // 4 of 4 right
    ...["a", "a", "b", "b"].map((selected) => trial("2", selected)), // 2 of 4 right
  ];
  const { trials, selection_consistency, pass_hat } = consistencyOf(records);
  expect([trials, selection_consistency]).toEqual([4, (1 + 0.5) / 2]);
  // pass^1: (1 + 2/4) / 2; pass^2: (1 + C(2,2)/C(4,2)) / 2 = (1 + 1/6) / 2; pass^3 and 4: 1/2.
  expect(pass_hat["1"]).toBeCloseTo(0.75);
  expect(pass_hat["2"]).toBeCloseTo(7 / 12);
  expect([pass_hat["3"], pass_hat["4"]]).toEqual([0.5, 0.5]);
});

it("nothing gives nothing", () => {
  expect(consistencyOf([])).toEqual({ trials: 0, selection_consistency: null, pass_hat: {} });
});
