// A labelled suite of a folder, ready to be asked.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../src/config.ts";
import { intentsOf, type Question, rowOf, textsOf } from "../src/discovery.ts";
import type { Embedder } from "../src/embedder.ts";
import { EVERYTHING, intersect } from "../src/exposure.ts";
import type { RoutingCase } from "../src/routing.ts";
import { buildSnapshot, type Snapshot } from "../src/snapshot.ts";
import type { Store } from "../src/store.ts";
import type { ToolSpec } from "../src/tool.ts";
import { linesOf, vectorsOf } from "./vectors.ts";

export interface LoadedSuite {
  snapshot: Snapshot;
  cases: RoutingCase[];
  vectors: Map<string, Float32Array>;
}

/** `registry.ndjson` and `cases.ndjson` of the folder. */
export function loadSuite(embedder: Embedder, store: Store, folder: string): Promise<LoadedSuite> {
  const read = <T>(file: string) =>
    linesOf(join(folder, file)).map((line) => JSON.parse(line) as T);
  return prepareSuite(
    embedder,
    store,
    read<ToolSpec>("registry.ndjson"),
    read<RoutingCase>("cases.ndjson"),
  );
}

export async function prepareSuite(
  embedder: Embedder,
  store: Store,
  tools: ToolSpec[],
  cases: RoutingCase[],
): Promise<LoadedSuite> {
  const rows = tools.map(rowOf);
  const texts = [
    ...rows.flatMap(textsOf),
    ...cases.flatMap(({ goal }) => [goal, ...intentsOf(goal).parts]),
  ];
  const vectors = await vectorsOf(embedder, store, texts);
  const snapshot = await buildSnapshot({
    catalog: "suite",
    revision: 1,
    rows,
    dimension: embedder.dimension,
    vectorOf: (text) => vectors.get(text)!,
  });
  return { snapshot, cases, vectors };
}

/** The case as a question of ten tools, under its own policy or none. */
export function questionOf(item: RoutingCase, vectors: Map<string, Float32Array>): Question {
  return {
    query: item.goal,
    vector: vectors.get(item.goal)!,
    policy: item.policy ?? EVERYTHING,
    facts: item.facts ?? {},
    k: 10,
    parts: intentsOf(item.goal).parts.map((text) => ({
      text,
      vector: vectors.get(text)!,
    })),
  };
}

/** The example of `data/`, whose tools have use_when and avoid_when, under its phases. */
export async function loadExample(
  embedder: Embedder,
  store: Store,
  bare = false,
): Promise<LoadedSuite> {
  const { phases, default_phase } = loadConfig("shortlist.config.json");
  const read = <T>(file: string) => JSON.parse(readFileSync(file, "utf8")) as T[];
  const cases = read<RoutingCase>("data/cases.json").map((item) => {
    const phase = phases.get(item.phase ?? default_phase)!;
    return { ...item, policy: item.policy ? intersect(phase, item.policy) : phase };
  });
  return prepareSuite(embedder, store, bared(read<ToolSpec>("data/registry.json"), bare), cases);
}

/** Tools without their sentences: the primary view alone. */
function bared(tools: ToolSpec[], bare: boolean): ToolSpec[] {
  if (!bare) return tools;
  return tools.map((tool) => ({ ...tool, use_when: [], examples: [] }));
}
