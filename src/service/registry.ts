import { setImmediate as turn } from "node:timers/promises";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import type { Embedder } from "../embedder.ts";
import { rowOf, textsOf } from "../discovery.ts";
import { ShortlistError } from "../errors.ts";
import { hiddenBy } from "../exposure.ts";
import type { Job, Jobs, Work } from "../job.ts";
import type { Entry, Store } from "../store.ts";
import { type ToolSpec, validateTool } from "../tool.ts";
import { admit, isReserved, type Quarantined, reservedReason, withoutSource } from "./admission.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import { compareEntries, type Report } from "./report.ts";
import type { Judge, SuiteGate } from "./suite-gate.ts";
import { StoredVectors } from "./stored-vectors.ts";
import { unknownTool } from "./unknown-tool.ts";

interface WriteOptions {
  ifMatch?: number | undefined;
  gate?: SuiteGate | undefined;
}

interface Write extends WriteOptions {
  kind?: string;
  total: number;
  quarantined?: Quarantined[];
  change(entries: readonly Entry[]): Entry[];
  /** What the report says beside the counts, once `change` has run. */
  details?(): Record<string, unknown>;
  dryRun?: boolean;
}

const same = (entries: readonly Entry[]) => [...entries];

/** The source of what the registry routes bring: no import may take its place. */
export const REGISTRY_SOURCE = "registry";
/** Tools written a turn of the event loop. */
const TOOLS_A_TURN = 1_000;
/** Reads and writes of a catalog's tools. Every write is a job and makes one new revision, or none. */
export class Registry {
  readonly #live: LiveCatalogs;
  readonly #store: Store;
  readonly #embedder: Embedder;
  readonly #jobs: Jobs;
  readonly #judge: Judge;
  readonly #config: () => Config;

  constructor(
    live: LiveCatalogs,
    store: Store,
    embedder: Embedder,
    jobs: Jobs,
    judge: Judge,
    config: () => Config,
  ) {
    this.#live = live;
    this.#store = store;
    this.#embedder = embedder;
    this.#jobs = jobs;
    this.#judge = judge;
    this.#config = config;
  }

