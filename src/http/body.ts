import type { TSchema } from "@sinclair/typebox";
import type { Context } from "hono";
import { invalidValue, ShortlistError } from "../errors.ts";
import { requireShape } from "./route.ts";

/** The body's bytes, read up to the limit. @throws ShortlistError `body_too_large`, `bad_request` where it was cut short */
async function bytesOf(c: Context, bytesMax: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new ShortlistError("body_too_large", `The body has more than ${bytesMax} bytes.`);
  const declared = c.req.header("content-length");
  if (declared !== undefined && Number(declared) > bytesMax) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stream = c.req.raw.body;
  if (stream) {
    try {
      for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
        size += chunk.byteLength;
        if (size > bytesMax) throw tooLarge();
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof ShortlistError) throw error;
      throw new ShortlistError("bad_request", "The body was cut short; nothing was changed.");
    }
  }
  if (declared !== undefined && size !== Number(declared)) {
    throw new ShortlistError(
      "bad_request",
      `The body has ${size} bytes, not ${declared}; nothing was changed.`,
    );
  }
  return Buffer.concat(chunks);
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ShortlistError("malformed_json", `${where}: ${(error as Error).message}`);
  }
}

async function textOf(c: Context, bytesMax: number): Promise<string> {
  const bytes = await bytesOf(c, bytesMax);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ShortlistError("malformed_json", "The body is not UTF-8.");
  }
}

/** One JSON value. */
export async function readJson(c: Context, bytesMax: number): Promise<unknown> {
  requireType(c, ["application/json"]);
  const text = await textOf(c, bytesMax);
  return parse(text, "The body");
}

/** One JSON value as the contract's type. @throws ShortlistError `invalid_request` with every fault */
export async function readShape<T>(c: Context, schema: TSchema, bytesMax: number): Promise<T> {
  return requireShape<T>(schema, await readJson(c, bytesMax));
}

/** A JSON array, or one JSON value a line (NDJSON). Lines that are not JSON refuse the whole body. */
export async function readList(c: Context, bytesMax: number): Promise<unknown[]> {
  return (await readLines(c, bytesMax)).map(({ value }) => value);
}

/** The same, each value with its line in the body; without one where the body is an array. */
export async function readLines(
  c: Context,
  bytesMax: number,
): Promise<{ value: unknown; line?: number }[]> {
  const type = requireType(c, ["application/json", "application/x-ndjson", "application/jsonl"]);
  const lines = await textOf(c, bytesMax);
  if (type !== "application/json") {
    return lines
      .split("\n")
      .flatMap((text, index) =>
        text.trim() === "" ? [] : [{ value: parse(text, `Line ${index + 1}`), line: index + 1 }],
      );
  }
  const value = parse(lines, "The body");
  if (!Array.isArray(value)) {
    throw invalidValue("", "must be array", "The body is not an array.");
  }
  return value.map((item: unknown) => ({ value: item }));
}

function requireType(c: Context, types: readonly string[]): string {
  const type = (c.req.header("content-type") ?? "application/json")
    .split(";")[0]!
    .trim()
    .toLowerCase();
  if (types.includes(type)) return type;
  // curl's -d without a header calls everything a form.
  if (type === "application/x-www-form-urlencoded") return "application/json";
  throw new ShortlistError(
    "unsupported_media_type",
    `${type} is not supported; send ${types.join(" or ")}.`,
  );
}
