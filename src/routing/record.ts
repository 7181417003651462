import type { RoutingCase } from "../routing.ts";

export type RoutingStage = "coverage" | "exposure" | "discovery" | "selection";

/** What did happen (seed 000, section 13). The name sets include the controls. */
export interface RoutingRecord {
  case: RoutingCase;
  registry_names: ReadonlySet<string>;
  exposed_names: ReadonlySet<string>;
  retrieved_names: ReadonlySet<string>;
  selected: string | null;
  /** Ordinary tools asked for. */
  retrieval_k: number;
}

/** The first stage at which no acceptable capability was left, or null where the choice was right. */
export function failedStage(record: RoutingRecord): RoutingStage | null {
  const { acceptable } = record.case;
  const anyIn = (names: ReadonlySet<string>) => acceptable.some((name) => names.has(name));
  if (!anyIn(record.registry_names)) return "coverage";
  if (!anyIn(record.exposed_names)) return "exposure";
  if (!anyIn(record.retrieved_names)) return "discovery";
  if (record.selected === null || !acceptable.includes(record.selected)) return "selection";
  return null;
}
