import { randomUUID } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { choose, decide, discover, type Discovered, type Found } from "../discovery.ts";
import { census, compareText } from "../exposure.ts";
import { render, tokensOf } from "../render.ts";
import type { Telemetry } from "../telemetry.ts";
import type { ToolSpec } from "../tool.ts";
import { type Asks, ASKED, type Prepared } from "./ask.ts";
import { qualify } from "./qualify.ts";
import type { Traces } from "./traces.ts";

const SHOWN = {
  order: Type.Optional(
    Type.Union([Type.Literal("relevance"), Type.Literal("stable")], {
      default: "relevance",
      description: "`stable`: by name, so that an unchanged set renders byte for byte the same.",
    }),
  ),
  explain: Type.Optional(Type.Boolean({ description: "Adds the trace." })),
};
export const QueryRequest = Type.Object(
  { ...ASKED, ...SHOWN },
  { additionalProperties: false, title: "QueryRequest" },
);
export type QueryRequest = Static<typeof QueryRequest>;

const { revision: _, plan: __, ...ASKED_OF_MANY } = ASKED;
export const ManyQueryRequest = Type.Object(
  {
    catalogs: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
    }),
    ...ASKED_OF_MANY,
    ...SHOWN,
  },
  { additionalProperties: false, title: "ManyQueryRequest" },
);
export type ManyQueryRequest = Static<typeof ManyQueryRequest>;

/** One catalog's part of an answer. */
interface Answered extends Prepared {
  catalog: string;
  found: Discovered;
}

/** A retrieved tool on its way into an answer. */
interface Shown {
  catalog: string;
  tool: ToolSpec;
  found: Found;
}

/** The funnel over live catalogs: what an agent may choose from this turn. */
export class Queries {
  readonly #asks: Asks;
  readonly #config: () => Config;
  readonly #telemetry: Telemetry;
  readonly #traces: Traces;

  constructor(asks: Asks, traces: Traces, config: () => Config, telemetry: Telemetry) {
    this.#asks = asks;
    this.#traces = traces;
    this.#config = config;
    this.#telemetry = telemetry;
  }

  async query(principal: Principal, catalog: string, request: QueryRequest) {
    const answered = await this.#ask(principal, catalog, request);
    const { snapshot, found } = answered;
    const { decision, decision_reason, tokens } = found;
    const retrieved = found.retrieved.map((item) => ({ catalog, tool: item.tool, found: item }));
    const head = { catalog, revision: snapshot.revision, decision, decision_reason };
    return this.#answer(principal, request, [answered], head, retrieved, tokens);
  }

  /** One ranking over several catalogs: k and budget are asked of it as a whole, the floor of each. */
  async queryMany(principal: Principal, { catalogs, ...request }: ManyQueryRequest) {
    const answered = await Promise.all(
      catalogs.map((catalog) => this.#ask(principal, catalog, request)),
    );
    const ranked = answered
      .flatMap(({ catalog, found }) => found.retrieved.map((item) => ({ ...item, catalog })))
      .toSorted(
        (a, b) =>
          b.score - a.score ||
          compareText(a.tool.name, b.tool.name) ||
          compareText(a.catalog, b.catalog),
      );
    const { k, budget } = answered[0]!.question;
    const { chosen, tokens } = choose(ranked, {
      k,
      floor: 0,
      budget: budget && { tokens: budget.tokens, of: (tool) => tokensOf(tool, budget.format) },
    });
    const eligible = answered.reduce((sum, { found }) => sum + found.eligible.count, 0);
    const head = {
      catalogs: answered.map(({ catalog, snapshot: { revision } }) => ({ catalog, revision })),
      ...decide(eligible, chosen.length, answered[0]!.question),
    };
    const shown = chosen.map(({ catalog, ...found }) => ({ catalog, tool: found.tool, found }));
    return this.#answer(principal, request, answered, head, shown, tokens);
  }

  async #ask(principal: Principal, catalog: string, request: QueryRequest): Promise<Answered> {
    const prepared = await this.#asks.prepare(principal, catalog, request);
    const found = discover(prepared.snapshot, prepared.question);
    return { ...prepared, catalog, found };
  }

