import type { RoutingCase } from "../routing.ts";

export type RoutingStage = "coverage" | "exposure" | "discovery" | "selection";

/** How a selection came about: a tool call, plain text, a call that cannot be read, or no answer at all. */
export type Outcome = "selected" | "text" | "malformed" | "unavailable";

/** What did happen (seed 000, section 13). The name sets include the controls. */
export interface RoutingRecord {
  case: RoutingCase;
  registry_names: ReadonlySet<string>;
  exposed_names: ReadonlySet<string>;
  retrieved_names: ReadonlySet<string>;
  selected: string | null;
  /** Ordinary tools asked for; null where a token budget alone limits them. */
  retrieval_k: number | null;
  /** The names in those sets that are no ordinary tools. */
  controls?: ReadonlySet<string>;
  /** The retrieved ordinary tools, best first. */
  ranking?: readonly string[];
  outcome?: Outcome;
  /** Repetition of the same case, from 0. */
  trial?: number;
  /** Whether the task was done, where somebody has checked. */
  verified_success?: boolean | undefined;
  /** Tokens of the visible definitions, controls included. */
  visible_tokens?: number;
  latency_ms?: number;
}

/** The first stage at which no acceptable capability was left, or null where the choice was right. */
export function failedStage(record: RoutingRecord): RoutingStage | null {
  const { acceptable } = record.case;
  if (!hasAny(acceptable, record.registry_names)) return "coverage";
  if (!hasAny(acceptable, record.exposed_names)) return "exposure";
  if (!hasAny(acceptable, record.retrieved_names)) return "discovery";
  if (record.selected === null || !acceptable.includes(record.selected)) return "selection";
  return null;
}

export function hasAny(acceptable: readonly string[], names: ReadonlySet<string>): boolean {
  return acceptable.some((name) => names.has(name));
}
