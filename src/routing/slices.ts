import { compareText } from "../exposure.ts";
import { pick, type Rates, ratesOf, type Values } from "./metrics.ts";
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
  values: Values,
): Slice[] {
  const slices = new Map<string, { by: Slice["by"]; name: string; indexes: number[] }>();
  const put = (by: Slice["by"], name: string, record: number) => {
    const key = `${by} ${name}`;
    const slice = slices.get(key);
    if (slice) slice.indexes.push(record);
    else slices.set(key, { by, name, indexes: [record] });
  };
  for (const [record, { case: item }] of records.entries()) {
    const { acceptable, phase, lang, tags = [] } = item;
    const families = new Set(acceptable.flatMap((name) => familyOf(name) ?? []));
    for (const family of families) put("family", family, record);
    if (phase !== undefined) put("phase", phase, record);
    if (lang !== undefined) put("lang", lang, record);
    for (const tag of new Set(tags)) put("tag", tag, record);
  }
  return [...slices.values()]
    .map(({ by, name, indexes }) => ({
      by,
      name,
      cases: indexes.length,
      rates: ratesOf(pick(values, indexes)),
    }))
    .toSorted((a, b) => compareText(a.by, b.by) || compareText(a.name, b.name));
}
