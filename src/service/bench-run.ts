import { setImmediate as turn } from "node:timers/promises";
import {
  type Ablation,
  discover,
  isAbove,
  type Match,
  type Mechanism,
  type Part,
} from "../discovery.ts";
import type { ExposurePolicy, Facts } from "../exposure.ts";
import { tokensOf } from "../render.ts";
import { ABSTAIN, type RoutingCase, type RoutingRecord } from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";
import type { ToolSpec } from "../tool.ts";
import { exposures } from "./exposed.ts";
import type { Selector } from "./selector.ts";

/** A case with what it takes to ask it. */
export interface Prepared {
  case: RoutingCase;
  vector: Float32Array;
  parts: readonly Part[];
  policy: ExposurePolicy;
  facts: Facts;
}

/** The funnel as one run has it: an ablation is another value of these. */
export interface Funnel {
  snapshot: Snapshot;
  /** Ordinary names within the principal's ceiling. */
  registry: ReadonlySet<string>;
  controls: readonly ToolSpec[];
  arms: Ablation;
  match?: Match | undefined;
  without?: ReadonlySet<Mechanism>;
  /** Without retrieval the whole eligible set is visible, and the baseline goes by keywords. */
  retrieval: boolean;
}

export interface Limits {
  k: number;
  /** Tokens of the definitions; then the k is not what limits. */
  tokens?: number;
}

/** Milliseconds of work before others get their turn. */
const SLICE_MS = 5;

/** Asks every case and records what happened at each stage. */
export async function runCases(
  cases: readonly Prepared[],
  { snapshot, registry, controls, arms, match, without, retrieval }: Funnel,
  limits: Limits,
  selector: Selector,
  signal: AbortSignal,
  onDone: (cases: number) => void,
): Promise<RoutingRecord[]> {
  const controlNames = new Set(controls.map(({ name }) => name));
  const registry_names = new Set([...registry, ...controlNames]);
  const controlTokens = tokensIn(controls);
  const exposedBy = exposures(snapshot.tools, controlNames);
  const records: RoutingRecord[] = [];
  const pending = new Set<Promise<void>>();
  let failure: unknown;
  let turnAt = performance.now();

  for (const item of cases) {
    signal.throwIfAborted();
    const startedAt = performance.now();
    const found = discover(snapshot, {
      query: item.case.goal,
      vector: item.vector,
      parts: item.parts,
      policy: item.policy,
      facts: item.facts,
      k: retrieval ? limits.k : Math.max(1, snapshot.tools.length),
      arms: retrieval ? arms : "lexical",
      budget: limits.tokens === undefined ? undefined : { tokens: limits.tokens, format: "openai" },
      match,
      without: without ?? NOTHING,
    });
    const latency_ms = performance.now() - startedAt;
    const hidden = Array.from(found.eligible.excluded, (row) => snapshot.tools[row]!.name);
    const { tools: exposed, names: exposed_names } = exposedBy(item.policy, hidden);
    const ranking = found.retrieved.map(({ tool }) => tool.name);
    const shown = retrieval ? found.retrieved.map(({ tool }) => tool) : exposed;
    const first = found.retrieved[0];
    const isMatch = first && isAbove(first, match?.floor ?? 0);
    const declines = controlNames.has(ABSTAIN) ? ABSTAIN : null;
    const retrieved_names = retrieval ? new Set([...ranking, ...controlNames]) : exposed_names;
    const retrieval_k = limits.tokens === undefined && retrieval ? limits.k : null;
    const visible_tokens = controlTokens + tokensIn(shown);
    const visible = [...shown, ...controls];
    const baseline = isMatch ? ranking[0]! : declines;
    for (let trial = 0; trial < selector.trials; trial++) {
      const index = records.length;
      records.length++;
      const choice = { case: item.case, visible, baseline, trial };
      const task = selector
        .select(choice, signal)
        .then(({ selected, outcome, verified_success }) => {
          // One literal: thousands of these are read many times over.
          records[index] = {
            case: item.case,
            registry_names,
            exposed_names,
            retrieved_names,
            selected,
            retrieval_k,
            controls: controlNames,
            ranking,
            outcome,
            trial,
            verified_success,
            visible_tokens,
            latency_ms,
          };
        })
        .catch((error: unknown) => void (failure ??= error))
        .finally(() => pending.delete(task));
      pending.add(task);
      if (pending.size >= selector.concurrency) await Promise.race(pending);
      if (failure) throw failure;
    }
    if (performance.now() - turnAt > SLICE_MS) {
      onDone(records.length / selector.trials);
      await turn();
      turnAt = performance.now();
    }
  }
  await Promise.all(pending);
  if (failure) throw failure;
  onDone(cases.length);
  return records;
}

const NOTHING: ReadonlySet<Mechanism> = new Set();

function tokensIn(tools: readonly ToolSpec[]): number {
  return tools.reduce((sum, tool) => sum + tokensOf(tool, "openai"), 0);
}
