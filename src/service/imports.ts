import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { invalidValue, ShortlistError } from "../errors.ts";
import { IMPORT_KINDS, importDocument, type Imported, qualified } from "../import.ts";
import type { Job } from "../job.ts";
import { tokensOf } from "../render.ts";
import type { Entry } from "../store.ts";
import type { ToolSpec } from "../tool.ts";
import { isReserved, type Quarantined, reservedReason } from "./admission.ts";
import { type Registry, REGISTRY_SOURCE } from "./registry.ts";
import type { SuiteGate } from "./suite-gate.ts";

export const ImportRequest = Type.Object(
  {
    kind: Type.Union(IMPORT_KINDS.map((kind) => Type.Literal(kind))),
    source: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
      description: "Where the document comes from; an import replaces what its own source brought.",
    }),
    document: Type.Unknown(),
    dry_run: Type.Optional(Type.Boolean()),
    confirm: Type.Optional(
      Type.Boolean({ description: "Remove more of the source than `removed_max` allows." }),
    ),
  },
  { additionalProperties: false, title: "ImportRequest" },
);
export type ImportRequest = Static<typeof ImportRequest>;

/** Brings documents into catalogs, one source at a time: only what changed is embedded. */
export class Imports {
  readonly #registry: Registry;
  readonly #config: () => Config;

  constructor(registry: Registry, config: () => Config) {
    this.#registry = registry;
    this.#config = config;
  }

  /** @throws ShortlistError `invalid_document`, `invalid_request`, `confirm_removal` (in the job) */
  start(principal: Principal, catalog: string, request: ImportRequest, gate?: SuiteGate): Job {
    const { kind, source, document, dry_run = false, confirm = false } = request;
    if (source === REGISTRY_SOURCE) {
      const message = `${REGISTRY_SOURCE} is what the registry routes bring`;
      throw invalidValue("/source", message, message);
    }
    const rules = this.#config().sourceOf(source);
    const imported = importDocument(kind, source, document, rules);
    const quarantined: Quarantined[] = [...imported.quarantined];
    const kept: string[] = [];
    const renamed = [...imported.renamed];
    let cost = 0;

    const change = (entries: readonly Entry[]): Entry[] => {
      const own = entries.filter((entry) => entry.source === source);
      const others = entries.filter((entry) => entry.source !== source);
      const taken = new Set(others.map(({ tool }) => tool.name));
      const tools = new Map<string, ToolSpec>();
      for (const tool of imported.tools) {
        const named = taken.has(tool.name) ? { ...tool, name: qualified(source, tool.name) } : tool;
        if (isReserved(named, this.#config())) {
          quarantined.push({ name: tool.name, reason: reservedReason(named), errors: [] });
          continue;
        }
        if (named !== tool) renamed.push({ from: tool.name, to: named.name });
        tools.set(named.name, named);
      }
      // What was live and is invalid now stays at its last good version.
      const invalid = new Set(quarantined.map(({ name }) => name));
      for (const { tool } of own) {
        if (tools.has(tool.name) || !invalid.has(tool.source?.original_name ?? tool.name)) continue;
        if (isReserved(tool, this.#config())) continue;
        tools.set(tool.name, tool);
        kept.push(tool.name);
      }
      const gone = own.filter(({ tool }) => !tools.has(tool.name)).length;
      const isTooMuch = tools.size === 0 || gone > rules.removed_max * own.length;
      if (isTooMuch && !confirm && !dry_run) {
        throw new ShortlistError(
          "confirm_removal",
          `${source} would lose ${gone} of its ${own.length} tools and have ${tools.size}.`,
        );
      }
      for (const tool of tools.values()) cost += tokensOf(tool, "openai");
      return [...others, ...Array.from(tools.values(), (tool) => ({ tool, source }))];
    };
    const details = () => ({ ...detailsOf(imported), renamed, kept, tokens: cost });
    const total = imported.tools.length;
    const write = { total, quarantined, change, details, dryRun: dry_run, gate };
    return this.#registry.replaceSource(principal, catalog, write);
  }
}

function detailsOf({ operations, skipped }: Imported) {
  return { operations, skipped, lossy: [] };
}
