import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { ACME } from "./acme.ts";
import { STAGES } from "./stages.ts";

const TOOLS = JSON.parse(readFileSync("data/registry.json", "utf8")) as Json[];
const CASES = JSON.parse(readFileSync("data/cases.json", "utf8")) as Json[];

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("acme", ACME);
});
afterAll(() => running.close());

const post = (path: string, body?: Json) => running.request("POST", path, body);
const get = async (path: string) => (await running.request("GET", path)).body;
async function bench(request: Json): Promise<Json> {
  const { status, body } = await post("/v1/bench", request);
  if (status !== 202) return body;
  const job = await running.ended(body.job);
  expect(job, JSON.stringify(job.error)).toMatchObject({ state: "succeeded" });
  return { job, ...(await get(job.result)) };
}

describe("POST /v1/bench", () => {
  it("says which stage lost the right tool", async () => {
    const result = await bench({ catalog: "acme", cases: STAGES, k: [1] });
    expect(result).toMatchObject({
      catalog: "acme",
      suite: null,
      cases: 5,
      coverage: 0.8,
      exposure_recall: 0.75,
      selector: "baseline",
      by_k: {
        1: {
          tool_recall: 2 / 3,
          selection_accuracy: 0.5,
          abstention_accuracy: 0,
          violation_rate: 0.2,
          failure_profile: { coverage: 1, exposure: 1, discovery: 1, selection: 1 },
          selection_confusions: [
            { acceptable: ["no_applicable_tool"], selected: "list_failed_checks", count: 1 },
          ],
          ordinary: { cases: 4, tool_recall: 0.5 },
        },
      },
    });
    expect(result.by_k[1].visible_tokens).toBeGreaterThan(100);
    expect(result.by_k[1].intervals.tool_recall[0]).toBeLessThanOrEqual(2 / 3);
  });

  it("runs each k and each token budget of its own, budgets without a k", async () => {
    const result = await bench({
      catalog: "acme",
      cases: STAGES,
      k: [1, 5],
      token_budgets: [0, 100_000],
    });
    expect(Object.keys(result.by_k)).toEqual(["1", "5"]);
    expect(result.by_k[5].visible_tokens).toBeGreaterThan(result.by_k[1].visible_tokens);
    expect(result.by_budget[0].ordinary.tool_recall).toBe(0);
    expect(result.by_budget[100_000].ordinary.tool_recall).toBe(1);
  });

  it("ablates in the seed's order, and leaves one mechanism out at a time", async () => {
    const { ladder, ablations } = await bench({
      catalog: "acme",
      cases: STAGES,
      k: [10],
      ablate: true,
    });
    expect(ladder.map(({ name }: Json) => name)).toEqual([
      "vague overlapping tools",
      "sharp use_when and avoid_when",
      "exposure by state",
      "explicit abstention",
      "retrieval",
    ]);
    // Without exposure and retrieval the whole registry is visible: nothing is lost before selection.
    expect(ladder[0]).toMatchObject({ k: null, exposure_recall: 1, tool_recall: 1 });
    expect(ladder[0].abstention_accuracy).toBe(0);
    expect(ladder[2].exposure_recall).toBeLessThan(1);
    expect(ladder[0].visible_tokens).toBeGreaterThan(ladder[2].visible_tokens);
    expect(ladder.at(-1)).toMatchObject({ k: 10 });
    const named = ablations.map(({ name }: Json) => name);
    expect(named.slice(0, 3)).toEqual(["everything", "lexical arm alone", "dense arm alone"]);
    expect(named).toContain("without exposure");
  });

  it("repeats trials, and takes selections made elsewhere", async () => {
    const repeated = await bench({ catalog: "acme", cases: STAGES, k: [5], repeat: 3 });
    expect(repeated.by_k[5].consistency).toMatchObject({ trials: 3, selection_consistency: 1 });
    const records = [
      { task_id: "right", selected: "list_failed_checks", verified_success: true },
      { task_id: "right", trial: 1, selected: "rerun_check", verified_success: false },
      { task_id: "selection", selected: null },
    ];
    const sent = await bench({ catalog: "acme", cases: STAGES, k: [5], records });
    expect(sent.selector).toBe("records");
    expect(sent.by_k[5]).toMatchObject({
      verified_success: 0.5,
      abstention_accuracy: 0,
      outcomes: { selected: 2, text: 1, unavailable: 7 },
    });
  });

  it("judges gates, also at a k of their own, and fails on null", async () => {
    const gates = ["recall@5>=0.5", "recall@1>=0.99", "all_tools@5>=0.1"];
    const { job, verdicts, by_k } = await bench({ catalog: "acme", cases: STAGES, k: [5], gates });
    expect(verdicts.map(({ passed }: Json) => passed)).toEqual([true, false, false]);
    expect(job.passed).toBe(false);
    expect(Object.keys(by_k)).toContain("1");
    expect(verdicts[2].value).toBeNull();
  });

  it.each([
    ["no suite", {}, "invalid_request"],
    ["an unknown suite", { suite: "nothing" }, "unknown_suite"],
    ["an empty suite", { cases: [] }, "empty_suite"],
    ["a bad gate", { cases: STAGES, gates: ["recall>1"] }, "invalid_gate"],
    [
      "a gate at a k that no run has",
      { cases: STAGES, gates: ["recall@201>=0.1"] },
      "invalid_gate",
    ],
    ["an unknown selector", { cases: STAGES, selector: "gpt" }, "unknown_selector"],
    ["two kinds of selection", { cases: STAGES, selector: "gpt", records: [] }, "invalid_request"],
    ["an unknown catalog", { catalog: "none", cases: STAGES }, "unknown_catalog"],
  ])("refuses %s", async (_, request, code) => {
    expect(await bench({ catalog: "acme", ...request })).toMatchObject({ code });
  });

  it("is kept, listed, and shown as a page without scripts or requests", async () => {
    const { id } = await bench({ catalog: "acme", cases: STAGES, ablate: true });
    expect((await get("/v1/bench")).benches[0]).toMatchObject({ id, catalog: "acme", cases: 5 });
    const { body, headers } = await running.request("GET", `/v1/bench/${id}/report`);
    expect(headers.get("content-type")).toContain("text/html");
    for (const part of [
      "Recall by k",
      "Confusions",
      "Ladder",
      "Lists the checks that failed",
      "<svg",
    ])
      expect(body).toContain(part);
    expect(body).not.toMatch(/<script|https?:\/\/|src=|<link/);
    expect((await get("/v1/bench/none")).code).toBe("unknown_bench");
  });
});

