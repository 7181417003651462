// Speed and memory of the service over HTTP: npm run bench:speed [-- --tools 1000,10000 --queries 400]
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { primaryText, VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import { encoding, inProcess, percentile } from "./in-process.ts";
import { FAMILIES, queryOf, toolOf } from "./synthetic.ts";

const { values: options } = parseArgs({
  options: {
    tools: { type: "string", default: "1000,10000" },
    queries: { type: "string", default: "400" },
  },
});
const PORT = 8799;
const URL_ = `http://127.0.0.1:${PORT}`;
const QUERIES = Number(options.queries);
const JSON_TYPE = { "content-type": "application/json" };

const policyOf = (share: number) => ({
  allowed_families: Array.from(
    { length: FAMILIES * share },
    (_, i) => `family_${String(i).padStart(2, "0")}`,
  ),
  max_effect: "destructive" as const,
  allow_open_world: true,
});

const at = percentile;
const ms = (value: number) => value.toFixed(2);

async function start(folder: string): Promise<{ child: ChildProcess; seconds: string }> {
  const child = spawn("node", ["dist/main.js", "serve", "--no-example"], {
    env: { ...process.env, SHORTLIST_DATA: folder, PORT: String(PORT) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
  for (;;) {
    const answer = await fetch(`${URL_}/readyz`).catch(() => undefined);
    const seconds = /\((ready in [^)]*)\)/.exec(log)?.[1];
    if (answer?.ok && seconds) return { child, seconds };
    if (child.exitCode !== null) throw new Error(log);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

async function put(count: number): Promise<Record<string, number>> {
  const body = JSON.stringify(Array.from({ length: count }, (_, i) => toolOf(i)));
  const answer = await fetch(`${URL_}/v1/catalogs/speed/tools`, {
    method: "PUT",
    headers: JSON_TYPE,
    body,
  });
  const { job } = (await answer.json()) as { job: { id: string } };
  const startedAt = performance.now();
  const events = await (await fetch(`${URL_}/v1/jobs/${job.id}/events`)).text();
  const last = JSON.parse(
    events
      .trim()
      .split("\n\n")
      .at(-1)!
      .match(/^data: (.*)$/m)![1]!,
  ) as Record<string, number>;
  return { ...last, seconds: (performance.now() - startedAt) / 1000 };
}

interface Measured {
  /** A query that the service has not seen. */
  fresh: number[];
  /** The same query again: its vector is cached, so this is everything but the encoding. */
  cached: number[];
}

const agent = new Agent({ keepAlive: true });

/** Milliseconds from the request's first byte to the answer's last. */
function timeOf(body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const sent = request(
      `${URL_}/v1/catalogs/speed/query`,
      { method: "POST", agent, headers: JSON_TYPE },
      (answer) => {
        answer.resume();
        answer.on("end", () =>
          answer.statusCode === 200
            ? resolve(performance.now() - startedAt)
            : reject(new Error(`status ${answer.statusCode}`)),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

async function measure(share: number, queries: number, offset: number): Promise<Measured> {
  const measured: Measured = { fresh: [], cached: [] };
  for (let i = 0; i < queries; i++) {
    const body = JSON.stringify({ query: queryOf(offset + i), policy: policyOf(share) });
    measured.fresh.push(await timeOf(body));
    measured.cached.push(await timeOf(body));
  }
  return measured;
}

/** Seconds that the encoder takes for the texts, with nothing around it. */
async function encoderAlone(texts: string[]): Promise<number> {
  const embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
    template: VIEW_TEMPLATE,
  });
  await embedder.embedAll(texts.slice(0, 20), () => {}); // the lanes are up
  const startedAt = performance.now();
  await embedder.embedAll(texts, () => {});
  const seconds = (performance.now() - startedAt) / 1000;
  await embedder.close();
  return seconds;
}

/** Resident memory of the process and its children, in MB. */
function memoryOf(pid: number): { name: string; megabytes: number }[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  return [String(pid), ...children].map((id, i) => ({
    name: i === 0 ? "service" : `encoder ${i}`,
    megabytes: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))![1]) / 1024,
  }));
}

for (const count of options.tools.split(",").map(Number)) {
  const folder = mkdtempSync(join(tmpdir(), "shortlist-speed-"));
  let running = await start(folder);
  console.log(`\n## ${count} tools, one view each`);
  const job = await put(count);
  console.log(
    `cold index: ${job["seconds"]!.toFixed(1)} s, ${(count / job["seconds"]!).toFixed(0)} tools a second`,
  );
  console.log(
    `memory with both index lanes: ${memoryOf(running.child.pid!)
      .map(({ name, megabytes }) => `${name} ${megabytes.toFixed(0)} MB`)
      .join(", ")}`,
  );
  const own = await encoderAlone(Array.from({ length: count }, (_, i) => primaryText(toolOf(i))));
  console.log(
    `the encoder alone, both lanes: ${own.toFixed(1)} s; ratio ${(job["seconds"]! / own).toFixed(2)}`,
  );
  const unchanged = await put(count);
  console.log(`unchanged reindex: ${unchanged["seconds"]!.toFixed(2)} s`);
  await measure(1, 50, 1_000_000); // warm
  console.log("eligible   a new query: p50, p95, p99       all but the encoding: p50, p95, p99");
  for (const share of [1, 0.1, 0.01]) {
    const { fresh, cached } = await measure(share, QUERIES, share * 100_000);
    const cells = (list: number[]) =>
      [0.5, 0.95, 0.99].map((p) => `${ms(at(list, p))} ms`).join("  ");
    console.log(`${String(share * 100).padStart(4)} %     ${cells(fresh)}     ${cells(cached)}`);
  }
  const idle = await measure(1, QUERIES, 5_000_000);
  const body = JSON.stringify(
    Array.from({ length: 4_000 }, (_, i) => ({
      ...toolOf(i),
      purpose: `Other purpose ${i} ${count}.`,
    })),
  );
  await fetch(`${URL_}/v1/catalogs/beside/tools`, { method: "PUT", headers: JSON_TYPE, body });
  const busy = await measure(1, QUERIES, 6_000_000);
  console.log(
    `query p99 beside an index job: ${ms(at(busy.fresh, 0.99))} ms, idle ${ms(at(idle.fresh, 0.99))} ms, ratio ${(at(busy.fresh, 0.99) / at(idle.fresh, 0.99)).toFixed(2)}`,
  );
  await stop(running.child);
  running = await start(folder);
  const memory = memoryOf(running.child.pid!);
  console.log(`start from the store: ${running.seconds}`);
  console.log(
    `memory after the start: ${memory.map(({ name, megabytes }) => `${name} ${megabytes.toFixed(0)} MB`).join(", ")}`,
  );
  await stop(running.child);
  const policies = new Map([1, 0.1, 0.01].map((share) => [`${share * 100} %`, policyOf(share)]));
  const queries = Array.from({ length: 200 }, (_, i) => queryOf(7_000_000 + i));
  const alone = await inProcess(folder, "speed", queries, policies);
  const cells = Array.from(alone, ([name, median]) => `${name} ${ms(median)} ms`);
  console.log(`through the service without HTTP, all but the encoding, p50: ${cells.join(", ")}`);
  rmSync(folder, { recursive: true });
}
const { lane, alone, run } = await encoding(
  Array.from({ length: QUERIES }, (_, i) => queryOf(8_000_000 + i)),
);
console.log(
  `\na query's encoding: ${ms(lane)} ms; tokenizer and onnxruntime alone ${ms(alone)} ms, ratio ${(lane / alone).toFixed(2)}; onnxruntime's run ${ms(run)} ms`,
);
