import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { ACME } from "./acme.ts";
import { STAGES } from "./stages.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService();
});
afterAll(() => running.close());

const post = (path: string, body?: Json) => running.request("POST", path, body);
const get = async (path: string) => (await running.request("GET", path)).body;

describe("a gate on a new revision", () => {
  const SUITE = STAGES.slice(0, 1);
  const without = ACME.filter(({ name }) => name !== "list_failed_checks");
  const gate = (text: string) => `suite=core&gate=${encodeURIComponent(text)}`;

  it("keeps a revision that falls short from going live, and names the cases that it loses", async () => {
    await running.request("PUT", "/v1/suites/core", SUITE);
    await running.put("gated", ACME);
    const put = async (tools: Json, text: string) => {
      const path = `/v1/catalogs/gated/tools?${gate(text)}`;
      return running.ended((await running.request("PUT", path, tools)).body.job);
    };
    const refused = await put(without, "recall@10>=live-0.01");
    expect(refused).toMatchObject({
      state: "succeeded",
      promoted: false,
      revision: 1,
      verdict: { passed: false, suite: "core", lost: ["right"] },
    });
    expect((await get("/v1/catalogs/gated/tools/list_failed_checks")).name).toBe(
      "list_failed_checks",
    );
    const passed = await put([...ACME, { ...ACME[0], name: "another_tool" }], "recall@10>=0.95");
    expect(passed).toMatchObject({
      promoted: true,
      revision: 2,
      verdict: { passed: true, value: 1 },
    });
  });

  it("is refused at once where its suite or its text is nothing, and changes nothing", async () => {
    const put = async (query: string) =>
      (await running.request("PUT", `/v1/catalogs/gated/tools?${query}`, without)).body.code;
    expect(await put("suite=none&gate=recall@10>=0.5")).toBe("unknown_suite");
    expect(await put("suite=core&gate=recall")).toBe("invalid_gate");
    expect((await get("/v1/catalogs/gated/tools")).revision).toBe(2);
  });

  it("holds a reindex and a rollback to the same", async () => {
    await running.put("gated", without);
    const reindex = await post(`/v1/catalogs/gated/reindex?${gate("recall@10>=0.95")}`);
    expect(await running.ended(reindex.body.job)).toMatchObject({
      promoted: false,
      verdict: { passed: false },
    });
    const { revisions } = await get("/v1/catalogs/gated/revisions");
    expect(revisions.map(({ revision, live }: Json) => [revision, live])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ]);
    expect(await get("/v1/catalogs/gated/revisions/2/diff/3")).toMatchObject({
      added: [],
      removed: ["another_tool", "list_failed_checks"],
      changed: [],
    });
    expect((await get("/v1/catalogs/gated/revisions/2/diff/99")).code).toBe("revision_gone");
    const promote = async (revision: number, query: string) => {
      const { body } = await post(`/v1/catalogs/gated/revisions/${revision}/promote?${query}`);
      return body.job ? running.ended(body.job) : body;
    };
    expect(await promote(1, gate("recall@10>=0.95"))).toMatchObject({
      promoted: true,
      revision: 1,
    });
    expect((await get("/v1/catalogs/gated/tools")).revision).toBe(1);
    expect(await promote(3, gate("recall@10>=live-0.01"))).toMatchObject({
      promoted: false,
      revision: 1,
    });
    expect(await promote(99, "")).toMatchObject({ code: "revision_gone" });
    expect(await promote(1, "suite=core")).toMatchObject({ code: "invalid_request" });
    await running.put("gated", without);
    expect((await get("/v1/catalogs/gated/tools")).revision).toBe(4);
  });
});
