import { describe, expect, it } from "vitest";
import { lexicalText, primaryText, viewsOf } from "../../src/discovery.ts";
import { tool } from "../tool-factory.ts";

const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`input${i}Name`, {}]));

describe("the primary view is the text that the model was trained on", () => {
  it("family: name. purpose Inputs: a, b", () => {
    const spec = tool({
      name: "createPullRequest-review",
      family: "github_pull.requests",
      purpose: "Creates  a\nreview. ",
      input_schema: { type: "object", properties: { pullNumber: {}, commit_id: {} } },
    });
    expect(primaryText(spec)).toBe(
      "github pull requests: create Pull Request review. Creates a review. Inputs: pull Number, commit id",
    );
  });

  it("leaves Inputs out where there are none, and stops at 16", () => {
    expect(
      primaryText(
        tool({ name: "a", family: "f", purpose: "P.", input_schema: { type: "object" } }),
      ),
    ).toBe("f: a. P.");
    const many = primaryText(
      tool({ name: "a", input_schema: { type: "object", properties: properties(20) } }),
    );
    expect(many.match(/input\d+ Name/g)).toHaveLength(16);
  });

  it("cuts the purpose at 400 characters on a word boundary", () => {
    const cut = (purpose: string) =>
      primaryText(tool({ name: "a", family: "f", purpose, input_schema: { type: "object" } }))
        .length - "f: a. ".length;
    expect(cut("abcd ".repeat(100).trim())).toBe(399); // 80 words of 5 characters less the last space
    expect(cut(`${"x".repeat(400)} y`)).toBe(400);
    expect(cut("x".repeat(500))).toBe(400);
  });
});

describe("further views", () => {
  it("are each use_when and each example alone, 16 in all", () => {
    const spec = tool({ name: "a", use_when: ["one", "two"], examples: ["three"] });
    expect(viewsOf(spec).slice(1)).toEqual([
      { kind: "use_when", text: "one" },
      { kind: "use_when", text: "two" },
      { kind: "example", text: "three" },
    ]);
    expect(
      viewsOf(tool({ name: "a", use_when: Array.from({ length: 40 }, (_, i) => `case ${i}`) })),
    ).toHaveLength(16);
  });
});

describe("the lexical text", () => {
  it("has the names and the descriptions of inputs, and not what the tool is to be avoided for", () => {
    const spec = tool({
      name: "a_name",
      use_when: ["used"],
      avoid_when: ["avoided"],
      input_schema: {
        type: "object",
        properties: { city: { description: "where" }, odd: true, list: { description: 7 } },
      },
    });
    expect(lexicalText(spec)).toMatch(
      /a_name[\s\S]*used[\s\S]*city[\s\S]*where[\s\S]*odd[\s\S]*list/,
    );
    expect(lexicalText(spec)).not.toContain("avoided");
  });
});
