import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Json, type RunningService, runService } from "../running-service.ts";
import { ACME } from "./acme.ts";

/** A small server of the chat protocol; each test says how it answers. */
let provider: Server;
let answer: (asked: Json, response: ServerResponse, request: IncomingMessage) => void;
let asked: Json[] = [];
let running: RunningService;

beforeAll(async () => {
  provider = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const body = JSON.parse(text);
      asked.push({ ...body, authorization: request.headers.authorization, url: request.url });
      answer(body, response, request);
    });
  });
  await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done));
  const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const endpoint = { base_url, model: "small", temperature: 0, timeout_ms: 300, retries: 2 };
  running = await runService({
    environment: (name) => (name === "CHAT_KEY" ? "secret" : undefined),
    config: (config) => ({
      ...config,
      selectors: new Map([
        ["chat", { ...endpoint, api_key_env: "CHAT_KEY", concurrency: 4 }],
        ["one", { ...endpoint, concurrency: 1 }],
      ]),
    }),
  });
  await running.put("acme", ACME);
});
afterAll(async () => {
  await running.close();
  provider.closeAllConnections();
  provider.close();
});
beforeEach(() => (asked = []));

const reply = (response: ServerResponse, message: Json) =>
  response
    .setHeader("content-type", "application/json")
    .end(JSON.stringify({ choices: [{ message }] }));
const calling = (name: unknown, given: unknown = "{}") => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id: "1", type: "function", function: { name, arguments: given } }],
});
const CASES = [
  { task_id: "1", goal: "which checks failed?", acceptable: ["list_failed_checks"] },
  { task_id: "2", goal: "order a pizza", acceptable: ["no_applicable_tool"] },
];
async function bench(request: Json = {}): Promise<Json> {
  const { body } = await running.request("POST", "/v1/bench", {
    catalog: "acme",
    cases: CASES,
    k: [5],
    selector: "chat",
    ...request,
  });
  const job = await running.ended(body.job);
  if (job.state !== "succeeded") return job;
  return (await running.request("GET", job.result)).body.by_k[5];
}

describe("a chat model selects", () => {
  it("gets the request and the visible set, and its first call is the selection", async () => {
    answer = ({ messages }, response) => {
      const goal = messages.at(-1).content;
      const message = calling(goal.includes("pizza") ? "no_applicable_tool" : "list_failed_checks");
      message.tool_calls.push(...calling("search_web").tool_calls);
      reply(response, message);
    };
    expect(await bench()).toMatchObject({
      selection_accuracy: 1,
      abstention_accuracy: 1,
      outcomes: { selected: 2, text: 0, malformed: 0, unavailable: 0 },
    });
    expect(asked[0]).toMatchObject({
      url: "/v1/chat/completions",
      authorization: "Bearer secret",
      model: "small",
      temperature: 0,
    });
    const offered = asked[0].tools.map((tool: Json) => tool.function.name);
    expect(offered).toEqual(expect.arrayContaining(["list_failed_checks", "no_applicable_tool"]));
    expect(offered).toHaveLength(8);
  });

  it("answers in words: no selection, and never abstention", async () => {
    answer = (_, response) => reply(response, { role: "assistant", content: "No tool for that." });
    expect(await bench()).toMatchObject({
      selection_accuracy: 0,
      abstention_accuracy: 0,
      outcomes: { text: 2 },
    });
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ["no JSON", (response) => response.end("<html>oops")],
    ["another shape", (response) => response.end('{"choices":[]}')],
    ["null", (response) => response.end("null")],
    ["a call without a name", (response) => reply(response, calling(undefined))],
    [
      "arguments that are cut short",
      (response) => reply(response, calling("list_failed_checks", '{"a":')),
    ],
    [
      "arguments that are a list",
      (response) => reply(response, calling("list_failed_checks", "[1]")),
    ],
    ["a call that is null", (response) => reply(response, { tool_calls: [null] })],
    ["neither call nor text", (response) => reply(response, { content: null })],
  ])("answers with %s: malformed, an outcome of its own", async (_, give) => {
    answer = (_asked, response) => void give(response);
    expect(await bench()).toMatchObject({ selection_accuracy: 0, outcomes: { malformed: 2 } });
  });

  it("repeats trials: consistency and pass^k", async () => {
    let calls = 0;
    answer = (_, response) =>
      reply(response, calling(calls++ % 2 === 0 ? "list_failed_checks" : "rerun_check"));
    const measured = await bench({ selector: "one", repeat: 4, cases: CASES.slice(0, 1) });
    expect(measured.consistency).toMatchObject({ trials: 4, selection_consistency: 0.5 });
    expect(measured.consistency.pass_hat["2"]).toBeCloseTo(1 / 6);
  });
});

describe("a provider that fails", () => {
  it.each<[string, (response: ServerResponse, request: IncomingMessage) => unknown]>([
    ["429", (response) => response.writeHead(429, { "retry-after": "0" }).end()],
    ["500", (response) => response.writeHead(500).end("{}")],
    ["a cut connection", (_, request) => request.socket.destroy()],
    ["silence", () => undefined],
  ])("%s once is tried again, and then answers", async (_, fail) => {
    let calls = 0;
    answer = (_asked, response, request) =>
      calls++ === 0 ? void fail(response, request) : reply(response, calling("list_failed_checks"));
    const measured = await bench({ selector: "one", cases: CASES.slice(0, 1) });
    expect(measured).toMatchObject({ selection_accuracy: 1, outcomes: { selected: 1 } });
    expect(calls).toBe(2);
  });

  it("for good leaves the case unanswered, and counts it in no rate of selection", async () => {
    answer = (_, response) => void response.writeHead(503, { "retry-after": "0" }).end();
    expect(await bench({ selector: "one" })).toMatchObject({
      selection_accuracy: null,
      abstention_accuracy: null,
      outcomes: { unavailable: 2 },
    });
    expect(asked).toHaveLength(6);
  });

  it("that refuses the key ends the job with what to do", async () => {
    answer = (_, response) => void response.writeHead(401).end();
    expect(await bench()).toMatchObject({ state: "failed", error: { code: "selector_failed" } });
  });
});
