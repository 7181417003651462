import { setImmediate as turn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { rowOf, textsOf } from "../discovery.ts";
import type { Embedder } from "../embedder.ts";
import { ShortlistError } from "../errors.ts";
import { buildSnapshot, type Row, type Snapshot } from "../snapshot.ts";
import type { Entry, Store } from "../store.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Graphs } from "./graphs.ts";
import { isReserved } from "./admission.ts";
import { StoredVectors } from "./stored-vectors.ts";

const PINNED_MAX = 2;
/** Tools read a turn of the event loop. */
const TOOLS_A_TURN = 500;

/** The snapshots that queries read. A swap is one assignment: readers see the old revision or the new one. */
export class LiveCatalogs {
  readonly #live = new Map<string, Snapshot>();
  readonly #pinned = new LRUCache<string, Snapshot>({ max: PINNED_MAX });
  readonly #store: Store;
  readonly #vectors: StoredVectors;
  readonly #embedder: Embedder;
  readonly #config: () => Config;
  readonly #telemetry: Telemetry;
  readonly #graphs: Graphs;

  constructor(
    store: Store,
    embedder: Embedder,
    config: () => Config,
    telemetry: Telemetry,
    graphs: Graphs,
  ) {
    this.#store = store;
    this.#vectors = new StoredVectors(store, embedder);
    this.#embedder = embedder;
    this.#config = config;
    this.#telemetry = telemetry;
    this.#graphs = graphs;
  }

  /** Every catalog's live revision from the store. @throws ShortlistError `invalid_model` where one was embedded with another model */
  async load(): Promise<void> {
    for (const { name } of this.#store.catalogs()) {
      const stored = this.#store.revision(name)!;
      if (stored.fingerprint !== this.#embedder.fingerprint) {
        throw new ShortlistError(
          "invalid_model",
          `Catalog ${name} was embedded with the model ${stored.fingerprint}, this one is ` +
            `${this.#embedder.fingerprint}: vectors of two models are never mixed. Start with the ` +
            "former model, or embed everything again with `shortlist serve --reembed`.",
        );
      }
      this.install(await this.build(name, stored.revision, stored.entries));
    }
  }

  names(principal: Principal): string[] {
    return [...this.#live.keys()].filter((name) => principal.maySee(name)).toSorted();
  }

  find(principal: Principal, catalog: string): Snapshot | undefined {
    return principal.maySee(catalog) ? this.#live.get(catalog) : undefined;
  }

  /** @throws ShortlistError `unknown_catalog` */
  get(principal: Principal, catalog: string): Snapshot {
    const snapshot = this.find(principal, catalog);
    if (snapshot) return snapshot;
    throw new ShortlistError(
      "unknown_catalog",
      `There is no catalog ${catalog}.`,
      [],
      this.names(principal),
    );
  }

  /** The revision that a request pins, or the live one. @throws ShortlistError `revision_gone`, `unknown_revision` */
  async pinned(
    principal: Principal,
    catalog: string,
    revision: number | undefined,
  ): Promise<Snapshot> {
    const live = this.get(principal, catalog);
    if (revision === undefined || revision === live.revision) return live;
    const key = `${catalog} ${revision}`;
    const held = this.#pinned.get(key);
    if (held) return held;
    const stored = this.#store.revision(catalog, revision);
    if (!stored || stored.fingerprint !== this.#embedder.fingerprint) {
      const code = revision < live.revision ? "revision_gone" : "unknown_revision";
      throw new ShortlistError(
        code,
        `Catalog ${catalog} is at revision ${live.revision}; ${revision} is not held.`,
      );
    }
    const snapshot = await this.build(catalog, revision, stored.entries);
    this.#pinned.set(key, snapshot);
    return snapshot;
  }

  /** A snapshot of the entries. Texts without a vector, as after an upgrade that reads more of a tool, are embedded first. */
  async build(catalog: string, revision: number, entries: readonly Entry[]): Promise<Snapshot> {
    const tools = entries.flatMap(({ tool }) => (isReserved(tool, this.#config()) ? [] : [tool]));
    const rows: Row[] = [];
    for (const [i, tool] of tools.entries()) {
      rows.push(rowOf(tool));
      if (i % TOOLS_A_TURN === 0) await turn();
    }
    const texts = [...new Set(rows.flatMap(textsOf))];
    const vectors = await this.#vectors.of(texts);
    return buildSnapshot({
      catalog,
      revision,
      rows,
      dimension: this.#embedder.dimension,
      vectorOf: (text) => vectors.get(text)!,
    });
  }

  install(snapshot: Snapshot): void {
    this.#live.set(snapshot.catalog, snapshot);
    this.#graphs.follow(snapshot, (searchable) => {
      if (this.#live.get(snapshot.catalog) === snapshot)
        this.#live.set(snapshot.catalog, searchable);
    });
    this.#telemetry.tools.set({ catalog: snapshot.catalog }, snapshot.tools.length);
    this.#telemetry.revision.set({ catalog: snapshot.catalog }, snapshot.revision);
  }

  /** After the trusted controls have changed: a tool under a name that is trusted now leaves its catalog. */
  async reload(): Promise<void> {
    this.#pinned.clear();
    for (const snapshot of this.#live.values()) {
      if (!snapshot.tools.some((tool) => isReserved(tool, this.#config()))) continue;
      const stored = this.#store.revision(snapshot.catalog, snapshot.revision);
      if (stored)
        this.install(await this.build(snapshot.catalog, snapshot.revision, stored.entries));
    }
  }
}
