import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameAll, qualified } from "../../src/import/names.ts";

describe("names of imported tools", () => {
  it("keep what a tool may be called, and turn the rest into underscores", () => {
    expect(nameAll(["get_user", "Get User!", "a.b/c"])).toEqual(["get_user", "Get_User_", "a_b_c"]);
  });

  it("tell apart what is equal after that: foo/list and foo.list, whatever their order", () => {
    const [slash, dot] = nameAll(["foo/list", "foo.list"]);
    expect(slash).toMatch(/^foo_list_[0-9a-f]{8}$/);
    expect(dot).not.toBe(slash);
    expect(nameAll(["foo.list", "foo/list"])).toEqual([dot, slash]);
    expect(nameAll(["foo_list", "foo.list"])).toEqual(["foo_list", dot]);
  });

  it("fit 64 characters, also two of 90 that are equal in their first 64", () => {
    const [a, b] = nameAll([`${"x".repeat(80)}_first_one`, `${"x".repeat(80)}_other_one`]);
    expect([a!.length, b!.length]).toEqual([64, 64]);
    expect(a).not.toBe(b);
  });

  it("are there once: a second thing of the very same name has none", () => {
    expect(nameAll(["a", "b", "a"])).toEqual(["a", "b", undefined]);
  });

  it("are valid and distinct for any originals", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 100 })), (originals) => {
        const names = nameAll(originals).filter((name) => name !== undefined);
        for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(new Set(names).size).toBe(new Set(originals).size);
      }),
    );
  });

  it("stand under their source where another has them", () => {
    expect(qualified("hub.one", "create_issue")).toBe("hub_one__create_issue");
    expect(qualified("hub", "x".repeat(64))).toHaveLength(64);
  });
});
