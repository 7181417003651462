import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import wabt from "wabt";
import { allocateRows, exactIndex, Graph, hnswIndex, type Views } from "../src/vector-index.ts";
import { choosePlan, GRAPH_ROWS_MIN, planned } from "../src/vector-index/planner.ts";
import { SCAN_WASM } from "../src/vector-index/scan-wasm.ts";
import { contract, randomOf, unit, viewsOf } from "./vector-index/contract.ts";

const keysOf = ({ rows }: Views) => Array.from({ length: rows.count }, (_, row) => `key ${row}`);

contract("exact", exactIndex);
contract("exact through codes", ({ rows, starts }) => {
  const { count, dimension, vectors } = rows;
  const coded = allocateRows(count, dimension, 0);
  for (let row = 0; row < count; row++)
    coded.set(row, vectors.subarray(row * dimension, (row + 1) * dimension));
  return exactIndex({ rows: coded, starts });
});
contract(
  "hnsw",
  async (views) => {
    const graph = Graph.empty(views.rows.dimension);
    await graph.add(views.rows, keysOf(views));
    return hnswIndex(graph, views, exactIndex(views), keysOf(views));
  },
  0.98,
);

describe("the planner", () => {
  it("scans few rows, and walks the graph where there are many and most are allowed", () => {
    expect(choosePlan(1_000, 1_000_000, true)).toBe("exact");
    expect(choosePlan(10_000, 10_000, false)).toBe("exact");
    expect(choosePlan(100_000, 100_000, false)).toBe("hnsw");
    expect(choosePlan(90_000, 100_000, true)).toBe("hnsw");
    expect(choosePlan(50_000, 100_000, true)).toBe("exact");
    expect(choosePlan(10_000, 100_000, true)).toBe("exact");
  });

  it("has a graph built no earlier than it would be used", () => {
    expect(choosePlan(GRAPH_ROWS_MIN - 1, GRAPH_ROWS_MIN - 1, false)).toBe("exact");
    expect(choosePlan(GRAPH_ROWS_MIN + 1, GRAPH_ROWS_MIN + 1, false)).toBe("hnsw");
  });

  it("obeys who forces it, as far as there is a graph", async () => {
    const views = viewsOf([1, 1, 1], randomOf(3));
    const exact = exactIndex(views);
    const graph = Graph.empty(views.rows.dimension);
    await graph.add(views.rows, keysOf(views));
    const hnsw = hnswIndex(graph, views, exact, keysOf(views));
    const allowed = { ranges: [{ start: 0, end: 3 }], excluded: new Set<number>() };
    expect(planned(exact, hnsw, allowed, undefined).plan).toBe("exact");
    expect(planned(exact, hnsw, allowed, "hnsw").plan).toBe("hnsw");
    expect(planned(exact, undefined, allowed, "hnsw").plan).toBe("exact");
  });
});

describe("codes of 8 bits", () => {
  it("miss a product by no more than they say", () => {
    const random = randomOf(5);
    const { rows } = viewsOf(
      Array.from({ length: 300 }, () => 1),
      random,
    );
    const coded = allocateRows(300, rows.dimension, 0);
    for (let row = 0; row < 300; row++)
      coded.set(row, rows.vectors.subarray(row * 16, (row + 1) * 16));
    for (let i = 0; i < 50; i++) {
      const query = Float32Array.from(unit(random));
      const exact = rows.scanner(query)(0, 300);
      const { scan, error } = coded.roughScanner!(query);
      scan(0, 300).forEach((score, row) =>
        expect(Math.abs(score - exact[row]!)).toBeLessThanOrEqual(error),
      );
      expect(error).toBeLessThan(0.02);
    }
  });

  it("are kept where there are many rows", () => {
    expect(allocateRows(100, 16).roughScanner).toBeUndefined();
    expect(allocateRows(5_000, 16).roughScanner).toBeDefined();
  });
});

describe("the kernel", () => {
  it("is assembled from its source", async () => {
    const { parseWat } = await wabt();
    const source = readFileSync("src/vector-index/scan.wat", "utf8");
    const { buffer } = parseWat("scan.wat", source, { simd: true }).toBinary({});
    expect(Buffer.from(buffer).toString("base64")).toBe(SCAN_WASM);
  });

  it("refuses dimensions that it cannot read", () => {
    expect(() => allocateRows(1, 20)).toThrow(/multiple of 16/);
  });
});
