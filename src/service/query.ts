import { randomUUID } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import {
  discover,
  type Discovered,
  K_DEFAULT,
  K_MAX,
  locate,
  type Question,
} from "../discovery.ts";
import type { Embedder } from "../embedder.ts";
import { ShortlistError } from "../errors.ts";
import {
  census,
  ExposurePolicy,
  factsNamed,
  hiddenBy,
  intersect,
  preconditionMet,
} from "../exposure.ts";
import { type Format, FORMATS, render } from "../render.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Telemetry } from "../telemetry.ts";
import type { ToolSpec } from "../tool.ts";
import { type LiveCatalogs } from "./live-catalogs.ts";
import { unknownTool } from "./registry.ts";

const asked = {
  query: Type.String({ description: "The user's request, as it is." }),
  phase: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  policy: Type.Optional(ExposurePolicy),
  facts: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "What the runtime knows." }),
  ),
  k: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: K_MAX,
      default: K_DEFAULT,
      description: "Ordinary tools wanted.",
    }),
  ),
  revision: Type.Optional(Type.Integer({ minimum: 1, description: "Pins a revision." })),
};

export const QueryRequest = Type.Object(
  {
    ...asked,
    format: Type.Optional(Type.Union(FORMATS.map((format) => Type.Literal(format)))),
    explain: Type.Optional(Type.Boolean({ description: "Adds the trace." })),
  },
  { additionalProperties: false, title: "QueryRequest" },
);
export type QueryRequest = Static<typeof QueryRequest>;

export const ExplainRequest = Type.Object(
  { ...asked, tool: Type.String({ minLength: 1, maxLength: 64 }) },
  { additionalProperties: false, title: "ExplainRequest" },
);
export type ExplainRequest = Static<typeof ExplainRequest>;

type Asked = Omit<QueryRequest, "format" | "explain">;

/** The funnel over live catalogs: what may be chosen from this turn, and why a tool may not. */
export class Queries {
  readonly #live: LiveCatalogs;
  readonly #embedder: Embedder;
  readonly #config: () => Config;
  readonly #telemetry: Telemetry;
  readonly #traces: LRUCache<string, { catalog: string } & Record<string, unknown>>;

  constructor(live: LiveCatalogs, embedder: Embedder, config: () => Config, telemetry: Telemetry) {
    this.#live = live;
    this.#embedder = embedder;
    this.#config = config;
    this.#telemetry = telemetry;
    this.#traces = new LRUCache({ max: config().limits.traces_max });
  }

