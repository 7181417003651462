import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EFFECTS } from "../../src/tool.ts";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { ACME } from "./acme.ts";

const CONTROLS = ["ask_user", "wait_for_event", "no_applicable_tool"];

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("acme", ACME);
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
      probability: expect.any(Number),
    });
    expect(body.tools.slice(2)).toEqual(
      CONTROLS.map((name) => ({
        name,
        control: true,
        family: "control",
        effect: "none",
        open_world: false,
        score: null,
        probability: null,
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
    expect(await query({ query: "run the check", policy: only(["ci"], "mutating") })).toMatchObject(
      {
        decision: "choose",
      },
    );
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

  it("serves each of several asks, and says so where they are more than it takes", async () => {
    const policy = { allowed_families: ["*"], max_effect: "destructive", allow_open_world: true };
    const two = await query({
      query: "which checks failed? and then search the web for the error",
      k: 2,
      policy,
      explain: true,
    });
    expect(names(two).slice(0, 2).toSorted()).toEqual(["list_failed_checks", "search_web"]);
    expect(two.intents).toEqual({ found: 2, used: 2 });
    expect(two.trace.parts).toEqual(["which checks failed?", "search the web for the error"]);
    const many = await query({
      query: Array.from({ length: 200 }, (_, i) => `Read file number ${i}.`).join(" "),
    });
    expect(many.intents).toEqual({ found: 200, used: 8 });
    expect(await query({ query: "read a file" })).not.toHaveProperty("intents");
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
          const shown = answer.decision === "none" ? 0 : Math.min(k, answer.funnel.eligible);
          expect(ordinary.length).toBe(shown);
          expect((await query(asked)).tools).toEqual(answer.tools);
        },
      ),
      { numRuns: 60 },
    );
  });
});
