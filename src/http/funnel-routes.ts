import { Type } from "@sinclair/typebox";
import { Calibration } from "../calibration.ts";
import {
  CalibrationRequest,
  ExplainRequest,
  ManyQueryRequest,
  QueryRequest,
  type Service,
  TuneRequest,
} from "../service.ts";
import { ExplainAnswer, JobAnswer, ManyQueryAnswer, QueryAnswer } from "./answers.ts";
import { readShape } from "./body.ts";
import { accepted, type Route } from "./route.ts";

/** The funnel's questions, and the calibration that its floor stands on. */
export function funnelRoutes(service: Service): Route[] {
  const limit = () => service.config().limits.body_bytes_max;
  return [
    {
      method: "post",
      path: "/v1/catalogs/{catalog}/query",
      tag: "funnel",
      summary: "The tools an agent may choose from this turn",
      body: QueryRequest,
      answers: { 200: { description: "The visible set.", schema: QueryAnswer } },
      async handle({ c, principal, param }) {
        const request = await readShape<QueryRequest>(c, QueryRequest, limit());
        return c.json(await service.queries.query(principal, param("catalog"), request));
      },
    },
    {
      method: "post",
      path: "/v1/catalogs/{catalog}/explain",
      tag: "funnel",
      summary: "Where a named tool fell out, and what would show it",
      body: ExplainRequest,
      answers: {
        200: { description: "The tool's way through the funnel.", schema: ExplainAnswer },
      },
      async handle({ c, principal, param }) {
        const request = await readShape<ExplainRequest>(c, ExplainRequest, limit());
        return c.json(await service.explanations.explain(principal, param("catalog"), request));
      },
    },
    {
      method: "post",
      path: "/v1/query",
      tag: "funnel",
      summary: "One visible set over several catalogs; names that clash are qualified",
      body: ManyQueryRequest,
      answers: { 200: { description: "The visible set.", schema: ManyQueryAnswer } },
      async handle({ c, principal }) {
        const request = await readShape<ManyQueryRequest>(c, ManyQueryRequest, limit());
        return c.json(await service.queries.queryMany(principal, request));
      },
    },
    {
      method: "get",
      path: "/v1/traces/{trace}",
      tag: "funnel",
      summary: "A recent decision: what was visible, and why",
      answers: { 200: { description: "The trace." } },
      handle: ({ c, principal, param }) => c.json(service.records.trace(principal, param("trace"))),
    },
    {
      method: "get",
      path: "/v1/catalogs/{catalog}/calibration",
      tag: "funnel",
      summary: "The fit from features to probability, its floor, and what it does on unseen cases",
      answers: {
        200: {
          description: "The calibration; null where the model has none.",
          schema: Type.Object({
            source: Type.Union([Type.Literal("catalog"), Type.Literal("model"), Type.Null()]),
            calibration: Type.Union([Calibration, Type.Null()]),
          }),
        },
      },
      handle: ({ c, principal, param }) =>
        c.json(service.calibrator.get(principal, param("catalog"))),
    },
    {
      method: "post",
      path: "/v1/catalogs/{catalog}/calibration",
      tag: "funnel",
      summary: "Fits the catalog's own calibration on labelled cases",
      body: CalibrationRequest,
      answers: {
        202: { description: "The job; the fit is in force when it succeeds.", schema: JobAnswer },
      },
      async handle({ c, principal, param }) {
        const request = await readShape<CalibrationRequest>(c, CalibrationRequest, limit());
        const job = service.calibrator.start(principal, param("catalog"), request);
        return accepted(c, job);
      },
    },
    {
      method: "delete",
      path: "/v1/catalogs/{catalog}/calibration",
      tag: "funnel",
      summary: "Back to the model's own calibration",
      answers: { 204: { description: "The catalog's fit is gone." } },
      handle({ c, principal, param }) {
        service.calibrator.delete(principal, param("catalog"));
        return c.body(null, 204);
      },
    },
    {
      method: "get",
      path: "/v1/catalogs/{catalog}/routing",
      tag: "funnel",
      summary:
        "The catalog's learned routing: how it did when it was fitted; null where there is none",
      answers: { 200: { description: "The report." } },
      handle: ({ c, principal, param }) => c.json(service.tuner.get(principal, param("catalog"))),
    },
    {
      method: "post",
      path: "/v1/catalogs/{catalog}/routing",
      tag: "funnel",
      summary: "Learns routing from labelled cases or records; in force only where it wins",
      body: TuneRequest,
      answers: { 202: { description: "The job.", schema: JobAnswer } },
      async handle({ c, principal, param }) {
        const request = await readShape<TuneRequest>(c, TuneRequest, limit());
        const job = service.tuner.start(principal, param("catalog"), request);
        return accepted(c, job);
      },
    },
    {
      method: "delete",
      path: "/v1/catalogs/{catalog}/routing",
      tag: "funnel",
      summary: "Routing as it was before it learned",
      answers: { 204: { description: "It is as it was." } },
      handle({ c, principal, param }) {
        service.tuner.delete(principal, param("catalog"));
        return c.body(null, 204);
      },
    },
  ];
}
