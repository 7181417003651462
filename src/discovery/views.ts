import type { Row, View } from "../snapshot.ts";
import type { ToolSpec } from "../tool.ts";
import { contrastsOf } from "./contrast.ts";

/** Identifies how a tool becomes text; part of the model's fingerprint, since vectors depend on it. */
export const VIEW_TEMPLATE = "{family}: {name}. {purpose} Inputs: {a}, {b}, {c}";

const PURPOSE_CHARACTERS_MAX = 400;
const INPUTS_MAX = 16;
const VIEWS_MAX = 16;

/** A tool with all that discovery reads of it. */
export function rowOf(tool: ToolSpec): Row {
  return {
    tool,
    views: viewsOf(tool),
    contrasts: contrastsOf(tool),
    document: lexicalText(tool),
  };
}

/** Every text of the tool that needs a vector. */
export function textsOf({ views, contrasts }: Omit<Row, "tool">): string[] {
  return [...views.map(({ text }) => text), ...contrasts];
}

/** The views of a tool: the primary view that the model was trained on, then sentences alone. */
export function viewsOf(tool: ToolSpec): View[] {
  const views: View[] = [
    { kind: "primary", text: primaryText(tool) },
    ...tool.use_when.map((text) => ({ kind: "use_when" as const, text })),
    ...(tool.examples ?? []).map((text) => ({ kind: "example" as const, text })),
  ];
  return views.slice(0, VIEWS_MAX);
}

/** `{family}: {name}. {purpose} Inputs: {a}, {b}, {c}`, exactly as the model card gives it. */
export function primaryText(tool: ToolSpec): string {
  const inputs = inputNames(tool).slice(0, INPUTS_MAX).map(words);
  const purpose = cutAtWord(tool.purpose.replace(/\s+/gu, " ").trim(), PURPOSE_CHARACTERS_MAX);
  const suffix = inputs.length > 0 ? ` Inputs: ${inputs.join(", ")}` : "";
  return `${words(tool.family)}: ${words(tool.name)}. ${purpose}${suffix}`;
}

/** What lexical search reads of a tool. */
export function lexicalText(tool: ToolSpec): string {
  const properties = Object.entries(
    (tool.input_schema["properties"] as Record<string, unknown> | undefined) ?? {},
  );
  const inputs = properties.flatMap(([name, schema]) => {
    const description =
      schema !== null && typeof schema === "object" && "description" in schema
        ? schema.description
        : "";
    return typeof description === "string" ? [name, description] : [name];
  });
  return [
    tool.name,
    tool.family,
    tool.purpose,
    ...tool.use_when,
    ...(tool.examples ?? []),
    ...inputs,
  ].join(" \n");
}

/** An identifier as words: separators and inner capitals become spaces. */
function words(identifier: string): string {
  let known = memo.get(identifier);
  if (known === undefined) {
    known = split(identifier);
    if (memo.size >= MEMO_MAX) memo.clear();
    memo.set(identifier, known);
  }
  return known;
}

// A catalog uses the same families and parameters over and over.
const memo = new Map<string, string>();
const MEMO_MAX = 20_000;

function split(identifier: string): string {
  return identifier
    .replace(/[_\-./:]+/g, " ")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/\s+/gu, " ")
    .trim();
}

function inputNames(tool: ToolSpec): string[] {
  const properties = tool.input_schema["properties"];
  return properties !== null && typeof properties === "object" ? Object.keys(properties) : [];
}

function cutAtWord(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const cut = text.slice(0, charactersMax + 1);
  const space = cut.lastIndexOf(" ");
  return space > 0 ? cut.slice(0, space) : cut.slice(0, charactersMax);
}
