import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { ACME } from "./acme.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("acme", ACME);
});
afterAll(() => running.close());

const post = (path: string, body: Json) => running.request("POST", path, body);
const query = async (body: Json) => (await post("/v1/catalogs/acme/query", body)).body;
const metrics = async (rest = "") =>
  (await running.request("GET", `/v1/records/metrics?catalog=acme${rest}`)).body;

describe("POST /v1/records", () => {
  it("joins what came of a decision, by trace and trial, and more of it later", async () => {
    const { trace_id } = await query({ query: "which checks failed?", k: 2 });
    const first = await post("/v1/records", { trace_id, selected: "list_failed_checks" });
    expect(first).toMatchObject({
      status: 200,
      body: { trace_id, trial: 0, catalog: "acme", selected: "list_failed_checks" },
    });
    const labelled = { acceptable: ["list_failed_checks"], verified_success: true };
    const label = { trace_id, ...labelled };
    const joined = { selected: "list_failed_checks", ...label, trial: 0 };
    expect((await post("/v1/records", label)).body).toMatchObject(joined);
    expect((await post("/v1/records", label)).body).toMatchObject(joined);
    const words = await post("/v1/records", { trace_id, trial: 1, selected: null });
    expect(words.body).toMatchObject({ trial: 1, selected: null });
    expect((await metrics()).records).toBe(2);
    const trace = (await running.request("GET", `/v1/traces/${trace_id}`)).body;
    expect(trace.records).toEqual([
      { trial: 0, selected: "list_failed_checks", ...labelled },
      { trial: 1, selected: null },
    ]);
  });

  it("takes a list", async () => {
    const { trace_id } = await query({ query: "read a file", k: 1 });
    const { body } = await post("/v1/records", [
      { trace_id, trial: 0, selected: "read_file" },
      { trace_id, trial: 1, selected: "no_applicable_tool" },
    ]);
    expect(body.records.map(({ trial }: Json) => trial)).toEqual([0, 1]);
  });

  it.each([
    ["an unknown trace", { trace_id: "nothing", selected: "a" }, 404, "unknown_trace"],
    ["no trace", { selected: "a" }, 422, "invalid_request"],
    ["another field", { trace_id: "x", chosen: "a" }, 422, "invalid_request"],
  ])("refuses %s", async (_, body, status, code) => {
    expect(await post("/v1/records", body)).toMatchObject({ status, body: { code } });
  });

  it("refuses what is both acceptable and forbidden, and an empty label", async () => {
    const { trace_id } = await query({ query: "read a file" });
    for (const labels of [{ acceptable: ["a"], forbidden: ["a"] }, { acceptable: [] }]) {
      const { status, body } = await post("/v1/records", { trace_id, selected: "a", ...labels });
      expect([status, body.errors[0].pointer]).toEqual([422, "/acceptable"]);
    }
  });
});

describe("GET /v1/records/metrics", () => {
  it("has the bench's rates where labels exist, by hand", async () => {
    await running.put("acme", ACME);
    const since = `&since=${new Date().toISOString()}`;
    await new Promise((resolve) => setTimeout(resolve, 5));
    const label = async (asked: Json, record: Json) => {
      const { trace_id } = await query(asked);
      await post("/v1/records", { trace_id, ...record });
    };
    const checks = { query: "which checks failed on the branch?", k: 1 };
    await label(checks, { selected: "list_failed_checks", acceptable: ["list_failed_checks"] });
    await label(checks, { selected: "ask_user", acceptable: ["search_web"] }); // not among the k
    await label(
      { ...checks, phase: "discover" },
      { selected: "list_failed_checks", acceptable: ["delete_branch"] }, // not exposed
    );
    await label(checks, { selected: "list_failed_checks", acceptable: ["order_pizza"] }); // not covered
    await label(checks, { selected: "no_applicable_tool" }); // no label
    const { rates, ...counts } = await metrics(since);
    expect(rates).toMatchObject({
      coverage: 3 / 4,
      exposure_recall: 2 / 3,
      tool_recall: 1 / 2,
      selection_accuracy: 1,
      failure_profile: { coverage: 1, exposure: 1, discovery: 1, selection: 0 },
    });
    expect(counts).toMatchObject({
      records: 5,
      labelled: 4,
      abstention_share: 1 / 5,
      selections: [
        { name: "list_failed_checks", count: 3 },
        { name: "ask_user", count: 1 },
        { name: "no_applicable_tool", count: 1 },
      ],
    });
    expect(counts.never_selected).toContain("search_web");
    expect(counts.never_selected).not.toContain("list_failed_checks");
  });

  it("names what is retrieved and never selected", async () => {
    const since = `&since=${new Date().toISOString()}`;
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const selected of ["list_failed_checks", "list_failed_checks"]) {
      const { trace_id } = await query({ query: "run or list the failed checks", k: 2 });
      await post("/v1/records", { trace_id, selected });
    }
    expect((await metrics(since)).retrieved_never_selected[0]).toEqual({
      name: "rerun_check",
      retrieved: 2,
    });
    expect((await metrics(since)).rates).toBeNull();
  });

  it("refuses what is no time, and an unknown catalog", async () => {
    expect((await metrics("&since=yesterday")).code).toBe("invalid_request");
    const none = await running.request("GET", "/v1/records/metrics?catalog=none");
    expect(none.body.code).toBe("unknown_catalog");
  });
});

describe("GET /v1/traces/{id}", () => {
  it("gives the whole decision, and keeps no text of the request unless configured", async () => {
    const { trace_id, tools } = await query({ query: "delete the old branch; then read a file" });
    running.service.flush();
    const { body } = await running.request("GET", `/v1/traces/${trace_id}`);
    expect(body).toMatchObject({ trace_id, catalog: "acme", revision: expect.any(Number), k: 10 });
    expect(body.tools).toEqual(tools);
    expect(body.effective_policy.max_effect).toBe("destructive");
    expect(body.config_hash).toEqual(expect.any(String));
    expect(body.hidden_names).toEqual(["close_incident"]);
    expect(JSON.stringify(body)).not.toContain("old branch");
  });

  it("outlives what is held in memory, within the limits on what is stored", async () => {
    const small = await runService({
      config: (config) => ({
        ...config,
        limits: { ...config.limits, traces_max: 1 },
        traces: { store_query: true, kept: 100, days: 30 },
      }),
    });
    await small.put("acme", ACME);
    const ask = async (text: string) =>
      (await small.request("POST", "/v1/catalogs/acme/query", { query: text })).body.trace_id;
    const first = await ask("read the first file");
    await ask("read the second file");
    small.service.flush();
    const { body } = await small.request("GET", `/v1/traces/${first}`);
    expect(body).toMatchObject({ trace_id: first, query: "read the first file" });
    await small.close();
  });
});