describe("a suite", () => {
  it("that names tools the registry lacks reports them as coverage failures", async () => {
    await running.request("PUT", "/v1/suites/missing", [STAGES[1]]);
    const result = await bench({ catalog: "acme", suite: "missing", k: [5] });
    expect(result).toMatchObject({ suite: "missing", coverage: 0, exposure_recall: null });
    expect(result.by_k[5].failure_profile.coverage).toBe(1);
  });

  it("is refused with the line of each fault, and what was there stays", async () => {
    const lines = [
      STAGES[0],
      { ...STAGES[1], task_id: "right" },
      { ...STAGES[2], goal: " " },
      { ...STAGES[3], phase: "nowhere" },
      { ...STAGES[4], forbidden: ["no_applicable_tool"] },
      { task_id: "empty", goal: "g", acceptable: [] },
    ];
    const ndjson = `\n${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
    const { status, body } = await running.request("PUT", "/v1/suites/missing", ndjson, {
      "content-type": "application/x-ndjson",
    });
    expect([status, body.code]).toEqual([422, "invalid_suite"]);
    expect(
      body.errors.map(({ pointer, message }: Json) => [pointer, message.split(":")[0]]),
    ).toEqual([
      ["/1/task_id", "line 3"],
      ["/2/goal", "line 4"],
      ["/3/phase", "line 5"],
      ["/4/forbidden", "line 6"],
      ["/5/acceptable", "line 7"],
    ]);
    expect((await get("/v1/suites/missing")).cases).toHaveLength(1);
  });
});

describe("comparing two runs", () => {
  it("gives differences with intervals, and the cases that flipped with what each run retrieved", async () => {
    const few = await bench({ catalog: "acme", cases: STAGES, k: [1, 10] });
    const dense = await bench({ catalog: "acme", cases: STAGES, k: [1, 10], arms: "lexical" });
    const same = await get(`/v1/bench/${few.id}/compare/${few.id}`);
    expect(same.by_k[10]).toMatchObject({
      flipped: [],
      metrics: { tool_recall: { difference: 0 } },
    });
    expect(same.same).toMatchObject({ revision: true, suite_hash: true, fingerprint: true });
    const changed = await get(`/v1/bench/${few.id}/compare/${dense.id}`);
    expect(Object.keys(changed.by_k)).toEqual(["1", "10"]);
    for (const { task_id, before, after } of changed.by_k[10].flipped) {
      expect(STAGES.map((item) => item.task_id)).toContain(task_id);
      expect(before.stage === null).not.toBe(after.stage === null);
    }
    expect((await get(`/v1/bench/${few.id}/compare/none`)).code).toBe("unknown_bench");
  });
});

describe("a large bench", () => {
  it("shows progress, answers queries meanwhile, and can be cancelled", async () => {
    await running.put("example", TOOLS);
    const many = Array.from({ length: 40 }, (_, i) =>
      CASES.map((item) => ({ ...item, task_id: `${item.task_id}-${i}` })),
    ).flat();
    const { body } = await post("/v1/bench", { catalog: "example", cases: many });
    const job = () => get(`/v1/jobs/${body.job.id}`);
    while ((await job()).done < 500) await new Promise((resolve) => setTimeout(resolve, 20));
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const startedAt = performance.now();
      const answer = await post("/v1/catalogs/example/query", { query: `read file ${i}` });
      expect(answer.status).toBe(200);
      times.push(performance.now() - startedAt);
    }
    expect(times.toSorted((a, b) => a - b)[10]!).toBeLessThan(200);
    const seen = await job();
    expect([seen.state, seen.total]).toEqual(["running", many.length * 4]);
    expect((await running.request("DELETE", `/v1/jobs/${body.job.id}`)).status).toBe(202);
    expect((await running.ended(body.job)).state).toBe("cancelled");
  });
});
