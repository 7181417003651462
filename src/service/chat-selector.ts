import { setTimeout as wait } from "node:timers/promises";
import type { ChatEndpoint } from "../config.ts";
import { ShortlistError } from "../errors.ts";
import { render } from "../render.ts";
import type { Choice, Selected, Selector } from "./selector.ts";

const INSTRUCTION =
  "Call the one tool that does what the user asks. Ask the user where something needed is missing; " +
  "call no_applicable_tool where no tool does it.";
const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 8_000;
/** Answers that another try will not change: the job ends, since every case would fail so. */
const HOPELESS = new Set([401, 403, 404]);

/** Sends the rendered visible set and reads the tool call: the first call is the selection, plain text is none. */
export function chatSelector(
  endpoint: ChatEndpoint,
  trials: number,
  key: string | undefined,
): Selector {
  return {
    name: endpoint.model,
    trials,
    concurrency: endpoint.concurrency,
    async select(choice, signal) {
      for (let attempt = 0; ; attempt++) {
        const answer = await ask(endpoint, key, choice, signal);
        if ("selected" in answer) return answer;
        signal.throwIfAborted();
        if (attempt >= endpoint.retries) return { selected: null, outcome: "unavailable" };
        const backoff = Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** attempt);
        await wait(answer.retryAfterMs ?? backoff * (0.5 + Math.random() / 2), undefined, {
          signal,
        });
      }
    },
  };
}

async function ask(
  endpoint: ChatEndpoint,
  key: string | undefined,
  { case: { goal }, visible }: Choice,
  signal: AbortSignal,
): Promise<Selected | { retryAfterMs: number | undefined }> {
  const timeout = AbortSignal.timeout(endpoint.timeout_ms);
  try {
    const response = await fetch(`${endpoint.base_url.replace(/\/$/, "")}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model: endpoint.model,
        temperature: endpoint.temperature,
        messages: [
          { role: "system", content: INSTRUCTION },
          { role: "user", content: goal },
        ],
        tools: visible.map((tool) => render(tool, "openai")),
      }),
      signal: AbortSignal.any([signal, timeout]),
    });
    if (HOPELESS.has(response.status)) {
      throw new ShortlistError(
        "selector_failed",
        `${endpoint.base_url} answers ${response.status} for the model ${endpoint.model}.`,
      );
    }
    if (!response.ok) {
      await response.body?.cancel();
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      const isGiven = Number.isFinite(seconds) && seconds >= 0;
      return { retryAfterMs: isGiven ? Math.min(BACKOFF_MS_MAX, seconds * 1_000) : undefined };
    }
    return read(await response.text());
  } catch (error) {
    if (error instanceof ShortlistError) throw error;
    signal.throwIfAborted();
    return { retryAfterMs: undefined }; // a cut connection or a time-out
  }
}

/** The selection in an answer; what is no answer of the protocol is malformed, never an error of ours. */
function read(text: string): Selected {
  const malformed = { selected: null, outcome: "malformed" } as const;
  let message: unknown;
  try {
    const body = JSON.parse(text) as { choices?: { message?: unknown }[] };
    message = body.choices?.[0]?.message;
  } catch {
    return malformed;
  }
  if (message === null || typeof message !== "object") return malformed;
  const { tool_calls, content } = message as { tool_calls?: unknown; content?: unknown };
  if (!Array.isArray(tool_calls) || tool_calls.length === 0)
    return typeof content === "string" ? { selected: null, outcome: "text" } : malformed;
  const call = tool_calls[0] as { function?: { name?: unknown; arguments?: unknown } } | null;
  const { name, arguments: given } = call?.function ?? {};
  if (typeof name !== "string" || !isObject(given)) return malformed;
  return { selected: name, outcome: "selected" };
}

function isObject(given: unknown): boolean {
  try {
    const value: unknown =
      typeof given === "string" ? JSON.parse(given === "" ? "{}" : given) : given;
    return value !== null && typeof value === "object" && !Array.isArray(value);
  } catch {
    return false;
  }
}
