import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { ShortlistError } from "../errors.ts";

export const TOKENS_MAX = 256;
export const WEIGHTS_FILE = "onnx/model_quantized.onnx";
const DEFAULT_MODEL = "shortlist-minilm-1";
const FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", WEIGHTS_FILE];

/** A folder in the layout of @xenova/transformers that holds a model whole. */
export interface ModelFolder {
  name: string;
  path: string;
}

/**
 * The model that `SHORTLIST_MODEL` names: a folder, or a model on the hub, which is downloaded
 * once into `models/cache`; `onDownload` hears of it first with 0 percent. Without it the model in `models/`, and nothing touches the network.
 */
export async function findModel(
  modelsPath: string,
  named: string | undefined,
  onDownload: (model: string, percent: number) => void,
): Promise<ModelFolder> {
  if (named === undefined || named === "") {
    return requireWhole({ name: DEFAULT_MODEL, path: join(modelsPath, DEFAULT_MODEL) });
  }
  if (isAbsolute(named) || named.startsWith(".") || existsSync(named)) {
    return requireWhole({ name: named, path: resolve(named) });
  }
  const folder = { name: named, path: join(modelsPath, "cache", named) };
  if (missingFile(folder)) await download(folder, join(modelsPath, "cache"), onDownload);
  return requireWhole(folder);
}

async function download(
  folder: ModelFolder,
  cachePath: string,
  onDownload: (model: string, percent: number) => void,
): Promise<void> {
  onDownload(folder.name, 0);
  const { AutoModel, AutoTokenizer, env } = await import("@xenova/transformers");
  env.cacheDir = cachePath;
  env.allowLocalModels = false;
  const progress_callback = (event: { status: string; file?: string; progress?: number }) => {
    if (event.status === "progress") onDownload(folder.name, event.progress ?? 0);
  };
  try {
    await AutoTokenizer.from_pretrained(folder.name, { progress_callback });
    const model = await AutoModel.from_pretrained(folder.name, {
      quantized: true,
      progress_callback,
    });
    await model.dispose();
  } catch (error) {
    throw new ShortlistError(
      "invalid_model",
      `${folder.name} could not be downloaded: ${String(error)}`,
    );
  }
}

function missingFile(folder: ModelFolder): string | undefined {
  return FILES.find((file) => !existsSync(join(folder.path, file)));
}

function requireWhole(folder: ModelFolder): ModelFolder {
  const missing = missingFile(folder);
  if (missing) throw new ShortlistError("invalid_model", `${folder.path} has no ${missing}.`);
  return folder;
}

/** Length of the model's vectors. */
export function modelDimension(folder: ModelFolder): number {
  const config = JSON.parse(readFileSync(join(folder.path, "config.json"), "utf8")) as {
    hidden_size?: unknown;
  };
  if (typeof config.hidden_size !== "number") {
    throw new ShortlistError("invalid_model", `${folder.path}/config.json has no hidden_size.`);
  }
  return config.hidden_size;
}

/** SHA-256 over the weights, the tokenizer, the template, the pooling and the length limit; 32 hex digits. */
export async function fingerprintOf(folder: ModelFolder, template: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["tokenizer.json", "tokenizer_config.json", WEIGHTS_FILE]) {
    for await (const chunk of createReadStream(join(folder.path, file)))
      hash.update(chunk as Buffer);
    hash.update("\0");
  }
  hash.update(
    JSON.stringify({ template, pooling: "mean", normalised: true, tokensMax: TOKENS_MAX }),
  );
  return hash.digest("hex").slice(0, 32);
}
