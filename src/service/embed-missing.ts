import { rowOf, textsOf } from "../discovery.ts";
import { checkVector, type Embedder } from "../embedder.ts";
import type { Work } from "../job.ts";
import type { Entry, Store } from "../store.ts";

/** Vectors a transaction of the store. */
const VECTORS_A_WRITE = 256;
/** Embeds the texts that have no vector yet, and returns how many there were. What is embedded stays, also when the job fails. */
export async function embedMissing(
  entries: readonly Entry[],
  store: Store,
  embedder: Embedder,
  work: Work,
): Promise<number> {
  const { fingerprint, dimension } = embedder;
  const texts = [...new Set(entries.flatMap(({ tool }) => textsOf(rowOf(tool))))];
  const missing: string[] = [];
  for (let at = 0; at < texts.length; at += VECTORS_A_WRITE) {
    const batch = texts.slice(at, at + VECTORS_A_WRITE);
    const known = store.vectors(fingerprint, batch);
    missing.push(...batch.filter((text) => !known.has(text)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  let done = texts.length - missing.length;
  const tell = () =>
    work.progress(Math.floor((entries.length * done) / Math.max(1, texts.length)), entries.length);
  tell();
  let batch: [string, Float32Array][] = [];
  const save = () => {
    store.saveVectors(fingerprint, batch);
    batch = [];
  };
  try {
    await embedder.embedAll(
      missing,
      (index, vector) => {
        checkVector(vector, dimension, JSON.stringify(missing[index]));
        batch.push([missing[index]!, vector]);
        done++;
        if (batch.length < VECTORS_A_WRITE) return;
        save();
        tell();
      },
      work.signal,
    );
  } finally {
    save();
  }
  return missing.length;
}
