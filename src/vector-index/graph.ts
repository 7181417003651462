import { createHash } from "node:crypto";
import { type ChildProcess, fork } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { setImmediate as turn } from "node:timers/promises";
import hnswlib from "hnswlib-node";
import type { Rows } from "./rows.ts";

/** Graph parameters (Malkov and Yashunin 2018): neighbours a node, and breadth while building. */
const GRAPH_M = 16;
const GRAPH_EF_CONSTRUCTION = 200;
const SEED = 1;
/** Past this share of deletions the graph is built anew: deleted nodes still cost a walk. */
const DELETED_SHARE_MAX = 0.2;
/** More new points than this are not added in place: they would hold up the serving thread. */
const ADDED_MAX = 2_000;
const ADDED_A_TURN = 20;
const BUILT_A_TURN = 500;

/** What is written beside a graph: enough to know that the file is whole and whose points it has. */
interface Meta {
  fingerprint: string;
  sha256: string;
  /** The key of each id, in order of ids; "" where the point is deleted. */
  keys: string[];
}

/**
 * An HNSW graph over stable ids: id `i` is the point `keys[i]`, whatever row it has in a revision.
 * A changed tool is a deletion and an addition, never a rebuild.
 */
export class Graph {
  readonly #index: hnswlib.HierarchicalNSW;
  readonly #keys: string[];
  readonly #idOf: Map<string, number>;
  #deleted: number;

  private constructor(index: hnswlib.HierarchicalNSW, keys: string[]) {
    this.#index = index;
    this.#keys = keys;
    this.#idOf = new Map(keys.flatMap((key, id) => (key === "" ? [] : [[key, id] as const])));
    this.#deleted = keys.length - this.#idOf.size;
  }

  static empty(dimension: number): Graph {
    const index = new hnswlib.HierarchicalNSW("ip", dimension);
    index.initIndex(1, GRAPH_M, GRAPH_EF_CONSTRUCTION, SEED);
    return new Graph(index, []);
  }

  /** Builds a graph of the rows in a process of its own and writes it to `path`. `keys` are the rows'. */
  static async build(
    path: string,
    rows: Rows,
    keys: readonly string[],
    fingerprint: string,
    signal: AbortSignal,
  ): Promise<Graph> {
    const vectors = `${path}.vectors`;
    const unique = [...new Map(keys.map((key, row) => [key, row]))];
    const { dimension } = rows;
    try {
      const points = new Float32Array(unique.length * dimension);
      unique.forEach(([, row], id) =>
        points.set(rows.vectors.subarray(row * dimension, (row + 1) * dimension), id * dimension),
      );
      await writeFile(vectors, points);
      await runBuilder([vectors, `${path}.new`, String(dimension)], signal);
      const meta: Meta = {
        fingerprint,
        sha256: await sha256Of(`${path}.new`),
        keys: unique.map(([key]) => key),
      };
      // The meta goes first: a graph whose meta is another's fails its hash and is built again.
      await writeFile(`${path}.json`, JSON.stringify(meta));
      await rename(`${path}.new`, path);
      return new Graph(await read(path, dimension), meta.keys);
    } finally {
      await Promise.all([rm(vectors, { force: true }), rm(`${path}.new`, { force: true })]);
    }
  }

  /** The graph at `path`, or undefined where there is none, it fails its hash, or is another model's. */
  static async load(
    path: string,
    dimension: number,
    fingerprint: string,
  ): Promise<Graph | undefined> {
    if (!existsSync(path) || !existsSync(`${path}.json`)) return undefined;
    try {
      const meta = JSON.parse(await readFile(`${path}.json`, "utf8")) as Meta;
      if (meta.fingerprint !== fingerprint || meta.sha256 !== (await sha256Of(path)))
        return undefined;
      return new Graph(await read(path, dimension), meta.keys);
    } catch {
      return undefined; // a half-written meta: the graph is built again
    }
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Points that are not deleted. */
  get live(): number {
    return this.#idOf.size;
  }

  idOf(key: string): number {
    return this.#idOf.get(key) ?? -1;
  }

  /**
   * Adds the points that the rows have and the graph lacks, in turns of the event loop. What the
   * rows lack stays until `forget`, so that the revision before can still be searched.
   * @returns false where so much has changed that the graph should be built anew
   */
  async add(rows: Rows, keys: readonly string[]): Promise<boolean> {
    const missing = [...new Map(keys.map((key, row) => [key, row])).entries()].filter(
      ([key]) => !this.#idOf.has(key),
    );
    const gone = this.#idOf.size - (new Set(keys).size - missing.length);
    if (
      missing.length > ADDED_MAX ||
      this.#deleted + gone > DELETED_SHARE_MAX * (this.size + missing.length)
    )
      return false;
    this.#index.resizeIndex(Math.max(this.#index.getMaxElements(), this.size + missing.length));
    for (const [count, [key, row]] of missing.entries()) {
      const id = this.#keys.length;
      this.#index.addPoint(
        Array.from(rows.vectors.subarray(row * rows.dimension, (row + 1) * rows.dimension)),
        id,
      );
      this.#keys.push(key);
      this.#idOf.set(key, id);
      if (count % ADDED_A_TURN === ADDED_A_TURN - 1) await turn();
    }
    return true;
  }

  /** Deletes the points whose keys are not among these. */
  forget(keys: ReadonlySet<string>): void {
    for (const [key, id] of this.#idOf) {
      if (keys.has(key)) continue;
      this.#index.markDelete(id);
      this.#idOf.delete(key);
      this.#keys[id] = "";
      this.#deleted++;
    }
  }

  /** Ids of the `count` nearest points that `isAllowed`, about nearest first. */
  search(
    vector: Float32Array,
    count: number,
    ef: number,
    isAllowed?: (id: number) => boolean,
  ): number[] {
    this.#index.setEf(Math.max(ef, count));
    const wanted = Math.min(count, this.live);
    return wanted === 0
      ? []
      : this.#index.searchKnn(Array.from(vector), wanted, isAllowed).neighbors;
  }
}

/** Builds in this very process, a turn of the event loop now and then; what the builder process runs. */
export async function buildGraph(
  vectors: Float32Array,
  dimension: number,
  path: string,
): Promise<void> {
  const count = vectors.length / dimension;
  const index = new hnswlib.HierarchicalNSW("ip", dimension);
  index.initIndex(Math.max(1, count), GRAPH_M, GRAPH_EF_CONSTRUCTION, SEED);
  for (let id = 0; id < count; id++) {
    index.addPoint(Array.from(vectors.subarray(id * dimension, (id + 1) * dimension)), id);
    if (id % BUILT_A_TURN === 0) await turn();
  }
  index.writeIndexSync(path);
}

async function read(path: string, dimension: number): Promise<hnswlib.HierarchicalNSW> {
  const index = new hnswlib.HierarchicalNSW("ip", dimension);
  await index.readIndex(path);
  return index;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function runBuilder(args: string[], signal: AbortSignal): Promise<void> {
  const entry = fileURLToPath(import.meta.url).replace(
    /(src|dist)(.)vector-index.*$/,
    "dist$2vector-index$2graph-process.js",
  );
  return new Promise((resolve, reject) => {
    const child: ChildProcess = fork(entry, args, { execArgv: [], signal });
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    child.on("error", reject);
    child.on("exit", (code, killed) =>
      code === 0 ? resolve() : reject(new Error(`the graph builder ended with ${killed ?? code}`)),
    );
  });
}
