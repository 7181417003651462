import { type Ablation, type Arms, bestFirst, type Scored, searchArms } from "./discovery/arms.ts";
import { fillFairly, type Part } from "./discovery/fair-fill.ts";
import { namesIn } from "./discovery/exact-name.ts";
import { type Eligible, expose, type ExposurePolicy, type Facts } from "./exposure.ts";
import type { Snapshot, View } from "./snapshot.ts";
import type { Plan } from "./vector-index.ts";

export { lexicalText, primaryText, VIEW_TEMPLATE, viewsOf } from "./discovery/views.ts";
export type { Ablation } from "./discovery/arms.ts";
export { INTENTS_MAX, intentsOf } from "./discovery/intents.ts";

export const K_DEFAULT = 10;
export const K_MAX = 200;

/** A query with everything that discovery depends on; the same question gets the same answer. */
export interface Question {
  query: string;
  /** The query's unit vector. */
  vector: Float32Array;
  policy: ExposurePolicy;
  facts: Facts;
  /** Ordinary tools wanted, 1 to `K_MAX`. */
  k: number;
  arms?: Ablation;
  /** Forces a plan: for tests and benchmarks that must reach it. */
  plan?: Plan | undefined;
  /** The asks of a request that has several, each with its unit vector; else none. */
  parts: readonly Part[];
}

/** Whether a genuine decision remains (seed 000, section 6). */
type Decision = "none" | "sole" | "choose";

/** What each arm says of one tool; the API's `explain`, the CLI and the bench read this object. */
export interface ToolTrace {
  name: string;
  score: number;
  dense: { score: number; rank: number | null; view: View["kind"]; text: string };
  lexical: { score: number; rank: number | null };
  exact_name: boolean;
}

interface Trace {
  plan: Plan | "none";
  arms: Ablation;
  /** The asks that were retrieved on their own. */
  parts: string[];
  tools: ToolTrace[];
  /** Milliseconds by stage. */
  timings_ms: { exposure: number; dense: number; lexical: number; total: number };
}

export interface Discovered {
  eligible: Eligible;
  /** Rows, best first. */
  retrieved: Scored[];
  decision: Decision;
  decision_reason: string;
  trace: Trace;
}

/** Exposure, then retrieval among what is left. Pure: no clock but for timings, no state. */
export function discover(snapshot: Snapshot, question: Question): Discovered {
  const startedAt = performance.now();
  const eligible = expose(snapshot, question.policy, question.facts);
  const exposedAt = performance.now();
  const arms = eligible.count > 0 ? search(snapshot, question, eligible) : undefined;
  const retrieved = arms?.scored.slice(0, question.k) ?? [];
  return {
    eligible,
    retrieved,
    ...decide(eligible.count),
    trace: {
      plan: arms ? arms.plan : "none",
      arms: question.arms ?? "hybrid",
      parts: question.parts.map(({ text }) => text),
      tools: arms ? tracesOf(snapshot, arms, retrieved) : [],
      timings_ms: {
        exposure: exposedAt - startedAt,
        dense: arms?.dense_ms ?? 0,
        lexical: arms?.lexical_ms ?? 0,
        total: performance.now() - startedAt,
      },
    },
  };
}

/** Where one eligible tool stands among all the eligible, and whether it is among the k. */
export function locate(
  snapshot: Snapshot,
  question: Question,
  row: number,
): { rank: number; visible: boolean; trace: ToolTrace } {
  const eligible = expose(snapshot, question.policy, question.facts);
  const rankIn = (arms: Arms) => arms.scored.findIndex((found) => found.row === row);
  const atK = rankIn(search(snapshot, question, eligible));
  const visible = atK >= 0 && atK < question.k;
  const arms = search(snapshot, { ...question, k: eligible.count }, eligible, [row]);
  const index = rankIn(arms);
  const trace = tracesOf(snapshot, arms, [arms.scored[index]!])[0]!;
  // Its place among the k where a part's share brought it there; at best the next one where it is not.
  return { rank: visible ? atK + 1 : Math.max(index, question.k) + 1, visible, trace };
}

function search(
  snapshot: Snapshot,
  question: Question,
  eligible: Eligible,
  also: readonly number[] = [],
): Arms {
  const named = new Set(
    namesIn(question.query).flatMap((name) => {
      const row = snapshot.rowOf.get(name);
      return row !== undefined && isEligible(eligible, row) ? [row] : [];
    }),
  );
  const { query, vector, k, arms = "hybrid", parts, plan } = question;
  // The parts first: an index's scores are valid until its next search, and the trace reads the whole's.
  const ofParts = parts.map((part) =>
    searchArms(
      snapshot,
      { query: part.text, vector: part.vector, named, k, arms, plan },
      eligible,
    ).scored.slice(0, k),
  );
  const rows = ofParts.flatMap((scored) => scored.map(({ row }) => row));
  const whole = searchArms(snapshot, { query, vector, named, k, arms, plan }, eligible, [
    ...also,
    ...rows,
  ]);
  return ofParts.length === 0
    ? whole
    : { ...whole, scored: fillFairly(whole.scored, ofParts, k, bestFirst(snapshot)) };
}

function isEligible({ ranges, excluded }: Eligible, row: number): boolean {
  return !excluded.has(row) && ranges.some(({ start, end }) => row >= start && row < end);
}

function decide(eligible: number): { decision: Decision; decision_reason: string } {
  if (eligible === 0) return { decision: "none", decision_reason: "no ordinary tool is eligible" };
  if (eligible === 1)
    return { decision: "sole", decision_reason: "exactly one ordinary tool is eligible" };
  return { decision: "choose", decision_reason: `${eligible} ordinary tools are eligible` };
}

function tracesOf(snapshot: Snapshot, arms: Arms, found: readonly Scored[]): ToolTrace[] {
  const rows = found.map(({ row }) => row);
  const denseRanks = arms.denseRanks(rows);
  const lexicalRanks = arms.lexicalRanks(rows);
  return found.map(({ row, score, cosine, view, bm25, exact_name }, i) => {
    const { kind, text } = snapshot.viewOf(view);
    return {
      name: snapshot.tools[row]!.name,
      score,
      dense: { score: cosine, rank: denseRanks[i]!, view: kind, text },
      lexical: { score: bm25, rank: lexicalRanks[i]! },
      exact_name,
    };
  });
}
