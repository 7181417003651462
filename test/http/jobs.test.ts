import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService();
});
afterAll(() => running.close());

const namesOf = async (catalog: string) =>
  (await running.request("GET", `/v1/catalogs/${catalog}/tools`)).body.tools.map(
    ({ name }: Json) => name,
  );

describe("jobs", () => {
  const slow = (catalog: string) =>
    running.request(
      "PUT",
      `/v1/catalogs/${catalog}/tools`,
      Array.from({ length: 3_000 }, (_, i) =>
        tool({ name: `t${i}`, purpose: `Purpose ${i} of ${catalog}.` }),
      ),
    );

  it("tell their progress by server-sent events, and where they left off", async () => {
    const { body } = await slow("events");
    const response = await fetch(`${running.url}/v1/jobs/${body.job.id}/events`);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = (await response.text())
      .trim()
      .split("\n\n")
      .map((event) =>
        Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2))),
      );
    expect(events.length).toBeGreaterThan(3);
    expect(new Set(events.slice(0, -1).map(({ event }) => event))).toEqual(new Set(["progress"]));
    expect(events.at(-1)!.event).toBe("done");
    expect(JSON.parse(events.at(-1)!.data)).toMatchObject({
      state: "succeeded",
      done: 3_000,
      total: 3_000,
    });
    const dones = events.map(({ data }) => JSON.parse(data).done);
    expect(dones).toEqual(dones.toSorted((a, b) => a - b));
    const again = await fetch(`${running.url}/v1/jobs/${body.job.id}/events`, {
      headers: { "last-event-id": events.at(-2)!.id },
    });
    expect((await again.text()).match(/^event:/gm)).toHaveLength(1);
  });

  it("can be cancelled, and then change nothing; queries go on meanwhile", async () => {
    await running.put("calm", [tool({ name: "a" })]);
    const { body } = await slow("calm");
    expect(
      (await running.request("POST", "/v1/catalogs/calm/query", { query: "x" })).body.revision,
    ).toBe(1);
    expect((await running.request("DELETE", `/v1/jobs/${body.job.id}`)).status).toBe(202);
    expect((await running.ended(body.job)).state).toBe("cancelled");
    expect(await namesOf("calm")).toEqual(["a"]);
    expect((await running.request("DELETE", `/v1/jobs/${body.job.id}`)).body.code).toBe(
      "job_finished",
    );
  });

  it("are listed, and unknown ones are unknown", async () => {
    expect((await running.request("GET", "/v1/jobs")).body.jobs.length).toBeGreaterThan(2);
    expect((await running.request("GET", "/v1/jobs/none")).body.code).toBe("unknown_job");
    expect((await running.request("GET", "/v1/jobs/none/events")).status).toBe(404);
  });

  it("reindex embeds nothing where nothing changed", async () => {
    await running.put("again", [tool({ name: "a" })]);
    const { body } = await running.request("POST", "/v1/catalogs/again/reindex");
    expect(await running.ended(body.job)).toMatchObject({
      state: "succeeded",
      embedded: 0,
      revision: 1,
      report: { unchanged: 1 },
    });
  });
});
