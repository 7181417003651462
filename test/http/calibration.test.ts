import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";

const TOOLS = JSON.parse(readFileSync("data/registry.json", "utf8")) as Json[];
const CASES = JSON.parse(readFileSync("data/cases.json", "utf8")) as Json[];

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("example", TOOLS.slice(0, 80));
});
afterAll(() => running.close());

const PATH = "/v1/catalogs/example/calibration";
const ask = async (body: Json) =>
  (await running.request("POST", "/v1/catalogs/example/query", body)).body;

describe("the match floor", () => {
  it("offers nothing where nothing matches, and says the floor", async () => {
    const answer = await ask({ query: "?!,;", floor: 0.5, explain: true });
    expect(answer).toMatchObject({ decision: "none", funnel: { retrieved: 0, visible: 3 } });
    expect(answer.decision_reason).toContain("match floor");
    expect(answer.trace.floor).toBe(0.5);
    expect((await ask({ query: "?!,;", explain: true })).trace.floor).toBeGreaterThan(0);
    const { body } = await running.request("POST", "/v1/catalogs/example/explain", {
      query: "?!,;",
      floor: 0.5,
      tool: TOOLS[0].name,
    });
    expect(body).toMatchObject({ visible: false, stage: "discovery", rule: "floor" });
    expect(body.would_show[0]).toEqual({ change: "floor", value: body.scores.probability });
  });

  it("is the request's where it gives one: 0 offers everything, 1 nothing but what is named", async () => {
    expect((await ask({ query: "?!,;", floor: 0 })).funnel.retrieved).toBe(10);
    expect((await ask({ query: "read a file of the repository", floor: 1 })).decision).toBe("none");
    const named = await ask({ query: "read_file", floor: 1 });
    expect([named.decision, named.tools[0].name]).toEqual(["choose", "read_file"]);
  });

  it("is not asked of a sole eligible tool", async () => {
    const policy = { allowed_families: ["*"], max_effect: "destructive", allow_open_world: true };
    await running.put("one", [TOOLS[0]]);
    const { body } = await running.request("POST", "/v1/catalogs/one/query", {
      query: "?!",
      policy,
    });
    expect(body).toMatchObject({ decision: "sole", funnel: { retrieved: 1 } });
  });
});

describe("/v1/catalogs/{c}/calibration", () => {
  it("is the model's, then the catalog's own fit, then the model's again", async () => {
    const before = await running.request("GET", PATH);
    expect(before).toMatchObject({ status: 200, body: { source: "model" } });
    const { status, body } = await running.request("POST", PATH, { cases: CASES });
    expect(status).toBe(202);
    const job = await running.ended(body.job);
    expect(job).toMatchObject({ kind: "calibrate", state: "succeeded", done: CASES.length });
    const own = (await running.request("GET", PATH)).body;
    expect(own).toEqual({ source: "catalog", calibration: job.calibration });
    expect(own.calibration.report.floors.length).toBeGreaterThan(5);
    expect((await ask({ query: "read a file", explain: true })).trace.floor).toBe(
      own.calibration.floor,
    );
    expect((await running.request("DELETE", PATH)).status).toBe(204);
    expect((await running.request("GET", PATH)).body).toEqual(before.body);
  });

  it("refuses a suite that is too small, unknown or absent, and keeps the fit that was", async () => {
    const { body } = await running.request("POST", PATH, { cases: CASES.slice(0, 5) });
    expect(await running.ended(body.job)).toMatchObject({
      state: "failed",
      error: { code: "too_few_cases" },
    });
    expect((await running.request("GET", PATH)).body.source).toBe("model");
    const code = async (asked: Json) => (await running.request("POST", PATH, asked)).body.code;
    expect(await code({ suite: "nothing" })).toBe("unknown_suite");
    expect(await code({})).toBe("invalid_request");
    expect((await running.request("GET", "/v1/catalogs/no/calibration")).body.code).toBe(
      "unknown_catalog",
    );
  });
});