  catalogs(principal: Principal): { name: string; revision: number; tools: number }[] {
    return this.#live.names(principal).map((name) => {
      const { revision, tools } = this.#live.get(principal, name);
      const seen = tools.filter((tool) => !hiddenBy(principal.ceiling, tool)).length;
      return { name, revision, tools: seen };
    });
  }

  /** A page of the tools within the principal's ceiling, by name. */
  list(principal: Principal, catalog: string, after: string, limit: number) {
    const { revision, tools } = this.#live.get(principal, catalog);
    const seen = tools.filter((tool) => !hiddenBy(principal.ceiling, tool));
    const rest = seen
      .filter(({ name }) => name > after)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const page = rest.slice(0, limit);
    const next = rest.length > limit ? page.at(-1)!.name : null;
    return { catalog, revision, total: seen.length, tools: page, next };
  }

  get(principal: Principal, catalog: string, name: string): { revision: number; tool: ToolSpec } {
    const snapshot = this.#live.get(principal, catalog);
    const tool = snapshot.tools[snapshot.rowOf.get(name) ?? -1];
    if (!tool || hiddenBy(principal.ceiling, tool))
      throw unknownTool(name, snapshot.tools, principal);
    return { revision: snapshot.revision, tool };
  }

  /** Replaces what the source `registry` brought. @throws ShortlistError `no_valid_tool` */
  async replace(
    principal: Principal,
    catalog: string,
    values: readonly unknown[],
    { ifMatch, gate }: WriteOptions = {},
  ): Promise<Job> {
    const { tools, quarantined } = await admit(values, this.#config());
    const change = (entries: readonly Entry[]) => [
      ...entries.filter(({ source }) => source !== REGISTRY_SOURCE),
      ...tools.map((tool) => ({ tool, source: REGISTRY_SOURCE })),
    ];
    const total = tools.length;
    return this.#write(principal, catalog, { ifMatch, gate, total, quarantined, change });
  }

  /** Adds or changes a batch, one revision for all. @throws ShortlistError `no_valid_tool` */
  async upsert(
    principal: Principal,
    catalog: string,
    values: readonly unknown[],
    options: WriteOptions = {},
  ): Promise<Job> {
    this.#live.get(principal, catalog);
    const { tools, quarantined } = await admit(values, this.#config());
    return this.#upsert(principal, catalog, tools, quarantined, options);
  }

  /** Adds or changes one tool; returns when it is live. @throws ShortlistError `invalid_tool`, `reserved_tool` */
  async put(principal: Principal, catalog: string, name: string, value: unknown, ifMatch?: number) {
    this.#live.get(principal, catalog);
    const faults = validateTool(value);
    if (faults.length === 0 && (value as ToolSpec).name !== name) {
      faults.push({ pointer: "/name", message: `must be ${name}, as in the path` });
    }
    if (faults.length > 0)
      throw new ShortlistError("invalid_tool", `${name} is not valid.`, faults);
    const tool = withoutSource(value as ToolSpec);
    if (isReserved(tool, this.#config()))
      throw new ShortlistError("reserved_tool", reservedReason(tool));
    await this.#settled(this.#upsert(principal, catalog, [tool], [], { ifMatch }));
    return this.get(principal, catalog, name);
  }

  /** Removes one tool; returns when it is gone. @throws ShortlistError `unknown_tool` */
  async delete(
    principal: Principal,
    catalog: string,
    name: string,
    ifMatch?: number,
  ): Promise<{ revision: number }> {
    this.get(principal, catalog, name);
    const change = (entries: readonly Entry[]) => {
      const rest = entries.filter(({ tool }) => tool.name !== name);
      if (rest.length === entries.length)
        throw new ShortlistError("unknown_tool", `There is no tool ${name}.`);
      return rest;
    };
    const job = this.#write(principal, catalog, { ifMatch, total: 1, change });
    await this.#settled(job);
    return { revision: this.#live.get(principal, catalog).revision };
  }

  /** Builds the catalog's revision again from the store; embeds what has no vector under this model. */
  reindex(principal: Principal, catalog: string, options: WriteOptions = {}): Job {
    const { tools } = this.#live.get(principal, catalog);
    return this.#write(principal, catalog, { ...options, total: tools.length, change: same });
  }

  /** Every catalog again under the present model: for a start with a model that the store does not know. */
  async reembed(principal: Principal, watch: (job: Job) => void): Promise<void> {
    for (const { name, tools } of this.#store.catalogs()) {
      const job = this.#write(principal, name, { total: tools, change: same });
      watch(job);
      await this.#settled(job);
    }
  }

  /** Replaces what one source brought; `change` may refuse. Nothing is written in a dry run. */
  replaceSource(
    principal: Principal,
    catalog: string,
    write: Pick<Write, "total" | "quarantined" | "change" | "details" | "dryRun" | "gate">,
  ): Job {
    return this.#write(principal, catalog, { ...write, kind: "import" });
  }

  #upsert(
    principal: Principal,
    catalog: string,
    tools: readonly ToolSpec[],
    quarantined: Quarantined[],
    options: WriteOptions,
  ): Job {
    const change = (entries: readonly Entry[]) => {
      const next = new Map(entries.map((entry) => [entry.tool.name, entry]));
      for (const tool of tools) {
        next.set(tool.name, { tool, source: next.get(tool.name)?.source ?? REGISTRY_SOURCE });
      }
      return [...next.values()];
    };
    const total = tools.length;
    return this.#write(principal, catalog, { ...options, total, quarantined, change });
  }

  #write(principal: Principal, catalog: string, write: Write): Job {
    const { ifMatch, gate, total } = write;
    if (gate) this.#judge.requireGate(gate);
    if (!principal.maySee(catalog))
      throw new ShortlistError("unknown_catalog", `There is no catalog ${catalog}.`);
    const requireFresh = () => {
      const revision = this.#live.find(principal, catalog)?.revision ?? 0;
      if (ifMatch !== undefined && ifMatch !== revision) {
        throw new ShortlistError(
          "stale_revision",
          `Catalog ${catalog} is at revision ${revision}, not ${ifMatch}.`,
        );
      }
    };
    requireFresh();
    return this.#jobs.start(
      write.kind ?? "reindex",
      catalog,
      (work) => {
        requireFresh();
        return this.#apply(principal, catalog, write, work);
      },
      total,
    );
  }

  async #apply(
    principal: Principal,
    catalog: string,
    { quarantined = [], change, gate, details, dryRun = false }: Write,
    work: Work,
  ): Promise<Record<string, unknown>> {
    const { fingerprint } = this.#embedder;
    const stored = this.#store.revision(catalog);
    const entries = change(stored?.entries ?? []);
    const report: Report = {
      ...compareEntries(stored?.entries ?? [], entries),
      quarantined,
      ...details?.(),
    };
    if (dryRun) return { dry_run: true, revision: stored?.revision ?? 0, report };
    const isChanged =
      !stored ||
      stored.fingerprint !== fingerprint ||
      report.added + report.changed + report.removed > 0;
    if (isChanged) await this.#saveTools(entries);
    const embedded = await this.#embed(entries, work);
    let revision = stored?.revision ?? 0;
    let verdict: Awaited<ReturnType<Judge["judge"]>> | undefined;
    if (isChanged || gate) {
      const snapshot = await this.#live.build(catalog, revision + 1, entries);
      verdict = gate && (await this.#judge.judge(principal, snapshot, gate, work));
      work.signal.throwIfAborted();
      if (!isChanged || verdict?.passed === false)
        return { embedded, revision, promoted: false, verdict, report };
      revision = this.#store.commit(
        catalog,
        fingerprint,
        entries,
        this.#config().limits.revisions_kept,
      );
      this.#live.install({ ...snapshot, revision });
    }
    work.progress(entries.length, entries.length);
    return { embedded, revision, ...(verdict && { promoted: true, verdict }), report };
  }

  /** Embeds the texts that have no vector yet, and returns how many there were. */
  async #embed(entries: readonly Entry[], work: Work): Promise<number> {
    const vectors = new StoredVectors(this.#store, this.#embedder);
    const texts = [...new Set(entries.flatMap(({ tool }) => textsOf(rowOf(tool))))];
    const missing = await vectors.missing(texts);
    const tell = (done: number) => {
      const share = (texts.length - missing.length + done) / Math.max(1, texts.length);
      work.progress(Math.floor(entries.length * share), entries.length);
    };
    tell(0);
    await vectors.embed(missing, work.signal, tell);
    return missing.length;
  }

  async #saveTools(entries: readonly Entry[]): Promise<void> {
    for (let at = 0; at < entries.length; at += TOOLS_A_TURN) {
      this.#store.saveTools(entries.slice(at, at + TOOLS_A_TURN).map(({ tool }) => tool));
      await turn();
    }
  }

  /** Waits for a job and turns its failure into the caller's error. */
  async #settled(job: Job): Promise<void> {
    const { state, error } = await this.#jobs.ended(job.id);
    if (state === "succeeded") return;
    throw new ShortlistError(
      (error?.code as ShortlistError["code"]) ?? "internal",
      error?.detail ?? `The job is ${state}.`,
    );
  }
}
