import { ratesOf, type Rates, valuesOf } from "./metrics.ts";
import type { RoutingRecord } from "./record.ts";

export interface Slice {
  by: "family" | "phase" | "lang" | "tag";
  name: string;
  cases: number;
  rates: Rates;
}

/** The rates by what the cases are about; a case may be in several slices of a kind. `familyOf` names a tool's family. */
export function slicesOf(
  records: readonly RoutingRecord[],
  familyOf: (name: string) => string | undefined,
): Slice[] {
  const slices = new Map<string, { by: Slice["by"]; name: string; records: RoutingRecord[] }>();
  const put = (by: Slice["by"], name: string, record: RoutingRecord) => {
    const key = `${by} ${name}`;
    const slice = slices.get(key);
    if (slice) slice.records.push(record);
    else slices.set(key, { by, name, records: [record] });
  };
  for (const record of records) {
    const { acceptable, phase, lang, tags = [] } = record.case;
    const families = new Set(acceptable.flatMap((name) => familyOf(name) ?? []));
    for (const family of families) put("family", family, record);
    if (phase !== undefined) put("phase", phase, record);
    if (lang !== undefined) put("lang", lang, record);
    for (const tag of new Set(tags)) put("tag", tag, record);
  }
  return [...slices.values()]
    .map(({ by, name, records: own }) => ({
      by,
      name,
      cases: own.length,
      rates: ratesOf(valuesOf(own)),
    }))
    .toSorted((a, b) => compare(a.by, b.by) || compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
