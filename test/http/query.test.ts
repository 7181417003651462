import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EFFECTS } from "../../src/tool.ts";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";

const CONTROLS = ["ask_user", "wait_for_event", "no_applicable_tool"];
const TOOLS = [
  tool({
    name: "list_failed_checks",
    family: "ci",
    purpose: "Lists the checks that failed on a branch.",
  }),
  tool({
    name: "rerun_check",
    family: "ci",
    effect: "mutating",
    purpose: "Runs one check of a branch again.",
  }),
  tool({ name: "read_file", purpose: "Reads a file of the repository at a commit." }),
  tool({
    name: "write_file",
    effect: "mutating",
    purpose: "Writes a file of the repository on a branch.",
  }),
  tool({
    name: "delete_branch",
    effect: "destructive",
    purpose: "Deletes a branch of the repository.",
  }),
  tool({
    name: "roll_back_release",
    family: "deploy",
    effect: "destructive",
    open_world: true,
    purpose: "Returns production to the release before.",
  }),
  tool({
    name: "search_web",
    family: "web",
    open_world: true,
    purpose: "Searches the public web.",
  }),
  tool({ name: "list", family: "lists", purpose: "Shows shopping lists." }),
  tool({
    name: "close_incident",
    family: "incidents",
    effect: "mutating",
    purpose: "Closes the open incident.",
    precondition: {
      type: "object",
      properties: { incident_open: { const: true } },
      required: ["incident_open"],
    },
  }),
];

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("acme", TOOLS);
});
afterAll(() => running.close());

const query = async (body: Json) =>
  (await running.request("POST", "/v1/catalogs/acme/query", body)).body;
const names = (answer: Json) => answer.tools.map((found: Json) => found.name);

describe("POST /v1/catalogs/{c}/query", () => {
  it("answers with the wire's names", async () => {
    const { status, body } = await running.request("POST", "/v1/catalogs/acme/query", {
      query: "which checks broke on my branch?",
      phase: "diagnose",
      k: 2,
    });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual([
      "trace_id",
      "catalog",
      "revision",
      "decision",
      "decision_reason",
      "effective_policy",
      "config_hash",
      "funnel",
      "tools",
    ]);
    expect(body).toMatchObject({
      catalog: "acme",
      revision: 1,
      decision: "choose",
      effective_policy: {
        allowed_families: ["repository", "ci", "deploy", "incidents", "observability"],
        max_effect: "read_only",
        allow_open_world: false,
      },
      funnel: { registry: 9, eligible: 2, retrieved: 2, visible: 5 },
    });
    expect(body.tools[0]).toEqual({
      name: "list_failed_checks",
      control: false,
      family: "ci",
      effect: "read_only",
      open_world: false,
      score: expect.any(Number),
    });
    expect(body.tools.slice(2)).toEqual(
      CONTROLS.map((name) => ({
        name,
        control: true,
        family: "control",
        effect: "none",
        open_world: false,
        score: null,
      })),
    );
  });

  it("uses the default phase where neither phase nor policy is given", async () => {
    expect((await query({ query: "anything" })).effective_policy).toEqual({
      allowed_families: ["*"],
      max_effect: "destructive",
      allow_open_world: true,
    });
  });

  it("takes an inline policy in place of a phase, and their intersection where both are given", async () => {
    const policy = {
      allowed_families: ["ci", "web"],
      max_effect: "destructive",
      allow_open_world: true,
    };
    expect(names(await query({ query: "check", policy }))).toEqual(
      expect.arrayContaining(["list_failed_checks", "rerun_check", "search_web"]),
    );
    expect(names(await query({ query: "check", policy, phase: "verify" }))).toEqual([
      "list_failed_checks",
      ...CONTROLS,
    ]);
  });

  it("says what decision remains", async () => {
    const only = (families: string[], max_effect = "read_only") => ({
      allowed_families: families,
      max_effect,
      allow_open_world: false,
    });
    expect(await query({ query: "x", policy: only([]) })).toMatchObject({
      decision: "none",
      funnel: { eligible: 0, visible: 3 },
    });
    expect(await query({ query: "x", policy: only(["ci"]) })).toMatchObject({
      decision: "sole",
      funnel: { eligible: 1, visible: 4 },
    });
    expect(await query({ query: "x", policy: only(["ci"], "mutating") })).toMatchObject({
      decision: "choose",
    });
  });

  it("hides a tool whose precondition the facts do not meet, and one whose facts are left out", async () => {
    const asked = { query: "close the incident", k: 200 };
    expect(names(await query({ ...asked, facts: { incident_open: true } }))[0]).toBe(
      "close_incident",
    );
    expect(names(await query({ ...asked, facts: { incident_open: false } }))).not.toContain(
      "close_incident",
    );
    expect(await query(asked)).toMatchObject({ funnel: { registry: 9, eligible: 8 } });
  });

  it("ranks an exact name first, also behind a namespace; a common word is no name", async () => {
    expect(
      names(await query({ query: "use write_file for the weather report on the public web" }))[0],
    ).toBe("write_file");
    expect(names(await query({ query: "mcp__repo__delete_branch" }))[0]).toBe("delete_branch");
    expect(names(await query({ query: "list" }))[0]).toBe("list");
    expect(names(await query({ query: "list the checks that failed on this branch" }))[0]).toBe(
      "list_failed_checks",
    );
  });

  it.each(["toolspec", "openai", "anthropic", "mcp"])(
    "renders the visible set as %s, in its order",
    async (format) => {
      const answer = await query({ query: "read a file", format });
      const rendered = answer.definitions.map(
        (definition: Json) => definition.name ?? definition.function.name,
      );
      expect(rendered).toEqual(names(answer));
    },
  );

  it("adds the trace on request, and keeps it", async () => {
    const answer = await query({ query: "which checks failed", explain: true, k: 3 });
    expect(answer.trace.plan).toBe("exact");
    expect(answer.trace.tools[0]).toMatchObject({
      name: "list_failed_checks",
      dense: { rank: 1, view: "primary" },
      lexical: { rank: 1 },
    });
    const { body } = await running.request("GET", `/v1/traces/${answer.trace_id}`);
    expect(body).toMatchObject({ trace_id: answer.trace_id, trace: { tools: answer.trace.tools } });
  });

  it("pins a revision", async () => {
    expect((await query({ query: "x", revision: 1 })).revision).toBe(1);
    expect(
      (await running.request("POST", "/v1/catalogs/acme/query", { query: "x", revision: 99 })).body
        .code,
    ).toBe("unknown_revision");
  });
});

