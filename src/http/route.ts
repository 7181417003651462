import { type TSchema, Type } from "@sinclair/typebox";
import type { Context } from "hono";
import type { Principal } from "../access.ts";
import type { Job } from "../job.ts";
import type { Fault } from "../errors.ts";
import { invalidValue, ShortlistError } from "../errors.ts";
import { checkShape } from "../tool.ts";

interface Call {
  c: Context;
  principal: Principal;
  /** A path parameter. */
  param(name: string): string;
}

/** One row of the API: what is served and what `/openapi.json` says of it come from the same place. */
export interface Route {
  method: "get" | "put" | "post" | "patch" | "delete";
  /** In OpenAPI's form: `/v1/catalogs/{catalog}/tools`. */
  path: string;
  summary: string;
  tag: string;
  query?: Record<string, TSchema>;
  body?: TSchema;
  /** Media types of the body, application/json where left out. */
  bodyTypes?: readonly string[];
  /** Status and description of the good answer. */
  answers: Record<number, { description: string; schema?: TSchema; type?: string }>;
  handle(call: Call): Promise<Response> | Response;
}

/** The value as the contract's type. @throws ShortlistError `invalid_request` with every fault */
export function requireShape<T>(schema: TSchema, value: unknown): T {
  const faults: Fault[] = checkShape(schema, value);
  if (faults.length > 0) {
    throw new ShortlistError(
      "invalid_request",
      `${faults.length} ${faults.length === 1 ? "value is" : "values are"} wrong.`,
      faults,
    );
  }
  return value as T;
}

/** 202 with the job that works on it. */
export function accepted(c: Context, job: Job): Response {
  return c.json({ job }, 202, { location: `/v1/jobs/${job.id}` });
}

/** The gate that a write names in its query string; both of its halves or neither. */
export function gateOf(c: Context): { suite: string; gate: string } | undefined {
  const [suite, gate] = [c.req.query("suite"), c.req.query("gate")];
  if (suite === undefined && gate === undefined) return undefined;
  if (suite !== undefined && gate !== undefined) return { suite, gate };
  const message = "give both suite and gate, or neither";
  throw invalidValue("/gate", message, message);
}

/** What of a query string says a gate. */
export const GATED = {
  suite: Type.Optional(Type.String({ description: "A stored suite that the revision must pass." })),
  gate: Type.Optional(
    Type.String({ description: "Such as recall@10>=0.95 or recall@10>=live-0.01." }),
  ),
};

/** The revision of an If-Match header, which is an ETag of ours; `*` and none ask for nothing. */
export function ifMatchOf(c: Context): number | undefined {
  const header = c.req.header("if-match")?.trim();
  if (header === undefined || header === "*") return undefined;
  const match = /^(?:W\/)?"(\d+)"$/.exec(header) ?? /^(\d+)$/.exec(header);
  if (!match)
    throw new ShortlistError("stale_revision", `If-Match ${header} is no ETag of a catalog.`);
  return Number(match[1]);
}
