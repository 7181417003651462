import { type Static, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { discover, type Found, K_MAX, type Match } from "../discovery.ts";
import { ShortlistError } from "../errors.ts";
import { hiddenBy } from "../exposure.ts";
import type { Job, Jobs, Work } from "../job.ts";
import { ABSTAIN, latencyOf, measure, type RoutingCase, type RoutingRecord } from "../routing.ts";
import { tokensOf } from "../render.ts";
import type { Snapshot } from "../snapshot.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import { type Asks, budgetOf } from "./ask.ts";
import { LABELLED, type Suites } from "./suites.ts";

export const BenchRequest = Type.Object(
  {
    catalog: Type.String({ minLength: 1, maxLength: 64 }),
    ...LABELLED,
    k: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: K_MAX }), {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
      }),
    ),
    token_budget: Type.Optional(
      Type.Integer({ minimum: 0, description: "Tokens of openai's definitions, beside each k." }),
    ),
    arms: Type.Optional(
      Type.Union([Type.Literal("hybrid"), Type.Literal("dense"), Type.Literal("lexical")]),
    ),
  },
  { additionalProperties: false, title: "BenchRequest" },
);
export type BenchRequest = Static<typeof BenchRequest>;

const K_SWEEP = [5, 10, 20, 40];
const RESULTS_MAX = 100;

/** Runs labelled cases through the funnel and says which stage lost the right tool. */
export class Bench {
  readonly #results = new LRUCache<string, { catalog: string } & Record<string, unknown>>({
    max: RESULTS_MAX,
  });
  readonly #live: LiveCatalogs;
  readonly #asks: Asks;
  readonly #suites: Suites;
  readonly #jobs: Jobs;
  readonly #config: () => Config;

  constructor(live: LiveCatalogs, asks: Asks, suites: Suites, jobs: Jobs, config: () => Config) {
    this.#live = live;
    this.#asks = asks;
    this.#suites = suites;
    this.#jobs = jobs;
    this.#config = config;
  }

  /** @throws ShortlistError `unknown_catalog`, `unknown_suite`, `empty_suite`, `invalid_suite` */
  start(principal: Principal, request: BenchRequest): Job {
    const snapshot = this.#live.get(principal, request.catalog);
    const cases = this.#suites.labelled(request);
    const sweep = request.k ?? K_SWEEP;
    // A queue of its own: a bench reads one snapshot and holds up no write.
    const job: Job = this.#jobs.start(
      "bench",
      `bench ${request.catalog}`,
      async (work) => {
        // Queued work starts in a later turn, when `job` is known.
        await new Promise((resolve) => setImmediate(resolve));
        const result = await this.#run(principal, snapshot, cases, sweep, request, work);
        this.#results.set(job.id, {
          id: job.id,
          catalog: request.catalog,
          suite: request.suite ?? null,
          ...result,
        });
        return { result: `/v1/bench/${job.id}` };
      },
      cases.length * sweep.length,
    );
    return job;
  }

  /** @throws ShortlistError `unknown_bench` */
  get(principal: Principal, id: string) {
    const result = this.#results.get(id);
    if (!result || !principal.maySee(result.catalog))
      throw new ShortlistError("unknown_bench", `There is no result ${id}.`);
    return result;
  }

  async #run(
    principal: Principal,
    snapshot: Snapshot,
    cases: readonly RoutingCase[],
    sweep: readonly number[],
    { arms = "hybrid", token_budget }: BenchRequest,
    work: Work,
  ) {
    // The floor belongs to the whole of discovery: an arm alone has no calibration.
    const match = arms === "hybrid" ? this.#asks.matchOf(snapshot.catalog, undefined) : undefined;
    const budget = budgetOf(token_budget);
    const controls = new Set(this.#config().controls.map(({ name }) => name));
    const seen = snapshot.tools
      .filter((tool) => !hiddenBy(principal.ceiling, tool))
      .map(({ name }) => name);
    const registry_names = new Set([...seen, ...controls]);
    // Few policies, many cases: the name set of each is made once.
    const exposedBy = new LRUCache<string, ReadonlySet<string>>({ max: 64 });
    const controlTokens = this.#config().controls.reduce(
      (sum, tool) => sum + tokensOf(tool, "openai"),
      0,
    );
    const by_k: Record<string, unknown> = {};
    let all: RoutingRecord[] = [];
    let done = 0;
    for (const k of sweep) {
      const records: RoutingRecord[] = [];
      const latencies: number[] = [];
      let visibleTokens = 0;
      for (const item of cases) {
        work.signal.throwIfAborted();
        const startedAt = performance.now();
        const { vector, parts } = await this.#asks.encode(item.goal);
        const policy = this.#asks.effectivePolicy(principal, item);
        const found = discover(snapshot, {
          query: item.goal,
          vector,
          parts,
          policy,
          facts: item.facts ?? {},
          k,
          arms,
          budget,
          match,
        });
        latencies.push(performance.now() - startedAt);
        const exposure = JSON.stringify([policy, [...found.eligible.excluded]]);
        let exposed_names = exposedBy.get(exposure);
        if (!exposed_names) {
          const tools = snapshot.tools.filter(
            (tool, row) => !hiddenBy(policy, tool) && !found.eligible.excluded.has(row),
          );
          exposed_names = new Set([...tools.map(({ name }) => name), ...controls]);
          exposedBy.set(exposure, exposed_names);
        }
        const retrieved = found.retrieved.map(({ row }) => snapshot.tools[row]!.name);
        records.push({
          case: item,
          registry_names,
          exposed_names,
          retrieved_names: new Set([...retrieved, ...controls]),
          // The deterministic baseline: the first of the retrieved where it matches, or to decline.
          selected: isMatch(found.retrieved[0], match) ? retrieved[0]! : ABSTAIN,
          retrieval_k: k,
        });
        for (const { tool } of found.retrieved) visibleTokens += tokensOf(tool, "openai");
        done++;
        if (done % 50 === 0) {
          work.progress(done, cases.length * sweep.length);
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      const ordinary = records.filter(({ case: { acceptable } }) =>
        acceptable.some((name) => !controls.has(name)),
      );
      by_k[k] = {
        ...measure(records),
        ordinary: { cases: ordinary.length, ...measure(ordinary) },
        visible_tokens: controlTokens + visibleTokens / cases.length,
        latency_ms: latencyOf(latencies),
      };
      all = records;
    }
    work.progress(done, done);
    const { coverage, exposure_recall } = measure(all);
    return {
      revision: snapshot.revision,
      config_hash: this.#config().hash,
      arms,
      cases: cases.length,
      coverage,
      exposure_recall,
      by_k,
    };
  }
}

function isMatch(first: Found | undefined, match: Match | undefined): boolean {
  if (!first) return false;
  return first.exact_name || first.probability === null || first.probability >= (match?.floor ?? 0);
}
