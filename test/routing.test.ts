import { describe, expect, it } from "vitest";
import { ShortlistError } from "../src/errors.ts";
import {
  checkSuite,
  failedStage,
  latencyOf,
  measure,
  type RoutingCase,
  type RoutingRecord,
} from "../src/routing.ts";

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

describe("the aggregate rates, each conditioned on the stage before", () => {
  it("have the values computed by hand", () => {
    const records = [
      record({ acceptable: ["a"] }), // right
      record({ acceptable: ["missing"] }), // not covered
      record({ acceptable: ["b"] }), // covered, not exposed
      record({
        acceptable: ["a"],
        retrieved_names: new Set(["no_applicable_tool"]),
        selected: "no_applicable_tool",
      }), // exposed, not retrieved
      record({ acceptable: ["no_applicable_tool"], selected: "a", forbidden: ["a"] }), // retrieved, wrong and forbidden
      record({ acceptable: ["no_applicable_tool"], selected: "no_applicable_tool" }), // right to abstain
    ];
    expect(measure(records)).toEqual({
      coverage: 5 / 6, // all but the second
      exposure_recall: 4 / 5, // of the five covered, all but the third
      tool_recall: 3 / 4, // of the four exposed, all but the fourth
      selection_accuracy: 2 / 3, // of the three retrieved, the first and the last
      abstention_accuracy: 1 / 2, // two should abstain, one did
      violation_rate: 1 / 6,
      failure_profile: { coverage: 1, exposure: 1, discovery: 1, selection: 1 },
    });
  });

  it("are null where nothing qualifies, never 0", () => {
    expect(measure([])).toEqual({
      coverage: null,
      exposure_recall: null,
      tool_recall: null,
      selection_accuracy: null,
      abstention_accuracy: null,
      violation_rate: null,
      failure_profile: { coverage: 0, exposure: 0, discovery: 0, selection: 0 },
    });
    expect(measure([record({ acceptable: ["missing"] })])).toMatchObject({
      coverage: 0,
      exposure_recall: null,
      abstention_accuracy: null,
    });
  });
});

describe("latency percentiles", () => {
  it("are by nearest rank", () => {
    expect(latencyOf([4, 1, 3, 2])).toEqual({ p50: 2, p95: 4, p99: 4 });
    expect(latencyOf([])).toEqual({ p50: null, p95: null, p99: null });
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
