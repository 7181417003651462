import {
  failedStage,
  type Metric,
  METRIC_NAMES,
  pairedInterval,
  type RoutingRecord,
  valuesOf,
} from "../routing.ts";

/** What each case got in each run, in the order of `cases`: what a comparison needs. */
export interface Outcomes {
  cases: string[];
  /** By k. */
  runs: Record<string, RunOutcomes>;
}

interface CaseOutcome {
  stage: string | null;
  selected: string | null;
  retrieved: readonly string[];
}

interface RunOutcomes {
  outcomes: CaseOutcome[];
  /** By metric, one a case; null where it does not qualify. */
  values: Partial<Record<Metric, (number | null)[]>>;
}

/** The first trial of each case. */
export function outcomesOf(records: readonly RoutingRecord[]): RunOutcomes {
  const first = records.filter(({ trial = 0 }) => trial === 0);
  const values = valuesOf(first);
  return {
    outcomes: first.map((record) => ({
      stage: failedStage(record),
      selected: record.selected,
      retrieved: record.ranking ?? [],
    })),
    values: Object.fromEntries(
      METRIC_NAMES.map((name) => [
        name,
        Array.from(values[name], (value) => (Number.isNaN(value) ? null : value)),
      ]),
    ),
  };
}

/** By each k that both have: differences with paired intervals, and the cases whose outcome flipped. */
export function compareRuns(before: Outcomes, after: Outcomes) {
  const index = new Map(before.cases.map((id, i) => [id, i]));
  const shared = after.cases.flatMap((id, i) =>
    index.has(id) ? [[id, index.get(id)!, i] as const] : [],
  );
  const by_k = Object.fromEntries(
    Object.keys(after.runs)
      .filter((k) => before.runs[k])
      .map((k) => {
        const [a, b] = [before.runs[k]!, after.runs[k]!];
        const pick = (run: RunOutcomes, name: Metric, which: 1 | 2) =>
          Float64Array.from(shared, (pair) => run.values[name]?.[pair[which]] ?? Number.NaN);
        const metrics = Object.fromEntries(
          METRIC_NAMES.map((name) => [name, pairedInterval(pick(a, name, 1), pick(b, name, 2))]),
        );
        const flipped = shared.flatMap(([task_id, i, j]) => {
          const [was, is] = [a.outcomes[i]!, b.outcomes[j]!];
          if ((was.stage === null) === (is.stage === null)) return [];
          return [{ task_id, won: is.stage === null, before: was, after: is }];
        });
        return [k, { metrics, flipped }];
      }),
  );
  return { cases: shared.length, by_k };
}
