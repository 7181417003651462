import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { exactIndex, Graph, hnswIndex, type Views } from "../../src/vector-index.ts";
import { oracle, randomOf, unit, viewsOf } from "./contract.ts";

const folder = mkdtempSync(join(tmpdir(), "shortlist-graph-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ones = (count: number) => Array.from({ length: count }, () => 1);
const keysFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => `key ${first + i}`);
const everything = (views: Views) => ({
  ranges: [{ start: 0, end: views.starts.length - 1 }],
  excluded: new Set<number>(),
});
const signal = new AbortController().signal;

/** Share of the ten nearest that the graph finds, over 50 queries. */
function recall(graph: Graph, views: Views, keys: string[]): number {
  const index = hnswIndex(graph, views, exactIndex(views), keys);
  const random = randomOf(99);
  let hit = 0;
  for (let i = 0; i < 50; i++) {
    const query = Float32Array.from(unit(random));
    const expected = new Set(
      oracle(views, query, everything(views))
        .slice(0, 10)
        .map(({ tool }) => tool),
    );
    hit += index
      .nearest(query, 10, everything(views))
      .filter(({ tool }) => expected.has(tool)).length;
  }
  return hit / 500;
}

describe("a graph", () => {
  it("is built in a process of its own, and found again whole", async () => {
    const views = viewsOf(ones(3_000), randomOf(5));
    const keys = keysFrom(0, 3_000);
    const path = join(folder, "built.hnsw");
    const built = await Graph.build(path, views.rows, keys, "model", signal);
    expect(recall(built, views, keys)).toBeGreaterThan(0.98);
    const loaded = await Graph.load(path, views.rows.dimension, "model");
    expect(recall(loaded!, views, keys)).toBeGreaterThan(0.98);
  });

  it("is refused where it is another model's, cut short or without its meta", async () => {
    const path = join(folder, "built.hnsw");
    expect(await Graph.load(path, 16, "another")).toBeUndefined();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length - 10));
    expect(await Graph.load(path, 16, "model")).toBeUndefined();
    writeFileSync(path, bytes);
    expect(await Graph.load(path, 16, "model")).toBeDefined();
    writeFileSync(`${path}.json`, "{");
    expect(await Graph.load(path, 16, "model")).toBeUndefined();
    expect(await Graph.load(join(folder, "none.hnsw"), 16, "model")).toBeUndefined();
  });

  it("follows small changes in place: ids stay, rows move", async () => {
    const before = viewsOf(ones(1_000), randomOf(5));
    const graph = Graph.empty(16);
    await graph.add(before.rows, keysFrom(0, 1_000));
    // The next revision lacks the first hundred, has fifty new ones, and every row has moved.
    const after = viewsOf(ones(950), randomOf(6));
    after.rows.vectors.set(before.rows.vectors.subarray(100 * 16), 0);
    const keys = keysFrom(100, 950);
    expect(await graph.add(after.rows, keys)).toBe(true);
    graph.forget(new Set(keys));
    expect([graph.size, graph.live]).toEqual([1_050, 950]);
    expect(recall(graph, after, keys)).toBeGreaterThan(0.98);
  });

  it("asks to be built anew past a share of deletions, and for many new points", async () => {
    const views = viewsOf(ones(100), randomOf(5));
    const graph = Graph.empty(16);
    await graph.add(views.rows, keysFrom(0, 100));
    expect(await graph.add(views.rows, keysFrom(50, 100))).toBe(false);
    const many = viewsOf(ones(2_001), randomOf(5));
    expect(await Graph.empty(16).add(many.rows, keysFrom(0, 2_001))).toBe(false);
    expect([graph.size, graph.live]).toEqual([100, 100]);
  });

  it("keeps one point for a text that two tools share, and finds both", async () => {
    const views = viewsOf([1, 1, 1], randomOf(5));
    views.rows.vectors.set(views.rows.vectors.subarray(0, 16), 16);
    const keys = ["same", "same", "other"];
    const graph = Graph.empty(16);
    await graph.add(views.rows, keys);
    expect(graph.size).toBe(2);
    const found = hnswIndex(graph, views, exactIndex(views), keys).nearest(
      views.rows.vectors.slice(0, 16),
      2,
      everything(views),
    );
    expect(found.map(({ tool }) => tool)).toEqual([0, 1]);
  });

  it("gives its builder up when asked to", async () => {
    const views = viewsOf(ones(5_000), randomOf(5));
    const abort = new AbortController();
    const building = Graph.build(
      join(folder, "aborted.hnsw"),
      views.rows,
      keysFrom(0, 5_000),
      "model",
      abort.signal,
    );
    setTimeout(() => abort.abort(), 30);
    await expect(building).rejects.toThrow();
    expect(await Graph.load(join(folder, "aborted.hnsw"), 16, "model")).toBeUndefined();
  });
});
