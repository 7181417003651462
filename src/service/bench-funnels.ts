import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { type Ablation, intentsOf } from "../discovery.ts";
import { type ExposurePolicy, type Facts, hiddenBy } from "../exposure.ts";
import type { Work } from "../job.ts";
import {
  type Consistency,
  consistencyOf,
  failedStage,
  measure,
  type Measures,
  pick,
  type RoutingCase,
  type RoutingRecord,
  type Slice,
  slicesOf,
  valuesOf,
} from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Adapters } from "./adapters.ts";
import type { Asks } from "./ask.ts";
import type { Funnel, Prepared } from "./bench-run.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import type { StoredVectors } from "./stored-vectors.ts";

/** One row of a table: the funnel with something left out. */
export interface Rung {
  name: string;
  funnel: Funnel;
  /** In place of each case's own policy and facts. */
  open?: { policy: ExposurePolicy; facts: Facts };
  /** With the catalog's learned routing. */
  learned: boolean;
}

/** The funnels that a bench runs: the service's own, the seed's ladder, and each mechanism left out. */
export class Funnels {
  readonly #live: LiveCatalogs;
  readonly #asks: Asks;
  readonly #vectors: StoredVectors;
  readonly #adapters: Adapters;
  readonly #config: () => Config;
  readonly fingerprint: string;

  constructor(
    live: LiveCatalogs,
    asks: Asks,
    vectors: StoredVectors,
    adapters: Adapters,
    config: () => Config,
    fingerprint: string,
  ) {
    this.#live = live;
    this.#asks = asks;
    this.#vectors = vectors;
    this.#adapters = adapters;
    this.#config = config;
    this.fingerprint = fingerprint;
  }

  /** Vectors, asks and policies of the cases; what the store lacks is embedded in the index lanes. */
  async prepare(
    principal: Principal,
    catalog: string,
    cases: readonly RoutingCase[],
    work: Work,
    learned = true,
  ): Promise<Prepared[]> {
    const asked = cases.map((item) => ({ item, parts: intentsOf(item.goal).parts }));
    const texts = asked.flatMap(({ item, parts }) => [item.goal, ...parts]);
    const vectors = await this.#vectors.of(texts, work.signal);
    const vectorOf = (text: string) =>
      learned ? this.#adapters.adapted(catalog, vectors.get(text)!) : vectors.get(text)!;
    return asked.map(({ item, parts }) => ({
      case: item,
      vector: vectorOf(item.goal),
      parts: parts.map((text) => ({ text, vector: vectorOf(text) })),
      policy: this.#asks.effectivePolicy(principal, item),
      facts: item.facts ?? {},
    }));
  }

  /** The funnel as queries have it. An arm alone has no calibration, and so no floor. */
  whole(principal: Principal, snapshot: Snapshot, arms: Ablation): Funnel {
    const seen = snapshot.tools.filter((tool) => !hiddenBy(principal.ceiling, tool));
    return {
      snapshot,
      registry: new Set(seen.map(({ name }) => name)),
      controls: this.#config().controls,
      arms,
      match: arms === "hybrid" ? this.#asks.matchOf(snapshot.catalog, undefined) : undefined,
      retrieval: true,
    };
  }

  /** The mechanisms one on top of the other, in the seed's order (seed 000, section 13). */
  async ladder(principal: Principal, snapshot: Snapshot): Promise<Rung[]> {
    const whole = this.whole(principal, snapshot, "hybrid");
    const open = { policy: principal.ceiling, facts: {} };
    const bare: Funnel = { ...whole, retrieval: false, controls: [], match: undefined };
    const vague = { ...bare, snapshot: await this.#vague(snapshot) };
    const rungs: Omit<Rung, "learned">[] = [
      { name: "vague overlapping tools", funnel: vague, open },
      { name: "sharp use_when and avoid_when", funnel: bare, open },
      { name: "exposure by state", funnel: bare },
      { name: "explicit abstention", funnel: { ...bare, controls: whole.controls } },
      { name: "retrieval", funnel: whole },
    ];
    const learned = { name: "learned routing", funnel: whole, learned: true };
    return [
      ...rungs.map((rung) => ({ ...rung, learned: false })),
      ...(this.#adapters.has(snapshot.catalog) ? [learned] : []),
    ];
  }

  /** Everything, and each mechanism left out in turn. Nothing is ever shown beyond the principal's ceiling. */
  async leftOut(principal: Principal, snapshot: Snapshot): Promise<Rung[]> {
    const whole = this.whole(principal, snapshot, "hybrid");
    const without = (mechanism: "contrast" | "exact_names") => new Set([mechanism] as const);
    const rungs: Omit<Rung, "learned">[] = [
      { name: "everything", funnel: whole },
      { name: "lexical arm alone", funnel: { ...whole, arms: "lexical", match: undefined } },
      { name: "dense arm alone", funnel: { ...whole, arms: "dense", match: undefined } },
      {
        name: "without use_when and avoid_when",
        funnel: { ...whole, snapshot: await this.#vague(snapshot) },
      },
      {
        name: "without exposure",
        funnel: whole,
        open: { policy: principal.ceiling, facts: {} },
      },
      { name: "without abstention", funnel: { ...whole, controls: [], match: undefined } },
      { name: "without the match floor", funnel: { ...whole, match: undefined } },
      { name: "without contrast", funnel: { ...whole, without: without("contrast") } },
      { name: "without exact names", funnel: { ...whole, without: without("exact_names") } },
    ];
    const plain = { name: "without learned routing", funnel: whole, learned: false };
    return [
      ...rungs.map((rung) => ({ ...rung, learned: true })),
      ...(this.#adapters.has(snapshot.catalog) ? [plain] : []),
    ];
  }

  /** The revision with its tools' boundaries taken off. */
  #vague(snapshot: Snapshot): Promise<Snapshot> {
    const entries = snapshot.tools.map((tool) => ({
      tool: { ...tool, use_when: [], avoid_when: [], examples: [] },
      source: "ablation",
    }));
    return this.#live.build(snapshot.catalog, snapshot.revision, entries);
  }
}

/** What is shown of the records of one run, over all cases and over those with an ordinary acceptable tool. */
export function resultOf(
  records: readonly RoutingRecord[],
  familyOf?: (name: string) => string | undefined,
): {
  ordinary: Measures;
  failed: string[];
  shown: Measures & {
    ordinary: Measures & { cases: number };
    consistency?: Consistency;
    slices?: Slice[];
  };
} {
  const values = valuesOf(records);
  const indexes = Array.from(records.keys()).filter((i) => {
    const { case: item, controls } = records[i]!;
    return item.acceptable.some((name) => !controls?.has(name) && name !== "no_applicable_tool");
  });
  const own = indexes.map((i) => records[i]!);
  const all = measure(records, values);
  const ordinary = own.length === records.length ? all : measure(own, pick(values, indexes));
  const isRepeated = records.some(({ trial = 0 }) => trial > 0);
  const lost = own.filter((record) => {
    const stage = failedStage(record);
    return stage !== null && stage !== "selection";
  });
  return {
    ordinary,
    failed: lost.map(({ case: { task_id } }) => task_id),
    shown: {
      ...all,
      ordinary: { cases: own.length, ...ordinary },
      ...(isRepeated && { consistency: consistencyOf(records) }),
      ...(familyOf && { slices: slicesOf(records, familyOf, values) }),
    },
  };
}
