// The service without HTTP, and its parts against what they stand on.
import { basename, dirname } from "node:path";
import { AutoTokenizer, env } from "@xenova/transformers";
import ort from "onnxruntime-node";
import { VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import type { ExposurePolicy } from "../src/exposure.ts";
import { openService } from "./local-service.ts";

export const percentile = (milliseconds: readonly number[], share: number) =>
  milliseconds.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * milliseconds.length) - 1)] ??
  NaN;

/** Median milliseconds of a query through the service whose vector is known, by eligible share, interleaved. */
export async function inProcess(
  folder: string,
  catalog: string,
  queries: readonly string[],
  policies: ReadonlyMap<string, ExposurePolicy>,
): Promise<Map<string, number>> {
  const { service, principal } = await openService(folder);
  const times = new Map(Array.from(policies.keys(), (name): [string, number[]] => [name, []]));
  for (const round of [0, 1, 2, 3]) {
    for (const query of queries) {
      for (const [name, policy] of policies) {
        const startedAt = performance.now();
        await service.queries.query(principal, catalog, { query, policy });
        if (round > 0) times.get(name)!.push(performance.now() - startedAt); // the first encodes
      }
    }
  }
  await service.close();
  return new Map(Array.from(times, ([name, list]) => [name, percentile(list, 0.5)]));
}

/** Median milliseconds of a query's encoding: by the service's lane, by tokenizer and onnxruntime in this process, and by onnxruntime's run alone, interleaved. */
export async function encoding(texts: readonly string[]) {
  const model = await findModel("models", undefined, () => {});
  env.allowRemoteModels = false;
  env.localModelPath = dirname(model.path);
  const tokenizer = await AutoTokenizer.from_pretrained(basename(model.path));
  const session = await ort.InferenceSession.create(`${model.path}/onnx/model_quantized.onnx`, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const embedder = await startEmbedder(model, { template: VIEW_TEMPLATE });
  await embedder.ready();
  const times = { lane: [] as number[], alone: [] as number[], run: [] as number[] };
  for (const text of texts) {
    const from = performance.now();
    await embedder.embedQuery(text);
    const laneAt = performance.now();
    const { input_ids } = (await tokenizer(text, { return_tensor: false })) as {
      input_ids: number[];
    };
    const tokenizedAt = performance.now();
    const shape = [1, input_ids.length];
    const ones = new BigInt64Array(input_ids.length).fill(1n);
    await session.run({
      input_ids: new ort.Tensor("int64", BigInt64Array.from(input_ids, BigInt), shape),
      attention_mask: new ort.Tensor("int64", ones, shape),
      token_type_ids: new ort.Tensor("int64", new BigInt64Array(input_ids.length), shape),
    });
    const ranAt = performance.now();
    times.lane.push(laneAt - from);
    times.alone.push(ranAt - laneAt);
    times.run.push(ranAt - tokenizedAt);
  }
  await embedder.close();
  const median = (list: number[]) => percentile(list, 0.5);
  return { lane: median(times.lane), alone: median(times.alone), run: median(times.run) };
}
