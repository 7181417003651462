import type { Config } from "./config.ts";
import type { Embedder } from "./embedder.ts";
import { Jobs } from "./job.ts";
import { Asks } from "./service/ask.ts";
import { Bench } from "./service/bench.ts";
import { Explanations } from "./service/explain.ts";
import { Graphs } from "./service/graphs.ts";
import { LiveCatalogs } from "./service/live-catalogs.ts";
import { Queries } from "./service/query.ts";
import { Registry } from "./service/registry.ts";
import { Suites } from "./service/suites.ts";
import type { Store } from "./store.ts";
import { telemetry } from "./telemetry.ts";

export { BenchRequest } from "./service/bench.ts";
export { ExplainRequest } from "./service/explain.ts";
export { QueryRequest } from "./service/query.ts";
export type { Report } from "./service/registry.ts";

/** The whole service without an edge: one resource a field, one use case a method. */
export type Service = ReturnType<typeof createService>;

/** Composes the use cases; `load` then brings the store's catalogs to life. */
export function createService(parts: {
  store: Store;
  embedder: Embedder;
  config: () => Config;
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
  const asks = new Asks(live, embedder, config);
  const suites = new Suites(store, config);
  const registry = new Registry(live, store, embedder, jobs, config);
  return {
    config,
    jobs,
    queries: new Queries(asks, config, metrics),
    explanations: new Explanations(asks, config),
    suites,
    registry,
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
