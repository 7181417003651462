import { LRUCache } from "lru-cache";
import { ShortlistError } from "./errors.ts";
import { Lane } from "./embedder/lane.ts";
import { fingerprintOf, type ModelFolder, modelDimension } from "./embedder/model-folder.ts";

export { findModel, type ModelFolder } from "./embedder/model-folder.ts";

/** Turns texts into unit vectors. Two texts are comparable only under one `fingerprint`. */
export interface Embedder {
  /** Hash of everything that a vector depends on: weights, tokenizer, template, pooling, length limit. */
  readonly fingerprint: string;
  readonly dimension: number;
  /** When the query lane is up; what only needs vectors that are stored may go before. @throws ShortlistError `encoder_failed` where it cannot start */
  ready(): Promise<void>;
  /** @throws ShortlistError `overloaded` where the lane's queue is full, `encoder_failed` where its process dies twice on this text. */
  embedQuery(text: string): Promise<Float32Array>;
  /** Embeds each text once; `onVector` is called in the order of completion. Rejects on the first failure or abort. */
  embedAll(
    texts: readonly string[],
    onVector: (index: number, vector: Float32Array) => void,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Process ids by lane, for measurements. */
  pids(): number[];
  close(): Promise<void>;
}

const QUERY_CACHE_ENTRIES_MAX = 8_192;
const QUERY_QUEUE_MAX = 512;
const INDEX_IDLE_MS = 15_000;
/** Texts an index lane has in hand: enough that its process never waits for ours. */
const INDEX_IN_HAND = 8;

/**
 * The encoder in processes of its own (DESIGN "The encoder runs in processes of its own"): one lane
 * for queries, `indexLanes` for indexing at the lowest priority, started when there is work and
 * ended when there has been none for a while.
 */
export async function startEmbedder(
  model: ModelFolder,
  options: { template: string; indexLanes?: number },
): Promise<Embedder> {
  const dimension = modelDimension(model);
  const fingerprint = await fingerprintOf(model, options.template);
  const query = new Lane({ model, dimension, niceness: 0, queueMax: QUERY_QUEUE_MAX });
  const index = Array.from(
    { length: options.indexLanes ?? 2 },
    () =>
      new Lane({
        model,
        dimension,
        niceness: 19,
        queueMax: INDEX_IN_HAND * 4,
        idleMs: INDEX_IDLE_MS,
      }),
  );
  const ready = query.start();
  ready.catch(() => {}); // told to who asks

  const cache = new LRUCache<string, Promise<Float32Array>>({ max: QUERY_CACHE_ENTRIES_MAX });
  return {
    fingerprint,
    dimension,
    ready: () => ready,

    embedQuery(text) {
      const cached = cache.get(text);
      if (cached) return cached;
      const vector = query.encode(text);
      cache.set(text, vector);
      vector.catch(() => cache.delete(text));
      return vector;
    },

    async embedAll(texts, onVector, signal) {
      let next = 0;
      const drain = async (lane: Lane): Promise<void> => {
        while (next < texts.length) {
          signal?.throwIfAborted();
          const mine = next++;
          onVector(mine, await lane.encode(texts[mine]!));
        }
      };
      const hands = index.flatMap((lane) => Array.from({ length: INDEX_IN_HAND }, () => lane));
      const outcomes = await Promise.allSettled(
        hands.map((lane) =>
          drain(lane).catch((error: unknown) => {
            next = texts.length; // the others stop at their next text
            throw error;
          }),
        ),
      );
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    },

    pids: () => [query, ...index].flatMap((lane) => lane.pid ?? []),
    close: async () => void (await Promise.all([query, ...index].map((lane) => lane.close()))),
  };
}

/** The vector at unit length; what has no length stays. */
export function unit(vector: Float32Array): Float32Array {
  let square = 0;
  for (let i = 0; i < vector.length; i++) square += vector[i]! * vector[i]!;
  const norm = Math.sqrt(square) || 1;
  return vector.map((value) => value / norm);
}

/** Tolerance of the unit norm: int8 weights, f32 arithmetic. */
const NORM_TOLERANCE = 1e-3;

/** Asserts what every stored and every loaded vector must be. @throws ShortlistError `corrupt_store` */
export function checkVector(vector: Float32Array, dimension: number, of: string): void {
  let norm = 0;
  for (let i = 0; i < vector.length; i++) norm += vector[i]! * vector[i]!;
  if (vector.length !== dimension || !(Math.abs(Math.sqrt(norm) - 1) < NORM_TOLERANCE)) {
    throw new ShortlistError(
      "corrupt_store",
      `The vector of ${of} has ${vector.length} dimensions and norm ${Math.sqrt(norm)}; expected ${dimension} and 1.`,
    );
  }
}
