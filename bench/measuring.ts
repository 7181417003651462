// What measuring costs beside retrieval: npm run bench:measuring [-- --tools 10000 --cases 10000]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openService } from "./local-service.ts";
import { queryOf, toolOf } from "./synthetic.ts";

const { values: options } = parseArgs({
  options: {
    tools: { type: "string", default: "10000" },
    cases: { type: "string", default: "10000" },
  },
});
const [tools, cases] = [Number(options.tools), Number(options.cases)];
const folder = mkdtempSync(join(tmpdir(), "shortlist-measuring-"));
const { service, principal } = await openService(folder);
const registry = Array.from({ length: tools }, (_, i) => toolOf(i));
await service.jobs.ended((await service.registry.replace(principal, "speed", registry)).id);
const suite = Array.from({ length: cases }, (_, i) => ({
  task_id: String(i),
  goal: queryOf(i),
  acceptable: [toolOf((i * 7_919) % tools).name],
}));

for (const round of ["with fresh vectors", "with cached vectors"]) {
  const startedAt = performance.now();
  const request = { catalog: "speed", cases: suite, k: [5, 10, 20, 40] };
  const job = await service.jobs.ended(service.bench.start(principal, request).id);
  const seconds = (performance.now() - startedAt) / 1000;
  const { by_k } = service.bench.get(principal, job.id) as {
    by_k: Record<string, { retrieval_s: number; scoring_s: number }>;
  };
  const sum = (of: "retrieval_s" | "scoring_s") =>
    Object.values(by_k).reduce((total, row) => total + row[of], 0);
  const share = (100 * sum("scoring_s")) / sum("retrieval_s");
  console.log(
    `${cases} cases x 4 k against ${tools} tools ${round}: ${seconds.toFixed(1)} s; retrieval ${sum("retrieval_s").toFixed(1)} s, scoring ${sum("scoring_s").toFixed(2)} s (${share.toFixed(1)} %)`,
  );
}
await service.close();
rmSync(folder, { recursive: true });
