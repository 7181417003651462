import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "../src/config.ts";
import type { ShortlistError } from "../src/errors.ts";
import type { Json } from "./running-service.ts";

const folder = mkdtempSync(join(tmpdir(), "shortlist-config-"));
afterAll(() => rmSync(folder, { recursive: true }));
const shipped: Json = JSON.parse(readFileSync("shortlist.config.json", "utf8"));

/** The shipped file with one thing changed. */
function changed(change: (file: Json) => void): string {
  const file = structuredClone(shipped);
  change(file);
  const path = join(folder, "config.json");
  writeFileSync(path, JSON.stringify(file));
  return path;
}
function pointersOf(change: (file: Json) => void): string[] {
  try {
    loadConfig(changed(change));
  } catch (error) {
    expect((error as ShortlistError).code).toBe("invalid_config");
    return (error as ShortlistError).faults.map(({ pointer }) => pointer);
  }
  return [];
}

describe("the shipped configuration", () => {
  it("has the seed's phases, and `any`", () => {
    const { phases, controls, default_phase } = loadConfig("shortlist.config.json");
    expect(Object.fromEntries(phases)).toMatchObject({
      discover: {
        allowed_families: ["repository"],
        max_effect: "read_only",
        allow_open_world: false,
      },
      modify: { allowed_families: ["repository"], max_effect: "mutating", allow_open_world: false },
      verify: {
        allowed_families: ["repository", "ci"],
        max_effect: "read_only",
        allow_open_world: false,
      },
      release: { allowed_families: ["deploy"], max_effect: "destructive", allow_open_world: true },
      any: { allowed_families: ["*"], max_effect: "destructive", allow_open_world: true },
    });
    expect(controls.map(({ name }) => name)).toEqual([
      "ask_user",
      "wait_for_event",
      "no_applicable_tool",
    ]);
    expect(phases.has(default_phase)).toBe(true);
  });
});

describe("a configuration that is wrong says where", () => {
  it.each<[string, (file: Json) => void, string[]]>([
    ["an unknown field", (file) => (file.phase = {}), ["/phase"]],
    ["a default phase that is none", (file) => (file.default_phase = "none"), ["/default_phase"]],
    [
      "a phase without an effect",
      (file) => delete file.phases.any.max_effect,
      ["/phases/any/max_effect"],
    ],
    [
      "a control of another family",
      (file) => (file.trusted_controls[1].family = "ci"),
      ["/trusted_controls/1"],
    ],
    [
      "a control with an effect",
      (file) => (file.trusted_controls[1].effect = "read_only"),
      ["/trusted_controls/1"],
    ],
    [
      "a control of the open world",
      (file) => (file.trusted_controls[1].open_world = true),
      ["/trusted_controls/1"],
    ],
    [
      "a control that is there twice",
      (file) => (file.trusted_controls[1].name = "ask_user"),
      ["/trusted_controls/1/name"],
    ],
    [
      "a control with a bad schema",
      (file) => (file.trusted_controls[0].input_schema.type = "x"),
      expect.arrayContaining(["/trusted_controls/0/input_schema/type"]) as unknown as string[],
    ],
    ["a limit of 0", (file) => (file.limits.traces_max = 0), ["/limits/traces_max"]],
  ])("%s", (_, change, pointers) => expect(pointersOf(change)).toEqual(pointers));

  it("a file that is no JSON, and one that is not there", () => {
    const path = join(folder, "broken.json");
    writeFileSync(path, "{");
    expect(() => loadConfig(path)).toThrow(/broken.json/);
    expect(() => loadConfig(join(folder, "none.json"))).toThrow(/none.json/);
  });
});

it("the hash tells two configurations apart", () => {
  const one = loadConfig(changed(() => {})).hash;
  expect(loadConfig(changed(() => {})).hash).toBe(one);
  expect(loadConfig(changed((file) => (file.default_phase = "discover"))).hash).not.toBe(one);
});
