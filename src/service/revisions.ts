import type { Principal } from "../access.ts";
import type { Embedder } from "../embedder.ts";
import { ShortlistError } from "../errors.ts";
import { hiddenBy } from "../exposure.ts";
import type { Job, Jobs } from "../job.ts";
import type { RevisionSummary, Store } from "../store.ts";
import type { ToolSpec } from "../tool.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import type { Judge, SuiteGate } from "./suite-gate.ts";

/** A catalog's held revisions, and which of them is live. */
export class Revisions {
  readonly #live: LiveCatalogs;
  readonly #store: Store;
  readonly #embedder: Embedder;
  readonly #jobs: Jobs;
  readonly #judge: Judge;

  constructor(live: LiveCatalogs, store: Store, embedder: Embedder, jobs: Jobs, judge: Judge) {
    this.#live = live;
    this.#store = store;
    this.#embedder = embedder;
    this.#jobs = jobs;
    this.#judge = judge;
  }

  /** Newest first. @throws ShortlistError `unknown_catalog` */
  list(principal: Principal, catalog: string): RevisionSummary[] {
    this.#live.get(principal, catalog);
    return this.#store.revisions(catalog);
  }

  /** What differs from one held revision to another, within the principal's ceiling. @throws ShortlistError `unknown_catalog`, `revision_gone` */
  diff(principal: Principal, catalog: string, from: number, to: number) {
    this.#live.get(principal, catalog);
    const toolsOf = (revision: number) => {
      const stored = this.#store.revision(catalog, revision);
      if (!stored)
        throw new ShortlistError(
          "revision_gone",
          `Catalog ${catalog} holds no revision ${revision}.`,
        );
      const seen = stored.entries.filter(({ tool }) => !hiddenBy(principal.ceiling, tool));
      return new Map(seen.map(({ tool }) => [tool.name, tool]));
    };
    const [before, after] = [toolsOf(from), toolsOf(to)];
    const changed = [...after].flatMap(([name, tool]) => {
      const was = before.get(name);
      if (!was) return [];
      const fields = [
        ...new Set([...Object.keys(was), ...Object.keys(tool)]),
      ] as (keyof ToolSpec)[];
      const differ = fields.filter((key) => JSON.stringify(was[key]) !== JSON.stringify(tool[key]));
      return differ.length > 0 ? [{ name, fields: differ }] : [];
    });
    return {
      catalog,
      from,
      to,
      added: [...after.keys()].filter((name) => !before.has(name)).toSorted(),
      removed: [...before.keys()].filter((name) => !after.has(name)).toSorted(),
      changed: changed.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    };
  }

  /** Makes a held revision the live one, if it passes the gate. @throws ShortlistError `unknown_catalog`, `revision_gone`, `invalid_gate` */
  promote(principal: Principal, catalog: string, revision: number, gate?: SuiteGate): Job {
    this.#live.get(principal, catalog);
    if (gate) this.#judge.requireGate(gate);
    const held = () => this.#store.revision(catalog, revision);
    const gone = () =>
      new ShortlistError("revision_gone", `Catalog ${catalog} holds no revision ${revision}.`);
    if (held()?.fingerprint !== this.#embedder.fingerprint) throw gone();
    return this.#jobs.start("promote", catalog, async (work) => {
      const stored = held();
      if (!stored) throw gone();
      const { revision: from } = this.#live.get(principal, catalog);
      const snapshot = await this.#live.build(catalog, revision, stored.entries);
      const verdict = gate && (await this.#judge.judge(principal, snapshot, gate, work));
      work.signal.throwIfAborted();
      if (verdict?.passed === false) return { revision: from, promoted: false, verdict };
      this.#store.promote(catalog, revision);
      this.#live.install(snapshot);
      return { revision, from, promoted: true, ...(verdict && { verdict }) };
    });
  }
}
