import { existsSync, readdirSync, readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { FORMATS, render, tokensIn } from "../../src/render.ts";
import type { ToolSpec } from "../../src/tool.ts";

const SUITES = "../shared/suites";
const example = JSON.parse(readFileSync("data/registry.json", "utf8")) as ToolSpec[];
const registries: [string, ToolSpec[]][] = [
  ["the example", example],
  ...(existsSync(SUITES) ? readdirSync(SUITES) : []).flatMap((suite): [string, ToolSpec[]][] => {
    const path = `${SUITES}/${suite}/registry.ndjson`;
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    return [[suite, lines.slice(0, 200).map((line) => JSON.parse(line) as ToolSpec)]];
  }),
];

describe("the estimate of tokens is within 10 % of a real tokenizer's count", () => {
  it.each(registries)("%s", (_, tools) => {
    for (const format of FORMATS) {
      const texts = tools.map((tool) => JSON.stringify(render(tool, format)));
      const real = texts.reduce((sum, text) => sum + encode(text).length, 0);
      const estimate = texts.reduce((sum, text) => sum + tokensIn(text), 0);
      expect(estimate / real, format).toBeGreaterThan(0.9);
      expect(estimate / real, format).toBeLessThan(1.1);
    }
  });

  it("is 0 for nothing, and any text has one in reasonable time", () => {
    expect(tokensIn("")).toBe(0);
    const startedAt = performance.now();
    for (const storm of ["{", " ", "a", "1", "é", "🙂", "\n", '":{'])
      expect(tokensIn(storm.repeat(100_000))).toBeGreaterThan(0);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});