  async query(principal: Principal, catalog: string, request: QueryRequest) {
    const config = this.#config();
    const { snapshot, question, encode_ms } = await this.#ask(principal, catalog, request);
    const found = discover(snapshot, question);
    const { registry, hidden } = census(snapshot.blocks, principal.ceiling, question.policy);
    const visible = [...found.retrieved.map(({ row }) => snapshot.tools[row]!), ...config.controls];
    const answer = {
      trace_id: randomUUID(),
      catalog,
      revision: snapshot.revision,
      decision: found.decision,
      decision_reason: found.decision_reason,
      effective_policy: question.policy,
      config_hash: config.hash,
      funnel: {
        registry,
        eligible: found.eligible.count,
        retrieved: found.retrieved.length,
        visible: visible.length,
      },
      tools: visible.map((tool, index) => summary(tool, found.retrieved[index]?.score)),
    };
    const timings_ms = { encode: encode_ms, ...found.trace.timings_ms };
    const trace = {
      ...found.trace,
      timings_ms,
      hidden: { ...hidden, precondition: found.eligible.excluded.size },
    };
    this.#record(found, timings_ms);
    this.#traces.set(answer.trace_id, {
      ...answer,
      at: new Date().toISOString(),
      k: question.k,
      trace,
    });
    return {
      ...answer,
      ...(request.format && {
        definitions: visible.map((tool) => render(tool, request.format as Format)),
      }),
      ...(request.explain && { trace }),
    };
  }

  /** For a named tool: the stage where it fell out, the rule, its ranks, and what would show it. */
  async explain(principal: Principal, catalog: string, request: ExplainRequest) {
    const { snapshot, question } = await this.#ask(principal, catalog, request);
    const row = snapshot.rowOf.get(request.tool);
    const tool = row === undefined ? undefined : snapshot.tools[row];
    const control = this.#config().controls.find(({ name }) => name === request.tool);
    const head = {
      catalog,
      revision: snapshot.revision,
      tool: request.tool,
      effective_policy: question.policy,
    };
    if (control) {
      return {
        ...head,
        visible: true,
        stage: "visible",
        rule: "trusted_control",
        rank: null,
        scores: null,
        would_show: [],
      };
    }
    if (!tool || row === undefined || hiddenBy(principal.ceiling, tool)) {
      throw unknownTool(request.tool, snapshot.tools, principal);
    }
    const rule = hiddenBy(question.policy, tool);
    const isMet = !tool.precondition || preconditionMet(tool.precondition, question.facts);
    if (rule || !isMet) {
      return {
        ...head,
        visible: false,
        stage: "exposure",
        rule: rule ?? "precondition",
        rank: null,
        scores: null,
        would_show: this.#wouldExpose(principal, tool, question, isMet),
      };
    }
    const { rank, trace } = locate(snapshot, question, row)!;
    const visible = rank <= question.k;
    return {
      ...head,
      visible,
      stage: visible ? "visible" : "discovery",
      rule: visible ? null : "rank",
      rank,
      scores: trace,
      would_show: visible
        ? []
        : rank <= K_MAX
          ? [{ change: "k", value: rank }]
          : [{ change: "query" }],
    };
  }

  /** @throws ShortlistError `unknown_trace`, also where the principal may not see its catalog */
  trace(principal: Principal, id: string) {
    const trace = this.#traces.get(id);
    if (!trace || !principal.maySee(trace.catalog))
      throw new ShortlistError("unknown_trace", `There is no trace ${id}.`);
    return trace;
  }

  /** The policy that a request gets: its phase or the default, narrowed by its own policy and the ceiling. */
  effectivePolicy(principal: Principal, request: Pick<Asked, "phase" | "policy">): ExposurePolicy {
    const { phases, default_phase } = this.#config();
    const phase = request.phase ?? (request.policy ? undefined : default_phase);
    const named = phase === undefined ? undefined : phases.get(phase);
    if (phase !== undefined && !named) {
      throw new ShortlistError(
        "unknown_phase",
        `There is no phase ${phase}.`,
        [],
        [...phases.keys()],
      );
    }
    return [named, request.policy].reduce<ExposurePolicy>(
      (policy, other) => (other ? intersect(policy, other) : policy),
      principal.ceiling,
    );
  }

  async #ask(
    principal: Principal,
    catalog: string,
    request: Asked,
  ): Promise<{ snapshot: Snapshot; question: Question; encode_ms: number }> {
    this.#live.get(principal, catalog);
    const policy = this.effectivePolicy(principal, request);
    const { query_characters_max } = this.#config().limits;
    if (request.query.trim() === "")
      throw new ShortlistError("invalid_query", "The query is empty.", [
        { pointer: "/query", message: "is empty" },
      ]);
    if (request.query.length > query_characters_max) {
      const message = `has ${request.query.length} characters, more than ${query_characters_max}`;
      throw new ShortlistError("invalid_query", `The query ${message}.`, [
        { pointer: "/query", message },
      ]);
    }
    const startedAt = performance.now();
    const vector = await this.#embedder.embedQuery(request.query);
    const encode_ms = performance.now() - startedAt;
    const snapshot = await this.#live.pinned(principal, catalog, request.revision);
    const question = {
      query: request.query,
      vector,
      policy,
      facts: request.facts ?? {},
      k: request.k ?? K_DEFAULT,
    };
    return { snapshot, question, encode_ms };
  }

  /** Phases that show the tool, or what of the policy and the facts would have to differ. */
  #wouldExpose(principal: Principal, tool: ToolSpec, { policy, facts }: Question, isMet: boolean) {
    const phases = [...this.#config().phases].flatMap(([name, phase]) =>
      hiddenBy(intersect(principal.ceiling, phase), tool) ? [] : [name],
    );
    const missing = [...factsNamed(tool.precondition)].filter(
      (name) => !Object.hasOwn(facts, name),
    );
    const others = intersect(policy, {
      allowed_families: ["*"],
      max_effect: "destructive",
      allow_open_world: true,
    });
    const withFamily = { ...others, allowed_families: ["*"] };
    const withEffect = { ...withFamily, max_effect: "destructive" as const };
    return [
      ...(hiddenBy(policy, tool) && phases.length > 0 ? [{ change: "phase", value: phases }] : []),
      ...(hiddenBy({ ...withFamily, allowed_families: policy.allowed_families }, tool) === "family"
        ? [{ change: "family", value: tool.family }]
        : []),
      ...(hiddenBy(withFamily, tool) === "effect"
        ? [{ change: "effect", value: tool.effect }]
        : []),
      ...(hiddenBy(withEffect, tool) === "open_world"
        ? [{ change: "open_world", value: true }]
        : []),
      ...(isMet ? [] : [{ change: "facts", value: tool.precondition, missing }]),
    ];
  }

  #record(found: Discovered, timings: Record<string, number>): void {
    for (const [stage, ms] of Object.entries(timings))
      this.#telemetry.stageSeconds.observe({ stage }, ms / 1000);
    this.#telemetry.eligible.observe(found.eligible.count);
    this.#telemetry.decisions.inc({ decision: found.decision });
  }
}

function summary(tool: ToolSpec, score: number | undefined) {
  const { name, family, effect, open_world } = tool;
  return { name, control: score === undefined, family, effect, open_world, score: score ?? null };
}
