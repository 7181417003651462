import { LRUCache } from "lru-cache";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { ShortlistError } from "../errors.ts";
import type { Store, StoredTrace } from "../store.ts";

const FLUSH_MS = 200;
/** Traces a transaction: what one write keeps the event loop for. */
const BATCH_MAX = 64;
const PRUNE_EVERY = 5_000;
const DAY_MS = 86_400_000;

/** Decisions as they were answered: at hand at once, in the store a moment later, off the query's path. */
export class Traces {
  readonly #recent: LRUCache<string, StoredTrace>;
  #waiting: StoredTrace[] = [];
  #timer: NodeJS.Timeout | undefined;
  #untilPrune = 0;
  readonly #store: Store;
  readonly #config: () => Config;
  readonly #onError: (error: unknown) => void;

  constructor(store: Store, config: () => Config, onError: (error: unknown) => void) {
    this.#store = store;
    this.#config = config;
    this.#onError = onError;
    this.#recent = new LRUCache({ max: config().limits.traces_max });
  }

  add(trace: StoredTrace): void {
    this.#recent.set(trace.id, trace);
    this.#waiting.push(trace);
    this.#timer ??= setTimeout(() => this.#tick(), FLUSH_MS).unref();
  }

  /** @throws ShortlistError `unknown_trace`, also where the principal may not see its catalogs */
  get(principal: Principal, id: string): StoredTrace {
    const trace = this.#recent.get(id) ?? this.#store.trace(id);
    // Several catalogs are one list of names; what one may not see hides the whole.
    if (trace?.catalog.split(" ").every((catalog) => principal.maySee(catalog))) return trace;
    throw new ShortlistError("unknown_trace", `There is no trace ${id}.`);
  }

  /** Everything that waits is in the store when this returns. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0) this.#write();
  }

  #tick(): void {
    this.#timer = undefined;
    try {
      this.#write();
    } catch (error) {
      this.#onError(error);
    }
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#tick(), 0).unref();
  }

  #write(): void {
    const batch = this.#waiting.splice(0, BATCH_MAX);
    this.#store.saveTraces(batch);
    this.#untilPrune -= batch.length;
    if (this.#untilPrune > 0) return;
    this.#untilPrune = PRUNE_EVERY;
    const { kept, days } = this.#config().traces;
    this.#store.pruneTraces(new Date(Date.now() - days * DAY_MS).toISOString(), kept);
  }
}