  #answer<Head extends object>(
    principal: Principal,
    request: QueryRequest,
    answered: readonly Answered[],
    head: Head,
    retrieved: readonly Shown[],
    tokens: number | null,
  ) {
    const config = this.#config();
    const { question, intents, encode_ms } = answered[0]!;
    const names = qualify(retrieved, new Set(config.controls.map(({ name }) => name)));
    const visible = [
      ...retrieved.map((item, i) => ({
        tool: names[i] === item.tool.name ? item.tool : { ...item.tool, name: names[i]! },
        item: item as Shown | undefined,
      })),
      ...config.controls.map((tool) => ({ tool, item: undefined })),
    ];
    if (request.order === "stable") visible.sort((a, b) => compareText(a.tool.name, b.tool.name));
    const counts = answered.map(({ snapshot, question: { policy } }) =>
      census(snapshot.blocks, principal.ceiling, policy),
    );
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    const answer = {
      trace_id: randomUUID(),
      ...head,
      effective_policy: question.policy,
      config_hash: config.hash,
      funnel: {
        registry: sum(counts.map(({ registry }) => registry)),
        eligible: sum(answered.map(({ found }) => found.eligible.count)),
        retrieved: retrieved.length,
        visible: visible.length,
      },
      ...(intents.found > 1 && { intents }),
      ...(tokens !== null && { tokens: { budget: question.budget!.tokens, used: tokens } }),
      tools: visible.map(({ tool, item }) => summary(tool, item, "catalogs" in head)),
    };
    const traces = answered.map(({ catalog, snapshot, found }, i) => {
      const timings_ms = { encode: encode_ms, ...found.trace.timings_ms };
      this.#record(found, timings_ms);
      const precondition = snapshot.conditional.filter((row) => found.eligible.excluded.has(row));
      const hidden = {
        ...counts[i]!.hidden,
        precondition: precondition.length,
        exclude: found.eligible.excluded.size - precondition.length,
      };
      return { catalog, trace: { ...found.trace, timings_ms, hidden } };
    });
    const isOfMany = "catalogs" in head;
    const shown = isOfMany
      ? { trace: undefined, traces }
      : { trace: traces[0]!.trace, traces: undefined };
    const at = new Date().toISOString();
    this.#traces.add({
      id: answer.trace_id,
      catalog: answered.map(({ catalog }) => catalog).join(" "),
      at,
      trace: {
        ...answer,
        at,
        k: question.k,
        ...(config.traces.store_query && { query: question.query }),
        hidden_names: answered.flatMap(({ snapshot, found }) =>
          Array.from(found.eligible.excluded, (row) => snapshot.tools[row]!.name),
        ),
        ...(config.traces.store_query ? shown : withoutTexts(shown)),
      },
    });
    const { format } = request;
    return {
      ...answer,
      ...(format && { definitions: visible.map(({ tool }) => render(tool, format)) }),
      ...(request.explain ? shown : { trace: undefined, traces: undefined }),
    };
  }

  #record(found: Discovered, timings: Record<string, number>): void {
    for (const [stage, ms] of Object.entries(timings))
      this.#telemetry.stageSeconds.observe({ stage }, ms / 1000);
    this.#telemetry.eligible.observe(found.eligible.count);
    this.#telemetry.decisions.inc({ decision: found.decision });
  }
}

function summary(tool: ToolSpec, item: Shown | undefined, isOfMany: boolean) {
  const { name, family, effect, open_world } = tool;
  return {
    name,
    control: !item,
    family,
    effect,
    open_world,
    score: item?.found.score ?? null,
    probability: item?.found.probability ?? null,
    ...(item?.found.kept && { kept: true }),
    ...(isOfMany && item && { catalog: item.catalog, tool: item.tool.name }),
  };
}

/** What is kept of a trace where requests are not: everything but the asks that it was split into. */
function withoutTexts<
  T extends { trace?: object | undefined; traces?: { trace: object }[] | undefined },
>(shown: T): object {
  const strip = (trace: object) => ({ ...trace, parts: undefined });
  return {
    trace: shown.trace && strip(shown.trace),
    traces: shown.traces?.map((one) => ({ ...one, trace: strip(one.trace) })),
  };
}
