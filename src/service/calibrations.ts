import { type Calibration, matchOf } from "../calibration.ts";
import type { Match } from "../discovery.ts";
import type { Embedder } from "../embedder.ts";
import type { Store } from "../store.ts";

/** What turns features into probabilities: a catalog's own fit, else the one that came with the model. */
export class Calibrations {
  readonly #own = new Map<string, Calibration>();
  readonly #shipped: Calibration | undefined;
  readonly #store: Store;
  readonly #embedder: Embedder;

  /** `shipped` is of use only under the fingerprint that it was fitted with. */
  constructor(store: Store, embedder: Embedder, shipped: Calibration | undefined) {
    this.#store = store;
    this.#embedder = embedder;
    this.#shipped = shipped?.fingerprint === embedder.fingerprint ? shipped : undefined;
    for (const [catalog, calibration] of store.calibrations(embedder.fingerprint))
      this.#own.set(catalog, calibration);
  }

  matchOf(catalog: string): Match | undefined {
    const calibration = this.#own.get(catalog) ?? this.#shipped;
    return calibration && matchOf(calibration);
  }

  /** The calibration in force, and where it comes from; nulls where the model has none. */
  get(catalog: string): { source: "catalog" | "model" | null; calibration: Calibration | null } {
    const own = this.#own.get(catalog);
    if (own) return { source: "catalog", calibration: own };
    return this.#shipped
      ? { source: "model", calibration: this.#shipped }
      : { source: null, calibration: null };
  }

  get fingerprint(): string {
    return this.#embedder.fingerprint;
  }

  save(catalog: string, calibration: Calibration): void {
    this.#store.saveCalibration(catalog, calibration);
    this.#own.set(catalog, calibration);
  }

  /** Back to the model's. */
  delete(catalog: string): void {
    this.#store.deleteCalibration(catalog, this.#embedder.fingerprint);
    this.#own.delete(catalog);
  }
}
