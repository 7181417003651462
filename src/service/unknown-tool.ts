import type { Principal } from "../access.ts";
import { ShortlistError } from "../errors.ts";
import { hiddenBy } from "../exposure.ts";
import type { ToolSpec } from "../tool.ts";

const KNOWN_MAX = 20;

/** Names the tools most like the one asked for, as far as the principal may see them. */
export function unknownTool(
  name: string,
  tools: readonly ToolSpec[],
  principal: Principal,
): ShortlistError {
  const asked = new Set(name.toLowerCase().split(/[^a-z0-9]+/));
  const known = tools
    .filter((tool) => !hiddenBy(principal.ceiling, tool))
    .map((tool) => ({
      name: tool.name,
      alike: tool.name
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter((part) => asked.has(part)).length,
    }))
    .toSorted((a, b) => b.alike - a.alike || (a.name < b.name ? -1 : 1))
    .slice(0, KNOWN_MAX);
  return new ShortlistError(
    "unknown_tool",
    `There is no tool ${name}.`,
    [],
    known.map((tool) => tool.name),
  );
}
