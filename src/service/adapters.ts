import { adapt, type Adapter } from "../adapter.ts";
import type { Embedder } from "../embedder.ts";
import type { Store } from "../store.ts";

/** A catalog's learned routing, and how it did when it was fitted. */
interface Learned {
  adapter: Adapter;
  report: Record<string, unknown>;
}

/** The catalogs' learned adapters: of use only with the model that they were fitted with. */
export class Adapters {
  readonly #learned = new Map<string, Learned>();
  readonly #store: Store;
  readonly #embedder: Embedder;

  constructor(store: Store, embedder: Embedder) {
    this.#store = store;
    this.#embedder = embedder;
    const { dimension, fingerprint } = embedder;
    for (const [catalog, { weights, report }] of store.adapters(fingerprint)) {
      if (weights.length === dimension * dimension)
        this.#learned.set(catalog, { adapter: { dimension, weights }, report });
    }
  }

  has(catalog: string): boolean {
    return this.#learned.has(catalog);
  }

  report(catalog: string): Record<string, unknown> | null {
    return this.#learned.get(catalog)?.report ?? null;
  }

  /** The query's vector as the catalog has learned to read it. */
  adapted(catalog: string, vector: Float32Array): Float32Array {
    const learned = this.#learned.get(catalog);
    return learned ? adapt(learned.adapter, vector) : vector;
  }

  save(catalog: string, adapter: Adapter, report: Record<string, unknown>): void {
    const { weights } = adapter;
    this.#store.saveAdapter(catalog, this.#embedder.fingerprint, { weights, report });
    this.#learned.set(catalog, { adapter, report });
  }

  delete(catalog: string): void {
    this.#store.deleteAdapter(catalog, this.#embedder.fingerprint);
    this.#learned.delete(catalog);
  }
}
