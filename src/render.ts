import { tokensIn } from "./render/tokens.ts";
import type { JsonSchema, ToolSpec } from "./tool.ts";

export { tokensIn } from "./render/tokens.ts";

/** The shapes in which providers take tool definitions. */
export const FORMATS = ["toolspec", "openai", "anthropic", "mcp"] as const;
export type Format = (typeof FORMATS)[number];

/** OpenAI's limit of a function's description; the others take longer ones, and models read this much well. */
const DESCRIPTION_CHARACTERS_MAX = 1_024;
/** What use when and avoid when may take of it. */
const CONTRAST_CHARACTERS_MAX = 500;

/** The tool as a definition that the provider accepts. */
export function render(tool: ToolSpec, format: Format): Record<string, unknown> {
  switch (format) {
    case "toolspec":
      return tool;
    case "openai":
      return {
        type: "function",
        function: {
          name: tool.name,
          description: describe(tool),
          parameters: flatRoot(tool.input_schema),
        },
      };
    case "anthropic":
      return {
        name: tool.name,
        description: describe(tool),
        input_schema: flatRoot(tool.input_schema),
      };
    case "mcp":
      return {
        name: tool.name,
        description: describe(tool),
        inputSchema: tool.input_schema,
        // Clients of every protocol version take an output schema only with an object root.
        ...(tool.output_schema["type"] === "object" && { outputSchema: tool.output_schema }),
        annotations: {
          readOnlyHint: tool.effect === "none" || tool.effect === "read_only",
          destructiveHint: tool.effect === "destructive",
          idempotentHint: tool.idempotent,
          openWorldHint: tool.open_world,
        },
      };
  }
}

/** Tokens of the rendered definition, estimated once a tool and format. */
export function tokensOf(tool: ToolSpec, format: Format): number {
  let known = counted.get(tool);
  if (!known) counted.set(tool, (known = {}));
  return (known[format] ??= tokensIn(JSON.stringify(render(tool, format))));
}

const counted = new WeakMap<ToolSpec, Partial<Record<Format, number>>>();

/** Purpose, then when to use it and when not: a description discriminates by its contrast (seed 000, section 1). */
function describe(tool: ToolSpec): string {
  const list = (label: string, sentences: readonly string[]) =>
    sentences.length > 0
      ? ` ${label}: ${sentences.map((sentence) => sentence.replace(/[.;\s]+$/u, "")).join("; ")}.`
      : "";
  const contrast = cut(
    list("Use when", tool.use_when) + list("Avoid when", tool.avoid_when),
    CONTRAST_CHARACTERS_MAX,
  );
  return cut(tool.purpose.trim(), DESCRIPTION_CHARACTERS_MAX - contrast.length) + contrast;
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax
    ? text
    : `${text.slice(0, charactersMax - 1).toWellFormed()}…`;
}

/**
 * The schema without composition at its root, which the model providers refuse there: the
 * branches' properties are laid side by side. The boundary still checks the tool's own schema.
 */
function flatRoot(schema: JsonSchema): JsonSchema {
  const { $schema: _, $id: __, allOf, anyOf, oneOf, not: ___, enum: ____, ...root } = schema;
  const branches = [allOf, anyOf, oneOf].flatMap((list) =>
    Array.isArray(list) ? (list as JsonSchema[]) : [],
  );
  const properties = Object.assign(
    {},
    ...branches.map((branch) => branch?.["properties"] ?? {}),
    root["properties"] ?? {},
  );
  return { ...root, type: "object", properties };
}
