import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { type Fault, ShortlistError } from "./errors.ts";
import { EVERYTHING, ExposurePolicy, isValidControl } from "./exposure.ts";
import { GRAPH_ROWS_MIN } from "./vector-index.ts";
import type { SourceRules } from "./import.ts";
import { checkShape, EFFECTS, ToolSpec, validateTool } from "./tool.ts";

const positive = (description: string, fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 1, description, default: fallback }));

const LIMITS = {
  body_bytes_max: 64 * 1024 * 1024,
  query_characters_max: 100_000,
  traces_max: 2_000,
  revisions_kept: 10,
};

const TRACES = { store_query: false, kept: 100_000, days: 30 };

const Selector = Type.Object(
  {
    base_url: Type.String({
      pattern: "^https?://",
      description: "Up to and without /chat/completions.",
    }),
    model: Type.String({ minLength: 1 }),
    api_key_env: Type.Optional(
      Type.String({ description: "Environment variable that holds the key." }),
    ),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, default: 0 })),
    timeout_ms: positive("Milliseconds a call may take.", 60_000),
    retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, default: 4 })),
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 64, default: 4 })),
  },
  { additionalProperties: false },
);

const PLANNER = { graph_rows_min: GRAPH_ROWS_MIN };

const Source = Type.Object(
  {
    trust: Type.Optional(Type.Union([Type.Literal("trusted"), Type.Literal("untrusted")])),
    removed_max: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, default: 0.3, description: "Share of its tools." }),
    ),
    rules: Type.Optional(
      Type.Array(
        Type.Object(
          {
            tools: Type.String({ description: "Original names; * stands for any characters." }),
            effect: Type.Optional(Type.Union(EFFECTS.map((effect) => Type.Literal(effect)))),
            idempotent: Type.Optional(Type.Boolean()),
            open_world: Type.Optional(Type.Boolean()),
            family: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
          },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { additionalProperties: false },
);

const SOURCE = { trust: "untrusted" as const, removed_max: 0.3, rules: [] };

const SELECTOR = { temperature: 0, timeout_ms: 60_000, retries: 4, concurrency: 4 };

/** An OpenAI-compatible chat endpoint that may select in a bench. */
export interface ChatEndpoint {
  base_url: string;
  model: string;
  api_key_env?: string;
  temperature: number;
  timeout_ms: number;
  retries: number;
  concurrency: number;
}

/** `shortlist.config.json`: the only place where authority comes from. No route writes it. */
const ConfigFile = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    default_phase: Type.String({
      description: "The phase of requests that give neither phase nor policy.",
    }),
    ceiling: Type.Optional(ExposurePolicy),
    phases: Type.Record(Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }), ExposurePolicy, {
      minProperties: 1,
    }),
    trusted_controls: Type.Array(ToolSpec),
    planner: Type.Optional(
      Type.Object(
        {
          graph_rows_min: positive("Rows from which a catalog gets an HNSW graph.", GRAPH_ROWS_MIN),
        },
        { additionalProperties: false },
      ),
    ),
    selectors: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }), Selector, {
        description: "OpenAI-compatible chat models that a bench may ask to select.",
      }),
    ),
    sources: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$" }), Source, {
        description:
          "What is known of the sources of imports; a source that is not here is untrusted.",
      }),
    ),
    traces: Type.Optional(
      Type.Object(
        {
          store_query: Type.Optional(
            Type.Boolean({
              description: "Keep the requests' texts in stored traces.",
              default: false,
            }),
          ),
          kept: positive("Traces kept in the store.", TRACES.kept),
          days: positive("Days that a trace is kept.", TRACES.days),
        },
        { additionalProperties: false },
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          body_bytes_max: positive("Bytes of a request's body.", LIMITS.body_bytes_max),
          query_characters_max: positive("Characters of a query.", LIMITS.query_characters_max),
          traces_max: positive("Traces held in memory.", LIMITS.traces_max),
          revisions_kept: positive(
            "Revisions a catalog keeps, the live one included.",
            LIMITS.revisions_kept,
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

export interface Config {
  hash: string;
  default_phase: string;
  /** What the local principal may reach at most. */
  ceiling: ExposurePolicy;
  phases: ReadonlyMap<string, ExposurePolicy>;
  controls: readonly ToolSpec[];
  planner: typeof PLANNER;
  selectors: ReadonlyMap<string, ChatEndpoint>;
  sourceOf(name: string): SourceRules;
  traces: typeof TRACES;
  limits: typeof LIMITS;
}

/** Reads and checks the trusted configuration. @throws ShortlistError `invalid_config` with every fault. */
export function loadConfig(path: string): Config {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ShortlistError("invalid_config", `${path}: ${(error as Error).message}`);
  }
  const faults = checkShape(ConfigFile, value);
  const file = value as Static<typeof ConfigFile>;
  if (faults.length === 0) faults.push(...checkMeaning(file));
  if (faults.length > 0) {
    const list = faults.map(({ pointer, message }) => `${pointer || "/"} ${message}`).join("; ");
    throw new ShortlistError("invalid_config", `${path}: ${list}`, faults);
  }
  return {
    hash: createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16),
    default_phase: file.default_phase,
    ceiling: file.ceiling ?? EVERYTHING,
    phases: new Map(Object.entries(file.phases)),
    controls: file.trusted_controls,
    planner: { ...PLANNER, ...file.planner },
    selectors: new Map(
      Object.entries(file.selectors ?? {}).map(([name, selector]) => [
        name,
        { ...SELECTOR, ...selector },
      ]),
    ),
    sourceOf: (name) => ({ ...SOURCE, ...file.sources?.[name] }),
    traces: { ...TRACES, ...file.traces },
    limits: { ...LIMITS, ...file.limits },
  };
}

function checkMeaning(file: Static<typeof ConfigFile>): Fault[] {
  const faults: Fault[] = [];
  if (!Object.hasOwn(file.phases, file.default_phase)) {
    faults.push({ pointer: "/default_phase", message: `${file.default_phase} is no phase` });
  }
  const names = new Set<string>();
  file.trusted_controls.forEach((control, index) => {
    const pointer = `/trusted_controls/${index}`;
    if (!isValidControl(control)) {
      faults.push({
        pointer,
        message: `${control.name} must be of family control, effect none, closed world`,
      });
    }
    if (names.has(control.name))
      faults.push({ pointer: `${pointer}/name`, message: `${control.name} is there twice` });
    names.add(control.name);
    faults.push(
      ...validateTool(control).map((fault) => ({ ...fault, pointer: pointer + fault.pointer })),
    );
  });
  return faults;
}
