import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { tool } from "../tool-factory.ts";

let running: RunningService;
beforeAll(async () => {
  running = await runService();
});
afterAll(() => running.close());

const revisionOf = async (catalog: string) =>
  (await running.request("GET", "/v1/catalogs")).body.catalogs.find(
    ({ name }: Json) => name === catalog,
  )?.revision;
const namesOf = async (catalog: string) =>
  (await running.request("GET", `/v1/catalogs/${catalog}/tools`)).body.tools.map(
    ({ name }: Json) => name,
  );

describe("PUT /v1/catalogs/{c}/tools", () => {
  it("is a job, and creates the catalog", async () => {
    const { status, headers, body } = await running.request("PUT", "/v1/catalogs/one/tools", [
      tool({ name: "a" }),
      tool({ name: "b" }),
    ]);
    expect(status).toBe(202);
    expect(body.job).toMatchObject({ kind: "reindex", state: "running", done: 0, total: 2 });
    expect(headers.get("location")).toBe(`/v1/jobs/${body.job.id}`);
    expect(await running.ended(body.job)).toMatchObject({
      state: "succeeded",
      done: 2,
      total: 2,
      embedded: 2,
      revision: 1,
      report: { added: 2, changed: 0, unchanged: 0, removed: 0, quarantined: [] },
    });
  });

  it("replaces, embeds only what changed, and makes no revision where nothing did", async () => {
    await running.put("replace", [tool({ name: "a" }), tool({ name: "b" }), tool({ name: "c" })]);
    const second = await running.put("replace", [
      tool({ name: "a" }),
      tool({ name: "b", purpose: "Another purpose." }),
    ]);
    expect(second).toMatchObject({
      revision: 2,
      embedded: 1,
      report: { added: 0, changed: 1, unchanged: 1, removed: 1 },
    });
    const third = await running.put("replace", [
      tool({ name: "b", purpose: "Another purpose." }),
      tool({ name: "a" }),
    ]);
    expect(third).toMatchObject({ revision: 2, embedded: 0, report: { unchanged: 2 } });
  });

  it("takes NDJSON", async () => {
    const ndjson = `${JSON.stringify(tool({ name: "a" }))}\n\n${JSON.stringify(tool({ name: "b" }))}\n`;
    const { body } = await running.request("PUT", "/v1/catalogs/nd/tools", ndjson, {
      "content-type": "application/x-ndjson",
    });
    await running.ended(body.job);
    expect(await namesOf("nd")).toEqual(["a", "b"]);
  });

  it("loads the good tools and reports the bad ones (invariants 4 and 9)", async () => {
    const job = await running.put("mixed", [
      tool({ name: "good" }),
      { name: "bad", family: 7 },
      tool({ name: "ask_user" }),
      tool({ name: "sly", family: "control", effect: "none" }),
      tool({ name: "good", purpose: "Twice." }),
      null,
    ]);
    expect(job.state).toBe("succeeded");
    expect(job.report.added).toBe(1);
    expect(job.report.quarantined.map(({ name }: Json) => name)).toEqual([
      "bad",
      "ask_user",
      "sly",
      "good",
      "#6",
    ]);
    expect(job.report.quarantined[0].errors).toEqual(
      expect.arrayContaining([{ pointer: "/family", message: "must be string" }]),
    );
    const { body } = await running.request("POST", "/v1/catalogs/mixed/query", {
      query: "x",
      policy: { allowed_families: [], max_effect: "none", allow_open_world: false },
    });
    expect(body.tools.map(({ name }: Json) => name)).toEqual([
      "ask_user",
      "wait_for_event",
      "no_applicable_tool",
    ]);
  });

  it("lets no tool become a control, whatever it claims (invariant 4)", async () => {
    const claims = fc.record({
      name: fc.constantFrom(
        "ask_user",
        "wait_for_event",
        "no_applicable_tool",
        "Ask_User",
        "other",
      ),
      family: fc.constantFrom("control", "Control", "repository"),
      effect: fc.constantFrom("none" as const, "destructive" as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(claims, { selector: ({ name }) => name }),
        async (claimed) => {
          await running.put("claims", [
            tool({ name: "honest" }),
            ...claimed.map((claim) => tool({ ...claim, purpose: "Impostor." })),
          ]);
          const nothing = {
            allowed_families: [],
            max_effect: "destructive",
            allow_open_world: true,
          };
          const { body } = await running.request("POST", "/v1/catalogs/claims/query", {
            query: "impostor",
            policy: nothing,
            format: "toolspec",
          });
          expect(body.tools.map(({ name }: Json) => name)).toEqual([
            "ask_user",
            "wait_for_event",
            "no_applicable_tool",
          ]);
          expect(JSON.stringify(body.definitions)).not.toContain("Impostor");
        },
      ),
      { numRuns: 15 },
    );
  });

  it("is refused whole where no tool is valid", async () => {
    await running.put("kept", [tool({ name: "a" })]);
    const { status, body } = await running.request("PUT", "/v1/catalogs/kept/tools", [
      { name: "?" },
    ]);
    expect([status, body.code]).toEqual([422, "no_valid_tool"]);
    expect((await running.request("PUT", "/v1/catalogs/kept/tools", [])).body.code).toBe(
      "no_valid_tool",
    );
    expect(await namesOf("kept")).toEqual(["a"]);
  });

  it("changes nothing where the body is cut short", async () => {
    await running.put("cut", [tool({ name: "a" })]);
    const whole = JSON.stringify([tool({ name: "b" })]);
    const { hostname, port } = new URL(running.url);
    await new Promise<void>((done) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `PUT /v1/catalogs/cut/tools HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n${whole.slice(0, -9)}`,
        );
        setTimeout(() => socket.destroy(), 100);
      });
      socket.on("close", () => done());
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await namesOf("cut")).toEqual(["a"]);
    expect(await revisionOf("cut")).toBe(1);
    const half = await running.request("PUT", "/v1/catalogs/cut/tools", whole.slice(0, -9));
    expect([half.status, half.body.code]).toEqual([400, "malformed_json"]);
    expect(await namesOf("cut")).toEqual(["a"]);
  });
});

