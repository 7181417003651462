import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERRORS } from "../../src/errors.ts";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService({
    config: (config) => ({ ...config, limits: { ...config.limits, body_bytes_max: 2_000_000 } }),
  });
  await running.put("acme", [
    tool({ name: "read_file" }),
    tool({ name: "list_failed_checks", family: "ci" }),
  ]);
});
afterAll(() => running.close());

const ask = (body: unknown, headers?: Record<string, string>) =>
  running.request("POST", "/v1/catalogs/acme/query", body, headers);

describe("bad input gets a clear error", () => {
  it.each<[string, string, string, unknown, number, string]>([
    ["a body that is no JSON", "POST", "/v1/catalogs/acme/query", "{", 400, "malformed_json"],
    ["no body", "POST", "/v1/catalogs/acme/query", undefined, 400, "malformed_json"],
    [
      "bytes that are no UTF-8",
      "POST",
      "/v1/catalogs/acme/query",
      new Uint8Array([0x22, 0xff, 0x22]),
      400,
      "malformed_json",
    ],
    ["another type", "POST", "/v1/catalogs/acme/query", [], 422, "invalid_request"],
    [
      "a field of the wrong type",
      "POST",
      "/v1/catalogs/acme/query",
      { query: 1 },
      422,
      "invalid_request",
    ],
    [
      "an unknown field",
      "POST",
      "/v1/catalogs/acme/query",
      { query: "x", kk: 1 },
      422,
      "invalid_request",
    ],
    ["k of 0", "POST", "/v1/catalogs/acme/query", { query: "x", k: 0 }, 422, "invalid_request"],
    ["k of 201", "POST", "/v1/catalogs/acme/query", { query: "x", k: 201 }, 422, "invalid_request"],
    [
      "half a policy",
      "POST",
      "/v1/catalogs/acme/query",
      { query: "x", policy: { max_effect: "none" } },
      422,
      "invalid_request",
    ],
    ["an empty query", "POST", "/v1/catalogs/acme/query", { query: "" }, 422, "invalid_query"],
    [
      "a query of blanks",
      "POST",
      "/v1/catalogs/acme/query",
      { query: " \n\t" },
      422,
      "invalid_query",
    ],
    [
      "a query of 1 MB",
      "POST",
      "/v1/catalogs/acme/query",
      { query: "a".repeat(1_000_000) },
      422,
      "invalid_query",
    ],
    [
      "a body over the limit",
      "POST",
      "/v1/catalogs/acme/query",
      { query: "a".repeat(2_100_000) },
      413,
      "body_too_large",
    ],
    [
      "an unknown catalog",
      "POST",
      "/v1/catalogs/none/query",
      { query: "x" },
      404,
      "unknown_catalog",
    ],
    [
      "an unknown phase",
      "POST",
      "/v1/catalogs/acme/query",
      { query: "x", phase: "none" },
      404,
      "unknown_phase",
    ],
    ["an unknown tool", "GET", "/v1/catalogs/acme/tools/none", undefined, 404, "unknown_tool"],
    ["an unknown route", "GET", "/v2", undefined, 404, "unknown_route"],
    ["an unknown trace", "GET", "/v1/traces/none", undefined, 404, "unknown_trace"],
    ["another method", "PUT", "/v1/catalogs/acme/query", {}, 405, "method_not_allowed"],
    [
      "a catalog's name with a slash in it",
      "PUT",
      "/v1/catalogs/a%2Fb/tools",
      [tool({ name: "a" })],
      422,
      "invalid_request",
    ],
    ["an object where a list is due", "PUT", "/v1/catalogs/acme/tools", {}, 422, "invalid_request"],
  ])("%s", async (_, method, path, body, status, code) => {
    const answer = await running.request(method, path, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({
      type: `/docs/errors#${code}`,
      title: expect.any(String),
      status,
      detail: expect.any(String),
      errors: expect.any(Array),
    });
  });

  it("points at every wrong value", async () => {
    const { body } = await ask({
      query: 1,
      k: "x",
      policy: { allowed_families: "ci", max_effect: "all", allow_open_world: 1 },
    });
    const pointers = body.errors.map(({ pointer }: Json) => pointer);
    expect(pointers).toEqual(
      expect.arrayContaining([
        "/query",
        "/k",
        "/policy/allowed_families",
        "/policy/max_effect",
        "/policy/allow_open_world",
      ]),
    );
  });

  it("lists the known names", async () => {
    expect((await ask({ query: "x", phase: "verifi" })).body.known).toEqual([
      "discover",
      "modify",
      "verify",
      "release",
      "diagnose",
      "any",
    ]);
    expect(
      (await running.request("GET", "/v1/catalogs/acme/tools/failed_checks")).body.known[0],
    ).toBe("list_failed_checks");
    expect(
      (await running.request("POST", "/v1/catalogs/acne/query", { query: "x" })).body.known,
    ).toEqual(["acme"]);
  });

  it("refuses a media type that it does not read", async () => {
    const { status, body } = await ask("<x/>", { "content-type": "application/xml" });
    expect([status, body.code]).toEqual([415, "unsupported_media_type"]);
  });
});

describe("strange queries get a right answer", () => {
  it.each([
    ["NUL bytes", "read\0 a\0 file"],
    ["lone surrogates", "read \ud800 a file \udfff"],
    ["10,000 words", "read a file ".repeat(3_333)],
    ["nothing but emoji", "🙂🙃🙂"],
    ["nothing but stop words", "the of and to"],
    ["nothing but punctuation", "?!,;"],
    ["a property of every object", "__proto__ constructor toString hasOwnProperty"],
    ["text from right to left", "\u202eelif a daer"],
    ["a separator storm", "_-./:".repeat(4_000)],
  ])("%s", async (_, text) => {
    const startedAt = performance.now();
    const { status, body } = await ask({ query: text });
    expect(status).toBe(200);
    // What ranks, or nothing where nothing is above the floor; the controls always.
    const retrieved = body.decision === "none" ? 0 : 2;
    expect(body.funnel).toEqual({ registry: 2, eligible: 2, retrieved, visible: retrieved + 3 });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it("facts named like properties of every object are facts", async () => {
    expect((await ask('{"query":"x","facts":{"__proto__":{"a":1},"constructor":1}}')).status).toBe(
      200,
    );
  });
});

describe("operations", () => {
  it("tell health, readiness and metrics", async () => {
    expect((await running.request("GET", "/healthz")).status).toBe(200);
    expect((await running.request("GET", "/readyz")).status).toBe(200);
    const { body } = await running.request("GET", "/metrics");
    expect(body).toContain('shortlist_catalog_tools{catalog="acme"} 2');
    expect(body).toContain("shortlist_query_stage_seconds_bucket");
  });

  it("describe every route, by references that lead somewhere", async () => {
    const { body } = await running.request("GET", "/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining([
        "/v1/catalogs/{catalog}/query",
        "/v1/jobs/{job}/events",
        "/v1/bench",
      ]),
    );
    const references = JSON.stringify(body).match(/#\/components\/schemas\/\w+/g) ?? [];
    for (const reference of references)
      expect(body.components.schemas).toHaveProperty(reference.split("/").at(-1)!);
    expect(body.components.schemas).toHaveProperty("ToolSpec");
  });

  it("serve the API browser from here alone", async () => {
    const page = (await running.request("GET", "/docs")).body;
    const addresses = Array.from(
      page.matchAll(/(?:src|href)="([^"]+)"/g),
      (match) => (match as RegExpMatchArray)[1]!,
    );
    expect(addresses).toHaveLength(3);
    for (const address of addresses) {
      expect(address.startsWith("/docs/")).toBe(true);
      expect((await running.request("GET", address)).status).toBe(200);
    }
  });

  it("document every error, and no other", async () => {
    const documented = Array.from(
      readFileSync("docs/errors.md", "utf8").matchAll(
        /^\| `(\w+)` \| (\d+) \| (.*?) \| (.*?) \|$/gm,
      ),
      ([, code, status, title, remedy]) => [code, { status: Number(status), title, remedy }],
    );
    expect(Object.fromEntries(documented)).toEqual(ERRORS);
    const page = (await running.request("GET", "/docs/errors")).body;
    for (const code of Object.keys(ERRORS)) expect(page).toContain(`id="${code}"`);
  });
});
