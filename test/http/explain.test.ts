import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { ACME } from "./acme.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("acme", ACME);
});
afterAll(() => running.close());

describe("POST /v1/catalogs/{c}/explain", () => {
  const explain = async (body: Json) =>
    (await running.request("POST", "/v1/catalogs/acme/explain", body)).body;

  it("names the rule that hid a tool, and the phases that show it", async () => {
    expect(await explain({ tool: "write_file", query: "write", phase: "discover" })).toMatchObject({
      visible: false,
      stage: "exposure",
      rule: "effect",
      would_show: [
        { change: "phase", value: ["modify", "any"] },
        { change: "effect", value: "mutating" },
      ],
    });
    expect(await explain({ tool: "search_web", query: "x", phase: "discover" })).toMatchObject({
      rule: "family",
    });
    expect(await explain({ tool: "close_incident", query: "x" })).toMatchObject({
      rule: "precondition",
      would_show: [{ change: "facts", missing: ["incident_open"] }],
    });
  });

  it("gives the rank of a tool that lost, and the k that would show it", async () => {
    const answer = await explain({ tool: "list", query: "which checks failed on my branch", k: 1 });
    expect(answer).toMatchObject({
      visible: false,
      stage: "discovery",
      rule: "rank",
      would_show: [{ change: "k", value: answer.rank }],
    });
    expect(answer.rank).toBeGreaterThan(1);
    expect(answer.scores.dense.score).toEqual(expect.any(Number));
  });

  it("says of a visible tool that it is, and of a control that it is trusted", async () => {
    expect(await explain({ tool: "list_failed_checks", query: "failed checks" })).toMatchObject({
      visible: true,
      stage: "visible",
      rank: 1,
    });
    expect(await explain({ tool: "ask_user", query: "x" })).toMatchObject({
      visible: true,
      rule: "trusted_control",
    });
  });
});

describe("a principal with a lower ceiling", () => {
  let narrow: RunningService;
  beforeAll(async () => {
    const ceiling = {
      allowed_families: ["ci", "repository"],
      max_effect: "read_only" as const,
      allow_open_world: false,
    };
    narrow = await runService({
      principal: () => ({ id: "narrow", ceiling, maySee: (catalog) => catalog === "acme" }),
    });
    await narrow.put("acme", ACME);
  });
  afterAll(() => narrow.close());

  it("never gets more than it, and counts nothing above it", async () => {
    const { body } = await narrow.request("POST", "/v1/catalogs/acme/query", {
      query: "roll back",
      phase: "any",
      k: 200,
      explain: true,
    });
    expect(body.funnel).toEqual({ registry: 2, eligible: 2, retrieved: 2, visible: 5 });
    const nothing = { family: 0, effect: 0, open_world: 0, precondition: 0, exclude: 0 };
    expect(body.trace.hidden).toEqual(nothing);
  });

  it("finds what lies above it unknown, by every route", async () => {
    const asked = [
      await narrow.request("POST", "/v1/catalogs/acme/explain", { tool: "write_file", query: "x" }),
      await narrow.request("GET", "/v1/catalogs/acme/tools/write_file"),
      await narrow.request("DELETE", "/v1/catalogs/acme/tools/write_file"),
    ];
    for (const { status, body } of asked) {
      expect([status, body.code]).toEqual([404, "unknown_tool"]);
      expect(body.known).toEqual(["read_file", "list_failed_checks"]);
    }
    expect((await narrow.request("GET", "/v1/catalogs/acme/tools")).body).toMatchObject({
      total: 2,
    });
    expect((await narrow.request("GET", "/v1/catalogs")).body.catalogs).toEqual([
      { name: "acme", revision: 1, tools: 2 },
    ]);
  });

  it("cannot tell a catalog without a grant from none", async () => {
    const hidden = await narrow.request("POST", "/v1/catalogs/other/query", { query: "x" });
    expect(hidden).toMatchObject({
      status: 404,
      body: { code: "unknown_catalog", known: ["acme"] },
    });
  });
});
