import type { Calibration } from "./calibration.ts";
import type { Config } from "./config.ts";
import type { Embedder } from "./embedder.ts";
import { Jobs } from "./job.ts";
import { Asks } from "./service/ask.ts";
import { Bench } from "./service/bench.ts";
import { Calibrations } from "./service/calibrations.ts";
import { Calibrator } from "./service/calibrator.ts";
import { Explanations } from "./service/explain.ts";
import { Graphs } from "./service/graphs.ts";
import { LiveCatalogs } from "./service/live-catalogs.ts";
import { Queries } from "./service/query.ts";
import { Registry } from "./service/registry.ts";
import { Suites } from "./service/suites.ts";
import type { Store } from "./store.ts";
import { telemetry } from "./telemetry.ts";

export { BenchRequest } from "./service/bench.ts";
export { CalibrationRequest } from "./service/calibrator.ts";
export { ExplainRequest } from "./service/explain.ts";
export { ManyQueryRequest, QueryRequest } from "./service/query.ts";
export type { Report } from "./service/registry.ts";

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
  /** Faults of background work that no caller waits for. */
  onError: (error: unknown) => void;
}) {
  const { store, embedder, config, folder, onError } = parts;
  const metrics = telemetry();
  const jobs = new Jobs(({ kind, state }) => metrics.jobs.inc({ kind, state }));
  const graphs = new Graphs(folder, embedder, () => config().planner.graph_rows_min, onError);
  const live = new LiveCatalogs(store, embedder, config, metrics, graphs);
  const calibrations = new Calibrations(store, embedder, parts.calibration);
  const asks = new Asks(live, embedder, calibrations, config);
  const suites = new Suites(store, config);
  const registry = new Registry(live, store, embedder, jobs, config);
  return {
    config,
    jobs,
    queries: new Queries(asks, config, metrics),
    explanations: new Explanations(asks, config),
    suites,
    registry,
    calibrator: new Calibrator(live, asks, suites, calibrations, jobs),
    bench: new Bench(live, asks, suites, jobs, config),
    telemetry: metrics,
    load: () => live.load(),
    /** After a change of the configuration. */
    reload: () => live.reload(),
    async close(): Promise<void> {
      await jobs.close();
      await graphs.close();
      await embedder.close();
      store.close();
    },
  };
}
