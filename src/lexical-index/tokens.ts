/**
 * Tokens for lexical search, the same for documents and queries: identifiers split at
 * separators, inner capitals and digits; accents folded; light English stems; CJK as bigrams.
 */
export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (const [run] of text.normalize("NFKC").matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    let ofRun = memo.get(run);
    if (!ofRun) {
      ofRun = tokensOfRun(run);
      if (memo.size >= MEMO_MAX) memo.clear();
      if (run.length <= MEMO_CHARACTERS_MAX) memo.set(run, ofRun);
    }
    for (const token of ofRun) tokens.push(token);
  }
  return tokens;
}

// A catalog says the same words over and over: splitting and stemming each once halves its start.
const memo = new Map<string, readonly string[]>();
const MEMO_MAX = 20_000;
const MEMO_CHARACTERS_MAX = 40;

function tokensOfRun(run: string): string[] {
  return Array.from(run.matchAll(SCRIPT_RUN), ([part]) =>
    CJK.test(part) ? bigrams(part) : wordsOf(part),
  ).flat();
}

/** Scripts written without spaces, and Hangul, whose particles cling to the word. */
const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]/u;
const SCRIPT_RUN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]+|[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]+/gu;

function bigrams(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => characters[index]! + character);
}

const WORD = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;

function wordsOf(run: string): string[] {
  const parts = Array.from(run.matchAll(WORD), ([part]) => fold(part));
  // "s3" and "oauth2" mean more than their parts: keep the whole beside them.
  if (parts.length > 1 && parts.length <= 3 && /\p{N}/u.test(run)) parts.push(fold(run));
  return parts.filter((part) => !STOP_WORDS.has(part)).map(stem);
}

/** Lower case without accents. Only Latin and Cyrillic: elsewhere a mark is a letter of its own. */
function fold(text: string): string {
  const lower = text.toLowerCase();
  if (/^[ -~]*$/.test(lower)) return lower;
  return lower
    .replace(/[\u00c0-\u024f\u0400-\u04ff\u1e00-\u1eff]\p{M}*/gu, (letter) =>
      letter.normalize("NFD").replace(/\p{M}+/gu, ""),
    )
    .replaceAll("ß", "ss")
    .replaceAll("æ", "ae")
    .replaceAll("ø", "o")
    .replaceAll("ł", "l");
}

/** Plural s, es, ies; -ing, -ed; final e. Digits and short words stay. */
function stem(word: string): string {
  if (word.length < 4) return word;
  if (/^[а-я]+$/.test(word)) return word.replace(CYRILLIC_ENDING, "$1");
  if (!/^[a-z]+$/.test(word)) return word;
  let stemmed = word;
  if (stemmed.endsWith("ies")) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/(?:ss|x|z|ch|sh)es$/.test(stemmed)) stemmed = stemmed.slice(0, -2);
  else if (/[^su]s$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  if (stemmed.length > 5 && stemmed.endsWith("ing")) stemmed = undouble(stemmed.slice(0, -3));
  else if (stemmed.length > 4 && stemmed.endsWith("ed")) stemmed = undouble(stemmed.slice(0, -2));
  if (stemmed.length > 3 && stemmed.endsWith("e")) stemmed = stemmed.slice(0, -1);
  return stemmed;
}

/** Inflections of Russian nouns, adjectives and verbs, off a stem of at least three letters. */
const CYRILLIC_ENDING =
  /^(.{3,}?)(?:иями|ями|ами|иях|ях|ах|ых|их|ием|ией|иеи|его|ого|ему|ому|ыми|ими|ете|ите|ешь|ишь|ют|ут|ат|ят|ет|ит|ть|ла|ло|ли|ов|ев|еи|ои|ии|ыи|ая|яя|ое|ее|ые|ие|ую|юю|ом|ем|им|ым|ам|ям|ию|ия|ы|и|а|я|о|е|у|ю|ь|л)$/;

function undouble(word: string): string {
  return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}

const STOP_WORDS = new Set(
  `a an and any are as at be been being but by can could did do does for from had has have he her
  his how i if in into is it its let me my of on or our please she should so some than that the
  their them then there these they this those to up us was we were what when where which who whom
  why will with would you your s t don am im ve ll re d m`.split(/\s+/),
);
