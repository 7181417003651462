import type { Snapshot } from "../snapshot.ts";
import type { ToolSpec } from "../tool.ts";
import type { Scored } from "./arms.ts";

/** What a tool loses a unit of cosine by which the query is nearer to its avoid_when. */
const WEIGHT = 0.5;
/** Nearer by less says nothing: neighbours share words, and their contrast says them too. */
const MARGIN = 0.1;
const SENTENCES_MAX = 8;

/** The avoid_when sentences as they are embedded: without the pointer to the rival, whose name would draw its own requests. */
export function contrastsOf(tool: ToolSpec): string[] {
  return tool.avoid_when
    .slice(0, SENTENCES_MAX)
    .map((sentence) => sentence.replace(/[:;,]\s*(?:use|see|call|prefer|try)\b.*$/is, "").trim())
    .filter(Boolean);
}

/** The avoid_when sentence that speaks against a tool, and what it costs. */
export interface Contrast {
  text: string;
  penalty: number;
}

/**
 * Negative evidence: a query that is clearly nearer to a tool's avoid_when than to its use_when (to
 * its best view where it has none) loses rank (seed 000, section 4).
 */
export function against(
  snapshot: Snapshot,
  vector: Float32Array,
  found: Scored,
): Contrast | undefined {
  const { contrast, rows, viewStarts } = snapshot;
  const { row, cosine } = found;
  const [start, end] = [contrast.starts[row]!, contrast.starts[row + 1]!];
  if (start === end) return undefined;
  const avoid = contrast.rows.scanner(vector)(start, end);
  let worst = start;
  for (let i = start + 1; i < end; i++) if (avoid[i]! > avoid[worst]!) worst = i;
  let use = -1;
  const [from, to] = [viewStarts[row]!, viewStarts[row + 1]!];
  const scores = rows.scanner(vector)(from, to);
  for (let view = from; view < to; view++)
    if (snapshot.viewOf(view).kind === "use_when") use = Math.max(use, scores[view]!);
  const penalty = WEIGHT * (avoid[worst]! - (use === -1 ? cosine : use) - MARGIN);
  return penalty > 0 ? { text: contrast.texts[worst]!, penalty } : undefined;
}
