import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blocksOf,
  compareRows,
  eligibleRanges,
  type ExposurePolicy,
  hiddenBy,
  intersect,
  toolView,
} from "../src/exposure.ts";
import { EFFECTS, type ToolSpec } from "../src/tool.ts";
import { CONTROL_NAMES, CONTROLS, tool } from "./tool-factory.ts";

const FAMILIES = ["repository", "ci", "deploy", "web", "control"];
const policies: fc.Arbitrary<ExposurePolicy> = fc.record({
  allowed_families: fc.oneof(fc.constant<string[]>(["*"]), fc.subarray(FAMILIES)),
  max_effect: fc.constantFrom(...EFFECTS),
  allow_open_world: fc.boolean(),
});
const registries: fc.Arbitrary<ToolSpec[]> = fc
  .array(
    fc.record({
      family: fc.constantFrom(...FAMILIES),
      effect: fc.constantFrom(...EFFECTS),
      open_world: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  .map((rows) => rows.map((row, index) => tool({ name: `tool_${index}`, ...row })));

describe("the seed's phases (seed 000, section 5)", () => {
  const registry = [
    tool({ name: "read_file" }),
    tool({ name: "write_file", effect: "mutating", idempotent: false }),
    tool({ name: "run_tests", family: "ci" }),
    tool({ name: "rollback_release", family: "deploy", effect: "destructive", open_world: true }),
    ...CONTROLS,
  ];
  const names = (policy: ExposurePolicy) =>
    toolView(policy, registry, CONTROL_NAMES).map(({ name }) => name);
  const controls = ["ask_user", "wait_for_event", "no_applicable_tool"];

  it("discover shows what reads the repository", () => {
    expect(
      names({ allowed_families: ["repository"], max_effect: "read_only", allow_open_world: false }),
    ).toEqual(["read_file", ...controls]);
  });
  it("release shows destructive, open-world deployment and nothing else", () => {
    expect(
      names({ allowed_families: ["deploy"], max_effect: "destructive", allow_open_world: true }),
    ).toEqual(["rollback_release", ...controls]);
  });
  it("no family leaves the controls alone", () => {
    expect(
      names({ allowed_families: [], max_effect: "destructive", allow_open_world: true }),
    ).toEqual(controls);
  });
  it("a trusted name on an ordinary tool is an error, never a control", () => {
    const impostor = tool({ name: "ask_user", effect: "destructive" });
    expect(() =>
      toolView(
        { allowed_families: ["*"], max_effect: "none", allow_open_world: false },
        [impostor],
        CONTROL_NAMES,
      ),
    ).toThrow(/ask_user/);
  });
});

describe("invariants", () => {
  it("1: every trusted control is in every view", () => {
    fc.assert(
      fc.property(policies, registries, (policy, registry) => {
        const seen = new Set(
          toolView(policy, [...registry, ...CONTROLS], CONTROL_NAMES).map(({ name }) => name),
        );
        expect([...CONTROL_NAMES].every((name) => seen.has(name))).toBe(true);
      }),
    );
  });

  it("2: no ordinary tool outside the policy is in any view, and 4: the family `control` alone gives nothing", () => {
    fc.assert(
      fc.property(policies, registries, (policy, registry) => {
        for (const seen of toolView(policy, registry, CONTROL_NAMES)) {
          expect(
            policy.allowed_families.includes("*") || policy.allowed_families.includes(seen.family),
          ).toBe(true);
          expect(EFFECTS.indexOf(seen.effect)).toBeLessThanOrEqual(
            EFFECTS.indexOf(policy.max_effect),
          );
          expect(!seen.open_world || policy.allow_open_world).toBe(true);
        }
      }),
    );
  });

  it("the row ranges of a policy hold exactly the tools of its view", () => {
    fc.assert(
      fc.property(policies, registries, (policy, registry) => {
        const rows = registry.toSorted(compareRows);
        const ranges = eligibleRanges(policy, blocksOf(rows));
        const inRanges = ranges.flatMap(({ start, end }) => rows.slice(start, end));
        expect(inRanges.map(({ name }) => name).toSorted()).toEqual(
          toolView(policy, registry)
            .map(({ name }) => name)
            .toSorted(),
        );
        for (let i = 1; i < ranges.length; i++)
          expect(ranges[i]!.start).toBeGreaterThan(ranges[i - 1]!.end);
      }),
    );
  });

  it("an intersection allows a tool exactly where both policies do: a request can narrow, never widen", () => {
    fc.assert(
      fc.property(policies, policies, registries, (a, b, registry) => {
        for (const candidate of registry) {
          const both = hiddenBy(a, candidate) === undefined && hiddenBy(b, candidate) === undefined;
          expect(hiddenBy(intersect(a, b), candidate) === undefined).toBe(both);
        }
      }),
    );
  });
});
