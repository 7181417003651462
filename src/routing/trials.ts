import { failedStage, type RoutingRecord } from "./record.ts";

/** How steady repeated trials of the same cases are (tau-bench, Yao et al. 2024). */
export interface Consistency {
  trials: number;
  /** Mean share of a case's trials that chose its most frequent selection. */
  selection_consistency: number | null;
  /** By k: the chance that k trials of a case drawn at random are all right, mean over the cases. */
  pass_hat: Record<string, number>;
}

/** Over the cases that have as many trials as the most. */
export function consistencyOf(records: readonly RoutingRecord[]): Consistency {
  const byCase = new Map<string, RoutingRecord[]>();
  for (const record of records) {
    const own = byCase.get(record.case.task_id);
    if (own) own.push(record);
    else byCase.set(record.case.task_id, [record]);
  }
  const trials = Math.max(0, ...Array.from(byCase.values(), (own) => own.length));
  const whole = [...byCase.values()].filter((own) => own.length === trials);
  const mean = (of: (own: RoutingRecord[]) => number) =>
    whole.reduce((sum, own) => sum + of(own), 0) / whole.length;
  return {
    trials,
    selection_consistency: whole.length === 0 ? null : mean(modeShare),
    pass_hat: Object.fromEntries(
      Array.from({ length: trials }, (_, i) => [
        String(i + 1),
        mean((own) => passHat(own.filter((record) => !failedStage(record)).length, trials, i + 1)),
      ]),
    ),
  };
}

function modeShare(own: readonly RoutingRecord[]): number {
  const counts = new Map<string | null, number>();
  for (const { selected } of own) counts.set(selected, (counts.get(selected) ?? 0) + 1);
  return Math.max(...counts.values()) / own.length;
}

/** C(c, k) / C(n, k): all of k trials out of n are among the c right ones. */
function passHat(right: number, trials: number, k: number): number {
  let chance = 1;
  for (let i = 0; i < k; i++) chance *= Math.max(0, right - i) / (trials - i);
  return chance;
}
