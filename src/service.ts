import type { Calibration } from "./calibration.ts";
import type { Config } from "./config.ts";
import type { Embedder } from "./embedder.ts";
import { Jobs } from "./job.ts";
import { Adapters } from "./service/adapters.ts";
import { Asks } from "./service/ask.ts";
import { Bench } from "./service/bench.ts";
import { Funnels } from "./service/bench-funnels.ts";
import { Calibrations } from "./service/calibrations.ts";
import { Calibrator } from "./service/calibrator.ts";
import { Explanations } from "./service/explain.ts";
import { Graphs } from "./service/graphs.ts";
import { Imports } from "./service/imports.ts";
import { LiveCatalogs } from "./service/live-catalogs.ts";
import { Overlaps } from "./service/overlaps.ts";
import { Queries } from "./service/query.ts";
import { Records } from "./service/records.ts";
import { Registry } from "./service/registry.ts";
import { Revisions } from "./service/revisions.ts";
import { StoredVectors } from "./service/stored-vectors.ts";
import { Suites } from "./service/suites.ts";
import { Traces } from "./service/traces.ts";
import { Tuner } from "./service/tuner.ts";
import type { Store } from "./store.ts";
import { telemetry } from "./telemetry.ts";

export { BenchRequest } from "./service/bench-request.ts";
export { CalibrationRequest } from "./service/calibrator.ts";
export { ExplainRequest } from "./service/explain.ts";
export { ImportRequest } from "./service/imports.ts";
export { ManyQueryRequest, QueryRequest } from "./service/query.ts";
export { SelectionRecord } from "./service/records.ts";
export { TuneRequest } from "./service/tuner.ts";
export type { Report } from "./service/report.ts";

/** The whole service without an edge: one resource a field, one use case a method. */
export type Service = ReturnType<typeof createService>;

/** Composes the use cases; `load` then brings the store's catalogs to life. */
export function createService(parts: {
  store: Store;
  embedder: Embedder;
  config: () => Config;
  /** The fit that came with the model, if any. */
  calibration?: Calibration | undefined;
  /** Where graphs are kept; the store's own folder. */
  folder: string;
  /** Reads the process's environment: where the keys of selectors are. */
  environment?: (name: string) => string | undefined;
  /** Faults of background work that no caller waits for. */
  onError: (error: unknown) => void;
}) {
  const { store, embedder, config, folder, onError, environment = () => undefined } = parts;
  const metrics = telemetry();
  const jobs = new Jobs(({ kind, state }) => metrics.jobs.inc({ kind, state }));
  const graphs = new Graphs(folder, embedder, () => config().planner.graph_rows_min, onError);
  const live = new LiveCatalogs(store, embedder, config, metrics, graphs);
  const calibrations = new Calibrations(store, embedder, parts.calibration);
  const adapters = new Adapters(store, embedder);
  const asks = new Asks(live, embedder, calibrations, adapters, config);
  const traces = new Traces(store, config, onError);
  const vectors = new StoredVectors(store, embedder);
  const funnels = new Funnels(live, asks, vectors, adapters, config, embedder.fingerprint);
  const records = new Records(live, traces, store, config);
  const suites = new Suites(store, config);
  const bench = new Bench(live, funnels, suites, jobs, store, calibrations, config, environment);
  const registry = new Registry(live, store, embedder, jobs, bench, config);
  return {
    config,
    jobs,
    queries: new Queries(asks, traces, config, metrics),
    explanations: new Explanations(asks, config),
    suites,
    registry,
    overlaps: new Overlaps(live),
    imports: new Imports(registry, config),
    revisions: new Revisions(live, store, embedder, jobs, bench),
    calibrator: new Calibrator(live, funnels, suites, calibrations, jobs),
    bench,
    records,
    tuner: new Tuner(live, funnels, suites, records, adapters, jobs),
    telemetry: metrics,
    load: () => live.load(),
    /** Writes what waits for the store. */
    flush: () => traces.flush(),
    /** After a change of the configuration. */
    reload: () => live.reload(),
    async close(): Promise<void> {
      await jobs.close();
      traces.flush();
      await graphs.close();
      await embedder.close();
      store.close();
    },
  };
}
