import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { intentsOf, K_DEFAULT, K_MAX, type Question } from "../discovery.ts";
import type { Embedder } from "../embedder.ts";
import { ShortlistError } from "../errors.ts";
import { ExposurePolicy, intersect } from "../exposure.ts";
import type { Snapshot } from "../snapshot.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";

/** What every question to the funnel may say. */
export const ASKED = {
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
  /** Asks found in the request, before the cap. */
  intents: number;
  /** Milliseconds that the encoder took, its queue included. */
  encode_ms: number;
}

/** Turns requests into questions: catalog, effective policy, limits, vectors. */
export class Asks {
  readonly #live: LiveCatalogs;
  readonly #embedder: Embedder;
  readonly #config: () => Config;

  constructor(live: LiveCatalogs, embedder: Embedder, config: () => Config) {
    this.#live = live;
    this.#embedder = embedder;
    this.#config = config;
  }

  /** @throws ShortlistError `unknown_catalog`, `unknown_phase`, `invalid_query`, `revision_gone`, `unknown_revision` */
  async prepare(principal: Principal, catalog: string, request: Asked): Promise<Prepared> {
    this.#live.get(principal, catalog);
    const policy = this.effectivePolicy(principal, request);
    const { query } = request;
    this.#requireQuery(query);
    const startedAt = performance.now();
    const { vector, parts, intents } = await this.encode(query);
    const encode_ms = performance.now() - startedAt;
    const snapshot = await this.#live.pinned(principal, catalog, request.revision);
    const { facts = {}, k = K_DEFAULT, plan } = request;
    if (plan === "hnsw" && !snapshot.hnsw) {
      throw new ShortlistError(
        "plan_unavailable",
        `Catalog ${catalog} has no graph at revision ${snapshot.revision}.`,
      );
    }
    return {
      snapshot,
      question: { query, vector, parts, policy, facts, k, plan },
      intents,
      encode_ms,
    };
  }

  /** A request's vector and those of its asks, where it has several. */
  async encode(query: string) {
    const { parts: texts, found } = intentsOf(query);
    const vectors = await Promise.all(
      [query, ...texts].map((text) => this.#embedder.embedQuery(text)),
    );
    const parts = texts.map((text, i) => ({ text, vector: vectors[i + 1]! }));
    return { vector: vectors[0]!, parts, intents: found };
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

  #requireQuery(query: string): void {
    const { query_characters_max: max } = this.#config().limits;
    const message =
      query.trim() === ""
        ? "is empty"
        : query.length > max
          ? `has ${query.length} characters, more than ${max}`
          : "";
    if (message)
      throw new ShortlistError("invalid_query", `The query ${message}.`, [
        { pointer: "/query", message },
      ]);
  }
}
