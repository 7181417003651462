import { describe, expect, it } from "vitest";
import { namesIn } from "../../src/discovery/exact-name.ts";

describe("names given as identifiers", () => {
  it.each([
    ["list", ["list"]],
    ["please use read_file here", ["read_file"]],
    ["call createIssue, now", ["createIssue"]],
    ["run oauth2 again", ["oauth2"]],
    ['the tool "list" please', ["list"]],
    ["the tool `search`", ["search"]],
    ["mcp__server__search", ["mcp__server__search", "search"]],
    ["github.search and repo/list", ["search", "list"]],
  ])("%j names %j", (query, names) =>
    expect(namesIn(query)).toEqual(expect.arrayContaining(names)),
  );

  it.each([
    "list all the files",
    "can you search for it",
    "Get me the weather.",
    "e.g. this",
    "",
    "…",
  ])("%j names nothing of one word", (query) => {
    expect(
      namesIn(query).filter((name) => ["list", "search", "get", "Get", "weather"].includes(name)),
    ).toEqual([]);
  });

  it("takes a storm of separators in its stride", () => {
    const startedAt = performance.now();
    namesIn("a_b-c.d:e/".repeat(10_000));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
