// Retrieval quality on labelled suites: npm run bench:public -- --dir ../shared/suites [--suite NAME] [--arms hybrid] [--whole] [--ablate] [--json]
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { matchOf, readCalibration } from "../src/calibration.ts";
import { type Ablation, discover, type Question, VIEW_TEMPLATE } from "../src/discovery.ts";
import { type Embedder, findModel, startEmbedder } from "../src/embedder.ts";
import { pairedInterval } from "../src/routing.ts";
import { openStore, type Store } from "../src/store.ts";
import { type LoadedSuite, loadExample, loadSuite, questionOf } from "./suite.ts";
import { suitesIn } from "./vectors.ts";

const { values: options } = parseArgs({
  options: {
    dir: { type: "string", default: "../shared/suites" },
    suite: { type: "string" },
    arms: { type: "string", default: "hybrid" },
    whole: { type: "boolean", default: false },
    ablate: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    /** A run that is kept, by its id or its commit: differences with paired intervals. */
    compare: { type: "string" },
  },
});
const K = 10;
const RUNS_KEPT = 500;
/** Abstention suites measure the floor, not retrieval: they stay out of the average, as in the model card. */
const ABSTENTION = "bfcl_irrelevance";

const METRICS = ["r1", "r5", "r10", "ndcg10", "all10"] as const;
type Rates = Record<(typeof METRICS)[number], number | null>;
interface Row extends Rates {
  suite: string;
  cases: number;
}

const mean = (values: number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** How one suite does where the questions are changed so. */
function score(
  { snapshot, cases, vectors }: LoadedSuite,
  suite: string,
  change: (question: Question) => Question,
  onEach: (ndcg: Record<string, number>) => void = () => {},
): Row {
  const answerable = cases.filter(({ acceptable }) =>
    acceptable.some((name) => snapshot.rowOf.has(name)),
  );
  const ranks = answerable.map((item) => {
    const right = item.acceptable.filter((name) => snapshot.rowOf.has(name));
    const found = discover(snapshot, change({ ...questionOf(item, vectors), k: K }));
    const hits = found.retrieved.map(({ tool }) => right.includes(tool.name));
    const gain = hits.reduce((sum, hit, i) => sum + Number(hit) / Math.log2(i + 2), 0);
    const ideal = right.slice(0, K).reduce((sum, _, i) => sum + 1 / Math.log2(i + 2), 0);
    return { item, right, hits, ndcg: gain / ideal };
  });
  onEach(Object.fromEntries(ranks.map(({ item, ndcg }) => [item.task_id, ndcg])));
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
    all10: mean(
      several.map(({ item, hits }) =>
        Number(hits.filter(Boolean).length === item.acceptable.length),
      ),
    ),
  };
}

/** nDCG@10 by suite and case. */
type Outcomes = Record<string, Record<string, number>>;

/** Keeps the run under its commit, so that two commits can be compared. */
function keep(store: Store, result: Record<string, unknown>, outcomes: Outcomes): string {
  const { stdout } = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" });
  const created_at = new Date().toISOString();
  const id = `${stdout.trim() || "none"}-${created_at}`;
  const packed = gzipSync(JSON.stringify(outcomes));
  store.saveBench({ id, catalog: "public", created_at, result, outcomes: packed }, RUNS_KEPT);
  return id;
}

function compare(store: Store, name: string, after: Outcomes): void {
  const known = store.benches().find(({ id }) => id === name || id.startsWith(`${name}-`));
  if (!known) return console.log(`no run ${name}; kept: ${store.benches().map(({ id }) => id)}`);
  const packed = store.bench(known.id)!.outcomes;
  const before = JSON.parse(String(gunzipSync(packed))) as Outcomes;
  console.log(`nDCG@10 since ${known.id}, 95 % paired interval:`);
  for (const [suite, own] of Object.entries(after)) {
    const ids = Object.keys(own).filter((id) => before[suite]?.[id] !== undefined);
    const pair = pairedInterval(
      Float64Array.from(ids, (id) => before[suite]![id]!),
      Float64Array.from(ids, (id) => own[id]!),
    );
    if (!pair) continue;
    const [low, high] = pair.interval.map((value) => value.toFixed(4));
    console.log(`${suite.padEnd(18)} ${pair.difference.toFixed(4)} (${low} to ${high})`);
  }
}

