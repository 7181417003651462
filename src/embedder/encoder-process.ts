// The encoder process: reads {id, text}, answers {id, vector}. onnxruntime blocks the thread it
// runs on, hence a process; one text a run, without padding, since the int8 model quantises
// activations over the whole tensor and a vector would depend on its company.
import { basename, dirname } from "node:path";
import { AutoTokenizer, env } from "@xenova/transformers";
import ort from "onnxruntime-node";
import type { FromEncoder, ToEncoder } from "./lane.ts";
import { TOKENS_MAX, WEIGHTS_FILE } from "./model-folder.ts";

/** More characters than any 256 tokens of real text; a bound on the tokenizer's work. */
const CHARACTERS_MAX = 10_000;

async function load(folder: string): Promise<(text: string) => Promise<Float32Array>> {
  env.allowRemoteModels = false;
  env.localModelPath = dirname(folder);
  const tokenizer = await AutoTokenizer.from_pretrained(basename(folder));
  const session = await ort.InferenceSession.create(`${folder}/${WEIGHTS_FILE}`, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const wantsTypes = session.inputNames.includes("token_type_ids");

  return async (text) => {
    const bounded = text.toWellFormed().replace(/\s+/gu, " ").slice(0, CHARACTERS_MAX);
    const { input_ids } = (await tokenizer(bounded, {
      truncation: true,
      max_length: TOKENS_MAX,
      return_tensor: false,
    })) as { input_ids: number[] };
    const length = input_ids.length;
    const tensor = (data: BigInt64Array) => new ort.Tensor("int64", data, [1, length]);
    const output = await session.run({
      input_ids: tensor(BigInt64Array.from(input_ids, BigInt)),
      attention_mask: tensor(new BigInt64Array(length).fill(1n)),
      ...(wantsTypes && { token_type_ids: tensor(new BigInt64Array(length)) }),
    });
    return meanPooled(output["last_hidden_state"]!.data as Float32Array, length);
  };
}

/** Mean over the tokens, then unit length. */
function meanPooled(hidden: Float32Array, tokens: number): Float32Array {
  const dimension = hidden.length / tokens;
  const sum = new Float64Array(dimension);
  for (let token = 0, at = 0; token < tokens; token++) {
    for (let i = 0; i < dimension; i++) sum[i]! += hidden[at++]!;
  }
  let square = 0;
  for (const value of sum) square += value * value;
  const norm = Math.sqrt(square);
  return Float32Array.from(sum, (value) => value / norm);
}

const send = (message: FromEncoder) => {
  if (process.connected) process.send!(message);
};

try {
  const encode = await load(process.argv[2]!);
  let last = Promise.resolve();
  process.on("message", ({ id, text }: ToEncoder) => {
    last = last.then(() =>
      encode(text).then(
        (vector) => send({ kind: "vector", id, vector }),
        (error: unknown) => send({ kind: "error", id, message: String(error) }),
      ),
    );
  });
  process.on("disconnect", () => process.exit(0));
  process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group; the parent decides when we end
  send({ kind: "ready" });
} catch (error) {
  send({
    kind: "failed",
    message: `The model in ${process.argv[2]} cannot be loaded: ${String(error)}`,
  });
  process.exitCode = 1;
  process.disconnect();
}
