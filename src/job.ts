import { randomUUID } from "node:crypto";
import { ShortlistError } from "./errors.ts";

export type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled";

/** A job as the wire shows it. `result` fields are laid flat beside the progress. */
export interface Job {
  id: string;
  kind: string;
  catalog: string;
  state: JobState;
  done: number;
  total: number;
  /** Units a second, and seconds left; null until there is progress. */
  rate: number | null;
  eta_s: number | null;
  created_at: string;
  finished_at?: string;
  error?: { code: string; detail: string };
  [result: string]: unknown;
}

/** What a job's work gets: a way to tell its progress, and to learn that it is cancelled. */
export interface Work {
  signal: AbortSignal;
  progress(done: number, total: number): void;
}

interface Entry {
  job: Job;
  /** Grows with every change: the id of the job's events. */
  version: number;
  abort: AbortController;
  ended: Promise<void>;
  watchers: Set<() => void>;
  startedAt: number;
}

const FINISHED_KEPT_MAX = 1_000;

/** One queue a catalog: a second write waits for the first. Finished jobs are kept for a while. */
export class Jobs {
  readonly #entries = new Map<string, Entry>();
  readonly #tails = new Map<string, Promise<void>>();
  readonly #onEnd: (job: Job) => void;

  constructor(onEnd: (job: Job) => void = () => {}) {
    this.#onEnd = onEnd;
  }

  /** Queues the work. Its result's fields become the job's. */
  start(
    kind: string,
    catalog: string,
    work: (work: Work) => Promise<Record<string, unknown>>,
    total = 0,
  ): Job {
    const job: Job = {
      id: randomUUID(),
      kind,
      catalog,
      state: "queued",
      done: 0,
      total,
      rate: null,
      eta_s: null,
      created_at: new Date().toISOString(),
    };
    const entry: Entry = {
      job,
      version: 0,
      abort: new AbortController(),
      ended: Promise.resolve(),
      watchers: new Set(),
      startedAt: 0,
    };
    const ahead = this.#tails.get(catalog);
    entry.ended = ahead ? ahead.then(() => this.#run(entry, work)) : this.#run(entry, work);
    this.#tails.set(catalog, entry.ended);
    this.#entries.set(job.id, entry);
    void entry.ended.then(() => {
      if (this.#tails.get(catalog) === entry.ended) this.#tails.delete(catalog);
      this.#forget();
    });
    return job;
  }

  list(): Job[] {
    return Array.from(this.#entries.values(), ({ job }) => job);
  }

  get(id: string): Job {
    return this.#entry(id).job;
  }

  /** The job, once it has ended. */
  async ended(id: string): Promise<Job> {
    const entry = this.#entry(id);
    await entry.ended;
    return entry.job;
  }

  cancel(id: string): Job {
    const entry = this.#entry(id);
    if (isEnded(entry.job.state))
      throw new ShortlistError("job_finished", `The job is ${entry.job.state}.`);
    entry.abort.abort();
    if (entry.job.state === "queued") this.#end(entry, "cancelled");
    return entry.job;
  }

  /** The job's states from after `version` on, the newest of those that pass unseen; ends with the job. */
  async *watch(
    id: string,
    version: number,
    signal: AbortSignal,
  ): AsyncGenerator<{ version: number; job: Job }> {
    const entry = this.#entry(id);
    let seen = version;
    while (!signal.aborted) {
      if (entry.version > seen || isEnded(entry.job.state)) {
        seen = entry.version;
        yield { version: seen, job: entry.job };
        if (isEnded(entry.job.state)) return;
      }
      if (entry.version > seen) continue;
      await new Promise<void>((resolve) => {
        const wake = () => {
          entry.watchers.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        entry.watchers.add(wake);
        signal.addEventListener("abort", wake);
      });
    }
  }

  /** Cancels everything and waits for the ends. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    for (const entry of entries) entry.abort.abort();
    await Promise.all(entries.map(({ ended }) => ended));
  }

  async #run(entry: Entry, work: (work: Work) => Promise<Record<string, unknown>>): Promise<void> {
    if (isEnded(entry.job.state)) return;
    entry.job.state = "running";
    entry.startedAt = performance.now();
    this.#changed(entry);
    try {
      const result = await work({
        signal: entry.abort.signal,
        progress: (done, total) => this.#progress(entry, done, total),
      });
      Object.assign(entry.job, result);
      this.#end(entry, "succeeded");
    } catch (error) {
      if (entry.abort.signal.aborted) return this.#end(entry, "cancelled");
      const code = error instanceof ShortlistError ? error.code : "internal";
      entry.job.error = { code, detail: (error as Error).message };
      this.#end(entry, "failed");
    }
  }

  #progress(entry: Entry, done: number, total: number): void {
    const seconds = (performance.now() - entry.startedAt) / 1000;
    const rate = done > 0 && seconds > 0 ? done / seconds : null;
    Object.assign(entry.job, {
      done,
      total,
      rate,
      eta_s: rate === null ? null : (total - done) / rate,
    });
    this.#changed(entry);
  }

  #end(entry: Entry, state: JobState): void {
    entry.job.state = state;
    entry.job.eta_s = null;
    entry.job.finished_at = new Date().toISOString();
    this.#onEnd(entry.job);
    this.#changed(entry);
  }

  #changed(entry: Entry): void {
    entry.version++;
    for (const wake of entry.watchers) wake();
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw new ShortlistError("unknown_job", `There is no job ${id}.`);
    return entry;
  }

  #forget(): void {
    const finished = [...this.#entries.values()].filter(({ job }) => isEnded(job.state));
    for (const { job } of finished.slice(0, -FINISHED_KEPT_MAX)) this.#entries.delete(job.id);
  }
}

function isEnded(state: JobState): boolean {
  return state === "succeeded" || state === "failed" || state === "cancelled";
}