function macroOf(rows: Row[]): Rates {
  const counted = rows.filter(({ suite }) => suite !== ABSTENTION);
  return Object.fromEntries(
    METRICS.map((metric) => [metric, mean(counted.flatMap((row) => row[metric] ?? []))]),
  ) as Rates;
}

const cells = (rates: Rates) => METRICS.map((metric) => rates[metric]?.toFixed(3) ?? "     ");

/** Each mechanism switched off in turn: macro averages over the suites, and the example. */
async function ablate(embedder: Embedder, store: Store, suites: Map<string, LoadedSuite>) {
  const calibration = readCalibration("models/shortlist-minilm-1");
  const match = calibration && matchOf(calibration);
  const example = await loadExample(embedder, store, false);
  const bare = await loadExample(embedder, store, true);
  const variants: [string, (question: Question) => Question, LoadedSuite?][] = [
    ["everything", (question) => question],
    ["without the lexical arm", (question) => ({ ...question, arms: "dense" })],
    ["without the dense arm", (question) => ({ ...question, arms: "lexical" })],
    ["without splitting", (question) => ({ ...question, parts: [] })],
    ["without exact names", (q) => ({ ...q, without: new Set(["exact_names"] as const) })],
    ["without contrast", (q) => ({ ...q, without: new Set(["contrast"] as const) })],
    ["without use_when and example views", (question) => question, bare],
    ["with the match floor", (question) => ({ ...question, match })],
  ];
  const rows = variants.map(([name, change, other]) => ({
    variant: name,
    macro: macroOf([...suites].map(([suite, loaded]) => score(loaded, suite, change))),
    example: score(other ?? example, "example", change),
  }));
  if (options.json) return console.log(JSON.stringify(rows, null, 2));
  console.log(`\n${"".padEnd(36)}macro: ${METRICS.join("  ")}         example, the same`);
  for (const { variant, macro, example: own } of rows)
    console.log([variant.padEnd(36), ...cells(macro), "    ", ...cells(own)].join("  "));
}

if (!existsSync(options.dir)) {
  console.log(`skipped: there is no folder ${options.dir}`);
} else {
  const embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
    template: VIEW_TEMPLATE,
  });
  const store = openStore("var/bench");
  const suites = new Map<string, LoadedSuite>();
  for (const suite of suitesIn(options.dir)) {
    if (options.suite && options.suite !== suite) continue;
    suites.set(suite, await loadSuite(embedder, store, join(options.dir, suite)));
  }
  const arms = options.arms as Ablation;
  const outcomes: Outcomes = {};
  const rows = Array.from(suites, ([suite, loaded]) =>
    score(
      loaded,
      suite,
      (q) => ({ ...q, arms, parts: options.whole ? [] : q.parts }),
      (ndcg) => (outcomes[suite] = ndcg),
    ),
  );
  const macro = macroOf(rows);
  if (options.compare) compare(store, options.compare, outcomes);
  const id = keep(store, { arms, whole: options.whole, rows, macro }, outcomes);
  if (options.json && !options.ablate) console.log(JSON.stringify({ arms, rows, macro }, null, 2));
  if (!options.json) {
    for (const row of rows)
      console.log([row.suite.padEnd(18), String(row.cases).padStart(5), ...cells(row)].join("  "));
    console.log(["macro".padEnd(18), "     ", ...cells(macro)].join("  "));
    console.log(`kept as ${id}`);
  }
  if (options.ablate) await ablate(embedder, store, suites);
  await embedder.close();
  store.close();
}
