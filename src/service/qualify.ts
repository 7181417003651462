import { createHash } from "node:crypto";

const NAME_CHARACTERS_MAX = 64;
const HASH_CHARACTERS = 8;

/**
 * The names under which tools of several catalogs are offered side by side: their own, or
 * `{catalog}__{name}` where two are equal. Longer ones than a tool's name may be, or taken ones,
 * end in a hash instead. Depends on the set alone, not on its order.
 */
export function qualify(
  tools: readonly { catalog: string; tool: { name: string } }[],
  taken: ReadonlySet<string>,
): string[] {
  const counts = new Map<string, number>();
  for (const { tool } of tools) counts.set(tool.name, (counts.get(tool.name) ?? 0) + 1);
  if (counts.size === tools.length) return tools.map(({ tool }) => tool.name);
  return tools.map(({ catalog, tool: { name } }) => {
    if (counts.get(name) === 1) return name;
    // A catalog's name may have dots, a tool's may not.
    const qualified = `${catalog.replaceAll(".", "_")}__${name}`;
    const isFree = !taken.has(qualified) && !counts.has(qualified);
    const clashes = tools.filter(
      (other) =>
        other.tool.name === name &&
        other.catalog.replaceAll(".", "_") === catalog.replaceAll(".", "_"),
    );
    if (isFree && qualified.length <= NAME_CHARACTERS_MAX && clashes.length === 1) return qualified;
    const hash = createHash("sha256").update(`${catalog}\0${name}`).digest("hex");
    return `${qualified.slice(0, NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hash.slice(0, HASH_CHARACTERS)}`;
  });
}
