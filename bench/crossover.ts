// Where HNSW overtakes the exact scan: npm run bench:crossover [-- --dir ../shared/suites --rows 5000,20000,50000,100000]
// The numbers behind src/vector-index/planner.ts. Real vectors; past their number, copies with noise.
import { parseArgs } from "node:util";
import { VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import { openStore } from "../src/store.ts";
import {
  allocateRows,
  exactIndex,
  Graph,
  hnswIndex,
  planned,
  type VectorIndex,
} from "../src/vector-index.ts";
import { realVectors } from "./vectors.ts";

const { values: options } = parseArgs({
  options: {
    dir: { type: "string", default: "../shared/suites" },
    rows: { type: "string", default: "5000,20000,50000,100000" },
  },
});
const SHARES = [1, 0.9, 0.5, 0.25, 0.1, 0.01];
const QUERIES = 200;
const COUNT = 64;
const NOISE = 0.06;

let state = 1;
function random(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32 - 0.5;
}

const embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
  template: VIEW_TEMPLATE,
});
const store = openStore("var/bench");
const { tools, queries } = await realVectors(embedder, store, options.dir);
await embedder.close();
store.close();
const asked = Array.from({ length: QUERIES }, (_, i) => queries[(i * 61) % queries.length]!);
console.log(`${tools.length} real tool vectors, ${QUERIES} real requests, the ${COUNT} nearest`);

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

for (const count of options.rows.split(",").map(Number)) {
  const { dimension } = embedder;
  const rows = allocateRows(count, dimension);
  for (let row = 0; row < count; row++) {
    // A stride through the suites, so that a prefix of the rows is no single suite.
    const base = tools[(row * 7_919) % tools.length]!;
    const vector = row < tools.length ? base : base.map((value) => value + NOISE * random());
    const norm = Math.hypot(...vector);
    rows.set(
      row,
      vector.map((value) => value / norm),
    );
  }
  const starts = Uint32Array.from({ length: count + 1 }, (_, i) => i);
  const keys = Array.from({ length: count }, (_, i) => String(i));
  const exact = exactIndex({ rows, starts });
  const startedAt = performance.now();
  const graph = await Graph.build(
    `var/bench/crossover-${count}.hnsw`,
    rows,
    keys,
    "bench",
    new AbortController().signal,
  );
  const hnsw = hnswIndex(graph, { rows, starts }, exact, keys);
  console.log(
    `\n${count} rows; graph built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  );
  console.log("eligible   exact ms   hnsw ms   hnsw recall   planner   its ms   its recall");
  for (const share of SHARES) {
    const allowed = {
      ranges: [{ start: 0, end: Math.ceil(count * share) }],
      excluded: new Set<number>(),
    };
    const plan = planned(exact, hnsw, allowed, undefined);
    const times = { exact: [] as number[], hnsw: [] as number[] };
    let hit = 0;
    for (const vector of asked) {
      const timed = (index: VectorIndex, into: number[]) => {
        const from = performance.now();
        const found = index.nearest(vector, COUNT, allowed);
        into.push(performance.now() - from);
        return found.map(({ tool }) => tool);
      };
      const truth = timed(exact, times.exact);
      const found = new Set(timed(hnsw, times.hnsw));
      hit += truth.filter((tool) => found.has(tool)).length / truth.length;
    }
    const recall = hit / QUERIES;
    console.log(
      [
        `${(share * 100).toFixed(0)} %`.padStart(6),
        median(times.exact).toFixed(3).padStart(10),
        median(times.hnsw).toFixed(3).padStart(9),
        recall.toFixed(4).padStart(11),
        plan.plan.padStart(9),
        median(times[plan.plan]).toFixed(3).padStart(9),
        (plan.plan === "exact" ? 1 : recall).toFixed(4).padStart(10),
      ].join("  "),
    );
  }
}
