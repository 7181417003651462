import { describe, expect, it } from "vitest";
import { ShortlistError } from "../src/errors.ts";
import { type Job, Jobs, type Work } from "../src/job.ts";

/** Work that ends when it is told to. */
function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const work = async ({ signal }: Work) => {
    const aborted = new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
    await Promise.race([opened, aborted]);
    return { revision: 7 };
  };
  return { work, open };
}

describe("jobs", () => {
  it("of one catalog run one after the other, of two side by side", async () => {
    const jobs = new Jobs();
    const [first, second, other] = [gate(), gate(), gate()];
    const a = jobs.start("reindex", "one", first.work);
    const b = jobs.start("reindex", "one", second.work);
    const c = jobs.start("reindex", "two", other.work);
    expect([a.state, b.state, c.state]).toEqual(["running", "queued", "running"]);
    first.open();
    await jobs.ended(a.id);
    await new Promise((resolve) => setImmediate(resolve));
    expect([a.state, b.state]).toEqual(["succeeded", "running"]);
    expect(a["revision"]).toBe(7);
    second.open();
    other.open();
    expect((await jobs.ended(b.id)).state).toBe("succeeded");
  });

  it("that fail say why, and hold up nobody", async () => {
    const jobs = new Jobs();
    const failed = jobs.start("reindex", "one", async () => {
      throw new ShortlistError("stale_revision", "Too late.");
    });
    const after = jobs.start("reindex", "one", async () => ({}));
    await jobs.ended(after.id);
    expect(failed).toMatchObject({
      state: "failed",
      error: { code: "stale_revision", detail: "Too late." },
    });
    expect(after.state).toBe("succeeded");
  });

  it("can be cancelled while they run and while they wait", async () => {
    const jobs = new Jobs();
    const running = jobs.start("reindex", "one", gate().work);
    let hasRun = false;
    const waiting = jobs.start("reindex", "one", async () => ({ hasRun: (hasRun = true) }));
    expect(jobs.cancel(waiting.id).state).toBe("cancelled");
    jobs.cancel(running.id);
    await Promise.all([jobs.ended(running.id), jobs.ended(waiting.id)]);
    expect([running.state, waiting.state, hasRun]).toEqual(["cancelled", "cancelled", false]);
    expect(() => jobs.cancel(running.id)).toThrow(/cancelled/);
  });

  it("tell their progress to watchers, from the version that they have seen", async () => {
    const jobs = new Jobs();
    const job = jobs.start("reindex", "one", async ({ progress }) => {
      for (const done of [1, 2, 3]) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        progress(done, 3);
      }
      return {};
    });
    const seen: { version: number; done: number }[] = [];
    for await (const { version, job: now } of jobs.watch(job.id, 0, new AbortController().signal))
      seen.push({ version, done: now.done });
    expect(seen.at(-1)).toMatchObject({ done: 3 });
    expect(seen.map(({ done }) => done)).toEqual(seen.map(({ done }) => done).toSorted());
    const late: Job[] = [];
    for await (const { job: now } of jobs.watch(
      job.id,
      seen.at(-1)!.version,
      new AbortController().signal,
    ))
      late.push(now);
    expect(late.map(({ state }) => state)).toEqual(["succeeded"]);
  });

  it("end with the service", async () => {
    const jobs = new Jobs();
    const job = jobs.start("reindex", "one", gate().work);
    await jobs.close();
    expect(job.state).toBe("cancelled");
  });
});
