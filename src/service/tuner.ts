import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import { adapt, type Adapter, fitAdapter, type Pair } from "../adapter.ts";
import { unit } from "../embedder.ts";
import { ShortlistError } from "../errors.ts";
import type { Job, Jobs, Work } from "../job.ts";
import { pairedInterval, type RoutingCase, valuesOf } from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Adapters } from "./adapters.ts";
import type { Funnels } from "./bench-funnels.ts";
import { type Funnel, type Prepared, runCases } from "./bench-run.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import type { Records } from "./records.ts";
import { BASELINE } from "./selector.ts";
import { LABELLED, type Suites } from "./suites.ts";

export const TuneRequest = Type.Object(
  {
    ...LABELLED,
    records: Type.Optional(
      Type.Boolean({ description: "From labelled records, in place of a suite." }),
    ),
  },
  { additionalProperties: false, title: "TuneRequest" },
);
export type TuneRequest = Static<typeof TuneRequest>;

const K = 10;
/** Cases with a tool that are needed to fit, choose and judge. */
const CASES_MIN = 40;
const RIDGES = [1, 10, 100];
const STEPS = [0.25, 0.5, 1];

/** Fits a catalog's learned routing, and puts it in force only where it wins by more than its interval. */
export class Tuner {
  readonly #live: LiveCatalogs;
  readonly #funnels: Funnels;
  readonly #suites: Suites;
  readonly #records: Records;
  readonly #adapters: Adapters;
  readonly #jobs: Jobs;

  constructor(
    live: LiveCatalogs,
    funnels: Funnels,
    suites: Suites,
    records: Records,
    adapters: Adapters,
    jobs: Jobs,
  ) {
    this.#live = live;
    this.#funnels = funnels;
    this.#suites = suites;
    this.#records = records;
    this.#adapters = adapters;
    this.#jobs = jobs;
  }

  /** @throws ShortlistError `unknown_catalog` */
  get(principal: Principal, catalog: string) {
    this.#live.get(principal, catalog);
    return { learned: this.#adapters.report(catalog) };
  }

  /** Routing as it was. @throws ShortlistError `unknown_catalog` */
  delete(principal: Principal, catalog: string): void {
    this.#live.get(principal, catalog);
    this.#adapters.delete(catalog);
  }

  /** @throws ShortlistError `unknown_catalog`, `unknown_suite`, `empty_suite`, `invalid_suite`, `invalid_request` */
  start(principal: Principal, catalog: string, { records, ...labelled }: TuneRequest): Job {
    const snapshot = this.#live.get(principal, catalog);
    const cases = records
      ? this.#records.cases(principal, catalog)
      : this.#suites.labelled(labelled);
    return this.#jobs.start(
      "tune",
      `tune ${catalog}`,
      (work) => this.#tune(principal, snapshot, cases, work),
      RIDGES.length * STEPS.length,
    );
  }

  async #tune(
    principal: Principal,
    snapshot: Snapshot,
    cases: readonly RoutingCase[],
    work: Work,
  ): Promise<Record<string, unknown>> {
    const { catalog, revision } = snapshot;
    const all = await this.#funnels.prepare(principal, catalog, cases, work, false);
    const usable = all.filter((item) => toolOf(snapshot, item.case));
    if (usable.length < CASES_MIN) {
      throw new ShortlistError(
        "too_few_cases",
        `${usable.length} cases have a tool of the catalog; ${CASES_MIN} are needed.`,
      );
    }
    // Half fits, a fifth chooses ridge and step, the rest judges: every tenth case in the same place.
    const part = (from: number, to: number) =>
      usable.filter((_, i) => i % 10 >= from && i % 10 < to);
    const [fitting, choosing, judging] = [part(0, 5), part(5, 7), part(7, 10)];
    const pairs = fitting.map((item): Pair => ({
      query: item.vector,
      tool: toolOf(snapshot, item.case)!,
    }));
    const funnel = this.#funnels.whole(principal, snapshot, "hybrid");
    const plain = await quality(choosing, funnel, undefined, work);
    let best: { adapter: Adapter; ndcg: number; ridge: number; step: number } | undefined;
    let done = 0;
    for (const ridge of RIDGES) {
      for (const step of STEPS) {
        const adapter = fitAdapter(pairs, snapshot.rows.dimension, ridge, step);
        const ndcg = meanOf(await quality(choosing, funnel, adapter, work));
        if (ndcg > (best?.ndcg ?? -1)) best = { adapter, ndcg, ridge, step };
        work.progress(++done, RIDGES.length * STEPS.length);
      }
    }
    const { adapter, ridge, step } = best!;
    const before = await quality(judging, funnel, undefined, work);
    const after = await quality(judging, funnel, adapter, work);
    const { difference, interval } = pairedInterval(before, after)!;
    const promoted = best!.ndcg > meanOf(plain) && interval[0] > 0;
    const report = {
      revision,
      ridge,
      step,
      cases: { fitted: fitting.length, chosen: choosing.length, held_out: judging.length },
      metric: "ndcg_10",
      before: meanOf(before),
      after: meanOf(after),
      difference,
      interval,
    };
    if (promoted) this.#adapters.save(catalog, adapter, report);
    return { promoted, report };
  }
}

/** nDCG@10 a case. */
async function quality(
  items: readonly Prepared[],
  funnel: Funnel,
  adapter: Adapter | undefined,
  work: Work,
): Promise<Float64Array> {
  const turn = (vector: Float32Array) => (adapter ? adapt(adapter, vector) : vector);
  const turned = items.map((item) => ({
    ...item,
    vector: turn(item.vector),
    parts: item.parts.map(({ text, vector }) => ({ text, vector: turn(vector) })),
  }));
  const records = await runCases(turned, funnel, { k: K }, BASELINE, work.signal, () => {});
  return valuesOf(records).ndcg_10.map((value) => (Number.isNaN(value) ? 0 : value));
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean of the primary views of the case's tools, of unit length. */
function toolOf(
  { rowOf, rows, viewStarts }: Snapshot,
  { acceptable }: RoutingCase,
): Float32Array | undefined {
  const sum = new Float32Array(rows.dimension);
  let count = 0;
  for (const name of acceptable) {
    const row = rowOf.get(name);
    if (row === undefined) continue;
    count++;
    const at = viewStarts[row]! * rows.dimension;
    for (let i = 0; i < sum.length; i++) sum[i]! += rows.vectors[at + i]!;
  }
  return count === 0 ? undefined : unit(sum);
}
