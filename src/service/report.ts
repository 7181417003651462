import type { Entry } from "../store.ts";
import type { Quarantined } from "./admission.ts";

/** What a write changed. */
export interface Report {
  added: number;
  changed: number;
  unchanged: number;
  removed: number;
  quarantined: Quarantined[];
}

export function compareEntries(
  before: readonly Entry[],
  after: readonly Entry[],
): Omit<Report, "quarantined"> {
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
