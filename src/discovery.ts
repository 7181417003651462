import {
  type Ablation,
  type Arms,
  bestFirst,
  type Mechanism,
  type Scored,
  searchArms,
} from "./discovery/arms.ts";
import { type Candidate, choose, type Fell } from "./discovery/choose.ts";
import { namesIn } from "./discovery/exact-name.ts";
import { featuresOf, type MatchFeatures } from "./discovery/features.ts";
import { fillFairly, type Part } from "./discovery/fair-fill.ts";
import { type Eligible, expose, type ExposurePolicy, type Facts } from "./exposure.ts";
import { type Format, tokensOf } from "./render.ts";
import type { Snapshot, View } from "./snapshot.ts";
import type { Plan } from "./vector-index.ts";

export {
  lexicalText,
  primaryText,
  rowOf,
  textsOf,
  VIEW_TEMPLATE,
  viewsOf,
} from "./discovery/views.ts";
export type { Ablation, Mechanism } from "./discovery/arms.ts";
export { choose, isAbove } from "./discovery/choose.ts";
export { featuresOf, type MatchFeatures } from "./discovery/features.ts";
export type { Part } from "./discovery/fair-fill.ts";
export { INTENTS_MAX, intentsOf } from "./discovery/intents.ts";

export const K_DEFAULT = 10;
export const K_MAX = 200;

/** A calibration, as discovery uses it. */
export interface Match {
  probabilityOf(features: MatchFeatures): number;
  /** Least probability at which a tool is offered. */
  floor: number;
}

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
  /** Names that stay visible while they are eligible. */
  keep?: readonly string[];
  /** Names that the caller does not want. */
  exclude?: readonly string[];
  /** Tokens that the rendered definitions of ordinary tools may take. */
  budget?: { tokens: number; format: Format } | undefined;
  /** Without one nothing has a probability and nothing falls under a floor. */
  match?: Match | undefined;
  /** Mechanisms that an ablation leaves out. */
  without?: ReadonlySet<Mechanism>;
}

/** Whether a genuine decision remains (seed 000, section 6). */
type Decision = "none" | "sole" | "choose";

/** What each arm says of one tool; the API's `explain`, the CLI and the bench read this object. */
export interface ToolTrace {
  name: string;
  score: number;
  probability: number | null;
  dense: { score: number; rank: number | null; view: View["kind"]; text: string };
  lexical: { score: number; rank: number | null };
  exact_name: boolean;
  /** The avoid_when sentence that cost it rank. */
  contrast: { text: string; penalty: number } | null;
}

interface Trace {
  plan: Plan | "none";
  arms: Ablation;
  /** The asks that were retrieved on their own. */
  parts: string[];
  /** Probability under which nothing is offered; null without a calibration. */
  floor: number | null;
  tools: ToolTrace[];
  /** Milliseconds by stage. */
  timings_ms: { exposure: number; dense: number; lexical: number; total: number };
}

/** A retrieved tool with what led to its rank. */
export interface Found extends Scored, Candidate {}

export interface Discovered {
  eligible: Eligible;
  /** Best first. */
  retrieved: Found[];
  /** The rest of the ranking, as far as it was looked at. */
  ranked: Found[];
  /** Tokens of the retrieved tools' definitions; null without a budget. */
  tokens: number | null;
  decision: Decision;
  decision_reason: string;
  trace: Trace;
}

