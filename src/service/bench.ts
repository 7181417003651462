import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { setImmediate as turn } from "node:timers/promises";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { K_MAX } from "../discovery.ts";
import { invalidValue, ShortlistError } from "../errors.ts";
import { hiddenBy } from "../exposure.ts";
import type { Job, Jobs, Work } from "../job.ts";
import { judge, parseGate, type RoutingCase } from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Store } from "../store.ts";
import { type BenchResult, reportPage } from "./bench-report.ts";
import type { BenchRequest } from "./bench-request.ts";
import { compareRuns, type Outcomes, outcomesOf } from "./bench-compare.ts";
import { type Funnels, resultOf } from "./bench-funnels.ts";
import { type Prepared, runCases } from "./bench-run.ts";
import type { Calibrations } from "./calibrations.ts";
import { chatSelector } from "./chat-selector.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import type { Judge, SuiteGate } from "./suite-gate.ts";
import { BASELINE, type Selector, sentIn } from "./selector.ts";
import type { Suites } from "./suites.ts";

const K_SWEEP = [5, 10, 20, 40];
const BENCHES_KEPT = 200;

/** Runs labelled cases through the funnel and says which stage lost the right tool. */
export class Bench implements Judge {
  readonly #live: LiveCatalogs;
  readonly #funnels: Funnels;
  readonly #suites: Suites;
  readonly #jobs: Jobs;
  readonly #store: Store;
  readonly #calibrations: Calibrations;
  readonly #config: () => Config;
  readonly #environment: (name: string) => string | undefined;

  constructor(
    live: LiveCatalogs,
    funnels: Funnels,
    suites: Suites,
    jobs: Jobs,
    store: Store,
    calibrations: Calibrations,
    config: () => Config,
    environment: (name: string) => string | undefined,
  ) {
    this.#live = live;
    this.#funnels = funnels;
    this.#suites = suites;
    this.#jobs = jobs;
    this.#store = store;
    this.#calibrations = calibrations;
    this.#config = config;
    this.#environment = environment;
  }

