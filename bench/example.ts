// The example cases through the whole funnel, by k and by arm: npm run bench
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measures, RoutingCase, Slice } from "../src/routing.ts";
import { openService } from "./local-service.ts";

interface Result {
  cases: number;
  coverage: number | null;
  exposure_recall: number | null;
  by_k: Record<string, Measures & { ordinary: Measures; slices: Slice[] }>;
}

const percent = (rate: number | null | undefined) =>
  rate === null || rate === undefined ? "—" : rate.toFixed(3);
const folder = mkdtempSync(join(tmpdir(), "shortlist-bench-"));
const { service, principal } = await openService(folder);

const tools = JSON.parse(readFileSync("data/registry.json", "utf8")) as unknown[];
const cases = JSON.parse(readFileSync("data/cases.json", "utf8")) as RoutingCase[];
await service.jobs.ended((await service.registry.replace(principal, "example", tools)).id);

async function run(some: RoutingCase[], arms: "hybrid" | "dense" | "lexical"): Promise<Result> {
  const job = service.bench.start(principal, {
    catalog: "example",
    cases: some,
    k: [5, 10, 20, 40],
    arms,
  });
  const { error } = await service.jobs.ended(job.id);
  if (error) throw new Error(error.detail);
  return service.bench.get(principal, job.id) as unknown as Result;
}

for (const arms of ["lexical", "dense", "hybrid"] as const) {
  const { coverage, exposure_recall, by_k, cases: count } = await run(cases, arms);
  console.log(
    `\n${arms}: ${count} cases, coverage ${percent(coverage)}, exposure recall ${percent(exposure_recall)}`,
  );
  console.log(
    "   k   recall   of ordinary   selection   abstention   violations   failures (cov/exp/dis/sel)   p50/p95/p99 ms",
  );
  for (const [k, rates] of Object.entries(by_k)) {
    const { coverage: c, exposure: e, discovery: d, selection: s } = rates.failure_profile;
    const { p50, p95, p99 } = rates.latency_ms;
    const latency = [p50, p95, p99].map((value) => value?.toFixed(2)).join("/");
    console.log(
      [
        k.padStart(4),
        percent(rates.tool_recall),
        percent(rates.ordinary.tool_recall),
        percent(rates.selection_accuracy),
        percent(rates.abstention_accuracy),
        percent(rates.violation_rate),
        [c, e, d, s].join("/"),
        latency,
      ].join("   "),
    );
  }
}
const { by_k } = await run(cases, "hybrid");
console.log("\nhybrid by language and by kind: cases, recall@5, recall@10");
for (const [i, { by, name, cases: count, rates }] of by_k["5"]!.slices.entries()) {
  if (by !== "lang" && by !== "tag") continue;
  const ten = by_k["10"]!.slices[i]!.rates.tool_recall;
  console.log(
    `${`${by} ${name}`.padEnd(28)} ${String(count).padStart(4)}  ${percent(rates.tool_recall)}  ${percent(ten)}`,
  );
}
await service.close();
rmSync(folder, { recursive: true });
