import { describe, expect, it } from "vitest";
import { latencyOf, measure, type RoutingRecord } from "../../src/routing.ts";

const CONTROLS = ["ask_user", "no_applicable_tool"];
const withControls = (...names: string[]) => new Set([...names, ...CONTROLS]);

const record = (
  acceptable: string[],
  over: Partial<RoutingRecord> & { forbidden?: string[]; needs?: "all" } = {},
): RoutingRecord => ({
  case: {
    task_id: "1",
    goal: "g",
    acceptable,
    forbidden: over.forbidden ?? [],
    needs: over.needs ?? "any",
  },
  registry_names: withControls("a", "b", "c"),
  exposed_names: withControls("a", "c"),
  retrieved_names: withControls("a"),
  ranking: ["a"],
  controls: new Set(CONTROLS),
  selected: "a",
  retrieval_k: 1,
  ...over,
});

describe("the rates, each conditioned on the stage before (seed 000, section 13)", () => {
  const records = [
    record(["a"]), // right
    record(["missing"]), // not covered
    record(["b"]), // covered, not exposed
    record(["c"], { selected: "no_applicable_tool" }), // exposed, not retrieved
    record(["no_applicable_tool"], { forbidden: ["a"] }), // retrieved, wrong and forbidden
    record(["no_applicable_tool"], { selected: "no_applicable_tool" }), // right to abstain
  ];

  it("have the values computed by hand", () => {
    expect(measure(records)).toMatchObject({
      coverage: 5 / 6, // all but the second
      exposure_recall: 4 / 5, // of the five covered, all but the third
      tool_recall: 3 / 4, // of the four exposed, all but the fourth
      selection_accuracy: 2 / 3, // of the three retrieved, the first and the last
      abstention_accuracy: 1 / 2, // two should abstain, one did
      violation_rate: 1 / 6,
      failure_profile: { coverage: 1, exposure: 1, discovery: 1, selection: 1 },
      selection_confusions: [{ acceptable: ["no_applicable_tool"], selected: "a", count: 1 }],
      all_tools: null,
      verified_success: null,
    });
  });

  it("are null where nothing qualifies, never 0", () => {
    expect(measure([])).toMatchObject({
      coverage: null,
      exposure_recall: null,
      tool_recall: null,
      all_tools: null,
      ndcg_10: null,
      mrr: null,
      selection_accuracy: null,
      abstention_accuracy: null,
      violation_rate: null,
      verified_success: null,
      failure_profile: { coverage: 0, exposure: 0, discovery: 0, selection: 0 },
      selection_confusions: [],
      visible_tokens: null,
      latency_ms: { p50: null, p95: null, p99: null },
    });
    expect(measure([record(["missing"])])).toMatchObject({ coverage: 0, exposure_recall: null });
  });
});

describe("what is ours on top", () => {
  const exposed = withControls("a", "b", "c", "d");

  it("all_tools: every needed tool is retrieved, over the cases that need several exposed ones", () => {
    const both = { needs: "all" as const, exposed_names: exposed };
    const records = [
      record(["a", "b"], { ...both, retrieved_names: withControls("a", "b") }), // both
      record(["a", "b"], { ...both, retrieved_names: withControls("a") }), // one of two
      record(["a", "b"], { exposed_names: exposed }), // one is enough: does not count
      record(["a", "z"], both), // z cannot be shown: does not count
    ];
    expect(measure(records).all_tools).toBe(1 / 2);
  });

  it("ndcg_10 and mrr: over the ranking of ordinary tools", () => {
    const ranked = (ranking: string[]) => ({
      exposed_names: exposed,
      retrieved_names: withControls(...ranking),
      ranking,
    });
    // b at rank 2 of one right: 1/log2(3) = 0.63093; reciprocal rank 1/2.
    expect(measure([record(["b"], ranked(["a", "b"]))])).toMatchObject({
      ndcg_10: expect.closeTo(0.63093, 5),
      mrr: 0.5,
    });
    // b and d right, at ranks 1 and 3: (1 + 1/2) / (1 + 0.63093) = 0.91972; first rank 1.
    expect(measure([record(["b", "d"], ranked(["b", "a", "d"]))])).toMatchObject({
      ndcg_10: expect.closeTo(0.91972, 5),
      mrr: 1,
    });
    // Retrieved nowhere: 0. A control beside the tool does not lower the ideal.
    expect(measure([record(["d", "ask_user"], ranked(["a"]))])).toMatchObject({
      ndcg_10: 0,
      mrr: 0,
    });
    expect(measure([record(["a", "ask_user"], ranked(["a"]))])).toMatchObject({
      ndcg_10: 1,
      mrr: 1,
    });
    // Only a control is right: there is nothing to rank.
    expect(measure([record(["ask_user"], ranked(["a"]))])).toMatchObject({
      ndcg_10: null,
      mrr: null,
    });
  });

  it("plain text and garbage are wrong selections, no answer at all is none", () => {
    const records = [
      record(["a"]),
      record(["a"], { selected: null, outcome: "text" }),
      record(["a"], { selected: null, outcome: "malformed" }),
      record(["a"], { selected: null, outcome: "unavailable" }),
      record(["no_applicable_tool"], { selected: null, outcome: "text" }), // text is never abstention
    ];
    expect(measure(records)).toMatchObject({
      selection_accuracy: 1 / 4, // of the four that were answered, the first
      abstention_accuracy: 0,
      outcomes: { selected: 1, text: 2, malformed: 1, unavailable: 1 },
    });
  });

  it("verified success, tokens and latency are means and percentiles of what is known", () => {
    const records = [
      record(["a"], { verified_success: true, visible_tokens: 100, latency_ms: 1 }),
      record(["a"], { verified_success: false, visible_tokens: 300, latency_ms: 3 }),
      record(["a"]),
    ];
    expect(measure(records)).toMatchObject({
      verified_success: 0.5,
      visible_tokens: 200,
      latency_ms: { p50: 1, p95: 3, p99: 3 },
    });
    const { histogram, ...percentiles } = latencyOf([4, 1, 3, 200]);
    expect(percentiles).toEqual({ p50: 3, p95: 200, p99: 200 });
    expect(histogram.filter(({ count }) => count > 0)).toEqual([
      { up_to: 1, count: 1 },
      { up_to: 5, count: 2 },
      { up_to: null, count: 1 },
    ]);
  });
});
