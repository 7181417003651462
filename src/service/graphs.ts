import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Embedder } from "../embedder.ts";
import type { Snapshot } from "../snapshot.ts";
import { Graph, hnswIndex } from "../vector-index.ts";

/** The HNSW graphs of large catalogs: loaded, updated in place or built beside the service, never waited for. */
export class Graphs {
  readonly #graphs = new Map<string, Graph>();
  readonly #running = new Map<string, { abort: AbortController; done: Promise<void> }>();
  readonly #folder: string;
  readonly #embedder: Embedder;
  readonly #rowsMin: () => number;
  readonly #onError: (error: unknown) => void;

  /** Graphs are kept in the folder, beside the store; catalogs of fewer than `rowsMin` rows get none. */
  constructor(
    folder: string,
    embedder: Embedder,
    rowsMin: () => number,
    onError: (error: unknown) => void,
  ) {
    this.#folder = folder;
    this.#embedder = embedder;
    this.#rowsMin = rowsMin;
    this.#onError = onError;
  }

  /**
   * Brings the catalog's graph to the snapshot's points and hands over the snapshot that can be
   * searched through it. A later call for the same catalog takes the place of an earlier one.
   * Until then, and where it fails, the exact index serves: nothing is lost but time.
   */
  follow(snapshot: Snapshot, onReady: (snapshot: Snapshot) => void): void {
    const { catalog } = snapshot;
    const before = this.#running.get(catalog);
    before?.abort.abort();
    if (snapshot.rows.count < this.#rowsMin()) return;
    const abort = new AbortController();
    const done = (before?.done ?? Promise.resolve())
      .then(() => this.#bring(snapshot, abort.signal, onReady))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.#onError(error);
      });
    this.#running.set(catalog, { abort, done });
  }

  /** Ends every build and waits for the ends. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort();
    await Promise.all(running.map(({ done }) => done));
  }

  async #bring(
    snapshot: Snapshot,
    signal: AbortSignal,
    onReady: (snapshot: Snapshot) => void,
  ): Promise<void> {
    signal.throwIfAborted();
    const { catalog, rows, viewStarts: starts } = snapshot;
    const { fingerprint, dimension } = this.#embedder;
    const keys = Array.from({ length: rows.count }, (_, row) => keyOf(snapshot.viewOf(row).text));
    // A catalog's name is safe in a path: letters, digits, dot, dash, underscore, no dot first.
    const path = join(this.#folder, `${catalog}.hnsw`);
    let graph =
      this.#graphs.get(catalog) ??
      (await Graph.load(path, dimension, fingerprint)) ??
      Graph.empty(dimension);
    if (!(await graph.add(rows, keys))) {
      graph = await Graph.build(path, rows, keys, fingerprint, signal);
    }
    signal.throwIfAborted();
    this.#graphs.set(catalog, graph);
    onReady({ ...snapshot, hnsw: hnswIndex(graph, { rows, starts }, snapshot.dense, keys) });
    graph.forget(new Set(keys));
  }
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
