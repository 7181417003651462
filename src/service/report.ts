import type { Entry } from "../store.ts";
import type { Quarantined } from "./admission.ts";

/** What a write changed. */
export interface Report {
  added: number;
  changed: number;
  unchanged: number;
  removed: number;
  quarantined: Quarantined[];
  /** Of an import: tools that are invalid now and stay at their last good version, and what else it says. */
  [detail: string]: unknown;
}

export function compareEntries(
  before: readonly Entry[],
  after: readonly Entry[],
): Pick<Report, "added" | "changed" | "unchanged" | "removed"> {
  const old = new Map(before.map(({ tool }) => [tool.name, JSON.stringify(tool)]));
  const report = { added: 0, changed: 0, unchanged: 0, removed: 0 };
  for (const { tool } of after) {
    const spec = old.get(tool.name);
    if (spec === undefined) report.added++;
    else if (spec === JSON.stringify(tool)) report.unchanged++;
    else report.changed++;
    old.delete(tool.name);
  }
  report.removed = old.size;
  return report;
}
