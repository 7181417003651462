// Vectors for benchmarks: the suites' texts, embedded once into var/bench.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { primaryText } from "../src/discovery.ts";
import type { Embedder } from "../src/embedder.ts";
import type { RoutingCase } from "../src/routing.ts";
import type { Store } from "../src/store.ts";
import type { ToolSpec } from "../src/tool.ts";

export const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").filter(Boolean);

export function suitesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((suite) => existsSync(join(folder, suite, "cases.ndjson")))
    .toSorted();
}

/** The vectors of the texts; what the store lacks is embedded and kept. */
export async function vectorsOf(
  embedder: Embedder,
  store: Store,
  texts: string[],
): Promise<Map<string, Float32Array>> {
  const known = store.vectors(embedder.fingerprint, texts);
  const missing = [...new Set(texts)].filter((text) => !known.has(text));
  const fresh: [string, Float32Array][] = [];
  await embedder.embedAll(missing, (index, vector) => fresh.push([missing[index]!, vector]));
  store.saveVectors(embedder.fingerprint, fresh);
  for (const [text, vector] of fresh) known.set(text, vector);
  return known;
}

/** Primary views and requests of every suite in the folder; of the example where there is none. */
export async function realVectors(
  embedder: Embedder,
  store: Store,
  folder: string,
): Promise<{ tools: Float32Array[]; queries: Float32Array[] }> {
  const suites = suitesIn(folder);
  const tools: ToolSpec[] = suites.flatMap((suite) =>
    linesOf(join(folder, suite, "registry.ndjson")).map((line) => JSON.parse(line) as ToolSpec),
  );
  const cases: RoutingCase[] = suites.flatMap((suite) =>
    linesOf(join(folder, suite, "cases.ndjson")).map((line) => JSON.parse(line) as RoutingCase),
  );
  if (suites.length === 0) {
    tools.push(...(JSON.parse(readFileSync("data/registry.json", "utf8")) as ToolSpec[]));
    cases.push(...(JSON.parse(readFileSync("data/cases.json", "utf8")) as RoutingCase[]));
  }
  const texts = tools.map(primaryText);
  const goals = cases.map(({ goal }) => goal);
  const vectors = await vectorsOf(embedder, store, [...texts, ...goals]);
  return {
    tools: texts.map((text) => vectors.get(text)!),
    queries: goals.map((goal) => vectors.get(goal)!),
  };
}
