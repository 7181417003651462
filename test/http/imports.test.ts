import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";
import { ACME } from "./acme.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("acme", ACME);
});
afterAll(() => running.close());

const get = async (path: string) => (await running.request("GET", path)).body;
async function bring(request: Json): Promise<Json> {
  const path = "/v1/catalogs/acme/imports";
  const { body } = await running.request("POST", path, {
    kind: "functions",
    source: "hub",
    ...request,
  });
  return body.job ? running.ended(body.job) : body;
}
const named = (...names: string[]) => names.map((name) => ({ name, description: `Does ${name}.` }));
const names = async () =>
  (await get("/v1/catalogs/acme/tools")).tools.map(({ name }: Json) => name);

describe("POST /v1/catalogs/{c}/imports", () => {
  it("tells what it would do in a dry run, and does nothing", async () => {
    const job = await bring({ document: named("open_issue", "read_file"), dry_run: true });
    expect(job).toMatchObject({ state: "succeeded", dry_run: true, revision: 1 });
    expect(job.report).toMatchObject({
      added: 2,
      unchanged: 9,
      removed: 0,
      operations: 2,
      renamed: [{ from: "read_file", to: "hub__read_file" }],
      quarantined: [],
      skipped: [],
    });
    expect(job.report.tokens).toBeGreaterThan(10);
    expect((await get("/v1/catalogs/acme/tools")).revision).toBe(1);
  });

  it("brings a source beside what others brought, names that clash under its own", async () => {
    const job = await bring({ document: named("open_issue", "read_file") });
    expect(job).toMatchObject({ kind: "import", state: "succeeded", embedded: 2, revision: 2 });
    expect(await names()).toEqual(
      expect.arrayContaining(["open_issue", "hub__read_file", "read_file"]),
    );
    expect((await get("/v1/catalogs/acme/tools/open_issue")).source).toMatchObject({
      kind: "functions",
      server: "hub",
      trust: "untrusted",
    });
  });

  it("changes and embeds nothing where the document is the same", async () => {
    const job = await bring({ document: named("open_issue", "read_file") });
    expect(job).toMatchObject({ embedded: 0, revision: 2, report: { unchanged: 11, added: 0 } });
  });

  it("keeps a tool that is invalid now at its last good version, and says so", async () => {
    const broken = { name: "open_issue", parameters: { type: "string" } };
    const job = await bring({ document: [broken, ...named("read_file")] });
    expect(job.report).toMatchObject({ kept: ["open_issue"], removed: 0 });
    expect(job.report.quarantined[0].name).toBe("open_issue");
    expect(await names()).toContain("open_issue");
  });

  it("asks before it removes more than its share, or everything", async () => {
    expect(await bring({ document: named("read_file") })).toMatchObject({
      state: "failed",
      error: { code: "confirm_removal" },
    });
    expect(await bring({ document: [] })).toMatchObject({ error: { code: "confirm_removal" } });
    expect(await names()).toContain("open_issue");
    const job = await bring({ document: named("read_file"), confirm: true });
    expect(job.report).toMatchObject({ removed: 1 });
    expect(await names()).not.toContain("open_issue");
    // What the registry brought is none of its business.
    expect(await names()).toEqual(expect.arrayContaining(ACME.map(({ name }) => name)));
  });

  it("quarantines what claims to be a control (invariant 4)", async () => {
    const job = await bring({
      kind: "toolspec",
      source: "liar",
      document: [
        { ...tool({ name: "ask_user" }), effect: "none" },
        tool({ name: "mine", family: "control", effect: "none" }),
        tool({ name: "honest" }),
      ],
    });
    expect(job.report.quarantined.map(({ name }: Json) => name)).toEqual(["ask_user", "mine"]);
    const { body } = await running.request("POST", "/v1/catalogs/acme/query", { query: "mine" });
    expect(body.tools.filter(({ control }: Json) => control)).toHaveLength(3);
  });

  it.each([
    ["an unknown kind", { kind: "yaml", document: [] }, "invalid_request"],
    ["no array", { document: { a: 1 } }, "invalid_document"],
    ["the registry's own source", { source: "registry", document: [] }, "invalid_request"],
    ["a source that is no name", { source: "../x", document: [] }, "invalid_request"],
  ])("refuses %s", async (_, request, code) => {
    expect(await bring(request)).toMatchObject({ code });
  });

  it("a body of the registry routes does not say where a tool comes from", async () => {
    const lying = {
      ...tool({ name: "z" }),
      source: { kind: "mcp", server: "s", original_name: "z", trust: "trusted", hash: "0" },
    };
    const { body } = await running.request("PUT", "/v1/catalogs/acme/tools/z", lying);
    expect(body).not.toHaveProperty("source");
  });
});
