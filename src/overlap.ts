import { setImmediate as turn } from "node:timers/promises";
import type { Snapshot } from "./snapshot.ts";
import type { ToolSpec } from "./tool.ts";

/** Two tools that words hardly tell apart. */
export interface Overlap {
  tools: [string, string];
  /** Of their primary views. */
  cosine: number;
  /** Their purposes are the same but for case and punctuation. */
  same_purpose: boolean;
  same_family: boolean;
  /** Of the two, those whose avoid_when does not name the other. */
  missing_contrast: string[];
}

/** A contract that leaves the model to guess, or a description that speaks to it. */
export interface Weakness {
  tool: string;
  kind: "free_form_command" | "open_object" | "instructions";
  pointer: string;
  message: string;
}

export const COSINE_MIN = 0.85;
const NEIGHBOURS = 6;
/** Tools compared a turn of the event loop. */
const TOOLS_A_TURN = 20;

/**
 * Pairs of the tools that `isSeen` lets through whose primary views are at least `cosineMin` alike, each
 * against its nearest neighbours, most alike first (ontology lint, seed 000 section 1).
 */
export async function overlapsOf(
  { tools, rows, viewStarts, dense }: Snapshot,
  isSeen: (tool: ToolSpec) => boolean,
  cosineMin: number,
): Promise<Overlap[]> {
  const { dimension, vectors } = rows;
  const excluded = new Set(tools.flatMap((tool, row) => (isSeen(tool) ? [] : [row])));
  const allowed = { ranges: [{ start: 0, end: tools.length }], excluded };
  const pairs = new Map<string, Overlap>();
  for (const [row, tool] of tools.entries()) {
    if (row % TOOLS_A_TURN === 0) await turn();
    if (excluded.has(row)) continue;
    const at = viewStarts[row]! * dimension;
    const own = vectors.subarray(at, at + dimension);
    const neighbours = dense.nearest(own, NEIGHBOURS, allowed);
    const scan = rows.scanner(own);
    for (const found of neighbours) {
      const other = tools[found.tool]!;
      if (found.tool === row || pairs.has(`${found.tool} ${row}`)) continue;
      const view = viewStarts[found.tool]!;
      const cosine = scan(view, view + 1)[view]!;
      if (cosine < cosineMin) continue;
      pairs.set(`${row} ${found.tool}`, {
        tools: [tool.name, other.name],
        cosine: Number(cosine.toFixed(4)),
        same_purpose: plain(tool.purpose) === plain(other.purpose),
        same_family: tool.family === other.family,
        missing_contrast: [
          ...(names(tool, other) ? [] : [tool.name]),
          ...(names(other, tool) ? [] : [other.name]),
        ],
      });
    }
  }
  return [...pairs.values()].toSorted(
    (a, b) => b.cosine - a.cosine || (a.tools[0] < b.tools[0] ? -1 : 1),
  );
}

/** Coarse contracts and texts that address the model. */
export function weaknessesOf(tool: ToolSpec): Weakness[] {
  const weak: Weakness[] = [];
  const { input_schema, purpose, use_when, avoid_when } = tool;
  const properties = (input_schema["properties"] ?? {}) as Record<string, Record<string, unknown>>;
  const names_ = Object.keys(properties);
  const only = names_.length === 1 ? properties[names_[0]!] : undefined;
  if (
    only?.["type"] === "string" &&
    COMMAND.test(names_[0]!) &&
    !only["enum"] &&
    !only["pattern"]
  ) {
    weak.push({
      tool: tool.name,
      kind: "free_form_command",
      pointer: `/input_schema/properties/${names_[0]}`,
      message: "one free-form string is the whole contract: nothing can be checked before it runs",
    });
  }
  if (names_.length === 0 && input_schema["additionalProperties"] !== false) {
    weak.push({
      tool: tool.name,
      kind: "open_object",
      pointer: "/input_schema",
      message: "no property is declared and any is allowed: say which, or forbid others",
    });
  }
  for (const [name, schema] of Object.entries(properties)) {
    if (schema?.["type"] !== "object" || schema["properties"] || schema["$ref"]) continue;
    weak.push({
      tool: tool.name,
      kind: "open_object",
      pointer: `/input_schema/properties/${name}`,
      message: "an object without declared properties: the model has to guess them",
    });
  }
  for (const [pointer, text] of [
    ["/purpose", purpose],
    ...use_when.map((sentence, i) => [`/use_when/${i}`, sentence] as const),
    ...avoid_when.map((sentence, i) => [`/avoid_when/${i}`, sentence] as const),
  ] as const) {
    const match = INSTRUCTIONS.exec(text);
    if (match)
      weak.push({
        tool: tool.name,
        kind: "instructions",
        pointer,
        message: `speaks to the model, not of the tool: "${match[0]}"`,
      });
  }
  return weak;
}

const COMMAND = /^(?:command|cmd|code|script|query|sql|input|expression|shell|text|prompt)$/i;
const INSTRUCTIONS =
  /\b(?:ignore (?:all |any |the )?(?:previous|prior|other) (?:instructions|tools)|you must (?:always )?(?:call|use)|always (?:call|use|choose|prefer) this|do not (?:tell|mention|inform)|before (?:using|calling) any other tool|system prompt|<important>)/i;

function names(tool: ToolSpec, other: ToolSpec): boolean {
  const pattern = new RegExp(`(?:^|[^A-Za-z0-9_-])${other.name}(?:$|[^A-Za-z0-9_-])`);
  return tool.avoid_when.some((sentence) => pattern.test(sentence));
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
