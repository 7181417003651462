import { createHash } from "node:crypto";
import type { TSchema } from "@sinclair/typebox";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import type { Fault } from "../errors.ts";

// The package is CommonJS: under NodeNext its default export is typed as the module.
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => Ajv;

const DEPTH_MAX = 64;
const COMPILED_MAX = 512;
const OPTIONS = { strict: false, allErrors: true, logger: false, validateFormats: true } as const;

const DIALECTS = {
  "https://json-schema.org/draft/2020-12/schema": Ajv2020,
  "https://json-schema.org/draft/2019-09/schema": Ajv2019,
  "http://json-schema.org/draft-07/schema": Ajv,
} as const;
type Dialect = keyof typeof DIALECTS;

const metaValidators = new Map<Dialect, Ajv>();
const shapeValidators = new WeakMap<TSchema, ValidateFunction>();

/** Faults of a value against one of our own contracts. */
export function checkShape(schema: TSchema, value: unknown): Fault[] {
  let validate = shapeValidators.get(schema);
  if (!validate) {
    validate = addFormats(new Ajv2020({ ...OPTIONS, allowUnionTypes: true })).compile(schema);
    shapeValidators.set(schema, validate);
  }
  return validate(value) ? [] : toFaults(validate.errors, "");
}

/**
 * Faults of a tool's own schema: its dialect, its metaschema, its depth, and references that
 * leave the document or lead nowhere. The schema is not compiled here: that is `compileSchema`.
 */
export function checkToolSchema(schema: Record<string, unknown>, pointer: string): Fault[] {
  if (isDeeperThan(schema, DEPTH_MAX))
    return [{ pointer, message: `nested deeper than ${DEPTH_MAX} levels` }];
  const dialect = dialectOf(schema);
  if (!dialect) {
    return [
      {
        pointer: `${pointer}/$schema`,
        message: "must name JSON Schema 2020-12, 2019-09 or draft-07",
      },
    ];
  }
  let ajv = metaValidators.get(dialect);
  if (!ajv) {
    ajv = new DIALECTS[dialect](OPTIONS);
    metaValidators.set(dialect, ajv);
  }
  const faults = ajv.validateSchema({ ...schema, $schema: dialect })
    ? []
    : toFaults(ajv.errors, pointer);
  return [...faults, ...checkReferences(schema, pointer)];
}

type SchemaCheck = (value: unknown) => Fault[];
const compiled = new Map<string, SchemaCheck>();

/**
 * A validator for a tool's schema. One instance a schema: in a shared one duplicate `$id`s
 * collide and memory is never given back. The least recently used are dropped past a bound.
 * @throws Error where the schema does not compile.
 */
export function compileSchema(schema: Record<string, unknown>): SchemaCheck {
  const key = createHash("sha256").update(JSON.stringify(schema)).digest("base64url");
  let check = compiled.get(key);
  if (check) {
    compiled.delete(key);
  } else {
    const AjvOfDialect =
      DIALECTS[dialectOf(schema) ?? "https://json-schema.org/draft/2020-12/schema"];
    const { $schema: _, ...bare } = schema;
    const validate = addFormats(new AjvOfDialect(OPTIONS)).compile(bare);
    check = (value) => (validate(value) ? [] : toFaults(validate.errors, ""));
    if (compiled.size >= COMPILED_MAX) compiled.delete(compiled.keys().next().value as string);
  }
  compiled.set(key, check);
  return check;
}

function dialectOf(schema: Record<string, unknown>): Dialect | undefined {
  const named = schema["$schema"];
  if (named === undefined) return "https://json-schema.org/draft/2020-12/schema";
  if (typeof named !== "string") return undefined;
  const bare = named.replace(/#$/, "");
  return (Object.keys(DIALECTS) as Dialect[]).find(
    (dialect) => dialect.replace(/^https?/, "") === bare.replace(/^https?/, ""),
  );
}

function toFaults(errors: ErrorObject[] | null | undefined, prefix: string): Fault[] {
  const seen = new Set<string>();
  return (errors ?? []).flatMap((error) => {
    const extra =
      error.keyword === "additionalProperties"
        ? `/${escapePointer(String(error.params["additionalProperty"]))}`
        : error.keyword === "required"
          ? `/${escapePointer(String(error.params["missingProperty"]))}`
          : "";
    const allowed =
      error.keyword === "enum"
        ? `: ${(error.params["allowedValues"] as unknown[]).join(", ")}`
        : "";
    const fault = {
      pointer: prefix + error.instancePath + extra,
      message: (error.message ?? "is invalid") + allowed,
    };
    const key = `${fault.pointer} ${fault.message}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [fault];
  });
}

function escapePointer(segment: string): string {
  return segment.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Iterative: a hostile document must not exhaust the stack. */
function isDeeperThan(value: unknown, depthMax: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    level = level.flatMap((node) =>
      node !== null && typeof node === "object" ? Object.values(node) : [],
    );
  }
  return false;
}

/** Keywords whose value is data, where a `$ref` is only text. */
const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples", "example"]);
const MAP_KEYWORDS = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

function checkReferences(root: Record<string, unknown>, prefix: string): Fault[] {
  const faults: Fault[] = [];
  const anchors = new Set<string>();
  const references: { pointer: string; target: string }[] = [];
  const visit = (node: unknown, pointer: string): void => {
    if (Array.isArray(node))
      return node.forEach((item, index) => visit(item, `${pointer}/${index}`));
    if (node === null || typeof node !== "object") return;
    for (const [key, value] of Object.entries(node)) {
      const at = `${pointer}/${escapePointer(key)}`;
      if (
        (key === "$ref" || key === "$dynamicRef" || key === "$recursiveRef") &&
        typeof value === "string"
      ) {
        references.push({ pointer: at, target: value });
      } else if ((key === "$anchor" || key === "$dynamicAnchor") && typeof value === "string") {
        anchors.add(value);
      } else if (MAP_KEYWORDS.has(key) && value !== null && typeof value === "object") {
        for (const [name, schema] of Object.entries(value))
          visit(schema, `${at}/${escapePointer(name)}`);
      } else if (!DATA_KEYWORDS.has(key)) {
        visit(value, at);
      }
    }
  };
  visit(root, prefix);
  for (const { pointer, target } of references) {
    if (!target.startsWith("#"))
      faults.push({
        pointer,
        message: "remote references are refused: put the schema under $defs",
      });
    else if (!leadsSomewhere(root, target.slice(1), anchors))
      faults.push({ pointer, message: `${target} leads nowhere` });
  }
  return faults;
}

function leadsSomewhere(root: unknown, fragment: string, anchors: ReadonlySet<string>): boolean {
  if (fragment === "") return true;
  if (!fragment.startsWith("/")) return anchors.has(fragment);
  let node: unknown = root;
  for (const segment of fragment.slice(1).split("/")) {
    if (node === null || typeof node !== "object") return false;
    const key = safeDecode(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!Object.hasOwn(node, key)) return false;
    node = (node as Record<string, unknown>)[key];
  }
  return typeof node === "boolean" || (node !== null && typeof node === "object");
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
