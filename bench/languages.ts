// Requests in eight languages, over the English example and over catalogs in the same language: npm run bench:languages
import { readFileSync } from "node:fs";
import { type Ablation, discover, VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import { openStore } from "../src/store.ts";
import type { ToolSpec } from "../src/tool.ts";
import { type LoadedSuite, prepareSuite, questionOf } from "./suite.ts";

interface Languages {
  /** Purposes, by tool and language. */
  tools: Record<string, Record<string, string>>;
  requests: Record<string, Record<string, string>>;
}

const english = JSON.parse(readFileSync("data/registry.json", "utf8")) as ToolSpec[];
const { tools, requests } = JSON.parse(readFileSync("data/languages.json", "utf8")) as Languages;
const languages = Object.keys(Object.values(requests)[0]!);
const embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
  template: VIEW_TEMPLATE,
});
const store = openStore("var/bench");

const casesIn = (lang: string) =>
  Object.entries(requests).map(([name, byLanguage]) => ({
    task_id: `${lang}-${name}`,
    goal: byLanguage[lang]!,
    acceptable: [name],
    lang,
  }));

/** The tools in one language: their names stay identifiers, the rest says nothing in English. */
const catalogIn = (lang: string): ToolSpec[] =>
  Object.entries(tools).map(([name, byLanguage], i) => ({
    ...english.find((tool) => tool.name === name)!,
    name: `tool_${i}`,
    family: "tools",
    purpose: byLanguage[lang]!,
    use_when: [],
    avoid_when: [],
    examples: [],
    input_schema: { type: "object", properties: {} },
  }));
const named = Object.keys(tools);

function recall(suite: LoadedSuite, lang: string, arms: Ablation, k: number): string {
  const cases = casesIn(lang);
  const hits = cases.filter((item) => {
    const { retrieved } = discover(suite.snapshot, {
      ...questionOf(item, suite.vectors),
      arms,
      k,
    });
    return retrieved.some(({ tool: { name } }) =>
      item.acceptable.includes(name.startsWith("tool_") ? named[Number(name.slice(5))]! : name),
    );
  });
  return (hits.length / cases.length).toFixed(2).padStart(5);
}

console.log(
  "recall of the one right tool            English catalog of 343          own catalog of 12",
);
console.log(
  "language                lexical@5  dense@5  hybrid@5  hybrid@10   lexical@1  dense@1  hybrid@1",
);
for (const lang of languages) {
  const cases = casesIn(lang);
  const over = await prepareSuite(embedder, store, english, cases);
  const own = await prepareSuite(embedder, store, catalogIn(lang), cases);
  const cells = [
    recall(over, lang, "lexical", 5),
    recall(over, lang, "dense", 5),
    recall(over, lang, "hybrid", 5),
    recall(over, lang, "hybrid", 10),
    recall(own, lang, "lexical", 1),
    recall(own, lang, "dense", 1),
    recall(own, lang, "hybrid", 1),
  ];
  console.log([lang.padEnd(24), ...cells].join("     "));
}
await embedder.close();
store.close();
