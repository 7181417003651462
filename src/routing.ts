import { type Static, Type } from "@sinclair/typebox";
import { type Fault, ShortlistError } from "./errors.ts";
import { ExposurePolicy } from "./exposure.ts";
import { checkShape } from "./tool.ts";

export { intervalOf, pairedInterval } from "./routing/bootstrap.ts";
export { judge, parseGate, type Verdict } from "./routing/gate.ts";
export {
  ABSTAIN,
  latencyOf,
  measure,
  type Measures,
  type Metric,
  METRIC_NAMES,
  pick,
  type Rates,
  valuesOf,
} from "./routing/metrics.ts";
export { failedStage, type Outcome, type RoutingRecord } from "./routing/record.ts";
export { type Slice, slicesOf } from "./routing/slices.ts";
export { type Consistency, consistencyOf } from "./routing/trials.ts";

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { uniqueItems: true });

/** What should have happened (seed 000, section 13). */
export const RoutingCase = Type.Object(
  {
    task_id: Type.String({ minLength: 1, maxLength: 200 }),
    goal: Type.String({ minLength: 1, maxLength: 100_000 }),
    phase: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    acceptable: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      uniqueItems: true,
    }),
    forbidden: Type.Optional(Names),
    policy: Type.Optional(ExposurePolicy),
    facts: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    needs: Type.Optional(Type.Union([Type.Literal("any"), Type.Literal("all")])),
    lang: Type.Optional(Type.String({ maxLength: 35 })),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 64 }))),
  },
  { additionalProperties: false, title: "RoutingCase" },
);
export type RoutingCase = Static<typeof RoutingCase>;

/**
 * The cases of a suite, checked by the seed's rules. `lines` are theirs in the text they come from, if any.
 * @throws ShortlistError `empty_suite`, or `invalid_suite` with every fault by case number
 */
export function checkSuite(
  values: readonly unknown[],
  phases: { has(name: string): boolean },
  lines: readonly number[] = [],
): RoutingCase[] {
  if (values.length === 0) throw new ShortlistError("empty_suite", "The suite has no cases.");
  const ids = new Set<string>();
  const faults: Fault[] = values.flatMap((value, index) => {
    const shape = checkShape(RoutingCase, value);
    const meaning = shape.length > 0 ? [] : checkMeaning(value as RoutingCase, ids, phases);
    return [...shape, ...meaning].map(({ pointer, message }) => ({
      pointer: `/${index}${pointer}`,
      message: lines[index] === undefined ? message : `line ${lines[index]}: ${message}`,
    }));
  });
  if (faults.length > 0) {
    throw new ShortlistError(
      "invalid_suite",
      `${faults.length} faults in ${values.length} cases.`,
      faults,
    );
  }
  return values as RoutingCase[];
}

function checkMeaning(
  item: RoutingCase,
  ids: Set<string>,
  phases: { has(name: string): boolean },
): Fault[] {
  const faults: Fault[] = [];
  if (ids.has(item.task_id))
    faults.push({ pointer: "/task_id", message: `${item.task_id} is there twice` });
  ids.add(item.task_id);
  if (item.goal.trim() === "") faults.push({ pointer: "/goal", message: "is empty" });
  if (item.phase !== undefined && !phases.has(item.phase)) {
    faults.push({ pointer: "/phase", message: `${item.phase} is no phase` });
  }
  const both = item.acceptable.filter((name) => item.forbidden?.includes(name));
  if (both.length > 0) {
    faults.push({
      pointer: "/forbidden",
      message: `both acceptable and forbidden: ${both.join(", ")}`,
    });
  }
  return faults;
}
