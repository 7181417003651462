import { describe, expect, it } from "vitest";
import { compileSchema, validateTool } from "../src/tool.ts";
import { tool } from "./tool-factory.ts";

const faultsOf = (over: Record<string, unknown>) =>
  validateTool({ ...tool({ name: "a" }), ...over });
const pointersOf = (over: Record<string, unknown>) => faultsOf(over).map(({ pointer }) => pointer);

describe("a ToolSpec", () => {
  it("is valid as the design gives it", () => {
    expect(validateTool(tool({ name: "list_failed_checks" }))).toEqual([]);
  });

  it("names every fault with its JSON pointer", () => {
    expect(
      pointersOf({ name: "no spaces", effect: "harmless", open_world: "yes", extra: 1 }),
    ).toEqual(expect.arrayContaining(["/name", "/effect", "/open_world", "/extra"]));
    expect(validateTool({}).map(({ pointer }) => pointer)).toContain("/input_schema");
  });

  it.each([null, 1, "x", [], true])("is not %j", (value) => {
    expect(validateTool(value)).not.toEqual([]);
  });

  it("has an input schema with an object root", () => {
    expect(pointersOf({ input_schema: { type: "string" } })).toContain("/input_schema/type");
    expect(
      pointersOf({ input_schema: { $ref: "#/$defs/x", $defs: { x: { type: "object" } } } }),
    ).toContain("/input_schema/type");
  });
});

describe("a tool's own schemas", () => {
  it.each([
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
  ])("are checked against the metaschema of %s", ($schema) => {
    expect(
      faultsOf({
        input_schema: { $schema, type: "object", properties: { a: { type: "string" } } },
      }),
    ).toEqual([]);
    expect(
      pointersOf({
        input_schema: { $schema, type: "object", properties: { a: { type: "strin" } } },
      }),
    ).toContain("/input_schema/properties/a/type");
  });

  it("follow the dialect they name: a list of items is draft-07, not 2020-12", () => {
    const list = {
      type: "object",
      properties: { a: { type: "array", items: [{ type: "string" }] } },
    };
    expect(
      faultsOf({ input_schema: { $schema: "http://json-schema.org/draft-07/schema#", ...list } }),
    ).toEqual([]);
    expect(faultsOf({ input_schema: list })).not.toEqual([]);
  });

  it("of an unknown dialect are refused", () => {
    expect(
      pointersOf({ input_schema: { $schema: "http://example.com/s", type: "object" } }),
    ).toEqual(["/input_schema/$schema"]);
  });

  it("refer to nothing outside themselves, and to nothing that is not there", () => {
    expect(pointersOf({ output_schema: { $ref: "https://example.com/s.json" } })).toEqual([
      "/output_schema/$ref",
    ]);
    expect(pointersOf({ output_schema: { $ref: "#/$defs/missing" } })).toEqual([
      "/output_schema/$ref",
    ]);
    expect(
      faultsOf({
        output_schema: {
          $ref: "#/$defs/node",
          $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
        },
      }),
    ).toEqual([]);
  });

  it("may describe a property named $ref, and hold one as data", () => {
    expect(
      faultsOf({
        input_schema: {
          type: "object",
          properties: { $ref: { type: "string" } },
          default: { $ref: "x" },
        },
      }),
    ).toEqual([]);
  });

  it("nested 10,000 deep are refused without exhausting the stack", () => {
    let schema: Record<string, unknown> = { type: "object" };
    for (let i = 0; i < 10_000; i++) schema = { type: "object", properties: { a: schema } };
    expect(faultsOf({ input_schema: schema })).toEqual([
      { pointer: "/input_schema", message: "nested deeper than 64 levels" },
    ]);
  });

  it("with one $id in two tools compile side by side", () => {
    const one = compileSchema({
      $id: "same",
      type: "object",
      properties: { a: { type: "string" } },
    });
    const two = compileSchema({
      $id: "same",
      type: "object",
      properties: { a: { type: "number" } },
    });
    expect(one({ a: "x" })).toEqual([]);
    expect(two({ a: "x" })).toEqual([{ pointer: "/a", message: "must be number" }]);
  });
});
