import { type Static, Type } from "@sinclair/typebox";
import type { RowRange } from "./rows.ts";
import {
  atMost,
  compileSchema,
  type Effect,
  EFFECTS,
  type JsonSchema,
  type ToolSpec,
} from "./tool.ts";

export const CONTROL_FAMILY = "control";

/** What may be offered now (seed 000, section 5). `allowed_families: ["*"]` is every family, `[]` none. */
export const ExposurePolicy = Type.Object(
  {
    allowed_families: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 10_000,
    }),
    max_effect: Type.Union(EFFECTS.map((effect) => Type.Literal(effect))),
    allow_open_world: Type.Boolean(),
  },
  { additionalProperties: false, title: "ExposurePolicy" },
);
export type ExposurePolicy = Static<typeof ExposurePolicy>;

/** The rule that kept a tool out, in the order in which the rules are asked. */
export type ExposureRule = "family" | "effect" | "open_world" | "precondition";

/** Every family, every effect, open world: what `any` means, and the widest ceiling. */
export const EVERYTHING: ExposurePolicy = {
  allowed_families: ["*"],
  max_effect: "destructive",
  allow_open_world: true,
};

/** The first rule that hides an ordinary tool, or undefined where it is allowed. Preconditions are asked elsewhere: they need facts. */
export function hiddenBy(
  policy: ExposurePolicy,
  tool: Pick<ToolSpec, "family" | "effect" | "open_world">,
): ExposureRule | undefined {
  if (!policy.allowed_families.includes("*") && !policy.allowed_families.includes(tool.family))
    return "family";
  if (!atMost(tool.effect, policy.max_effect)) return "effect";
  if (tool.open_world && !policy.allow_open_world) return "open_world";
  return undefined;
}

/** True where the spec may carry a trusted control's name (seed 000, section 5). */
export function isValidControl(tool: Pick<ToolSpec, "family" | "effect" | "open_world">): boolean {
  return tool.family === CONTROL_FAMILY && tool.effect === "none" && !tool.open_world;
}

/**
 * The tools that the policy lets through, and every trusted control (seed 000, section 5,
 * `tool_view`). Pure; keeps the registry's order.
 * @throws Error where a tool under a trusted name is no valid control.
 */
export function toolView(
  policy: ExposurePolicy,
  registry: Iterable<ToolSpec>,
  trustedControls: ReadonlySet<string> = new Set(),
): ToolSpec[] {
  const visible: ToolSpec[] = [];
  for (const tool of registry) {
    if (trustedControls.has(tool.name)) {
      if (!isValidControl(tool))
        throw new Error(`invalid trusted control capability: ${tool.name}`);
      visible.push(tool);
    } else if (hiddenBy(policy, tool) === undefined) {
      visible.push(tool);
    }
  }
  return visible;
}

/** What both policies allow. Associative and commutative up to the order of families: a request can narrow, never widen. */
export function intersect(a: ExposurePolicy, b: ExposurePolicy): ExposurePolicy {
  return {
    allowed_families: intersectFamilies(a.allowed_families, b.allowed_families),
    max_effect: atMost(a.max_effect, b.max_effect) ? a.max_effect : b.max_effect,
    allow_open_world: a.allow_open_world && b.allow_open_world,
  };
}

function intersectFamilies(a: readonly string[], b: readonly string[]): string[] {
  if (a.includes("*")) return b.includes("*") ? ["*"] : [...new Set(b)];
  if (b.includes("*")) return [...new Set(a)];
  const other = new Set(b);
  return [...new Set(a)].filter((family) => other.has(family));
}

/** The order of a revision's rows, so that what a policy allows is a few contiguous ranges. */
export function compareRows(a: ToolSpec, b: ToolSpec): number {
  return (
    Number(a.open_world) - Number(b.open_world) ||
    EFFECTS.indexOf(a.effect) - EFFECTS.indexOf(b.effect) ||
    compareText(a.family, b.family) ||
    compareText(a.name, b.name)
  );
}

/** Code unit order: the same on every machine and in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** One run of rows of equal (open_world, effect, family). */
export interface Block extends RowRange {
  open_world: boolean;
  effect: Effect;
  family: string;
}

