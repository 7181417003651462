/**
 * The names that a query gives as identifiers (DESIGN "Exact names"): the query as a whole, a quoted
 * word, or a word with a separator, digit or inner capital, also behind a namespace such as
 * `mcp__server__name`. A one-word name in an ordinary sentence is only a lexical match.
 */
export function namesIn(query: string): string[] {
  const names = new Set<string>();
  const whole = query.trim();
  if (/^[A-Za-z0-9_-]{1,64}$/.test(whole)) names.add(whole);
  for (const [, quoted] of query.matchAll(/["'`“”‘’«»]([A-Za-z0-9_-]{1,64})["'`“”‘’«»]/g))
    names.add(quoted!);
  for (const [word] of query.matchAll(/[A-Za-z0-9_][A-Za-z0-9_.:/-]*/g)) {
    if (word.length > 256) continue;
    if (isIdentifier(word)) names.add(word);
    for (const separator of ["__", ".", ":", "/"]) {
      const at = word.lastIndexOf(separator);
      if (at > 0) names.add(word.slice(at + separator.length));
    }
  }
  return [...names].filter((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name));
}

function isIdentifier(word: string): boolean {
  return /[A-Za-z0-9][_-][A-Za-z0-9]|[A-Za-z][0-9]|[0-9][A-Za-z]|[a-z][A-Z]/.test(word);
}
