import { describe, expect, it } from "vitest";
import { ShortlistError } from "../src/errors.ts";
import { checkSuite, failedStage, type RoutingCase, type RoutingRecord } from "../src/routing.ts";

const record = (
  over: Partial<RoutingRecord> & { acceptable: string[]; forbidden?: string[] },
): RoutingRecord => ({
  case: {
    task_id: "1",
    goal: "g",
    phase: "any",
    acceptable: over.acceptable,
    forbidden: over.forbidden ?? [],
  },
  registry_names: new Set(["a", "b", "no_applicable_tool"]),
  exposed_names: new Set(["a", "no_applicable_tool"]),
  retrieved_names: new Set(["a", "no_applicable_tool"]),
  selected: "a",
  retrieval_k: 10,
  ...over,
});

describe("the stage that failed (seed 000, section 13)", () => {
  it.each([
    ["coverage", record({ acceptable: ["missing"] })],
    ["exposure", record({ acceptable: ["b"] })],
    ["discovery", record({ acceptable: ["a"], retrieved_names: new Set() })],
    ["selection", record({ acceptable: ["no_applicable_tool"] })],
    ["selection", record({ acceptable: ["a"], selected: null })],
    [null, record({ acceptable: ["a", "b"] })],
  ])("is %s", (stage, made) => expect(failedStage(made)).toBe(stage));

  it("is the earliest: a missing tool is no selection error, whatever was chosen", () => {
    expect(
      failedStage(record({ acceptable: ["missing"], selected: "b", retrieved_names: new Set() })),
    ).toBe("coverage");
  });
});

describe("a suite", () => {
  const phases = new Set(["any"]);
  const item = (over: Partial<RoutingCase> = {}) => ({
    task_id: "1",
    goal: "g",
    phase: "any",
    acceptable: ["a"],
    ...over,
  });
  const faults = (values: unknown[]) => {
    try {
      checkSuite(values, phases);
    } catch (error) {
      return (error as ShortlistError).faults.map(({ pointer }) => pointer);
    }
    return [];
  };

  it("is checked by the seed's rules, each fault by its case", () => {
    expect(
      faults([item(), item({ task_id: "2", needs: "all", lang: "de", tags: ["plain"] })]),
    ).toEqual([]);
    expect(faults([item({ acceptable: [] })])).toEqual(["/0/acceptable"]);
    expect(faults([item(), item({ task_id: "2", forbidden: ["a", "b"] })])).toEqual([
      "/1/forbidden",
    ]);
    expect(faults([item(), item()])).toEqual(["/1/task_id"]);
    expect(faults([item({ goal: " " })])).toEqual(["/0/goal"]);
    expect(faults([item({ phase: "none" })])).toEqual(["/0/phase"]);
    expect(faults([{ ...item(), acceptible: [] }])).toEqual(["/0/acceptible"]);
  });

  it("without cases is an error", () => {
    expect(() => checkSuite([], phases)).toThrow(/no cases/);
  });
});
