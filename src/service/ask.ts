import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { intentsOf, K_DEFAULT, K_MAX, type Part, type Question } from "../discovery.ts";
import { type Embedder, unit } from "../embedder.ts";
import { invalidValue, ShortlistError } from "../errors.ts";
import { ExposurePolicy, intersect } from "../exposure.ts";
import { FORMATS } from "../render.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Adapters } from "./adapters.ts";
import type { Calibrations } from "./calibrations.ts";
import { conversationOf, Messages } from "./conversation.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";

const Names = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 1_000, description }),
  );

/** What every question to the funnel may say. */
export const ASKED = {
  query: Type.Optional(Type.String({ description: "The user's request, as it is." })),
  messages: Type.Optional(Messages),
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
      description: `Ordinary tools wanted; ${K_MAX} at most, and so many where only a token_budget is given.`,
    }),
  ),
  token_budget: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      description: "Tokens that the ordinary tools' definitions may take, estimated in `format`.",
    }),
  ),
  format: Type.Optional(
    Type.Union(
      FORMATS.map((format) => Type.Literal(format)),
      { description: "The shape of `definitions`; none without it, and a budget counts openai's." },
    ),
  ),
  keep: Names("Tools that stay visible while they are eligible; they count in k."),
  exclude: Names("Tools that are not wanted."),
  floor: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "Probability that the best tool must have; the calibration's own where left out.",
    }),
  ),
  plan: Type.Optional(
    Type.Union([Type.Literal("exact"), Type.Literal("hnsw")], {
      description: "Forces a search plan; for tests and benchmarks.",
    }),
  ),
  revision: Type.Optional(Type.Integer({ minimum: 1, description: "Pins a revision." })),
};
const Asked = Type.Object(ASKED);
type Asked = Static<typeof Asked>;

/** A question that discovery can answer, and the snapshot to answer it from. */
export interface Prepared {
  snapshot: Snapshot;
  question: Question;
  /** Asks in the request: found, and used after the cap. */
  intents: { found: number; used: number };
  /** Milliseconds that the encoder took, its queue included. */
  encode_ms: number;
}

/** Turns requests into questions: catalog, effective policy, limits, vectors. */
export class Asks {
  readonly #live: LiveCatalogs;
  readonly #embedder: Embedder;
  readonly #calibrations: Calibrations;
  readonly #adapters: Adapters;
  readonly #config: () => Config;

  constructor(
    live: LiveCatalogs,
    embedder: Embedder,
    calibrations: Calibrations,
    adapters: Adapters,
    config: () => Config,
  ) {
    this.#live = live;
    this.#embedder = embedder;
    this.#calibrations = calibrations;
    this.#adapters = adapters;
    this.#config = config;
  }

  /** @throws ShortlistError `unknown_catalog`, `unknown_phase`, `invalid_request`, `invalid_query`, `revision_gone`, `unknown_revision` */
  async prepare(principal: Principal, catalog: string, request: Asked): Promise<Prepared> {
    this.#live.get(principal, catalog);
    const policy = this.effectivePolicy(principal, request);
    const { query, context } = conversationOf(request, this.#config().limits.query_characters_max);
    const { token_budget, format = "openai", keep = [], exclude = [], facts = {}, plan } = request;
    const k = request.k ?? (token_budget === undefined ? K_DEFAULT : K_MAX);
    requireKept(keep, k);
    const startedAt = performance.now();
    const { vector, parts, intents } = await this.#encode(catalog, query, context);
    const encode_ms = performance.now() - startedAt;
    const snapshot = await this.#live.pinned(principal, catalog, request.revision);
    if (plan === "hnsw" && !snapshot.hnsw) {
      throw new ShortlistError(
        "plan_unavailable",
        `Catalog ${catalog} has no graph at revision ${snapshot.revision}.`,
      );
    }
    const budget = token_budget === undefined ? undefined : { tokens: token_budget, format };
    const match = this.matchOf(catalog, request.floor);
    return {
      snapshot,
      question: { query, vector, parts, policy, facts, k, plan, keep, exclude, budget, match },
      intents,
      encode_ms,
    };
  }

  /** The catalog's calibration, with the request's floor where it gives one. */
  matchOf(catalog: string, floor: number | undefined): Question["match"] {
    const match = this.#calibrations.matchOf(catalog);
    return match && floor !== undefined ? { ...match, floor } : match;
  }

  /** A request's vector, turned towards what was said before, and those of its asks, where it has several. */
  async #encode(catalog: string, query: string, context?: string) {
    const { parts: asks, found } = intentsOf(query);
    const texts = [query, ...(context === undefined ? [] : [context])];
    const vectors = await Promise.all(
      [...texts, ...asks].map((text) => this.#embedder.embedQuery(text)),
    );
    const learned = vectors.map((own) => this.#adapters.adapted(catalog, own));
    const parts = asks.map((text, i): Part => ({ text, vector: learned[texts.length + i]! }));
    const vector = context === undefined ? learned[0]! : turned(learned[0]!, learned[1]!);
    return { vector, parts, intents: { found, used: asks.length } };
  }

  /** The policy that a request gets: its phase or the default, narrowed by its own policy and the ceiling. */
  effectivePolicy(
    principal: Principal,
    { phase, policy }: Pick<Asked, "phase" | "policy">,
  ): ExposurePolicy {
    const { phases, default_phase } = this.#config();
    const name = phase ?? (policy ? undefined : default_phase);
    const named = name === undefined ? undefined : phases.get(name);
    if (name !== undefined && !named) {
      throw new ShortlistError(
        "unknown_phase",
        `There is no phase ${name}.`,
        [],
        [...phases.keys()],
      );
    }
    return [named, policy].reduce<ExposurePolicy>(
      (effective, other) => (other ? intersect(effective, other) : effective),
      principal.ceiling,
    );
  }
}

/** How much earlier turns weigh beside the last: enough to carry a vague one ("the other one too"). */
const CONTEXT_WEIGHT = 0.3;

function turned(vector: Float32Array, context: Float32Array): Float32Array {
  return unit(vector.map((value, i) => value + CONTEXT_WEIGHT * context[i]!));
}

function requireKept(keep: readonly string[], k: number): void {
  if (keep.length <= k) return;
  throw invalidValue("/keep", `names ${keep.length} tools, more than the k of ${k}`);
}
