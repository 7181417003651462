import { createHash } from "node:crypto";

const CHARACTERS_MAX = 64;
const HASH_CHARACTERS = 8;

/**
 * A name each that a ToolSpec may have. What is no letter, digit, dash or underscore becomes an
 * underscore; names that are equal then, or too long, end in a hash of the original, whatever the order
 * they come in. Undefined for a second thing of the very same name.
 */
export function nameAll(originals: readonly string[]): (string | undefined)[] {
  const plain = originals.map((original) => original.replace(/[^A-Za-z0-9_-]+/g, "_") || "_");
  const claims = new Map<string, Set<string>>();
  originals.forEach((original, i) => {
    const claim = claims.get(plain[i]!) ?? new Set();
    claims.set(plain[i]!, claim.add(original));
  });
  const seen = new Set<string>();
  return originals.map((original, i) => {
    if (seen.has(original)) return undefined;
    seen.add(original);
    const name = plain[i]!;
    // Who has the name as it is keeps it.
    const isOwn = name === original || claims.get(name)!.size === 1;
    return isOwn && name.length <= CHARACTERS_MAX ? name : hashed(name, original);
  });
}

/** The name under its source, where another source has it already. */
export function qualified(source: string, name: string): string {
  const whole = `${source.replace(/[^A-Za-z0-9_-]+/g, "_")}__${name}`;
  return whole.length <= CHARACTERS_MAX ? whole : hashed(whole, whole);
}

function hashed(name: string, original: string): string {
  const hash = createHash("sha256").update(original).digest("hex").slice(0, HASH_CHARACTERS);
  return `${name.slice(0, CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hash}`;
}
