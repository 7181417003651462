// Retrieval quality on labelled suites: npm run bench:public -- --dir ../shared/suites [--suite NAME] [--arms hybrid]
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Ablation,
  discover,
  intentsOf,
  lexicalText,
  VIEW_TEMPLATE,
  viewsOf,
} from "../src/discovery.ts";
import { type Embedder, findModel, startEmbedder } from "../src/embedder.ts";
import { EVERYTHING } from "../src/exposure.ts";
import type { RoutingCase } from "../src/routing.ts";
import { buildSnapshot, type Snapshot } from "../src/snapshot.ts";
import { openStore, type Store } from "../src/store.ts";
import type { ToolSpec } from "../src/tool.ts";
import { linesOf, suitesIn, vectorsOf } from "./vectors.ts";

const { values: options } = parseArgs({
  options: {
    dir: { type: "string", default: "../shared/suites" },
    suite: { type: "string" },
    arms: { type: "string", default: "hybrid" },
    whole: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const K = 10;
const partsOf = (goal: string) => (options.whole ? [] : intentsOf(goal).parts);

interface Row {
  suite: string;
  cases: number;
  r1: number;
  r5: number;
  r10: number;
  ndcg10: number;
  all10: number | null;
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

async function load(embedder: Embedder, store: Store, folder: string): Promise<Snapshot> {
  const tools = linesOf(join(folder, "registry.ndjson")).map(
    (line) => JSON.parse(line) as ToolSpec,
  );
  const vectors = await vectorsOf(
    embedder,
    store,
    tools.flatMap((tool) => viewsOf(tool).map(({ text }) => text)),
  );
  return buildSnapshot({
    catalog: folder,
    revision: 1,
    tools,
    dimension: embedder.dimension,
    describe: (tool) => ({ views: viewsOf(tool), document: lexicalText(tool) }),
    vectorOf: (text) => vectors.get(text)!,
  });
}

function score(
  snapshot: Snapshot,
  cases: RoutingCase[],
  vectors: Map<string, Float32Array>,
  suite: string,
): Row {
  const answerable = cases.filter(({ acceptable }) =>
    acceptable.some((name) => snapshot.rowOf.has(name)),
  );
  const ranks = answerable.map((item) => {
    const found = discover(snapshot, {
      query: item.goal,
      vector: vectors.get(item.goal)!,
      policy: item.policy ?? EVERYTHING,
      facts: item.facts ?? {},
      k: K,
      arms: options.arms as Ablation,
      parts: partsOf(item.goal).map((text) => ({ text, vector: vectors.get(text)! })),
    });
    const hits = found.retrieved.map(({ row }) =>
      item.acceptable.includes(snapshot.tools[row]!.name),
    );
    const gain = hits.reduce((sum, hit, i) => sum + Number(hit) / Math.log2(i + 2), 0);
    const ideal = item.acceptable.slice(0, K).reduce((sum, _, i) => sum + 1 / Math.log2(i + 2), 0);
    return { item, hits, ndcg: gain / ideal };
  });
  const within = (k: number) =>
    mean(ranks.map(({ hits }) => Number(hits.slice(0, k).includes(true))));
  const several = ranks.filter(({ item }) => item.needs === "all" && item.acceptable.length > 1);
  return {
    suite,
    cases: answerable.length,
    r1: within(1),
    r5: within(5),
    r10: within(10),
    ndcg10: mean(ranks.map(({ ndcg }) => ndcg)),
    all10:
      several.length === 0
        ? null
        : mean(
            several.map(({ item, hits }) =>
              Number(hits.filter(Boolean).length === item.acceptable.length),
            ),
          ),
  };
}

if (!existsSync(options.dir)) {
  console.log(`skipped: there is no folder ${options.dir}`);
} else {
  const embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
    template: VIEW_TEMPLATE,
  });
  const store = openStore("var/bench");
  const rows: Row[] = [];
  for (const suite of suitesIn(options.dir)) {
    const folder = join(options.dir, suite);
    if (options.suite && options.suite !== suite) continue;
    const snapshot = await load(embedder, store, folder);
    const cases = linesOf(join(folder, "cases.ndjson")).map(
      (line) => JSON.parse(line) as RoutingCase,
    );
    const vectors = await vectorsOf(
      embedder,
      store,
      cases.flatMap(({ goal }) => [goal, ...partsOf(goal)]),
    );
    rows.push(score(snapshot, cases, vectors, suite));
    if (!options.json) {
      const row = rows.at(-1)!;
      const cells = [row.r1, row.r5, row.r10, row.ndcg10, row.all10].map((value) =>
        value === null ? "" : value.toFixed(3),
      );
      console.log([suite.padEnd(18), String(row.cases).padStart(5), ...cells].join("  "));
    }
  }
  // Abstention suites measure the floor, not retrieval: they stay out of the average, as in the model card.
  const counted = rows.filter(({ suite }) => suite !== "bfcl_irrelevance");
  const macro = {
    r1: mean(counted.map(({ r1 }) => r1)),
    r5: mean(counted.map(({ r5 }) => r5)),
    r10: mean(counted.map(({ r10 }) => r10)),
    ndcg10: mean(counted.map(({ ndcg10 }) => ndcg10)),
    all10: mean(counted.flatMap(({ all10 }) => (all10 === null ? [] : [all10]))),
  };
  if (options.json) console.log(JSON.stringify({ arms: options.arms, rows, macro }, null, 2));
  else
    console.log(
      ["macro".padEnd(18), "     ", ...Object.values(macro).map((value) => value.toFixed(3))].join(
        "  ",
      ),
    );
  await embedder.close();
  store.close();
}
