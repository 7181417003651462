import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";

const LANGUAGES = ["de", "es", "fr", "pt", "ru", "zh", "ja", "ko"];
const { tools, requests } = JSON.parse(readFileSync("data/languages.json", "utf8")) as Record<
  "tools" | "requests",
  Record<string, Record<string, string>>
>;
const english = new Set(
  (JSON.parse(readFileSync("data/registry.json", "utf8")) as Json[]).map(({ name }) => name),
);

let running: RunningService;
beforeAll(async () => {
  running = await runService();
});
afterAll(() => running.close());

it("every tool is one of the example's, with a purpose and a request in every language", () => {
  expect(Object.keys(tools)).toEqual(Object.keys(requests));
  for (const name of Object.keys(tools)) {
    expect(english).toContain(name);
    expect(Object.keys(tools[name]!)).toEqual(LANGUAGES);
    expect(Object.keys(requests[name]!)).toEqual(LANGUAGES);
  }
});

describe("a catalog answers requests in its own language", () => {
  it.each(LANGUAGES)("%s", async (lang) => {
    const names = Object.keys(tools);
    await running.put(
      lang,
      names.map((name, i) =>
        tool({ name: `tool_${i}`, family: "tools", purpose: tools[name]![lang]! }),
      ),
    );
    let first = 0;
    let none = 0;
    for (const [i, name] of names.entries()) {
      const { body } = await running.request("POST", `/v1/catalogs/${lang}/query`, {
        query: requests[name]![lang],
      });
      first += Number(body.tools[0].name === `tool_${i}`);
      none += Number(body.decision === "none");
    }
    expect(first / names.length).toBeGreaterThanOrEqual(0.7);
    expect(none).toBeLessThanOrEqual(1);
  });
});
