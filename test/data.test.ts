import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../src/config.ts";
import { hiddenBy, preconditionMet } from "../src/exposure.ts";
import { checkSuite, type RoutingCase } from "../src/routing.ts";
import { compileSchema, type ToolSpec, validateTool } from "../src/tool.ts";
import { type Json, type RunningService, runService } from "./running-service.ts";

const tools = JSON.parse(readFileSync("data/registry.json", "utf8")) as ToolSpec[];
const cases = JSON.parse(readFileSync("data/cases.json", "utf8")) as RoutingCase[];
const config = loadConfig("shortlist.config.json");
const controls = new Set(config.controls.map(({ name }) => name));
const byName = new Map(tools.map((tool) => [tool.name, tool]));

const isVisible = (tool: ToolSpec, { phase, policy, facts = {} }: RoutingCase) =>
  [config.phases.get(phase ?? config.default_phase)!, ...(policy ? [policy] : [])].every(
    (rule) => !hiddenBy(rule, tool),
  ) &&
  (!tool.precondition || preconditionMet(tool.precondition, facts));

describe("the example registry", () => {
  it("has at least 300 tools of fourteen families, all valid, their schemas compile", () => {
    expect(tools.length).toBeGreaterThanOrEqual(300);
    expect(new Set(tools.map(({ family }) => family))).toEqual(
      new Set(
        "repository ci deploy incidents observability tickets docs chat calendar crm billing hr warehouse web".split(
          " ",
        ),
      ),
    );
    for (const tool of tools) {
      expect(validateTool(tool), tool.name).toEqual([]);
      for (const schema of [tool.input_schema, tool.output_schema, tool.precondition ?? {}])
        compileSchema(schema);
    }
    expect(byName.size).toBe(tools.length);
  });

  it("says of every tool when to use it and when another one", () => {
    for (const tool of tools) {
      expect(tool.use_when.length, tool.name).toBeGreaterThan(0);
      expect(tool.avoid_when.length, tool.name).toBeGreaterThan(0);
    }
  });

  it("names in avoid_when only tools that exist", () => {
    const named = tools.flatMap(({ name, avoid_when }) =>
      avoid_when.flatMap((text) =>
        Array.from(
          text.matchAll(/use ([a-z0-9]+(?:_[a-z0-9]+)+)/g),
          ([, other]) => [name, other!] as const,
        ),
      ),
    );
    expect(named.filter(([, other]) => !byName.has(other) && !controls.has(other))).toEqual([]);
    expect(named.length).toBeGreaterThan(300);
  });

  it("does not call what reads idempotent by half", () => {
    expect(
      tools
        .filter(({ effect, idempotent }) => effect === "read_only" && !idempotent)
        .map(({ name }) => name),
    ).toEqual([]);
  });
});

describe("the labelled cases", () => {
  it("are at least 400, valid, of every kind and language", () => {
    expect(checkSuite(cases, config.phases).length).toBeGreaterThanOrEqual(400);
    const count = (tag: string) => cases.filter(({ tags }) => tags?.includes(tag)).length;
    for (const tag of [
      "plain",
      "several_plausible",
      "several_acceptable",
      "two_intents",
      "missing_information",
      "waiting",
      "no_tool",
      "hidden_in_phase",
      "forbidden_obvious",
      "language",
    ]) {
      expect(count(tag), tag).toBeGreaterThanOrEqual(10);
    }
    for (const lang of ["de", "zh", "es", "ru"])
      expect(cases.filter((item) => item.lang === lang).length, lang).toBeGreaterThanOrEqual(20);
  });

  it("name tools that exist; what is acceptable is visible in the phase, and what is hidden is hidden", () => {
    const wrong = cases.flatMap((item) => {
      const names = [...item.acceptable, ...(item.forbidden ?? [])].filter(
        (name) => !controls.has(name),
      );
      const unknown = names
        .filter((name) => !byName.has(name))
        .map((name) => `${item.task_id}: unknown ${name}`);
      const shouldHide = item.tags?.includes("hidden_in_phase") ?? false;
      const misplaced = names
        .flatMap((name) => byName.get(name) ?? [])
        .filter((tool) => isVisible(tool, item) === shouldHide)
        .map(({ name }) => `${item.task_id}: ${name} is ${shouldHide ? "visible" : "hidden"}`);
      return [...unknown, ...misplaced];
    });
    expect(wrong).toEqual([]);
  });

  it("repeat neither a tool's name nor its purpose", () => {
    const leaks = cases.filter(({ goal, acceptable }) =>
      acceptable.some((name) => {
        const tool = byName.get(name);
        return (
          tool &&
          (goal.toLowerCase().includes(name) ||
            goal.toLowerCase().includes(name.replaceAll("_", " ")) ||
            goal.includes(tool.purpose))
        );
      }),
    );
    expect(leaks.map(({ task_id }) => task_id)).toEqual([]);
  });
});

