import { Type } from "@sinclair/typebox";
import { RoutingCase } from "../routing.ts";
import { BenchRequest, type Service } from "../service.ts";
import { JobAnswer } from "./answers.ts";
import { readJson, readList } from "./body.ts";
import { requireName } from "./catalog-routes.ts";
import { requireShape, type Route } from "./route.ts";

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
      handle: async ({ c, param }) =>
        c.json(service.suites.put(requireName(param("suite")), await readList(c, limit()))),
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
        const request = requireShape<BenchRequest>(BenchRequest, await readJson(c, limit()));
        const job = service.bench.start(principal, request);
        return c.json({ job }, 202, { location: `/v1/jobs/${job.id}` });
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
  ];
}
