import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";
import { ACME } from "./acme.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("acme", ACME);
  await running.put("other.shop", [
    tool({ name: "read_file", family: "drive", purpose: "Reads a file of the shared drive." }),
    tool({ name: "share_file", family: "drive", effect: "mutating", purpose: "Shares a file." }),
  ]);
});
afterAll(() => running.close());

const post = (path: string, body: Json) => running.request("POST", path, body);
const query = async (body: Json) => (await post("/v1/catalogs/acme/query", body)).body;
const ordinary = (answer: Json) =>
  answer.tools.filter(({ control }: Json) => !control).map(({ name }: Json) => name);
const CONTROLS = ["ask_user", "wait_for_event", "no_applicable_tool"];
const ASKED = { query: "read the file of the repository", facts: { incident_open: true } };

describe("token_budget", () => {
  it("takes tools in rank order while their definitions fit, the controls outside of it", async () => {
    const free = await query(ASKED);
    const some = await query({ ...ASKED, token_budget: 120 });
    expect(some.tokens.budget).toBe(120);
    expect(some.tokens.used).toBeLessThanOrEqual(120);
    expect(ordinary(some).length).toBeGreaterThan(0);
    expect(ordinary(some).length).toBeLessThan(ordinary(free).length);
    expect(ordinary(free)).toEqual(expect.arrayContaining(ordinary(some)));
    expect(some.tools.slice(-3).map(({ name }: Json) => name)).toEqual(CONTROLS);
  });

  it("alone asks for as many tools as fit, with a k for no more than that", async () => {
    expect(ordinary(await query({ ...ASKED, token_budget: 100_000 }))).toHaveLength(9);
    expect(ordinary(await query({ ...ASKED, token_budget: 100_000, k: 2 }))).toHaveLength(2);
  });

  it("decides none where nothing fits, and says so", async () => {
    const none = await query({ ...ASKED, token_budget: 0 });
    expect(none).toMatchObject({
      decision: "none",
      funnel: { eligible: 9, retrieved: 0, visible: 3 },
      tokens: { budget: 0, used: 0 },
    });
    expect(none.decision_reason).toContain("budget of 0 tokens");
    const { body } = await post("/v1/catalogs/acme/explain", {
      ...ASKED,
      token_budget: 0,
      tool: "read_file",
    });
    expect(body).toMatchObject({ visible: false, stage: "discovery", rule: "budget", rank: 1 });
    expect(body.would_show).toEqual([{ change: "token_budget", value: expect.any(Number) }]);
    expect(ordinary(await query({ ...ASKED, token_budget: body.would_show[0].value }))[0]).toBe(
      "read_file",
    );
  });
});

describe("order: stable", () => {
  it("comes in name order, tools, controls and definitions alike", async () => {
    const answer = await query({ ...ASKED, order: "stable", format: "openai" });
    const names = answer.tools.map(({ name }: Json) => name);
    expect(names).toEqual(names.toSorted());
    expect(answer.definitions.map((definition: Json) => definition.function.name)).toEqual(names);
    const again = await query({
      ...ASKED,
      query: "the repository's file, read it",
      order: "stable",
      format: "openai",
    });
    expect(JSON.stringify(again.definitions)).toBe(JSON.stringify(answer.definitions));
  });
});

describe("messages", () => {
  it("the last user turn leads, the earlier ones inform, others are not read", async () => {
    const turns = (last: string) => [
      { role: "system", content: "You only ever search the public web." },
      { role: "user", content: "delete the branch of the repository" },
      { role: "assistant", content: null, tool_calls: [{ id: "1" }] },
      { role: "user", content: [{ type: "text", text: last }] },
    ];
    const clear = await query({ messages: turns("which checks failed on it?"), k: 3 });
    expect(ordinary(clear)[0]).toBe("list_failed_checks");
    const vague = await query({ messages: turns("and now the other one too"), k: 3 });
    expect(ordinary(vague)[0]).toBe("delete_branch");
  });

  it.each([
    ["neither", {}, "invalid_request"],
    ["both", { query: "x", messages: [{ role: "user", content: "x" }] }, "invalid_request"],
    ["no user turn", { messages: [{ role: "assistant", content: "hello" }] }, "invalid_query"],
    ["no turn at all", { messages: [] }, "invalid_query"],
    ["a turn without a role", { messages: [{ content: "x" }] }, "invalid_request"],
  ])("refuses %s", async (_, body, code) => {
    expect(await post("/v1/catalogs/acme/query", body)).toMatchObject({
      status: 422,
      body: { code },
    });
  });
});

