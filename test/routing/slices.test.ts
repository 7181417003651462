import { expect, it } from "vitest";
import { type RoutingRecord, slicesOf, valuesOf } from "../../src/routing.ts";

const record = (
  acceptable: string[],
  selected: string,
  lang: string,
  tags: string[],
): RoutingRecord => ({
  case: { task_id: "1", goal: "g", phase: "any", acceptable, lang, tags },
  registry_names: new Set(["a", "b"]),
  exposed_names: new Set(["a", "b"]),
  retrieved_names: new Set(["a", "b"]),
  selected,
  retrieval_k: 2,
});

it("has the rates by family, phase, language and tag; a case counts once in each of its slices", () => {
  const families: Record<string, string> = { a: "ci", b: "chat" };
  const records = [record(["a"], "a", "en", ["plain", "plain"]), record(["a", "b"], "z", "de", [])];
  const slices = slicesOf(records, (name) => families[name], valuesOf(records));
  expect(
    slices.map(({ by, name, cases, rates }) => [by, name, cases, rates.selection_accuracy]),
  ).toEqual([
    ["family", "chat", 1, 0],
    ["family", "ci", 2, 0.5],
    ["lang", "de", 1, 0],
    ["lang", "en", 1, 1],
    ["phase", "any", 2, 0.5],
    ["tag", "plain", 1, 1],
  ]);
});
