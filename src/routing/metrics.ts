import { intervalOf } from "./bootstrap.ts";
import {
  failedStage,
  hasAny,
  type Outcome,
  type RoutingRecord,
  type RoutingStage,
} from "./record.ts";

export const ABSTAIN = "no_applicable_tool";
const NDCG_DEPTH = 10;
const BOUNDS_MS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/**
 * Every rate as what one record contributes: a number, or null where the record does not qualify.
 * Each is conditioned on the stage before it having succeeded (seed 000, section 13).
 */
const METRICS = {
  coverage: ({ case: { acceptable }, registry_names }) =>
    Number(hasAny(acceptable, registry_names)),
  exposure_recall: ({ case: { acceptable }, registry_names, exposed_names }) =>
    hasAny(acceptable, registry_names) ? Number(hasAny(acceptable, exposed_names)) : null,
  tool_recall: ({ case: { acceptable }, exposed_names, retrieved_names }) =>
    hasAny(acceptable, exposed_names) ? Number(hasAny(acceptable, retrieved_names)) : null,
  /** Over the cases that need several tools, all of them exposed. */
  all_tools: ({ case: { acceptable, needs }, exposed_names, retrieved_names }) =>
    needs === "all" && acceptable.length > 1 && acceptable.every((name) => exposed_names.has(name))
      ? Number(acceptable.every((name) => retrieved_names.has(name)))
      : null,
  /** Binary gains over the first ten ordinary tools (Järvelin and Kekäläinen 2002). */
  ndcg_10: (record) => {
    const right = rankable(record);
    if (!right) return null;
    const hits = record.ranking!.slice(0, NDCG_DEPTH).map((name) => right.includes(name));
    const gain = hits.reduce((sum, hit, i) => sum + Number(hit) / Math.log2(i + 2), 0);
    const ideal = right.slice(0, NDCG_DEPTH).reduce((sum, _, i) => sum + 1 / Math.log2(i + 2), 0);
    return gain / ideal;
  },
  /** One over the rank of the first right ordinary tool, 0 where none was retrieved. */
  mrr: (record) => {
    const right = rankable(record);
    if (!right) return null;
    const index = record.ranking!.findIndex((name) => right.includes(name));
    return index < 0 ? 0 : 1 / (index + 1);
  },
  selection_accuracy: ({ case: { acceptable }, retrieved_names, selected, outcome }) =>
    hasAny(acceptable, retrieved_names) && outcome !== "unavailable"
      ? Number(selected !== null && acceptable.includes(selected))
      : null,
  abstention_accuracy: ({ case: { acceptable }, selected, outcome }) =>
    acceptable.includes(ABSTAIN) && outcome !== "unavailable" ? Number(selected === ABSTAIN) : null,
  violation_rate: ({ case: { forbidden }, selected }) =>
    Number(selected !== null && (forbidden?.includes(selected) ?? false)),
  verified_success: ({ verified_success }) =>
    verified_success === undefined ? null : Number(verified_success),
} as const satisfies Record<string, (record: RoutingRecord) => number | null>;

export type Metric = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as Metric[];

/** The exposed ordinary acceptable tools, where the record has a ranking to hold them against. */
function rankable({ case: { acceptable }, exposed_names, ranking, controls }: RoutingRecord) {
  const right = acceptable.filter((name) => exposed_names.has(name) && !controls?.has(name));
  return ranking && right.length > 0 ? right : undefined;
}

export type Rates = Record<Metric, number | null>;
type Intervals = Record<Metric, [number, number] | null>;

/** What is measured of the records of one k. An empty rate is null, never 0. */
export interface Measures extends Rates {
  /** 95 % bootstrap intervals of the rates. */
  intervals: Intervals;
  failure_profile: Record<RoutingStage, number>;
  /** Genuine selection failures: what was acceptable, what was chosen, how often. */
  selection_confusions: { acceptable: string[]; selected: string | null; count: number }[];
  outcomes: Record<Outcome, number>;
  visible_tokens: number | null;
  latency_ms: {
    p50: number | null;
    p95: number | null;
    p99: number | null;
    /** How many took up to so many milliseconds and more than the bound before; the last has no bound. */
    histogram: { up_to: number | null; count: number }[];
  };
}

/** `values` are the records' own, where they are known already. */
export function measure(
  records: readonly RoutingRecord[],
  values: Values = valuesOf(records),
): Measures {
  const failure_profile = { coverage: 0, exposure: 0, discovery: 0, selection: 0 };
  const outcomes = { selected: 0, text: 0, malformed: 0, unavailable: 0 };
  const confusions = new Map<string, Measures["selection_confusions"][number]>();
  for (const record of records) {
    const stage = failedStage(record);
    if (stage) failure_profile[stage]++;
    outcomes[record.outcome ?? "selected"]++;
    if (stage !== "selection") continue;
    const acceptable = record.case.acceptable.toSorted();
    const key = JSON.stringify([acceptable, record.selected]);
    const known = confusions.get(key);
    if (known) known.count++;
    else confusions.set(key, { acceptable, selected: record.selected, count: 1 });
  }
  return {
    ...ratesOf(values),
    intervals: perMetric((name) => intervalOf(values[name])),
    failure_profile,
    selection_confusions: [...confusions.values()].toSorted((a, b) => b.count - a.count),
    outcomes,
    visible_tokens: mean(records.flatMap(({ visible_tokens }) => visible_tokens ?? [])),
    latency_ms: latencyOf(records.flatMap(({ latency_ms }) => latency_ms ?? [])),
  };
}

export type Values = Record<Metric, Float64Array>;

/** Per metric, what each record contributes, in the records' order; NaN where it does not qualify. */
export function valuesOf(records: readonly RoutingRecord[]): Values {
  return perMetric((name) =>
    Float64Array.from(records, (record) => METRICS[name](record) ?? Number.NaN),
  );
}

export function ratesOf(values: Values): Rates {
  return perMetric((name) => {
    let sum = 0;
    let count = 0;
    for (let i = 0; i < values[name].length; i++) {
      const value = values[name][i]!;
      if (Number.isNaN(value)) continue;
      sum += value;
      count++;
    }
    return count === 0 ? null : sum / count;
  });
}

/** The values of some of the records. */
export function pick(values: Values, indexes: readonly number[]): Values {
  return perMetric((name) => Float64Array.from(indexes, (index) => values[name][index]!));
}

function perMetric<T>(of: (name: Metric) => T): Record<Metric, T> {
  return Object.fromEntries(METRIC_NAMES.map((name) => [name, of(name)])) as Record<Metric, T>;
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Milliseconds at the percentiles (nearest rank). */
export function latencyOf(milliseconds: readonly number[]): Measures["latency_ms"] {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
  const histogram = [...BOUNDS_MS, null].map((up_to) => ({ up_to, count: 0 }));
  let bin = 0;
  for (const ms of sorted) {
    while (ms > (histogram[bin]!.up_to ?? Infinity)) bin++;
    histogram[bin]!.count++;
  }
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), histogram };
}
