import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";

/** A company's own words: no model can know what "the blue book" is, its labels do. */
const JARGON: [string, string][] = [
  ["the blue book", "Lists the overdue invoices of a customer."],
  ["the greenhouse", "Shows which production alerts are firing."],
  ["the long table", "Books a meeting room for a time."],
  ["the tin can", "Sends a direct message to a colleague."],
  ["the attic", "Restores a deleted document from the archive."],
  ["the ferry", "Rolls a service back to the release before."],
];
const TOOLS = [
  ...JARGON.map(([, purpose], i) => tool({ name: `job_${i}`, family: "work", purpose })),
  ...Array.from({ length: 30 }, (_, i) =>
    tool({ name: `other_${i}`, family: "work", purpose: `Reads book, table or can number ${i}.` }),
  ),
];
const ASKS = ["open", "please show me", "take me to", "I need", "bring up", "what about", "use"];
const CASES = ASKS.flatMap((ask, a) =>
  ["today", "now", "again", "for Anna"].flatMap((when, w) =>
    JARGON.map(([word], i) => ({
      task_id: `${a} ${w} ${i}`,
      goal: `${ask} ${word} ${when}`,
      acceptable: [`job_${i}`],
    })),
  ),
);

let running: RunningService;
beforeAll(async () => {
  running = await runService({
    config: (config) => ({ ...config, traces: { ...config.traces, store_query: true } }),
  });
  await running.put("acme", TOOLS);
});
afterAll(() => running.close());

const PATH = "/v1/catalogs/acme/routing";
const tune = async (body: Json) => {
  const answer = await running.request("POST", PATH, body);
  return answer.status === 202 ? running.ended(answer.body.job) : answer.body;
};
const learned = async () => (await running.request("GET", PATH)).body.learned;
const rankOf = async (goal: string, name: string) => {
  const { body } = await running.request("POST", "/v1/catalogs/acme/query", {
    query: goal,
    k: 36,
    floor: 0,
  });
  return body.tools.findIndex((found: Json) => found.name === name);
};

describe("learned routing", () => {
  it("wins on held-out cases, is in force, and is undone", async () => {
    const before = await rankOf("could you open the ferry", "job_5");
    const job = await tune({ cases: CASES });
    expect(job).toMatchObject({ kind: "tune", state: "succeeded", promoted: true });
    expect(job.report.interval[0]).toBeGreaterThan(0);
    expect(job.report.after).toBeGreaterThan(job.report.before + 0.1);
    expect(await learned()).toEqual(job.report);
    expect(await rankOf("could you open the ferry", "job_5")).toBeLessThan(Math.max(1, before));
    const { body } = await running.request("POST", "/v1/bench", {
      catalog: "acme",
      cases: CASES.slice(0, 60),
      k: [5],
      ablate: true,
    });
    const { result } = await running.ended(body.job);
    const { ladder, ablations } = (await running.request("GET", result)).body;
    const rung = (list: Json, name: string) => list.find((row: Json) => row.name === name);
    expect(rung(ladder, "learned routing").ndcg_10).toBeGreaterThan(
      rung(ladder, "retrieval").ndcg_10,
    );
    expect(rung(ablations, "without learned routing").ndcg_10).toBe(
      rung(ladder, "retrieval").ndcg_10,
    );
    expect((await running.request("DELETE", PATH)).status).toBe(204);
    expect(await learned()).toBeNull();
    expect(await rankOf("could you open the ferry", "job_5")).toBe(before);
  });

  it("is not kept where it does not win by more than its interval", async () => {
    const plain = [1, 2].flatMap((copy) =>
      TOOLS.map(({ name, purpose }) => ({
        task_id: `${name} ${copy}`,
        goal: purpose,
        acceptable: [name],
      })),
    );
    const job = await tune({ cases: plain });
    expect(job).toMatchObject({ state: "succeeded", promoted: false });
    expect(job.report.before).toBeGreaterThan(0.9);
    expect(await learned()).toBeNull();
  });

  it("learns from labelled records", async () => {
    expect(await tune({ records: true })).toMatchObject({ code: "empty_suite" });
    for (const { goal, acceptable } of CASES.slice(0, 60)) {
      const { body } = await running.request("POST", "/v1/catalogs/acme/query", { query: goal });
      const record = { trace_id: body.trace_id, selected: acceptable[0], acceptable };
      await running.request("POST", "/v1/records", record);
    }
    const job = await tune({ records: true });
    expect(job).toMatchObject({ state: "succeeded" });
    expect(job.report.cases.fitted).toBe(30);
  });

  it("refuses too few cases", async () => {
    expect(await tune({ cases: CASES.slice(0, 10) })).toMatchObject({
      state: "failed",
      error: { code: "too_few_cases" },
    });
  });
});
