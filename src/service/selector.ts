import type { Outcome, RoutingCase } from "../routing.ts";
import type { ToolSpec } from "../tool.ts";

/** What a chooser is shown: the request and the visible set, with the baseline's own answer. */
export interface Choice {
  case: RoutingCase;
  visible: readonly ToolSpec[];
  /** The first of the ranking above the match floor, or `no_applicable_tool`. */
  baseline: string | null;
  trial: number;
}

export interface Selected {
  selected: string | null;
  outcome: Outcome;
  verified_success?: boolean | undefined;
}

/** Who picks one of the visible tools. */
export interface Selector {
  readonly name: string;
  readonly trials: number;
  /** Choices that may be under way at once. */
  readonly concurrency: number;
  select(choice: Choice, signal: AbortSignal): Promise<Selected>;
}

/** The deterministic baseline: the first above the floor, or to decline. */
export const BASELINE: Selector = {
  name: "baseline",
  trials: 1,
  concurrency: 1,
  select: async ({ baseline }) => ({ selected: baseline, outcome: "selected" }),
};

/** What was selected elsewhere, by case and trial; a case without a record was not answered. */
export function sentIn(
  records: readonly {
    task_id: string;
    trial?: number;
    selected: string | null;
    verified_success?: boolean;
  }[],
): Selector {
  const known = new Map(
    records.map((record) => [`${record.trial ?? 0} ${record.task_id}`, record]),
  );
  return {
    name: "records",
    trials: 1 + Math.max(0, ...records.map(({ trial }) => trial ?? 0)),
    concurrency: 1,
    async select({ case: { task_id }, trial }) {
      const record = known.get(`${trial} ${task_id}`);
      if (!record) return { selected: null, outcome: "unavailable" };
      const { selected, verified_success } = record;
      return { selected, outcome: selected === null ? "text" : "selected", verified_success };
    },
  };
}
