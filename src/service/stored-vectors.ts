import { setImmediate as turn } from "node:timers/promises";
import { checkVector, type Embedder } from "../embedder.ts";
import type { Store } from "../store.ts";

/** Texts looked up, and vectors written, a turn of the event loop. */
const TEXTS_A_TURN = 500;

/** Vectors of texts under the present model: what the store lacks is embedded and kept. */
export class StoredVectors {
  readonly #store: Store;
  readonly #embedder: Embedder;

  constructor(store: Store, embedder: Embedder) {
    this.#store = store;
    this.#embedder = embedder;
  }

  /** One vector a text. `onEmbedded` hears how many of how many missing ones are there. */
  async of(
    texts: Iterable<string>,
    signal?: AbortSignal,
    onEmbedded: (done: number, missing: number) => void = () => {},
  ): Promise<Map<string, Float32Array>> {
    const distinct = [...new Set(texts)];
    const vectors = await this.#read(distinct);
    const missing = distinct.filter((text) => !vectors.has(text));
    if (missing.length === 0) return vectors;
    await this.embed(missing, signal, onEmbedded);
    for (const [text, vector] of await this.#read(missing)) vectors.set(text, vector);
    return vectors;
  }

  /** Those of the texts that have no vector yet. */
  async missing(texts: readonly string[]): Promise<string[]> {
    const vectors = await this.#read(texts);
    return texts.filter((text) => !vectors.has(text));
  }

  /** Embeds the texts in the index lanes. What is embedded stays, also where the caller aborts. */
  async embed(
    texts: readonly string[],
    signal: AbortSignal | undefined,
    onEmbedded: (done: number, missing: number) => void,
  ): Promise<void> {
    const { fingerprint, dimension } = this.#embedder;
    let batch: [string, Float32Array][] = [];
    let done = 0;
    const save = () => {
      this.#store.saveVectors(fingerprint, batch);
      batch = [];
      onEmbedded(done, texts.length);
    };
    try {
      await this.#embedder.embedAll(
        texts,
        (index, vector) => {
          checkVector(vector, dimension, JSON.stringify(texts[index]));
          batch.push([texts[index]!, vector]);
          done++;
          if (batch.length >= TEXTS_A_TURN / 2) save();
        },
        signal,
      );
    } finally {
      save();
    }
  }

  async #read(texts: readonly string[]): Promise<Map<string, Float32Array>> {
    const { fingerprint, dimension } = this.#embedder;
    const vectors = new Map<string, Float32Array>();
    for (let at = 0; at < texts.length; at += TEXTS_A_TURN) {
      const some = texts.slice(at, at + TEXTS_A_TURN);
      for (const [text, vector] of this.#store.vectors(fingerprint, some)) {
        checkVector(vector, dimension, JSON.stringify(text));
        vectors.set(text, vector);
      }
      await turn();
    }
    return vectors;
  }
}