describe("PATCH …/tools, PUT and DELETE …/tools/{name}", () => {
  beforeAll(() => running.put("edit", [tool({ name: "a" }), tool({ name: "b" })]));

  it("upserts a batch in one revision", async () => {
    const { status, body } = await running.request("PATCH", "/v1/catalogs/edit/tools", [
      tool({ name: "b", purpose: "New." }),
      tool({ name: "c" }),
    ]);
    expect(status).toBe(202);
    expect(await running.ended(body.job)).toMatchObject({
      revision: 2,
      report: { added: 1, changed: 1, unchanged: 1, removed: 0 },
    });
  });

  it("changes one tool and answers when it is live", async () => {
    const put = await running.request("PUT", "/v1/catalogs/edit/tools/d", tool({ name: "d" }));
    expect([put.status, put.headers.get("etag")]).toEqual([200, '"3"']);
    expect((await running.request("GET", "/v1/catalogs/edit/tools/d")).body).toEqual(
      tool({ name: "d" }),
    );
    expect((await running.request("DELETE", "/v1/catalogs/edit/tools/d")).body).toEqual({
      revision: 4,
    });
    expect((await running.request("GET", "/v1/catalogs/edit/tools/d")).status).toBe(404);
  });

  it("refuses a tool whose name is not the path's, an invalid one, and a control's name", async () => {
    const codes = async (name: string, body: unknown) =>
      (await running.request("PUT", `/v1/catalogs/edit/tools/${name}`, body)).body.code;
    expect(await codes("x", tool({ name: "y" }))).toBe("invalid_tool");
    expect(await codes("x", { name: "x" })).toBe("invalid_tool");
    expect(await codes("ask_user", tool({ name: "ask_user" }))).toBe("reserved_tool");
    expect(await codes("x", tool({ name: "x", family: "control" }))).toBe("reserved_tool");
  });

  it("refuses a write with a stale If-Match", async () => {
    const revision = await revisionOf("edit");
    const stale = await running.request("PUT", "/v1/catalogs/edit/tools/e", tool({ name: "e" }), {
      "if-match": `"${revision - 1}"`,
    });
    expect([stale.status, stale.body.code]).toEqual([412, "stale_revision"]);
    const fresh = await running.request("PUT", "/v1/catalogs/edit/tools/e", tool({ name: "e" }), {
      "if-match": `"${revision}"`,
    });
    expect(fresh.status).toBe(200);
  });

  it("serialises two clients: every write is in the end result", async () => {
    const writes = Array.from({ length: 8 }, (_, i) =>
      running.request("PUT", `/v1/catalogs/edit/tools/w${i}`, tool({ name: `w${i}` })),
    );
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(
      Array.from({ length: 8 }, () => 200),
    );
    expect(await namesOf("edit")).toEqual(
      expect.arrayContaining(Array.from({ length: 8 }, (_, i) => `w${i}`)),
    );
  });

  it("writes only to catalogs that exist", async () => {
    expect(
      (await running.request("PATCH", "/v1/catalogs/nowhere/tools", [tool({ name: "a" })])).status,
    ).toBe(404);
    expect(
      (await running.request("PUT", "/v1/catalogs/nowhere/tools/a", tool({ name: "a" }))).status,
    ).toBe(404);
  });
});

describe("GET …/tools", () => {
  it("comes in pages by name", async () => {
    await running.put(
      "paged",
      Array.from({ length: 7 }, (_, i) => tool({ name: `t${i}` })),
    );
    const seen: string[] = [];
    for (let after = ""; ;) {
      const { body } = await running.request(
        "GET",
        `/v1/catalogs/paged/tools?limit=3&after=${after}`,
      );
      seen.push(...body.tools.map(({ name }: Json) => name));
      expect(body.total).toBe(7);
      if (body.next === null) break;
      after = body.next;
    }
    expect(seen).toEqual(["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
    expect((await running.request("GET", "/v1/catalogs/paged/tools?limit=0")).status).toBe(422);
  });
});
