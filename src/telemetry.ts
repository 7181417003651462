import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

const MILLISECONDS = [
  0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5,
];

/** The service's metrics, in Prometheus' exposition format. One set a process's service. */
export function telemetry() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    expose: () => registry.metrics(),
    contentType: registry.contentType,
    requests: new Counter({
      name: "shortlist_http_requests_total",
      help: "Requests by route, method and status.",
      labelNames: ["route", "method", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "shortlist_http_request_seconds",
      help: "Time from a request's arrival to its answer, by route.",
      labelNames: ["route"],
      buckets: MILLISECONDS,
      registers,
    }),
    stageSeconds: new Histogram({
      name: "shortlist_query_stage_seconds",
      help: "Time of a query by stage: encode, exposure, dense, lexical, total.",
      labelNames: ["stage"],
      buckets: MILLISECONDS,
      registers,
    }),
    eligible: new Histogram({
      name: "shortlist_query_eligible_tools",
      help: "Ordinary tools that were eligible.",
      buckets: [0, 1, 10, 100, 1_000, 10_000, 100_000],
      registers,
    }),
    decisions: new Counter({
      name: "shortlist_decisions_total",
      help: "Answers by decision.",
      labelNames: ["decision"],
      registers,
    }),
    jobs: new Counter({
      name: "shortlist_jobs_total",
      help: "Jobs by kind and final state.",
      labelNames: ["kind", "state"],
      registers,
    }),
    tools: new Gauge({
      name: "shortlist_catalog_tools",
      help: "Ordinary tools of the live revision.",
      labelNames: ["catalog"],
      registers,
    }),
    revision: new Gauge({
      name: "shortlist_catalog_revision",
      help: "The live revision.",
      labelNames: ["catalog"],
      registers,
    }),
  };
}

export type Telemetry = ReturnType<typeof telemetry>;