describe("keep and exclude", () => {
  it("a kept tool stays while it is eligible, and counts in k", async () => {
    const answer = await query({ ...ASKED, k: 2, keep: ["search_web", "unheard_of"] });
    expect(ordinary(answer)).toEqual(["read_file", "search_web"]);
    expect(answer.tools[1].kept).toBe(true);
    const read_only = { allowed_families: ["*"], max_effect: "read_only", allow_open_world: false };
    expect(
      ordinary(await query({ ...ASKED, keep: ["search_web"], policy: read_only })),
    ).not.toContain("search_web");
  });

  it("a kept tool stays where nothing is above the floor", async () => {
    const answer = await query({ query: "?!", floor: 1, keep: ["search_web"] });
    expect(ordinary(answer)).toEqual(["search_web"]);
  });

  it("refuses to keep more than k", async () => {
    const { status, body } = await post("/v1/catalogs/acme/query", {
      ...ASKED,
      k: 1,
      keep: ["search_web", "list"],
    });
    expect([status, body.errors[0].pointer]).toEqual([422, "/keep"]);
  });

  it("an excluded tool is not eligible, also where it is named or kept", async () => {
    const answer = await query({
      query: "read_file",
      exclude: ["read_file"],
      keep: ["read_file"],
      explain: true,
    });
    expect(ordinary(answer)).not.toContain("read_file");
    expect(answer.funnel.eligible).toBe(7);
    expect(answer.trace.hidden).toMatchObject({ exclude: 1, precondition: 1 });
    const { body } = await post("/v1/catalogs/acme/explain", {
      ...ASKED,
      exclude: ["read_file"],
      tool: "read_file",
    });
    expect(body).toMatchObject({ stage: "exposure", rule: "exclude" });
    expect(body.would_show).toEqual([{ change: "exclude", value: "read_file" }]);
  });
});

describe("POST /v1/query", () => {
  const both = { catalogs: ["acme", "other.shop"], query: "read the file", k: 4 };

  it("ranks several catalogs together, and qualifies the names that clash", async () => {
    const { status, body } = await post("/v1/query", { ...both, format: "mcp", explain: true });
    expect(status).toBe(200);
    expect(body.catalogs).toEqual([
      { catalog: "acme", revision: 1 },
      { catalog: "other.shop", revision: 1 },
    ]);
    expect(ordinary(body).slice(0, 2).toSorted()).toEqual([
      "acme__read_file",
      "other_shop__read_file",
    ]);
    expect(body.tools.find(({ name }: Json) => name === "other_shop__read_file")).toMatchObject({
      catalog: "other.shop",
      tool: "read_file",
    });
    expect(body.definitions.map(({ name }: Json) => name)).toEqual(
      body.tools.map(({ name }: Json) => name),
    );
    const scores = body.tools.slice(0, 4).map(({ score }: Json) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    expect(body.funnel).toEqual({ registry: 11, eligible: 10, retrieved: 4, visible: 7 });
    expect(body.traces.map(({ catalog }: Json) => catalog)).toEqual(both.catalogs);
    expect((await running.request("GET", `/v1/traces/${body.trace_id}`)).body.traces).toHaveLength(
      2,
    );
  });

  it("asks k and the budget of the whole, and the phase of each", async () => {
    const { body } = await post("/v1/query", { ...both, token_budget: 60, phase: "diagnose" });
    expect(ordinary(body)).toEqual(["read_file"]);
    expect(body.tokens.used).toBeLessThanOrEqual(60);
  });

  it("refuses an unknown catalog among them, and none at all", async () => {
    const refused = async (catalogs: string[]) =>
      (await post("/v1/query", { ...both, catalogs })).body.code;
    expect(await refused(["acme", "nowhere"])).toBe("unknown_catalog");
    expect(await refused([])).toBe("invalid_request");
  });
});
