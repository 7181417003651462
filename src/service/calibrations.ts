import { type Calibration, matchOf } from "../calibration.ts";
import type { Match } from "../discovery.ts";
import type { Embedder } from "../embedder.ts";
import type { Store } from "../store.ts";

/** A calibration, and what queries use of it. */
interface Fit {
  calibration: Calibration;
  match: Match;
}

const fitOf = (calibration: Calibration): Fit => ({ calibration, match: matchOf(calibration) });

/** What turns features into probabilities: a catalog's own fit, else the one that came with the model. */
export class Calibrations {
  readonly #own = new Map<string, Fit>();
  readonly #shipped: Fit | undefined;
  readonly #store: Store;
  readonly #embedder: Embedder;

  /** `shipped` is of use only under the fingerprint that it was fitted with. */
  constructor(store: Store, embedder: Embedder, shipped: Calibration | undefined) {
    this.#store = store;
    this.#embedder = embedder;
    if (shipped?.fingerprint === embedder.fingerprint) this.#shipped = fitOf(shipped);
    for (const [catalog, calibration] of store.calibrations(embedder.fingerprint))
      this.#own.set(catalog, fitOf(calibration));
  }

  matchOf(catalog: string): Match | undefined {
    return (this.#own.get(catalog) ?? this.#shipped)?.match;
  }

  /** The calibration in force, and where it comes from; nulls where the model has none. */
  get(catalog: string): { source: "catalog" | "model" | null; calibration: Calibration | null } {
    const own = this.#own.get(catalog);
    if (own) return { source: "catalog", calibration: own.calibration };
    return this.#shipped
      ? { source: "model", calibration: this.#shipped.calibration }
      : { source: null, calibration: null };
  }

  get fingerprint(): string {
    return this.#embedder.fingerprint;
  }

  save(catalog: string, calibration: Calibration): void {
    this.#store.saveCalibration(catalog, calibration);
    this.#own.set(catalog, fitOf(calibration));
  }

  /** Back to the model's. */
  delete(catalog: string): void {
    this.#store.deleteCalibration(catalog, this.#embedder.fingerprint);
    this.#own.delete(catalog);
  }
}
