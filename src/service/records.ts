import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { invalidValue, ShortlistError } from "../errors.ts";
import { type ExposurePolicy, hiddenBy } from "../exposure.ts";
import { ABSTAIN, type RoutingCase, type RoutingRecord } from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Store } from "../store.ts";
import { resultOf } from "./bench-funnels.ts";
import { exposures } from "./exposed.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import type { Traces } from "./traces.ts";

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 1_000,
  uniqueItems: true,
});

/** What came of a decision. Sent again with more, it is joined to what is known. */
export const SelectionRecord = Type.Object(
  {
    trace_id: Type.String({ minLength: 1, maxLength: 64 }),
    trial: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
    selected: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], {
        description: "The first tool that was called; null where the model answered in words.",
      }),
    ),
    acceptable: Type.Optional(Names),
    forbidden: Type.Optional(Names),
    verified_success: Type.Optional(Type.Boolean()),
    progress: Type.Optional(Type.Number({ description: "Whether running it helped." })),
  },
  { additionalProperties: false, title: "SelectionRecord" },
);
export type SelectionRecord = Static<typeof SelectionRecord>;

/** What a stored trace says, as far as it is read here. */
interface Decision {
  query?: string;
  effective_policy: ExposurePolicy;
  hidden_names: string[];
  k: number;
  tools: { name: string; control: boolean }[];
}

const NAMES_MAX = 1_000;

/** What was selected in production, joined to the decisions, and the same metrics over it. */
export class Records {
  readonly #live: LiveCatalogs;
  readonly #traces: Traces;
  readonly #store: Store;
  readonly #config: () => Config;

  constructor(live: LiveCatalogs, traces: Traces, store: Store, config: () => Config) {
    this.#live = live;
    this.#traces = traces;
    this.#store = store;
    this.#config = config;
  }

  /** The whole decision, and what came of it. @throws ShortlistError `unknown_trace`, also where the principal may not see its catalogs */
  trace(principal: Principal, id: string): Record<string, unknown> {
    const { trace } = this.#traces.get(principal, id);
    return { ...trace, records: this.#store.recordsOf(id) };
  }

  /** Idempotent by trace and trial. @throws ShortlistError `unknown_trace`, `invalid_request` */
  put(principal: Principal, { trace_id, trial = 0, ...record }: SelectionRecord) {
    const { catalog } = this.#traces.get(principal, trace_id);
    const both = record.acceptable?.filter((name) => record.forbidden?.includes(name)) ?? [];
    if (both.length > 0 || record.acceptable?.length === 0) {
      const message = both.length > 0 ? `also forbidden: ${both.join(", ")}` : "must not be empty";
      throw invalidValue("/acceptable", message);
    }
    this.#traces.flush();
    return { trace_id, trial, catalog, ...this.#store.saveRecord(trace_id, trial, record) };
  }

  /** Rates where labels exist, and counts where they do not. @throws ShortlistError `unknown_catalog` */
  metrics(principal: Principal, catalog: string, since: string) {
    const snapshot = this.#live.get(principal, catalog);
    const stored = this.#store.records(catalog, since);
    const seen = snapshot.tools.filter((tool) => !hiddenBy(principal.ceiling, tool));
    const selections = new Map<string, number>();
    const retrieved = new Map<string, number>();
    let answered = 0;
    for (const { record, trace } of stored) {
      for (const { name, control } of (trace as unknown as Decision).tools)
        if (!control) retrieved.set(name, (retrieved.get(name) ?? 0) + 1);
      if (record.selected === undefined) continue;
      answered++;
      if (record.selected !== null)
        selections.set(record.selected, (selections.get(record.selected) ?? 0) + 1);
    }
    const labelled = this.#labelled(snapshot, principal, stored);
    const unselected = seen.filter(({ name }) => !selections.has(name)).map(({ name }) => name);
    const { shown } = resultOf(labelled, (name) => familyOf(snapshot, name));
    return {
      catalog,
      since,
      records: stored.length,
      labelled: labelled.length,
      rates: labelled.length > 0 ? shown : null,
      selections: Array.from(selections, ([name, count]) => ({ name, count })).toSorted(
        (a, b) => b.count - a.count || (a.name < b.name ? -1 : 1),
      ),
      abstention_share: answered === 0 ? null : (selections.get(ABSTAIN) ?? 0) / answered,
      never_selected: unselected.slice(0, NAMES_MAX),
      retrieved_never_selected: unselected
        .flatMap((name) => (retrieved.has(name) ? [{ name, retrieved: retrieved.get(name)! }] : []))
        .toSorted((a, b) => b.retrieved - a.retrieved)
        .slice(0, NAMES_MAX),
    };
  }

  /** The labelled records whose request is known, as cases. @throws ShortlistError `empty_suite` */
  cases(principal: Principal, catalog: string): RoutingCase[] {
    this.#live.get(principal, catalog);
    const cases = this.#store.records(catalog, "").flatMap(({ trace_id, trial, record, trace }) => {
      const { query, effective_policy } = trace as unknown as Decision;
      if (query === undefined || !record.acceptable) return [];
      const task_id = `${trace_id} ${trial}`;
      return [{ task_id, goal: query, policy: effective_policy, acceptable: record.acceptable }];
    });
    if (cases.length > 0) return cases;
    throw new ShortlistError(
      "empty_suite",
      "No record has both a label and its request; requests are kept with `traces.store_query`.",
    );
  }

  #labelled(
    snapshot: Snapshot,
    principal: Principal,
    stored: ReturnType<Store["records"]>,
  ): RoutingRecord[] {
    const controls = new Set(this.#config().controls.map(({ name }) => name));
    const within = snapshot.tools.filter((tool) => !hiddenBy(principal.ceiling, tool));
    const registry_names = new Set([...within.map(({ name }) => name), ...controls]);
    const exposedBy = exposures(within, controls);
    return stored.flatMap(({ trace_id, trial, record, trace }) => {
      const { acceptable, forbidden = [], selected, verified_success } = record;
      if (!acceptable || selected === undefined) return [];
      const { query = "", effective_policy, hidden_names, k, tools } = trace as unknown as Decision;
      const ranking = tools.flatMap(({ name, control }) => (control ? [] : [name]));
      return [
        {
          case: { task_id: trace_id, goal: query, acceptable, forbidden },
          registry_names,
          exposed_names: exposedBy(effective_policy, hidden_names).names,
          retrieved_names: new Set(tools.map(({ name }) => name)),
          controls,
          ranking,
          selected,
          outcome: selected === null ? "text" : "selected",
          trial,
          retrieval_k: k,
          verified_success,
        } satisfies RoutingRecord,
      ];
    });
  }
}

function familyOf(snapshot: Snapshot, name: string): string | undefined {
  return snapshot.tools[snapshot.rowOf.get(name) ?? -1]?.family;
}
