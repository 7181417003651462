import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blocksOf,
  census,
  compareRows,
  EVERYTHING,
  expose,
  factsNamed,
  preconditionMet,
} from "../src/exposure.ts";
import { tool } from "./tool-factory.ts";

const OPEN = { type: "object", properties: { incident_open: { const: true } } };

describe("a precondition", () => {
  it.each([
    [{ incident_open: true }, true],
    [{ incident_open: false }, false],
    [{}, false],
    [{ other: true }, false],
    [{ incident_open: true, other: 1 }, true],
  ])("over %j is met: %j", (facts, met) => expect(preconditionMet(OPEN, facts)).toBe(met));

  it("that names a fact anywhere in its composition needs it", () => {
    const schema = {
      anyOf: [OPEN, { required: ["override"] }],
      not: { properties: { frozen: { const: true } } },
    };
    expect([...factsNamed(schema)].toSorted()).toEqual(["frozen", "incident_open", "override"]);
    expect(preconditionMet(schema, { incident_open: true })).toBe(false);
    expect(preconditionMet(schema, { incident_open: true, override: 1, frozen: false })).toBe(true);
  });

  it("is not met by what an object merely inherits", () => {
    expect(preconditionMet({ properties: { toString: {} } }, {})).toBe(false);
  });

  it("that does not compile is unmet", () => {
    expect(preconditionMet({ properties: { a: { pattern: "(" } } }, { a: "x" })).toBe(false);
  });

  it("hides single rows inside the ranges, for any facts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        (conditional, isOpen) => {
          const tools = conditional
            .map((has, i) =>
              tool({ name: `t${i}`, family: `f${i % 3}`, ...(has && { precondition: OPEN }) }),
            )
            .toSorted(compareRows);
          const rows = {
            tools,
            blocks: blocksOf(tools),
            conditional: tools.flatMap((spec, row) => (spec.precondition ? [row] : [])),
          };
          const { count, excluded } = expose(rows, EVERYTHING, { incident_open: isOpen });
          expect(count).toBe(isOpen ? tools.length : conditional.filter((has) => !has).length);
          expect([...excluded].every((row) => tools[row]!.precondition)).toBe(true);
        },
      ),
    );
  });
});

describe("the census", () => {
  it("counts what each rule hides, and nothing above the ceiling", () => {
    const tools = [
      tool({ name: "a" }),
      tool({ name: "b", effect: "mutating" }),
      tool({ name: "c", family: "ci" }),
      tool({ name: "d", open_world: true }),
      tool({ name: "e", effect: "destructive" }),
    ].toSorted(compareRows);
    const policy = {
      allowed_families: ["repository"],
      max_effect: "read_only" as const,
      allow_open_world: false,
    };
    expect(census(blocksOf(tools), EVERYTHING, policy)).toEqual({
      registry: 5,
      hidden: { family: 1, effect: 2, open_world: 1 },
    });
    expect(census(blocksOf(tools), { ...EVERYTHING, max_effect: "mutating" }, policy)).toEqual({
      registry: 4,
      hidden: { family: 1, effect: 1, open_world: 1 },
    });
  });
});
