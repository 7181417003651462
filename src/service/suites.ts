import { ShortlistError } from "../errors.ts";
import type { Config } from "../config.ts";
import { checkSuite, type RoutingCase } from "../routing.ts";
import type { Store } from "../store.ts";

/** Labelled suites by name. */
export class Suites {
  readonly #store: Store;
  readonly #config: () => Config;

  constructor(store: Store, config: () => Config) {
    this.#store = store;
    this.#config = config;
  }

  list(): { name: string; cases: number }[] {
    return this.#store.suites();
  }

  /** @throws ShortlistError `unknown_suite` */
  get(name: string): RoutingCase[] {
    const cases = this.#store.suite(name);
    if (!cases) {
      throw new ShortlistError(
        "unknown_suite",
        `There is no suite ${name}.`,
        [],
        this.list().map((suite) => suite.name),
      );
    }
    return cases;
  }

  /** @throws ShortlistError `empty_suite`, `invalid_suite` */
  put(name: string, values: readonly unknown[]): { name: string; cases: number } {
    const cases = checkSuite(values, this.#config().phases);
    this.#store.saveSuite(name, cases);
    return { name, cases: cases.length };
  }

  delete(name: string): void {
    this.get(name);
    this.#store.deleteSuite(name);
  }
}
