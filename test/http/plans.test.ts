import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";

const TOOLS = JSON.parse(readFileSync("data/registry.json", "utf8")) as Json[];
const GOALS = (JSON.parse(readFileSync("data/cases.json", "utf8")) as Json[])
  .filter((_, i) => i % 6 === 0)
  .map(({ goal }) => goal as string);

let running: RunningService;
beforeAll(async () => {
  running = await runService({
    config: (config) => ({ ...config, planner: { graph_rows_min: 100 } }),
  });
  await running.put("example", TOOLS);
  await running.put("small", [tool({ name: "only" })]);
  await graphReady();
});
afterAll(() => running.close());

const query = (catalog: string, body: Json) =>
  running.request("POST", `/v1/catalogs/${catalog}/query`, body);
async function graphReady(): Promise<void> {
  while ((await query("example", { query: "x", plan: "hnsw" })).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const found = ({ body }: Json) =>
  body.tools.filter(({ control }: Json) => !control).map(({ name }: Json) => name as string);

describe("invariant 3 over HTTP, each plan forced", () => {
  it.each([
    ["everything", { allowed_families: ["*"], max_effect: "destructive", allow_open_world: true }],
    ["what reads", { allowed_families: ["*"], max_effect: "read_only", allow_open_world: true }],
    [
      "three families",
      {
        allowed_families: ["hr", "billing", "web"],
        max_effect: "destructive",
        allow_open_world: true,
      },
    ],
  ])("HNSW meets the exact plan within its budget: %s", async (_, policy) => {
    let hit = 0;
    let wanted = 0;
    for (const goal of GOALS) {
      const exact = await query("example", { query: goal, policy, plan: "exact", explain: true });
      const hnsw = await query("example", { query: goal, policy, plan: "hnsw", explain: true });
      expect([exact.body.trace.plan, hnsw.body.trace.plan]).toEqual(["exact", "hnsw"]);
      expect(hnsw.body.funnel).toEqual(exact.body.funnel);
      const names = new Set(found(hnsw));
      wanted += found(exact).length;
      hit += found(exact).filter((name: string) => names.has(name)).length;
      for (const { control, family, effect } of hnsw.body.tools) {
        if (control) continue;
        expect(
          policy.allowed_families.includes("*") || policy.allowed_families.includes(family),
        ).toBe(true);
        if (policy.max_effect === "read_only") expect(["none", "read_only"]).toContain(effect);
      }
    }
    expect(hit / wanted).toBeGreaterThanOrEqual(0.98);
  });
});

describe("the graph follows the catalog", () => {
  it("finds a tool that was added, and not one that is gone", async () => {
    const added = tool({
      name: "feed_the_llamas",
      family: "farm",
      purpose: "Feeds the llamas of the petting zoo.",
    });
    await running.request("PUT", "/v1/catalogs/example/tools/feed_the_llamas", added);
    await graphReady();
    const asked = { query: "the llamas are hungry", plan: "hnsw", k: 5 };
    expect(found(await query("example", asked))[0]).toBe("feed_the_llamas");
    await running.request("DELETE", "/v1/catalogs/example/tools/feed_the_llamas");
    await graphReady();
    expect(found(await query("example", asked))).not.toContain("feed_the_llamas");
  });
});

describe("without a graph", () => {
  it("the exact plan serves, and HNSW cannot be forced", async () => {
    expect((await query("small", { query: "x", explain: true })).body.trace.plan).toBe("exact");
    expect(await query("small", { query: "x", plan: "hnsw" })).toMatchObject({
      status: 409,
      body: { code: "plan_unavailable" },
    });
  });
});