/** The blocks of rows sorted by `compareRows`, found once a revision. */
export function blocksOf(rows: readonly ToolSpec[]): Block[] {
  const blocks: Block[] = [];
  rows.forEach((tool, row) => {
    const last = blocks.at(-1);
    if (
      last &&
      last.family === tool.family &&
      last.effect === tool.effect &&
      last.open_world === tool.open_world
    ) {
      last.end = row + 1;
    } else {
      blocks.push({
        start: row,
        end: row + 1,
        open_world: tool.open_world,
        effect: tool.effect,
        family: tool.family,
      });
    }
  });
  return blocks;
}

/** The rows that the policy allows, as ascending, disjoint, maximal ranges. */
export function eligibleRanges(policy: ExposurePolicy, blocks: readonly Block[]): RowRange[] {
  const families = policy.allowed_families.includes("*")
    ? undefined
    : new Set(policy.allowed_families);
  const ranges: RowRange[] = [];
  for (const block of blocks) {
    if (families && !families.has(block.family)) continue;
    if (!atMost(block.effect, policy.max_effect)) continue;
    if (block.open_world && !policy.allow_open_world) continue;
    const last = ranges.at(-1);
    if (last && last.end === block.start) last.end = block.end;
    else ranges.push({ start: block.start, end: block.end });
  }
  return ranges;
}

export type Facts = Record<string, unknown>;

/**
 * True where the facts satisfy the schema and give every fact that it names: what the caller
 * leaves out counts as unmet, and so does a schema that does not compile.
 */
export function preconditionMet(precondition: JsonSchema, facts: Facts): boolean {
  for (const name of factsNamed(precondition)) if (!Object.hasOwn(facts, name)) return false;
  try {
    return compileSchema(precondition)(facts).length === 0;
  } catch {
    return false;
  }
}

/** The top-level facts that a precondition speaks of, through composition. */
export function factsNamed(schema: unknown): Set<string> {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    const {
      properties,
      required,
      allOf,
      anyOf,
      oneOf,
      if: when,
      then,
      else: otherwise,
      not,
    } = node as JsonSchema;
    if (properties !== null && typeof properties === "object")
      Object.keys(properties).forEach((name) => names.add(name));
    if (Array.isArray(required))
      required.forEach((name) => typeof name === "string" && names.add(name));
    for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) list.forEach(visit);
    [when, then, otherwise, not].forEach(visit);
  };
  visit(schema);
  return names;
}

/** What a policy and the facts leave: the funnel's second stage. */
export interface Eligible {
  ranges: RowRange[];
  /** Rows inside the ranges that an unmet precondition hides, or that the caller does not want. */
  excluded: Set<number>;
  count: number;
}

/** Exposure over a revision's rows, without touching those that the policy rules out. */
export function expose(
  rows: { tools: readonly ToolSpec[]; blocks: readonly Block[]; conditional: readonly number[] },
  policy: ExposurePolicy,
  facts: Facts,
  unwanted: readonly number[] = [],
): Eligible {
  const ranges = eligibleRanges(policy, rows.blocks);
  const inside = (row: number) => ranges.some(({ start, end }) => row >= start && row < end);
  const excluded = new Set(
    rows.conditional.filter(
      (row) => inside(row) && !preconditionMet(rows.tools[row]!.precondition!, facts),
    ),
  );
  for (const row of unwanted) if (inside(row)) excluded.add(row);
  const count = ranges.reduce((sum, { start, end }) => sum + end - start, 0) - excluded.size;
  return { ranges, excluded, count };
}

/** Ordinary tools within the ceiling, and those of them that each rule of the policy hides. */
export interface Census {
  registry: number;
  hidden: Record<Exclude<ExposureRule, "precondition">, number>;
}

/** Counts by rule. What lies above the ceiling is not counted: it reads as if it did not exist. */
export function census(
  blocks: readonly Block[],
  ceiling: ExposurePolicy,
  policy: ExposurePolicy,
): Census {
  const counted: Census = { registry: 0, hidden: { family: 0, effect: 0, open_world: 0 } };
  for (const block of blocks) {
    if (hiddenBy(ceiling, block)) continue;
    const size = block.end - block.start;
    counted.registry += size;
    const rule = hiddenBy(policy, block);
    if (rule && rule !== "precondition") counted.hidden[rule] += size;
  }
  return counted;
}
