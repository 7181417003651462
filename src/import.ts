import { createHash } from "node:crypto";
import { type Fault, ShortlistError } from "./errors.ts";
import { readFunctions } from "./import/functions.ts";
import { nameAll } from "./import/names.ts";
import { type Effect, type ToolSpec, validateTool } from "./tool.ts";

export { qualified } from "./import/names.ts";

export const IMPORT_KINDS = ["functions", "toolspec"] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/** What the trusted configuration says of a source; content never says it of itself. */
export interface SourceRules {
  trust: "trusted" | "untrusted";
  /** Share of a source's tools that an import may remove without confirmation. */
  removed_max: number;
  /** The first rule whose pattern matches a tool's original name; `*` stands for any run of characters. */
  rules: readonly {
    tools: string;
    effect?: Effect;
    idempotent?: boolean;
    open_world?: boolean;
    family?: string;
  }[];
}

/** One thing of a document, before it is known whether it makes a valid tool. */
export interface Raw {
  /** As the document has it; `#3` where it has none. */
  original: string;
  /** A would-be ToolSpec without its final name, or why there is none. */
  spec: Record<string, unknown> | null;
  reason?: string;
}

/** What a document yields: every operation of it is a tool, quarantined or skipped. */
export interface Imported {
  operations: number;
  tools: ToolSpec[];
  quarantined: { name: string; reason: string; errors: Fault[] }[];
  skipped: { name: string; reason: string }[];
  renamed: { from: string; to: string }[];
}

/** Reads the document. One bad tool never blocks the others. @throws ShortlistError `invalid_document` */
export function importDocument(
  kind: ImportKind,
  source: string,
  document: unknown,
  rules: SourceRules,
): Imported {
  const raws = kind === "functions" ? readFunctions(listOf(document)) : readSpecs(listOf(document));
  const imported: Imported = {
    operations: raws.length,
    tools: [],
    quarantined: [],
    skipped: [],
    renamed: [],
  };
  const usable = raws.filter(({ spec, original, reason = "is no tool" }) => {
    if (!spec) imported.skipped.push({ name: original, reason });
    return spec !== null;
  });
  const names = nameAll(usable.map(({ original }) => original));
  for (const [i, { original, spec }] of usable.entries()) {
    const name = names[i]!;
    if (name === undefined) {
      const reason = "the name is there twice; the first one stays";
      imported.quarantined.push({ name: original, reason, errors: [] });
      continue;
    }
    const { tools: _, ...ruled } = rules.rules.find((rule) => matches(rule.tools, original)) ?? {
      tools: "",
    };
    const tool = {
      ...(kind === "functions" && { family: source }),
      ...spec,
      ...ruled,
      name,
      source: {
        kind,
        server: source,
        original_name: original,
        trust: rules.trust,
        hash: createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 16),
      },
    };
    const errors = validateTool(tool);
    if (errors.length > 0)
      imported.quarantined.push({ name: original, reason: "not a valid ToolSpec", errors });
    else {
      imported.tools.push(tool as unknown as ToolSpec);
      if (name !== original) imported.renamed.push({ from: original, to: name });
    }
  }
  return imported;
}

/** ToolSpecs say everything themselves, also their effect: a source of them is local knowledge. */
function readSpecs(list: readonly unknown[]): Raw[] {
  return list.map((value, index) => {
    if (value === null || typeof value !== "object" || Array.isArray(value))
      return { original: `#${index + 1}`, spec: null, reason: "is no object" };
    const { name, source: _, ...spec } = value as Record<string, unknown>;
    return { original: typeof name === "string" ? name : `#${index + 1}`, spec };
  });
}

/** The document's list: an array, or the one in `tools` or `functions`. */
function listOf(document: unknown): unknown[] {
  const inner = (document ?? {}) as { tools?: unknown; functions?: unknown };
  for (const list of [document, inner.tools, inner.functions])
    if (Array.isArray(list)) return list as unknown[];
  throw new ShortlistError(
    "invalid_document",
    "There is no array, and none in tools or functions.",
  );
}

function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(name);
}
