import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERRORS, ShortlistError } from "../errors.ts";

const FAULTS_MAX = 1_000;

/** Problem details (RFC 9457) of any error; what is not ours is `internal` and says nothing of the inside. */
export function problem(c: Context, error: unknown): Response {
  const known =
    error instanceof ShortlistError
      ? error
      : new ShortlistError("internal", "An unexpected error; see the service's log.");
  const { status, title, remedy } = ERRORS[known.code];
  const body = {
    type: `/docs/errors#${known.code}`,
    title,
    status,
    detail: `${known.message} ${remedy}`.trim(),
    code: known.code,
    errors: known.faults.slice(0, FAULTS_MAX),
    ...(known.known.length > 0 && { known: known.known }),
  };
  if (status === 503) c.header("Retry-After", "1");
  return c.body(JSON.stringify(body), status as ContentfulStatusCode, {
    "content-type": "application/problem+json",
  });
}
