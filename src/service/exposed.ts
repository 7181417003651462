import { LRUCache } from "lru-cache";
import { type ExposurePolicy, hiddenBy } from "../exposure.ts";
import type { ToolSpec } from "../tool.ts";

/** Few policies, many cases: what each exposes is listed once. */
const POLICIES_MAX = 64;

interface Exposed {
  tools: ToolSpec[];
  /** Theirs and the controls'. */
  names: ReadonlySet<string>;
}

/** What a policy exposes of the tools, less single ones that are hidden by name. */
export function exposures(
  tools: readonly ToolSpec[],
  controls: ReadonlySet<string>,
): (policy: ExposurePolicy, hidden: readonly string[]) => Exposed {
  const known = new LRUCache<string, Exposed>({ max: POLICIES_MAX });
  return (policy, hidden) => {
    const key = JSON.stringify([policy, hidden]);
    let exposed = known.get(key);
    if (!exposed) {
      const without = new Set(hidden);
      const own = tools.filter((tool) => !hiddenBy(policy, tool) && !without.has(tool.name));
      exposed = { tools: own, names: new Set([...own.map(({ name }) => name), ...controls]) };
      known.set(key, exposed);
    }
    return exposed;
  };
}
