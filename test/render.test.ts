import { describe, expect, it } from "vitest";
import { render } from "../src/render.ts";
import { tool } from "./tool-factory.ts";

const lookup = tool({
  name: "lookup_symbol",
  purpose: "Finds where a symbol is defined.",
  use_when: ["the symbol's name is known"],
  avoid_when: ["only words of the code are known: use search_code."],
  input_schema: {
    type: "object",
    properties: { symbol: { type: "string" } },
    required: ["symbol"],
  },
  output_schema: { type: "object", properties: { path: { type: "string" } } },
});
const DESCRIPTION =
  "Finds where a symbol is defined. Use when: the symbol's name is known. Avoid when: only words of the code are known: use search_code.";

describe("a tool in a provider's format", () => {
  it("openai", () => {
    expect(render(lookup, "openai")).toEqual({
      type: "function",
      function: {
        name: "lookup_symbol",
        description: DESCRIPTION,
        parameters: lookup.input_schema,
      },
    });
  });

  it("anthropic", () => {
    expect(render(lookup, "anthropic")).toEqual({
      name: "lookup_symbol",
      description: DESCRIPTION,
      input_schema: lookup.input_schema,
    });
  });

  it("mcp", () => {
    expect(render(lookup, "mcp")).toEqual({
      name: "lookup_symbol",
      description: DESCRIPTION,
      inputSchema: lookup.input_schema,
      outputSchema: lookup.output_schema,
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    });
    const wild = tool({
      name: "x",
      effect: "destructive",
      idempotent: false,
      open_world: true,
      output_schema: { type: "array" },
    });
    expect(render(wild, "mcp")).toMatchObject({
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
    });
    expect(render(wild, "mcp")).not.toHaveProperty("outputSchema");
  });

  it("toolspec is the tool as it is", () => expect(render(lookup, "toolspec")).toEqual(lookup));

  it("keeps a description within 1,024 characters, and the contrast in it", () => {
    const long = { ...lookup, purpose: "Long. ".repeat(600) };
    const { description } = render(long, "anthropic") as { description: string };
    expect(description).toHaveLength(1_024);
    expect(
      description.endsWith("Avoid when: only words of the code are known: use search_code."),
    ).toBe(true);
  });

  it("lays composition at the root flat, which the model providers refuse", () => {
    const composed = tool({
      name: "x",
      input_schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { a: { type: "string" } },
        oneOf: [
          { properties: { b: { type: "number" } } },
          { properties: { c: { type: "number" } } },
        ],
        required: ["a"],
      },
    });
    expect(render(composed, "anthropic")["input_schema"]).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number" }, c: { type: "number" } },
      required: ["a"],
    });
    expect(render(composed, "mcp")["inputSchema"]).toEqual(composed.input_schema);
  });
});