describe("the bench over them", () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await runService();
    await running.put("example", tools);
    await running.request("PUT", "/v1/suites/example", cases);
  });
  afterAll(() => running.close());

  const bench = async (body: Json) => {
    const { body: answer } = await running.request("POST", "/v1/bench", {
      catalog: "example",
      suite: "example",
      ...body,
    });
    expect(await running.ended(answer.job)).toMatchObject({ state: "succeeded" });
    return (await running.request("GET", `/v1/bench/${answer.job.id}`)).body;
  };

  it("keyword search alone finds too little: under 0.75 recall@5", async () => {
    const { by_k } = await bench({ k: [5], arms: "lexical" });
    expect(by_k["5"].tool_recall).toBeLessThan(0.75);
  });

  it("attributes every failure to its stage, and recall grows with k", async () => {
    const result = await bench({});
    expect(result).toMatchObject({ cases: cases.length, coverage: 1, exposure_recall: 1 });
    expect(Object.keys(result.by_k)).toEqual(["5", "10", "20", "40"]);
    const recalls = Object.values(result.by_k).map((rates: Json) => rates.ordinary.tool_recall);
    expect(recalls).toEqual(recalls.toSorted((a, b) => a - b));
    expect(result.by_k["10"].failure_profile.coverage).toBe(0);
    expect(result.by_k["10"].latency_ms.p50).toBeGreaterThan(0);
    // A floor under what is measured, so that a broken arm is seen: see docs/benchmarks.md for the figure.
    const english = await bench({
      suite: undefined,
      cases: cases.filter(({ lang }) => lang === "en"),
      k: [10],
    });
    expect(english.by_k["10"].ordinary.tool_recall).toBeGreaterThan(0.8);
  });

  it("refuses an empty suite, an unknown one, and both at once", async () => {
    const code = async (body: Json) =>
      (await running.request("POST", "/v1/bench", { catalog: "example", ...body })).body.code;
    expect(await code({ cases: [] })).toBe("empty_suite");
    expect(await code({ suite: "none" })).toBe("unknown_suite");
    expect(await code({ suite: "example", cases: [] })).toBe("invalid_request");
    expect(await code({})).toBe("invalid_request");
    expect((await running.request("PUT", "/v1/suites/x", [])).body.code).toBe("empty_suite");
    expect((await running.request("PUT", "/v1/suites/x", [{ task_id: "1" }])).body.code).toBe(
      "invalid_suite",
    );
    expect((await running.request("GET", "/v1/bench/none")).body.code).toBe("unknown_bench");
  });

  it("keeps suites until they are deleted", async () => {
    expect((await running.request("GET", "/v1/suites")).body.suites).toEqual([
      { name: "example", cases: cases.length },
    ]);
    expect((await running.request("GET", "/v1/suites/example")).body.cases).toHaveLength(
      cases.length,
    );
    await running.request("PUT", "/v1/suites/gone", cases.slice(0, 1));
    expect((await running.request("DELETE", "/v1/suites/gone")).status).toBe(204);
    expect((await running.request("GET", "/v1/suites/gone")).status).toBe(404);
  });
});
