// The shipped calibration, fitted on labelled suites: npm run bench:calibration -- --dir ../shared/suites [--write]
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { calibrate, examplesOf, type Judged, matchOf } from "../src/calibration.ts";
import { discover, VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import type { RoutingCase } from "../src/routing.ts";
import type { Snapshot } from "../src/snapshot.ts";
import { openStore } from "../src/store.ts";
import { suitesIn } from "./vectors.ts";
import { loadExample, loadSuite, questionOf } from "./suite.ts";

const { values: options } = parseArgs({
  options: {
    dir: { type: "string", default: "../shared/suites" },
    write: { type: "boolean", default: false },
  },
});
const isAnswerable = ({ acceptable }: RoutingCase, { rowOf }: Snapshot) =>
  acceptable.some((name) => rowOf.has(name));
/** The project's own cases, a quarter of them not English, beside the public suites. */
const EXAMPLE = "example";
const K = 10;
const FILE = "models/shortlist-minilm-1/calibration.json";

/** Each suite counts the same in the fit, whatever its size. */
const SUITE_WEIGHT = 1_000;

if (!existsSync(options.dir)) {
  console.log(`skipped: there is no folder ${options.dir}`);
} else {
  const embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
    template: VIEW_TEMPLATE,
  });
  const store = openStore("var/bench");
  const judged: Judged[] = [];
  const withoutTheirs: Judged[] = [];
  for (const name of [...suitesIn(options.dir), EXAMPLE]) {
    const { snapshot, cases, vectors } = await (name === EXAMPLE
      ? loadExample(embedder, store)
      : loadSuite(embedder, store, join(options.dir, name)));
    const judge = (item: RoutingCase, exclude: string[]): Judged => {
      const found = discover(snapshot, { ...questionOf(item, vectors), k: K, exclude });
      const tools = examplesOf(found, item.acceptable, K);
      return { answerable: isAnswerable(item, snapshot) && exclude.length === 0, tools };
    };
    const own = cases.map((item) => judge(item, []));
    const tools = own.reduce((sum, item) => sum + item.tools.length, 0);
    judged.push(...own.map((item) => ({ ...item, suite: name, weight: SUITE_WEIGHT / tools })));
    withoutTheirs.push(
      ...cases.flatMap((item) =>
        isAnswerable(item, snapshot) ? [judge(item, item.acceptable)] : [],
      ),
    );
  }
  const calibration = calibrate(judged, embedder.fingerprint)!;
  const { report, ...fit } = calibration;
  const { reliability, floors, ...summary } = report;
  console.log(fit, summary);
  console.table(reliability);
  console.table(floors);
  // The hardest kind: the same requests over the same catalogs, their own tools taken out. Another
  // tool may still do, so the rate is an upper bound.
  const { probabilityOf } = matchOf(fit);
  const offered = withoutTheirs.filter(({ tools }) =>
    tools.some(({ features }) => probabilityOf(features) >= fit.floor),
  );
  console.log(
    `requests whose tools are taken out, at the floor ${fit.floor}: false offer ${(offered.length / withoutTheirs.length).toFixed(3)}`,
  );
  if (options.write) writeFileSync(FILE, `${JSON.stringify(calibration, null, 2)}\n`);
  await embedder.close();
  store.close();
}
