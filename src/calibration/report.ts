import type { CalibrationReport } from "../calibration.ts";
import type { MatchFeatures } from "../discovery.ts";

/** A labelled case with the tools that were retrieved for it. */
export interface Judged {
  /** An ordinary tool answers it. */
  answerable: boolean;
  tools: { features: MatchFeatures; acceptable: boolean }[];
  /** The suite that it is of, where there are several: the floor must do for each. */
  suite?: string;
  /** How much each of its tools counts in the fit. */
  weight?: number;
}

type Probability = (features: MatchFeatures) => number;

const BINS = 10;
const FLOORS = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** How well the probabilities hold, and what each floor costs. */
export function report(
  cases: readonly Judged[],
  probabilityOf: Probability,
  floor: number,
): CalibrationReport {
  const tools = cases.flatMap((item) =>
    item.tools.map(({ features, acceptable }) => ({ p: probabilityOf(features), acceptable })),
  );
  const reliability = Array.from({ length: BINS }, (_, bin) => {
    const [from, to] = [bin / BINS, (bin + 1) / BINS];
    const own = tools.filter(({ p }) => p >= from && (p < to || to === 1));
    return {
      from,
      to,
      tools: own.length,
      predicted: mean(own.map(({ p }) => p)),
      observed: mean(own.map(({ acceptable }) => Number(acceptable))),
    };
  });
  const error = reliability.reduce(
    (sum, { tools: count, predicted, observed }) =>
      sum + (count / tools.length) * Math.abs((predicted ?? 0) - (observed ?? 0)),
    0,
  );
  const answerable = cases.filter((item) => item.answerable).map(highestBy(probabilityOf));
  const noTool = cases.filter((item) => !item.answerable).map(highestBy(probabilityOf));
  const lost = lostAt(cases, probabilityOf);
  return {
    cases: { answerable: answerable.length, no_tool: noTool.length },
    reliability,
    expected_calibration_error: tools.length === 0 ? null : error,
    auroc_no_tool: auroc(answerable, noTool),
    floors: [...new Set([...FLOORS, floor])]
      .toSorted((a, b) => a - b)
      .map((at) => ({
        floor: at,
        false_offer: mean(noTool.map((p) => Number(p >= at))),
        false_abstain: mean(answerable.map((p) => Number(p < at))),
        lost: lost(at),
      })),
  };
}

/** By floor, the share of the answerable cases whose right tool was retrieved and who get nothing; null where there is none. */
export function lostAt(
  cases: readonly Judged[],
  probabilityOf: Probability,
): (floor: number) => number | null {
  const answerable = cases.filter((item) => item.answerable);
  const retrieved = answerable.filter(({ tools }) => tools.some(({ acceptable }) => acceptable));
  const best = retrieved.map(highestBy(probabilityOf));
  return (floor) =>
    answerable.length === 0 ? null : best.filter((p) => p < floor).length / answerable.length;
}

function highestBy(probabilityOf: Probability): (item: Judged) => number {
  return ({ tools }) => Math.max(0, ...tools.map(({ features }) => probabilityOf(features)));
}

/** Probability that a case of `high` is over one of `low`, ties by half (Mann and Whitney 1947); null where either is empty. */
export function auroc(high: readonly number[], low: readonly number[]): number | null {
  if (high.length === 0 || low.length === 0) return null;
  const all = [
    ...high.map((value) => ({ value, isHigh: true })),
    ...low.map((value) => ({ value, isHigh: false })),
  ].toSorted((a, b) => a.value - b.value);
  let wins = 0;
  let lowSeen = 0;
  for (let i = 0; i < all.length;) {
    let end = i;
    while (end < all.length && all[end]!.value === all[i]!.value) end++;
    const tied = all.slice(i, end);
    const tiedHigh = tied.filter(({ isHigh }) => isHigh).length;
    wins += tiedHigh * (lowSeen + (tied.length - tiedHigh) / 2);
    lowSeen += tied.length - tiedHigh;
    i = end;
  }
  return wins / (high.length * low.length);
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
