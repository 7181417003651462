import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "./errors.ts";
import { checkShape, checkToolSchema } from "./tool/schema.ts";

export { checkShape, compileSchema } from "./tool/schema.ts";

/** The effect ladder, lowest first (seed 000, section 3). */
export const EFFECTS = ["none", "read_only", "mutating", "destructive"] as const;
export type Effect = (typeof EFFECTS)[number];

/** True where `effect` is not above `ceiling` on the ladder. */
export function atMost(effect: Effect, ceiling: Effect): boolean {
  return EFFECTS.indexOf(effect) <= EFFECTS.indexOf(ceiling);
}

export type JsonSchema = Record<string, unknown>;

const Sentences = Type.Array(Type.String({ minLength: 1, maxLength: 2_000 }), { maxItems: 64 });
const Schema = (description: string) =>
  Type.Unsafe<JsonSchema>({ type: "object", description, additionalProperties: true });

/**
 * The capability contract (seed 000, section 3; DESIGN "Contracts"). Every field is read by the
 * model or by the runtime. This one schema gives the type, the validator and the OpenAPI component.
 */
export const ToolSpec = Type.Object(
  {
    name: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$", description: "Unique in its catalog." }),
    family: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "What exposure policies allow by.",
    }),
    purpose: Type.String({ minLength: 1, maxLength: 20_000 }),
    use_when: Sentences,
    avoid_when: Sentences,
    input_schema: Schema(
      "JSON Schema with an object root; 2020-12 unless `$schema` names 2019-09 or draft-07.",
    ),
    output_schema: Schema("JSON Schema of the result; {} where unknown."),
    effect: Type.Union(EFFECTS.map((effect) => Type.Literal(effect))),
    idempotent: Type.Boolean(),
    open_world: Type.Boolean({
      description: "True where the tool reaches beyond the system's own boundary.",
    }),
    examples: Type.Optional(Sentences),
    precondition: Type.Optional(Schema("JSON Schema that the runtime's facts must satisfy.")),
    semantics: Type.Optional(Schema("JSON Schema over {arguments, facts}.")),
    call_precondition: Type.Optional(Schema("JSON Schema over {arguments, facts}.")),
    source: Type.Optional(
      Type.Object(
        {
          kind: Type.String(),
          server: Type.String(),
          original_name: Type.String(),
          trust: Type.Union([Type.Literal("trusted"), Type.Literal("untrusted")]),
          hash: Type.String({ description: "Of the definition as it was imported." }),
        },
        { description: "Where it comes from; written by imports only, and dropped elsewhere." },
      ),
    ),
    implementations: Type.Optional(
      Type.Array(Schema("One back end of the capability."), { maxItems: 32 }),
    ),
  },
  { additionalProperties: false, title: "ToolSpec" },
);
export type ToolSpec = Static<typeof ToolSpec>;

const SCHEMA_FIELDS = [
  "input_schema",
  "output_schema",
  "precondition",
  "semantics",
  "call_precondition",
] as const;

/** Every fault of a would-be ToolSpec, each with its JSON pointer; none where it is valid. */
export function validateTool(value: unknown): Fault[] {
  const faults = checkShape(ToolSpec, value);
  if (faults.length > 0) return faults;
  const tool = value as ToolSpec;
  for (const field of SCHEMA_FIELDS) {
    const schema = tool[field];
    if (schema !== undefined) faults.push(...checkToolSchema(schema, `/${field}`));
  }
  if (tool.input_schema["type"] !== "object") {
    faults.push({
      pointer: "/input_schema/type",
      message: "the root of an input schema must be of type object",
    });
  }
  return faults;
}