/** Exposure, then retrieval among what is left. Pure: no clock but for timings, no state. */
export function discover(snapshot: Snapshot, question: Question): Discovered {
  const startedAt = performance.now();
  const eligible = eligibleOf(snapshot, question);
  const exposedAt = performance.now();
  const arms = eligible.count > 0 ? search(snapshot, question, eligible) : undefined;
  const ranked = arms ? candidatesOf(snapshot, question, eligible, arms) : [];
  const { chosen: retrieved, tokens } = choose(ranked, roomOf(question, eligible));
  return {
    eligible,
    retrieved,
    ranked,
    tokens,
    ...decide(eligible.count, retrieved.length, question),
    trace: {
      plan: arms ? arms.plan : "none",
      arms: question.arms ?? "hybrid",
      parts: question.parts.map(({ text }) => text),
      floor: question.match?.floor ?? null,
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

/** Where one eligible tool stands among all the eligible, and the rule by which it fell out, if any. */
export function locate(
  snapshot: Snapshot,
  question: Question,
  row: number,
): { rank: number; fell: Fell | null; trace: ToolTrace; tokens: number | null } {
  const eligible = eligibleOf(snapshot, question);
  const within = candidatesOf(snapshot, question, eligible, search(snapshot, question, eligible));
  const { chosen } = choose(within, roomOf(question, eligible));
  const place = within.findIndex((found) => found.row === row);
  const isVisible = chosen.some((found) => found.row === row);
  const everyone = { ...question, k: eligible.count };
  const arms = search(snapshot, everyone, eligible, [row]);
  const all = candidatesOf(snapshot, everyone, eligible, arms);
  const index = all.findIndex((found) => found.row === row);
  const found = isVisible ? within[place]! : all[index]!;
  const fell = isVisible ? null : (choose(all, roomOf(question, eligible)).fell(found) ?? "rank");
  return {
    // Its place among the k where a part's share brought it there; at best the next one where it is not.
    rank: isVisible ? place + 1 : fell === "rank" ? Math.max(index, question.k) + 1 : index + 1,
    fell,
    trace: tracesOf(snapshot, arms, [found])[0]!,
    tokens: question.budget ? tokensOf(found.tool, question.budget.format) : null,
  };
}

function eligibleOf(snapshot: Snapshot, { policy, facts, exclude = [] }: Question): Eligible {
  return expose(
    snapshot,
    policy,
    facts,
    exclude.flatMap((name) => snapshot.rowOf.get(name) ?? []),
  );
}

/** A sole tool is offered whatever its probability (DESIGN "Delegate only what remains"). */
function roomOf({ k, match, budget }: Question, eligible: Eligible) {
  return {
    k,
    floor: eligible.count === 1 ? 0 : (match?.floor ?? 0),
    budget: budget && {
      tokens: budget.tokens,
      of: (tool: Found["tool"]) => tokensOf(tool, budget.format),
    },
  };
}

/** The first k of the ranking and what is kept: nothing else can be chosen. */
function candidatesOf(
  snapshot: Snapshot,
  { k, match, keep = [] }: Question,
  eligible: Eligible,
  { scored }: Arms,
): Found[] {
  const kept = new Set(keep);
  const isKept = ({ row }: Scored) => kept.has(snapshot.tools[row]!.name);
  // The lead is known by its second.
  const ranked = scored.slice(0, Math.max(k, 2));
  if (kept.size > 0) ranked.push(...scored.slice(Math.max(k, 2)).filter(isKept));
  const features = match ? featuresOf(ranked, eligible.count) : [];
  return ranked.map((found, i) => ({
    row: found.row,
    score: found.score,
    cosine: found.cosine,
    view: found.view,
    bm25: found.bm25,
    exact_name: found.exact_name,
    contrast: found.contrast,
    tool: snapshot.tools[found.row]!,
    probability: match ? match.probabilityOf(features[i]!) : null,
    kept: kept.size > 0 && isKept(found),
  }));
}

function search(
  snapshot: Snapshot,
  question: Question,
  eligible: Eligible,
  also: readonly number[] = [],
): Arms {
  const { query, vector, k, arms = "hybrid", parts, plan, keep = [], without = NOTHING } = question;
  const eligibleRows = (names: readonly string[]) =>
    names.flatMap((name) => {
      const row = snapshot.rowOf.get(name);
      return row !== undefined && isEligible(eligible, row) ? [row] : [];
    });
  const named = new Set(without.has("exact_names") ? [] : eligibleRows(namesIn(query)));
  const common = { named, k, arms, plan, without };
  // The parts first: an index's scores are valid until its next search, and the trace reads the whole's.
  const ofParts = parts.map((part) =>
    searchArms(
      snapshot,
      { ...common, query: part.text, vector: part.vector },
      eligible,
    ).scored.slice(0, k),
  );
  const rows = ofParts.flatMap((scored) => scored.map(({ row }) => row));
  const whole = searchArms(snapshot, { ...common, query, vector }, eligible, [
    ...also,
    ...eligibleRows(keep),
    ...rows,
  ]);
  return ofParts.length === 0
    ? whole
    : { ...whole, scored: fillFairly(whole.scored, ofParts, k, bestFirst(snapshot)) };
}

const NOTHING: ReadonlySet<Mechanism> = new Set();

function isEligible({ ranges, excluded }: Eligible, row: number): boolean {
  return !excluded.has(row) && ranges.some(({ start, end }) => row >= start && row < end);
}

/** What is left to decide once the visible set is known. */
export function decide(
  eligible: number,
  retrieved: number,
  { budget, match }: Question,
): { decision: Decision; decision_reason: string } {
  if (eligible === 0) return { decision: "none", decision_reason: "no ordinary tool is eligible" };
  if (retrieved === 0) {
    const limits = [
      ...(match ? [`above the match floor of ${match.floor.toFixed(3)}`] : []),
      ...(budget ? [`within the budget of ${budget.tokens} tokens`] : []),
    ];
    return {
      decision: "none",
      decision_reason: `none of ${eligible} eligible tools is ${limits.join(" and ")}`,
    };
  }
  if (eligible === 1)
    return { decision: "sole", decision_reason: "exactly one ordinary tool is eligible" };
  return { decision: "choose", decision_reason: `${eligible} ordinary tools are eligible` };
}

function tracesOf(snapshot: Snapshot, arms: Arms, found: readonly Found[]): ToolTrace[] {
  const rows = found.map(({ row }) => row);
  const denseRanks = arms.denseRanks(rows);
  const lexicalRanks = arms.lexicalRanks(rows);
  return found.map(({ tool, score, probability, cosine, view, bm25, exact_name, contrast }, i) => {
    const { kind, text } = snapshot.viewOf(view);
    return {
      name: tool.name,
      score,
      probability,
      dense: { score: cosine, rank: denseRanks[i]!, view: kind, text },
      lexical: { score: bm25, rank: lexicalRanks[i]! },
      exact_name,
      contrast: contrast ?? null,
    };
  });
}
