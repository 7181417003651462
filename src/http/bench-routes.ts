import { Type } from "@sinclair/typebox";
import { RoutingCase } from "../routing.ts";
import { invalidValue } from "../errors.ts";
import { BenchRequest, SelectionRecord, type Service } from "../service.ts";
import { JobAnswer } from "./answers.ts";
import { readJson, readLines, readShape } from "./body.ts";
import { requireName } from "./catalog-routes.ts";
import { accepted, requireShape, type Route } from "./route.ts";

const SelectionRecords = Type.Array(SelectionRecord, { maxItems: 10_000 });

export function benchRoutes(service: Service): Route[] {
  const limit = () => service.config().limits.body_bytes_max;
  const Suite = Type.Object({ name: Type.String(), cases: Type.Array(RoutingCase) });
  return [
    {
      method: "get",
      path: "/v1/suites",
      tag: "measuring",
      summary: "The labelled suites",
      answers: { 200: { description: "Names and sizes." } },
      handle: ({ c }) => c.json({ suites: service.suites.list() }),
    },
    {
      method: "get",
      path: "/v1/suites/{suite}",
      tag: "measuring",
      summary: "A suite's cases",
      answers: { 200: { description: "The suite.", schema: Suite } },
      handle: ({ c, param }) =>
        c.json({ name: param("suite"), cases: service.suites.get(param("suite")) }),
    },
    {
      method: "put",
      path: "/v1/suites/{suite}",
      tag: "measuring",
      summary: "Stores a suite in place of what it was",
      body: Type.Array(RoutingCase),
      bodyTypes: ["application/json", "application/x-ndjson"],
      answers: { 200: { description: "Its name and size." } },
      async handle({ c, param }) {
        const items = await readLines(c, limit());
        const values = items.map(({ value }) => value);
        const lines = items.flatMap(({ line }) => line ?? []);
        return c.json(service.suites.put(requireName(param("suite")), values, lines));
      },
    },
    {
      method: "delete",
      path: "/v1/suites/{suite}",
      tag: "measuring",
      summary: "Removes a suite",
      answers: { 204: { description: "It is gone." } },
      handle({ c, param }) {
        service.suites.delete(param("suite"));
        return c.body(null, 204);
      },
    },
    {
      method: "post",
      path: "/v1/bench",
      tag: "measuring",
      summary: "Runs a labelled suite: which stage lost the right tool",
      body: BenchRequest,
      answers: { 202: { description: "The job.", schema: JobAnswer } },
      async handle({ c, principal }) {
        const request = await readShape<BenchRequest>(c, BenchRequest, limit());
        const job = service.bench.start(principal, request);
        return accepted(c, job);
      },
    },
    {
      method: "get",
      path: "/v1/bench/{bench}",
      tag: "measuring",
      summary: "The result of a bench job",
      answers: { 200: { description: "Rates, each conditioned on the stage before it." } },
      handle: ({ c, principal, param }) => c.json(service.bench.get(principal, param("bench"))),
    },
    {
      method: "get",
      path: "/v1/bench",
      tag: "measuring",
      summary: "The bench results that are held, newest first",
      answers: { 200: { description: "Ids, catalogs, suites, times." } },
      handle: ({ c, principal }) => c.json({ benches: service.bench.list(principal) }),
    },
    {
      method: "get",
      path: "/v1/bench/{bench}/compare/{other}",
      tag: "measuring",
      summary:
        "From one run to another: differences with paired intervals, and the cases that flipped",
      answers: { 200: { description: "By k; `same` says what the two runs share." } },
      handle: async ({ c, principal, param }) =>
        c.json(await service.bench.compare(principal, param("bench"), param("other"))),
    },
    {
      method: "get",
      path: "/v1/bench/{bench}/report",
      tag: "measuring",
      summary: "The result as one page of HTML that needs no server",
      answers: { 200: { description: "The page.", type: "text/html" } },
      handle: ({ c, principal, param }) => c.html(service.bench.report(principal, param("bench"))),
    },
    {
      method: "post",
      path: "/v1/records",
      tag: "measuring",
      summary: "What came of a decision: selected, labels, success; joined by trace and trial",
      body: Type.Union([SelectionRecord, SelectionRecords]),
      answers: { 200: { description: "The record as far as it is known, or a list of them." } },
      async handle({ c, principal }) {
        const body = await readJson(c, limit());
        if (!Array.isArray(body)) {
          const record = requireShape<SelectionRecord>(SelectionRecord, body);
          return c.json(service.records.put(principal, record));
        }
        const list = requireShape<SelectionRecord[]>(SelectionRecords, body);
        return c.json({ records: list.map((record) => service.records.put(principal, record)) });
      },
    },
    {
      method: "get",
      path: "/v1/records/metrics",
      tag: "measuring",
      summary: "The bench's rates over production where labels exist, and counts where they do not",
      query: {
        catalog: Type.String(),
        since: Type.Optional(Type.String({ format: "date-time" })),
      },
      answers: { 200: { description: "Rates, selections, abstention share, unused tools." } },
      handle({ c, principal }) {
        const since = c.req.query("since") ?? "";
        if (since !== "" && Number.isNaN(Date.parse(since))) {
          throw invalidValue("/since", "must be a time such as 2026-01-31T00:00:00Z");
        }
        const from = since === "" ? "" : new Date(since).toISOString();
        return c.json(service.records.metrics(principal, c.req.query("catalog") ?? "", from));
      },
    },
  ];
}