  /** @throws ShortlistError `unknown_catalog`, `unknown_suite`, `empty_suite`, `invalid_suite`, `invalid_gate`, `unknown_selector` */
  start(principal: Principal, request: BenchRequest): Job {
    const snapshot = this.#live.get(principal, request.catalog);
    const cases = this.#suites.labelled(request);
    const gates = (request.gates ?? []).map((text) => parseGate(text, K_MAX));
    const sweep = [...new Set([...(request.k ?? K_SWEEP), ...gates.map(({ k }) => k)])];
    const selector = this.#selectorOf(request);
    const suite_hash = createHash("sha256")
      .update(JSON.stringify(cases))
      .digest("hex")
      .slice(0, 16);
    // A queue of its own: a bench reads one snapshot and holds up no write.
    const run = { sweep, token_budgets: request.token_budgets ?? [], selector };
    const job: Job = this.#jobs.start(
      "bench",
      `bench ${request.catalog}`,
      async (work) => {
        // Queued work starts in a later turn, when `job` is known.
        await turn();
        const result = await this.#run(principal, snapshot, cases, request, run, work);
        const verdicts = gates.map((gate) => judge(gate, result.by_k[gate.k]!.ordinary, undefined));
        const created_at = new Date().toISOString();
        const { outcomes, ...shown } = result;
        this.#store.saveBench(
          {
            id: job.id,
            catalog: request.catalog,
            created_at,
            result: {
              id: job.id,
              catalog: request.catalog,
              suite: request.suite ?? null,
              suite_hash,
              created_at,
              selector: selector.name,
              ...shown,
              ...(verdicts.length > 0 && { verdicts }),
            },
            outcomes: await promisify(gzip)(JSON.stringify(outcomes)),
          },
          BENCHES_KEPT,
        );
        const passed = verdicts.every((verdict) => verdict.passed);
        return { result: `/v1/bench/${job.id}`, ...(verdicts.length > 0 && { passed }) };
      },
      cases.length * sweep.length,
    );
    return job;
  }

  list(principal: Principal) {
    return this.#store
      .benches()
      .filter(({ catalog }) => principal.maySee(catalog))
      .map(({ id, catalog, created_at, result }) => ({
        id,
        catalog,
        created_at,
        suite: result["suite"],
        cases: result["cases"],
      }));
  }

  /** @throws ShortlistError `unknown_bench` */
  get(principal: Principal, id: string): Record<string, unknown> {
    return this.#stored(principal, id).result;
  }

  /** The result as a page that needs no server. @throws ShortlistError `unknown_bench` */
  report(principal: Principal, id: string): string {
    const { catalog, result } = this.#stored(principal, id);
    const snapshot = this.#live.find(principal, catalog);
    const toolOf = (name: string) => {
      const tool = snapshot?.tools[snapshot.rowOf.get(name) ?? -1];
      return tool && !hiddenBy(principal.ceiling, tool) ? tool : undefined;
    };
    const { calibration } = this.#calibrations.get(catalog);
    return reportPage(result as unknown as BenchResult, toolOf, calibration ?? undefined);
  }

  /** What changed from one run to another over the cases that both have. @throws ShortlistError `unknown_bench` */
  async compare(principal: Principal, before: string, after: string) {
    const [a, b] = [this.#stored(principal, before), this.#stored(principal, after)];
    const read = async (packed: Uint8Array) =>
      JSON.parse(String(await promisify(gunzip)(packed))) as Outcomes;
    return {
      before,
      after,
      same: Object.fromEntries(
        ["catalog", "revision", "suite_hash", "fingerprint", "config_hash", "selector"].map(
          (key) => [key, a.result[key] === b.result[key]],
        ),
      ),
      ...compareRuns(await read(a.outcomes), await read(b.outcomes)),
    };
  }

  /** @throws ShortlistError `invalid_gate`, `unknown_suite` */
  requireGate({ suite, gate }: SuiteGate): void {
    parseGate(gate, K_MAX);
    this.#suites.get(suite);
  }

  /** A candidate revision against the suite and the live one: the verdict, and the cases that it loses. @throws ShortlistError `unknown_suite`, `invalid_gate` */
  async judge(principal: Principal, candidate: Snapshot, asked: SuiteGate, work: Work) {
    const gate = parseGate(asked.gate, K_MAX);
    const cases = this.#suites.get(asked.suite);
    const { catalog } = candidate;
    const prepared = await this.#funnels.prepare(principal, catalog, cases, work);
    const measured = async (snapshot: Snapshot) => {
      const funnel = this.#funnels.whole(principal, snapshot, "hybrid");
      return resultOf(
        await runCases(prepared, funnel, { k: gate.k }, BASELINE, work.signal, () => {}),
      );
    };
    const after = await measured(candidate);
    const live = this.#live.find(principal, catalog);
    const before = live && (await measured(live));
    const verdict = judge(gate, after.ordinary, before?.ordinary);
    const lost = after.failed.filter((id) => !before?.failed.includes(id));
    return { ...verdict, suite: asked.suite, lost };
  }

  #stored(principal: Principal, id: string) {
    const bench = this.#store.bench(id);
    if (bench && principal.maySee(bench.catalog)) return bench;
    throw new ShortlistError("unknown_bench", `There is no result ${id}.`);
  }

  #selectorOf({ selector, records, repeat = 1 }: BenchRequest): Selector {
    if (records) {
      if (selector === undefined) return sentIn(records);
      throw invalidValue("", "give either selector or records");
    }
    if (selector === undefined) return { ...BASELINE, trials: repeat };
    const { selectors } = this.#config();
    const endpoint = selectors.get(selector);
    if (!endpoint) {
      throw new ShortlistError(
        "unknown_selector",
        `There is no selector ${selector}.`,
        [],
        [...selectors.keys()],
      );
    }
    const key = endpoint.api_key_env && this.#environment(endpoint.api_key_env);
    return chatSelector(endpoint, repeat, key || undefined);
  }

  async #run(
    principal: Principal,
    snapshot: Snapshot,
    cases: readonly RoutingCase[],
    { catalog, arms = "hybrid", ablate }: BenchRequest,
    run: { sweep: readonly number[]; token_budgets: readonly number[]; selector: Selector },
    work: Work,
  ) {
    const { sweep, token_budgets, selector } = run;
    const rungs = ablate ? await this.#funnels.ladder(principal, snapshot) : [];
    const left = ablate ? await this.#funnels.leftOut(principal, snapshot) : [];
    const runs = sweep.length + token_budgets.length + rungs.length + left.length;
    let before = 0;
    const tell = (done: number) => work.progress(before + Math.floor(done), runs * cases.length);
    tell(0);
    const prepared = await this.#funnels.prepare(principal, catalog, cases, work);
    const plain = ablate
      ? await this.#funnels.prepare(principal, catalog, cases, work, false)
      : prepared;
    const families = new Map(snapshot.tools.map(({ name, family }) => [name, family]));
    const familyOf = (name: string) => families.get(name);
    const outcomes: Outcomes = { cases: cases.map(({ task_id }) => task_id), runs: {} };
    const ask = async (
      items: readonly Prepared[],
      funnel: ReturnType<Funnels["whole"]>,
      limits: { k: number; tokens?: number },
    ) => {
      const startedAt = performance.now();
      const records = await runCases(items, funnel, limits, selector, work.signal, tell);
      before += cases.length;
      const ranAt = performance.now();
      const result = resultOf(records, familyOf);
      const seconds = (from: number, to: number) => Number(((to - from) / 1_000).toFixed(3));
      return {
        records,
        ...result,
        shown: {
          ...result.shown,
          retrieval_s: seconds(startedAt, ranAt),
          scoring_s: seconds(ranAt, performance.now()),
        },
      };
    };
    const funnel = this.#funnels.whole(principal, snapshot, arms);
    const by_k: Record<string, Awaited<ReturnType<typeof ask>>["shown"]> = {};
    for (const k of sweep) {
      const { records, shown } = await ask(prepared, funnel, { k });
      outcomes.runs[k] = outcomesOf(records);
      by_k[k] = shown;
    }
    const by_budget: typeof by_k = {};
    for (const tokens of token_budgets)
      by_budget[tokens] = (await ask(prepared, funnel, { k: K_MAX, tokens })).shown;
    const table = async (rows: Awaited<ReturnType<Funnels["ladder"]>>) => {
      const shown = [];
      for (const { name, funnel: other, open, learned } of rows) {
        const own = learned ? prepared : plain;
        const items = open ? own.map((item) => ({ ...item, ...open })) : own;
        const { slices: _, ...row } = (await ask(items, other, { k: ABLATION_K })).shown;
        shown.push({ name, k: other.retrieval ? ABLATION_K : null, ...row });
      }
      return shown;
    };
    const ladder = await table(rungs);
    const ablations = await table(left);
    const first = by_k[sweep[0]!]!;
    return {
      revision: snapshot.revision,
      fingerprint: this.#funnels.fingerprint,
      config_hash: this.#config().hash,
      arms,
      trials: selector.trials,
      cases: cases.length,
      coverage: first.coverage,
      exposure_recall: first.exposure_recall,
      by_k,
      ...(token_budgets.length > 0 && { by_budget }),
      ...(ablate && { ladder, ablations }),
      outcomes,
    };
  }
}

const ABLATION_K = 10;
