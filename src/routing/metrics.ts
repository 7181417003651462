import { failedStage, type RoutingRecord, type RoutingStage } from "./record.ts";

export const ABSTAIN = "no_applicable_tool";

/** Rates, each conditioned on the stage before it (seed 000, section 13). Null where nothing qualifies. */
export interface Measures {
  coverage: number | null;
  exposure_recall: number | null;
  tool_recall: number | null;
  selection_accuracy: number | null;
  abstention_accuracy: number | null;
  violation_rate: number | null;
  failure_profile: Record<RoutingStage, number>;
}

/** The seed's aggregates over records of one k. */
export function measure(records: readonly RoutingRecord[]): Measures {
  const acceptableIn = (record: RoutingRecord, names: ReadonlySet<string>) =>
    record.case.acceptable.some((name) => names.has(name));
  const covered = records.filter((record) => acceptableIn(record, record.registry_names));
  const exposed = records.filter((record) => acceptableIn(record, record.exposed_names));
  const available = records.filter((record) => acceptableIn(record, record.retrieved_names));
  const shouldAbstain = records.filter(({ case: { acceptable } }) => acceptable.includes(ABSTAIN));

  const failure_profile = { coverage: 0, exposure: 0, discovery: 0, selection: 0 };
  for (const record of records) {
    const stage = failedStage(record);
    if (stage) failure_profile[stage]++;
  }
  return {
    coverage: rate(records, (record) => acceptableIn(record, record.registry_names)),
    exposure_recall: rate(covered, (record) => acceptableIn(record, record.exposed_names)),
    tool_recall: rate(exposed, (record) => acceptableIn(record, record.retrieved_names)),
    selection_accuracy: rate(
      available,
      ({ case: { acceptable }, selected }) => selected !== null && acceptable.includes(selected),
    ),
    abstention_accuracy: rate(shouldAbstain, ({ selected }) => selected === ABSTAIN),
    violation_rate: rate(
      records,
      ({ case: { forbidden }, selected }) =>
        selected !== null && (forbidden?.includes(selected) ?? false),
    ),
    failure_profile,
  };
}

function rate<T>(items: readonly T[], predicate: (item: T) => boolean): number | null {
  return items.length === 0 ? null : items.filter(predicate).length / items.length;
}

/** Milliseconds at the percentiles (nearest rank). */
export function latencyOf(milliseconds: readonly number[]): {
  p50: number | null;
  p95: number | null;
  p99: number | null;
} {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
