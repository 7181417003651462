import { ShortlistError } from "../errors.ts";
import type { Rates } from "./metrics.ts";

/** `recall@10>=0.95`, or against the live revision: `recall@10>=live-0.01`. */
export interface Gate {
  text: string;
  metric: keyof Rates;
  k: number;
  least: boolean;
  value: number;
  /** The value is a difference to the live revision's. */
  isRelative: boolean;
}

export interface Verdict {
  gate: string;
  passed: boolean;
  value: number | null;
  required: number | null;
}

const METRIC: Record<string, keyof Rates> = {
  recall: "tool_recall",
  tool_recall: "tool_recall",
  all_tools: "all_tools",
  ndcg: "ndcg_10",
  mrr: "mrr",
  coverage: "coverage",
  exposure_recall: "exposure_recall",
  selection_accuracy: "selection_accuracy",
  abstention_accuracy: "abstention_accuracy",
  violation_rate: "violation_rate",
  verified_success: "verified_success",
};
const PATTERN = /^\s*([a-z_]+)@(\d+)\s*(>=|<=)\s*(?:(live)\s*([+-])\s*)?(\d+(?:\.\d+)?)\s*$/;

/** @throws ShortlistError `invalid_gate` */
export function parseGate(text: string, kMax = Infinity): Gate {
  const [, name = "", k, sign, live, side, number] = PATTERN.exec(text) ?? [];
  const metric = METRIC[name];
  if (!metric || Number(k) < 1 || Number(k) > kMax) {
    throw new ShortlistError(
      "invalid_gate",
      `${JSON.stringify(text)} is no gate such as recall@10>=0.95 or recall@10>=live-0.01.`,
      [],
      Object.keys(METRIC),
    );
  }
  const value = Number(number) * (side === "-" ? -1 : 1);
  return { text, metric, k: Number(k), least: sign === ">=", value, isRelative: live === "live" };
}

/** Rates over the cases with an ordinary acceptable tool, of the candidate and of the live revision. A rate that is null fails. */
export function judge(gate: Gate, rates: Rates, live: Rates | undefined): Verdict {
  const value = rates[gate.metric];
  const base = gate.isRelative ? (live?.[gate.metric] ?? null) : 0;
  const required = base === null ? null : base + gate.value;
  const passed =
    value !== null &&
    (required === null
      ? gate.isRelative && live === undefined
      : gate.least
        ? value >= required - EPSILON
        : value <= required + EPSILON);
  return { gate: gate.text, passed, value, required };
}

const EPSILON = 1e-9;
