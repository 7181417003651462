import { setImmediate as turn } from "node:timers/promises";
import type { Config } from "../config.ts";
import { type Fault, ShortlistError } from "../errors.ts";
import { CONTROL_FAMILY } from "../exposure.ts";
import { type ToolSpec, validateTool } from "../tool.ts";

/** A tool that did not get in, and why. */
export interface Quarantined {
  name: string;
  reason: string;
  errors: Fault[];
}

/** Tools validated a turn of the event loop. */
const TOOLS_A_TURN = 200;

/** The valid tools of a body, and the others with their reasons: one bad tool never blocks the others. */
export async function admit(
  values: readonly unknown[],
  config: Config,
): Promise<{ tools: ToolSpec[]; quarantined: Quarantined[] }> {
  const tools = new Map<string, ToolSpec>();
  const quarantined: Quarantined[] = [];
  for (const [index, value] of values.entries()) {
    if (index % TOOLS_A_TURN === TOOLS_A_TURN - 1) await turn();
    const errors = validateTool(value);
    const tool = withoutSource(value as ToolSpec);
    if (errors.length > 0) {
      const named = (value as { name?: unknown } | null)?.name;
      const name = typeof named === "string" ? named.slice(0, 200) : `#${index + 1}`;
      quarantined.push({ name, reason: "not a valid ToolSpec", errors });
    } else if (isReserved(tool, config)) {
      quarantined.push({ name: tool.name, reason: reservedReason(tool), errors: [] });
    } else if (tools.has(tool.name)) {
      quarantined.push({
        name: tool.name,
        reason: "the name is there twice; the first one stays",
        errors: [],
      });
    } else {
      tools.set(tool.name, tool);
    }
  }
  if (tools.size > 0) return { tools: [...tools.values()], quarantined };
  const faults = quarantined
    .slice(0, 100)
    .flatMap(({ name, reason, errors }) =>
      errors.length > 0
        ? errors.map(({ pointer, message }) => ({ pointer, message: `${name}: ${message}` }))
        : [{ pointer: "", message: `${name}: ${reason}` }],
    );
  throw new ShortlistError(
    "no_valid_tool",
    `None of ${values.length} tools is valid; nothing was changed.`,
    faults,
  );
}

/** Where a tool comes from is what an import says, never what a body says of itself. */
export function withoutSource(tool: ToolSpec): ToolSpec {
  if (!tool?.source) return tool;
  const { source: _, ...rest } = tool;
  return rest;
}

/** True where the tool claims what only trusted configuration gives: no registered tool can become a control. */
export function isReserved(tool: Pick<ToolSpec, "name" | "family">, config: Config): boolean {
  return tool.family === CONTROL_FAMILY || config.controls.some(({ name }) => name === tool.name);
}

export function reservedReason(tool: Pick<ToolSpec, "name" | "family">): string {
  return tool.family === "control"
    ? "the family control is for trusted controls, which only local configuration gives"
    : `${tool.name} is a trusted control's name, which only local configuration gives`;
}
