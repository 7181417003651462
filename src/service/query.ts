import { randomUUID } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { discover, type Discovered } from "../discovery.ts";
import { ShortlistError } from "../errors.ts";
import { census } from "../exposure.ts";
import { type Format, FORMATS, render } from "../render.ts";
import type { Telemetry } from "../telemetry.ts";
import type { ToolSpec } from "../tool.ts";
import { type Asks, ASKED } from "./ask.ts";

export const QueryRequest = Type.Object(
  {
    ...ASKED,
    format: Type.Optional(Type.Union(FORMATS.map((format) => Type.Literal(format)))),
    explain: Type.Optional(Type.Boolean({ description: "Adds the trace." })),
  },
  { additionalProperties: false, title: "QueryRequest" },
);
export type QueryRequest = Static<typeof QueryRequest>;

/** The funnel over live catalogs: what an agent may choose from this turn. */
export class Queries {
  readonly #asks: Asks;
  readonly #config: () => Config;
  readonly #telemetry: Telemetry;
  readonly #traces: LRUCache<string, { catalog: string } & Record<string, unknown>>;

  constructor(asks: Asks, config: () => Config, telemetry: Telemetry) {
    this.#asks = asks;
    this.#config = config;
    this.#telemetry = telemetry;
    this.#traces = new LRUCache({ max: config().limits.traces_max });
  }

  async query(principal: Principal, catalog: string, request: QueryRequest) {
    const config = this.#config();
    const { snapshot, question, intents, encode_ms } = await this.#asks.prepare(
      principal,
      catalog,
      request,
    );
    const found = discover(snapshot, question);
    const { registry, hidden } = census(snapshot.blocks, principal.ceiling, question.policy);
    const visible = [...found.retrieved.map(({ row }) => snapshot.tools[row]!), ...config.controls];
    const { decision, decision_reason, eligible, retrieved } = found;
    const answer = {
      trace_id: randomUUID(),
      catalog,
      revision: snapshot.revision,
      decision,
      decision_reason,
      effective_policy: question.policy,
      config_hash: config.hash,
      funnel: {
        registry,
        eligible: eligible.count,
        retrieved: retrieved.length,
        visible: visible.length,
      },
      ...(intents > 1 && { intents: { found: intents, used: question.parts.length } }),
      tools: visible.map((tool, index) => summary(tool, retrieved[index]?.score)),
    };
    const timings_ms = { encode: encode_ms, ...found.trace.timings_ms };
    const trace = {
      ...found.trace,
      timings_ms,
      hidden: { ...hidden, precondition: eligible.excluded.size },
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

  /** @throws ShortlistError `unknown_trace`, also where the principal may not see its catalog */
  trace(principal: Principal, id: string) {
    const trace = this.#traces.get(id);
    if (trace && principal.maySee(trace.catalog)) return trace;
    throw new ShortlistError("unknown_trace", `There is no trace ${id}.`);
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
