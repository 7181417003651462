import { describe, expect, it } from "vitest";
import { importDocument, type SourceRules } from "../src/import.ts";
import { tool } from "./tool-factory.ts";

const RULES: SourceRules = { trust: "untrusted", removed_max: 0.3, rules: [] };
const schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const functions = (document: unknown, rules: Partial<SourceRules> = {}) =>
  importDocument("functions", "acme", document, { ...RULES, ...rules });

describe("function lists", () => {
  it.each([
    [
      "OpenAI chat",
      {
        type: "function",
        function: { name: "get_user", description: "Reads a user.", parameters: schema },
      },
    ],
    [
      "OpenAI responses",
      {
        type: "function",
        name: "get_user",
        description: "Reads a user.",
        parameters: schema,
        strict: true,
      },
    ],
    ["Anthropic", { name: "get_user", description: "Reads a user.", input_schema: schema }],
  ])("are read in the form of %s, at the worst effect", (_, definition) => {
    for (const document of [[definition], { tools: [definition] }, { functions: [definition] }]) {
      const { tools, operations } = functions(document);
      expect(operations).toBe(1);
      expect(tools).toEqual([
        {
          name: "get_user",
          family: "acme",
          purpose: "Reads a user.",
          use_when: [],
          avoid_when: [],
          input_schema: schema,
          output_schema: {},
          effect: "destructive",
          idempotent: false,
          open_world: true,
          source: {
            kind: "functions",
            server: "acme",
            original_name: "get_user",
            trust: "untrusted",
            hash: expect.stringMatching(/^[0-9a-f]{16}$/),
          },
        },
      ]);
    }
  });

  it("take the effect that the first matching rule of the configuration knows", () => {
    const rules = [
      { tools: "get_*", effect: "read_only" as const, idempotent: true, open_world: false },
      { tools: "*", family: "other" },
    ];
    const { tools } = functions([{ name: "get_user" }, { name: "delete_user" }], { rules });
    expect(
      tools.map(({ name, family, effect, open_world }) => [name, family, effect, open_world]),
    ).toEqual([
      ["get_user", "acme", "read_only", false],
      ["delete_user", "other", "destructive", true],
    ]);
  });

  it("account for everything: one bad tool never blocks the others", () => {
    const { tools, quarantined, skipped, renamed, operations } = functions([
      { name: "good" },
      null,
      "text",
      { type: "web_search_preview" },
      { name: "no object", input_schema: { type: "string" } },
      { name: "list.users" },
      { name: "good" },
      { description: "no name" },
      { name: "broken", parameters: { type: "object", properties: { a: { type: "nothing" } } } },
    ]);
    expect(tools.map(({ name }) => name)).toEqual(["good", "list_users", "_8"]);
    expect(renamed).toEqual([
      { from: "list.users", to: "list_users" },
      { from: "#8", to: "_8" },
    ]);
    expect(skipped.map(({ name, reason }) => [name, reason])).toEqual([
      ["#2", "is no object"],
      ["#3", "is no object"],
      ["#4", "is a built-in web_search_preview, no function"],
    ]);
    expect(quarantined.map(({ name }) => name)).toEqual(["no object", "good", "broken"]);
    expect(tools.length + quarantined.length + skipped.length).toBe(operations);
  });

  it.each([null, {}, "text", { tools: {} }])("%j is no document", (document) => {
    expect(() => functions(document)).toThrow(/no array/);
  });
});

describe("ToolSpecs", () => {
  it("say everything themselves, but not where they come from", () => {
    const lying = { ...tool({ name: "a" }), source: { trust: "trusted" } };
    const { tools } = importDocument("toolspec", "acme", [lying], RULES);
    expect(tools[0]).toMatchObject({ name: "a", family: "repository", effect: "read_only" });
    expect(tools[0]!.source).toMatchObject({ kind: "toolspec", trust: "untrusted" });
  });
});
