import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkVector, type Embedder, findModel, startEmbedder } from "../src/embedder.ts";

const golden = JSON.parse(readFileSync("models/shortlist-minilm-1/golden.json", "utf8")) as {
  text: string;
  vector: number[];
}[];
const cosine = (a: Float32Array, b: ArrayLike<number>) =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);

let embedder: Embedder;
beforeAll(async () => {
  embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
    template: "test",
  });
});
afterAll(() => embedder.close());

const embedAll = async (texts: string[]) => {
  const vectors: Float32Array[] = [];
  await embedder.embedAll(texts, (index, vector) => (vectors[index] = vector));
  return vectors;
};

describe("the encoder", () => {
  it("meets the golden vectors of the model card", async () => {
    for (const { text, vector } of golden)
      expect(cosine(await embedder.embedQuery(text), vector)).toBeGreaterThan(0.999);
  });

  it("gives a text the same vector alone and in company", async () => {
    const texts = golden.map(({ text }) => text);
    const together = await embedAll(texts);
    for (const [index, text] of texts.entries())
      expect(together[index]).toEqual(await embedder.embedQuery(text));
  });

  it("answers hostile texts with a unit vector", async () => {
    for (const text of [
      "\0",
      "\ud800",
      "🙂".repeat(5_000),
      "a".repeat(1_000_000),
      "word ".repeat(10_000),
      " ",
    ]) {
      checkVector(await embedder.embedQuery(text), embedder.dimension, "a hostile text");
    }
  });

  it("loses no text when its process is killed", async () => {
    const before = await embedder.embedQuery("a text from before the crash");
    const asked = Array.from({ length: 50 }, (_, i) => embedder.embedQuery(`text number ${i}`));
    process.kill(embedder.pids()[0]!, "SIGKILL");
    const vectors = await Promise.all(asked);
    expect(vectors).toHaveLength(50);
    for (const vector of vectors) checkVector(vector, embedder.dimension, "a text in flight");
    expect(await embedder.embedQuery("a text from before the crash")).toEqual(before);
  });

  it("stops when its caller aborts", async () => {
    const abort = new AbortController();
    const texts = Array.from({ length: 500 }, (_, i) => `text to abandon ${i}`);
    let seen = 0;
    const done = embedder.embedAll(texts, () => ++seen === 20 && abort.abort(), abort.signal);
    await expect(done).rejects.toThrow();
    expect(seen).toBeLessThan(100);
  });
});

describe("a vector", () => {
  it.each([
    ["of another dimension", new Float32Array(3)],
    ["that is not finite", new Float32Array(384).fill(Number.NaN)],
    ["that has no unit norm", new Float32Array(384).fill(1)],
  ])("%s is refused", (_, vector) => {
    expect(() => checkVector(vector, 384, "x")).toThrow(/vector of x/);
  });
});
