import { type Static, Type } from "@sinclair/typebox";
import { invalidValue, ShortlistError } from "../errors.ts";
import type { Config } from "../config.ts";
import { checkSuite, RoutingCase } from "../routing.ts";
import type { Store } from "../store.ts";

/** Labelled cases: a stored suite or the request's own. */
export const LABELLED = {
  suite: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  cases: Type.Optional(Type.Array(RoutingCase, { description: "In place of a stored suite." })),
};
const Labelled = Type.Object(LABELLED);
type Labelled = Static<typeof Labelled>;

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
  put(
    name: string,
    values: readonly unknown[],
    lines: readonly number[] = [],
  ): { name: string; cases: number } {
    const cases = checkSuite(values, this.#config().phases, lines);
    this.#store.saveSuite(name, cases);
    return { name, cases: cases.length };
  }

  /** @throws ShortlistError `invalid_request`, `unknown_suite`, `empty_suite`, `invalid_suite` */
  labelled({ suite, cases }: Labelled): RoutingCase[] {
    if ((suite === undefined) === (cases === undefined)) {
      throw invalidValue("", "give either suite or cases");
    }
    return checkSuite(cases ?? this.get(suite!), this.#config().phases);
  }

  delete(name: string): void {
    this.get(name);
    this.#store.deleteSuite(name);
  }
}