describe("the invariants hold over HTTP", () => {
  const policies = fc.record({
    allowed_families: fc.oneof(
      fc.constant<string[]>(["*"]),
      fc.subarray(["ci", "repository", "deploy", "web", "lists", "incidents"]),
    ),
    max_effect: fc.constantFrom(...EFFECTS),
    allow_open_world: fc.boolean(),
  });

  it("1, 2, 5: controls always, nothing outside the policy, the same answer again", async () => {
    await fc.assert(
      fc.asyncProperty(
        policies,
        fc.string({ minLength: 1, unit: "grapheme" }),
        fc.integer({ min: 1, max: 200 }),
        async (policy, text, k) => {
          const asked = { query: `${text}?`, policy, k };
          const answer = await query(asked);
          const ordinary = answer.tools.filter(({ control }: Json) => !control);
          expect(answer.tools.slice(ordinary.length).map(({ name }: Json) => name)).toEqual(
            CONTROLS,
          );
          for (const { family, effect, open_world } of ordinary) {
            expect(
              policy.allowed_families.includes("*") || policy.allowed_families.includes(family),
            ).toBe(true);
            expect(EFFECTS.indexOf(effect)).toBeLessThanOrEqual(EFFECTS.indexOf(policy.max_effect));
            expect(!open_world || policy.allow_open_world).toBe(true);
          }
          expect(ordinary.length).toBe(Math.min(k, answer.funnel.eligible));
          expect((await query(asked)).tools).toEqual(answer.tools);
        },
      ),
      { numRuns: 60 },
    );
  });
});

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
    await narrow.put("acme", TOOLS);
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
    expect(body.trace.hidden).toEqual({ family: 0, effect: 0, open_world: 0, precondition: 0 });
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
