/** One place where a value is wrong. `pointer` is an RFC 6901 JSON pointer into the input. */
export interface Fault {
  pointer: string;
  message: string;
}

/**
 * The error table: every error that the service can answer with. `status` is the HTTP status,
 * `title` says what happened, `remedy` what to do about it. `docs/errors.md` lists the same
 * rows; a test checks the two against each other, both ways.
 */
export const ERRORS = {
  malformed_json: {
    status: 400,
    title: "The body is not valid JSON",
    remedy: "Send one complete JSON value, or one JSON object a line for NDJSON, in UTF-8.",
  },
  bad_request: {
    status: 400,
    title: "The request cannot be read",
    remedy: "Compare the path, the headers and the query string with /openapi.json.",
  },
  invalid_request: {
    status: 422,
    title: "The request does not match its schema",
    remedy: "Correct each value that `errors` points at.",
  },
  invalid_query: {
    status: 422,
    title: "The query cannot be used",
    remedy: "Send a non-empty text within `limits.query_characters_max`.",
  },
  invalid_tool: {
    status: 422,
    title: "The tool is not a valid ToolSpec",
    remedy: "Correct each value that `errors` points at.",
  },
  reserved_tool: {
    status: 422,
    title: "The tool claims what only trusted configuration may give",
    remedy: "Choose a name that is no trusted control's and a family other than `control`.",
  },
  no_valid_tool: {
    status: 422,
    title: "The body has no valid tool",
    remedy: "Correct the tools by the reasons in `errors`; nothing was changed.",
  },
  invalid_suite: {
    status: 422,
    title: "The suite has invalid cases",
    remedy: "Correct each case that `errors` points at.",
  },
  empty_suite: {
    status: 422,
    title: "The suite has no cases",
    remedy: "Send at least one labelled case.",
  },
  invalid_gate: {
    status: 422,
    title: "The gate cannot be read",
    remedy: "Write a metric, a k, a comparison and a number, such as recall@10>=0.95.",
  },
  gate_failed: {
    status: 422,
    title: "A gate has failed",
    remedy: "See the cases that were lost; lower the gate only if they may be.",
  },
  unknown_selector: {
    status: 404,
    title: "There is no such selector",
    remedy:
      "Use one of the known names, or add it to `selectors` in the configuration and send SIGHUP.",
  },
  selector_failed: {
    status: 502,
    title: "The model that selects refuses to answer",
    remedy: "Check the selector's base_url, model and key in the configuration.",
  },
  too_few_cases: {
    status: 422,
    title: "The suite is too small to fit a calibration",
    remedy: "Send more labelled cases, or keep the model's own calibration.",
  },
  invalid_document: {
    status: 422,
    title: "The document cannot be imported",
    remedy: "Send a document of the kind that `kind` names; nothing was changed.",
  },
  confirm_removal: {
    status: 409,
    title: "The import would remove more of its source than it may",
    remedy: "Look at a dry run, then send `confirm: true` if the tools are really gone.",
  },
  unknown_route: {
    status: 404,
    title: "There is no such route",
    remedy: "See /openapi.json for the routes.",
  },
  unknown_catalog: {
    status: 404,
    title: "There is no such catalog",
    remedy: "Use one of the known names, or create it with PUT /v1/catalogs/{catalog}/tools.",
  },
  unknown_tool: {
    status: 404,
    title: "There is no such tool",
    remedy: "List the names with GET /v1/catalogs/{catalog}/tools.",
  },
  unknown_phase: {
    status: 404,
    title: "There is no such phase",
    remedy: "Use one of the known phases, or add it to the configuration and send SIGHUP.",
  },
  unknown_suite: {
    status: 404,
    title: "There is no such suite",
    remedy: "Send it with PUT /v1/suites/{suite}.",
  },
  unknown_job: {
    status: 404,
    title: "There is no such job",
    remedy: "List the jobs with GET /v1/jobs; finished jobs are forgotten after a while.",
  },
  unknown_bench: {
    status: 404,
    title: "There is no such bench result",
    remedy: "Wait until its job has succeeded, or run it again with POST /v1/bench.",
  },
  unknown_trace: {
    status: 404,
    title: "There is no such trace",
    remedy: "Traces are kept for the most recent queries only; repeat the query.",
  },
  unknown_revision: {
    status: 404,
    title: "There is no such revision",
    remedy: "See the catalog's revision with GET /v1/catalogs.",
  },
  revision_gone: {
    status: 410,
    title: "The revision is no longer held",
    remedy: "Leave `revision` out to query the live one.",
  },
  method_not_allowed: {
    status: 405,
    title: "The route does not take this method",
    remedy: "See /openapi.json for the methods.",
  },
  stale_revision: {
    status: 412,
    title: "The catalog has changed since the revision in If-Match",
    remedy: "Read the catalog again and repeat the write with its ETag.",
  },
  body_too_large: {
    status: 413,
    title: "The body is over the limit",
    remedy:
      "Send fewer tools a request (PATCH adds to the catalog), or raise `limits.body_bytes_max`.",
  },
  unsupported_media_type: {
    status: 415,
    title: "The content type is not supported",
    remedy: "Send application/json or application/x-ndjson.",
  },
  plan_unavailable: {
    status: 409,
    title: "The plan cannot be forced",
    remedy:
      "Wait until the catalog's graph is built, lower `planner.graph_rows_min`, or leave `plan` out.",
  },
  job_finished: {
    status: 409,
    title: "The job has already ended",
    remedy: "Nothing is left to cancel.",
  },
  overloaded: {
    status: 503,
    title: "Too many requests wait",
    remedy: "Repeat after the seconds in Retry-After.",
  },
  not_ready: {
    status: 503,
    title: "The service is starting",
    remedy: "Wait until /readyz answers 200.",
  },
  encoder_failed: {
    status: 503,
    title: "The encoder process failed",
    remedy: "Repeat the request; the process has been restarted.",
  },
  invalid_config: {
    status: 500,
    title: "The configuration is invalid",
    remedy: "Correct the file named in the detail, then start again or send SIGHUP.",
  },
  invalid_model: {
    status: 500,
    title: "The model cannot be used",
    remedy: "Restore the model's folder, or name another model in SHORTLIST_MODEL.",
  },
  corrupt_store: {
    status: 500,
    title: "Stored data failed its check",
    remedy: "Move the database away and load the registry again.",
  },
  internal: {
    status: 500,
    title: "The service failed",
    remedy: "Repeat the request; report the trace id if it happens again.",
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Every error that leaves a module of ours; the edges turn it into problem details (RFC 9457). */
export class ShortlistError extends Error {
  override readonly name = "ShortlistError";

  constructor(
    readonly code: ErrorCode,
    detail: string,
    readonly faults: Fault[] = [],
    /** Names the caller may use instead, where listing them gives nothing away. */
    readonly known: string[] = [],
  ) {
    super(detail);
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** `invalid_request` for one value that its schema lets through and that still cannot be used. */
export function invalidValue(
  pointer: string,
  message: string,
  detail = pointer === "" ? message : `${pointer.slice(1)} ${message}.`,
): ShortlistError {
  return new ShortlistError("invalid_request", detail, [{ pointer, message }]);
}
