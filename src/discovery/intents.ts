/** Parts of one request that are retrieved on their own, at most. */
export const INTENTS_MAX = 8;

export interface Intents {
  /** The parts, in order; none where the request asks for one thing. */
  parts: string[];
  /** How many were found before the cap. */
  found: number;
}

/**
 * Splits a request into its asks without a model: lines and list items, sentences, and clauses
 * joined by a word for "and then" or "also", or by "and" before a verb or a question word.
 */
export function intentsOf(request: string): Intents {
  const parts = new Set<string>();
  // One space for many: the patterns below never have to choose how to match a run of them.
  const bounded = request.slice(0, CHARACTERS_MAX).replace(/[^\S\r\n]+/gu, " ");
  for (const sentence of bounded.split(SENTENCE_END)) {
    for (const clause of sentence.split(CLAUSE_JOINT)) {
      const text = trimmed(clause.replace(LIST_MARK, ""));
      if (isAsk(text)) parts.add(text);
    }
  }
  if (parts.size < 2) return { parts: [], found: parts.size };
  return { parts: [...parts].slice(0, INTENTS_MAX), found: parts.size };
}

/** What is read of a request: asks after it are of no use to a set of k tools. */
const CHARACTERS_MAX = 20_000;

const EDGE = new Set(" \t,;:，、；");

function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && EDGE.has(text[start]!)) start++;
  while (end > start && EDGE.has(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** Sentence ends of Western and CJK scripts, line ends; not the dot of a number, an initial or "e.g." */
const SENTENCE_END = /(?<=(?:[^\s.]{3}|\d)[.!?;]["'”’)]?) |(?<=[。！？；])|[\r\n]/u;

/** A list item's bullet or number. */
const LIST_MARK = /^ ?(?:[-*•–]|\(?\d{1,2}[.)]|[a-z][.)]) /u;

// Imperatives that tools are asked with: after "and" they begin an ask of their own.
const VERBS =
  `add analyze apply approve archive arrange ask assign block book build buy calculate call cancel change check
 choose clear close collect compare compute convert copy count create deactivate delete deploy describe detect
 determine disable display download draft draw edit email embed enable encode estimate evaluate explain export
 extract fetch fill filter find forecast format forward generate get give grab help identify import include inform
 insert inspect install invite join label launch let list load locate log look make map mark merge message monitor
 move notify obtain open order page pause pay perform pick place plan play plot post predict prepare print provide pull
 purchase push put query rate read recommend record refund register remind remove rename replace reply report request rerun
 reschedule reserve reset restart restore retrieve revert return review roll run save scan schedule search see select send set
 share show sign simulate solve sort start stop store submit subscribe suggest summarize summarise switch tag take
 tell test track transfer translate trigger turn unsubscribe update upload use validate verify view visualize wait
 watch write`
    .trim()
    .split(/\s+/)
    .join("|");
const QUESTION =
  "what|which|who|whom|whose|where|when|why|how|is|are|does|do|can|could|would|will|should|please|i|we|my|also|then|finally";

/** Where one clause ends and another ask begins. */
const CLAUSE_JOINT = new RegExp(
  [
    String.raw`[,;]? (?:and |but )?(?:then|after that|afterwards|additionally|furthermore|moreover|finally|lastly|as well as),? (?=\S+ \S)`,
    String.raw`(?:[,;]| (?:and|but)) (?:also|next),? (?=\S+ \S)`,
    String.raw`,? (?:and|&) (?=(?:${VERBS}|${QUESTION})\b)`,
    String.raw`, (?=(?:${VERBS}) )`,
    // German, French, Spanish, Portuguese, Russian.
    String.raw`,? (?:und (?:dann|danach|außerdem|auch)|außerdem|anschließend|et (?:puis|ensuite|aussi)|puis|ensuite|y (?:luego|después|también)|luego|además|e (?:depois|também)|depois|além disso|и (?:затем|потом|также|ещё)|затем|потом|а также) `,
    // Chinese, Japanese, Korean: no space before the joint.
    String.raw`[，,、]?(?:然后|接着|并且|另外|此外|同时|以及还|その後|それから|そして|また、)| (?:그리고|그다음|또한) `,
    String.raw`[，]并`,
  ].join("|"),
  "iu",
);

/** Marks of an ask: a question, an imperative, a wish. Statements are context: the whole request carries it. */
const ASK = new RegExp(
  [
    String.raw`[?？]`,
    String.raw`^(?:["'“(]|(?:please|first|second|third|then|next|also|finally|lastly|additionally|now|so|and|kindly|just)\b[ ,]{0,2})*(?:${VERBS})\b`,
    String.raw`^(?:what|which|who|whose|where|when|why|how)\b`,
    String.raw`\b(?:please|(?:can|could|would|will) (?:you|we|i)|help (?:me|us)|let me know|let's|(?:i|we)(?:'d| would) (?:also )?(?:like|love)|(?:i|we) (?:also )?(?:need|want|wish|have to)|(?:i'm|i am|we're|we are) (?:also )?(?:looking for|interested in|curious)|tell me|give me|show me)\b`,
    String.raw`\b(?:bitte|ich (?:brauche|möchte|will|suche)|kannst du|können sie|zeig|s'il (?:te|vous) plaît|je (?:veux|voudrais|cherche)|peux-tu|pouvez-vous|por favor|necesito|quiero|quisiera|puedes|preciso|quero|pode|пожалуйста|нужно|хочу|покажи|найди)(?![\p{L}])`,
  ].join("|"),
  "iu",
);

/** Long enough to be searched for, and asked for. CJK has no such marks: there every sentence counts. */
function isAsk(text: string): boolean {
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(text))
    return text.length >= 3;
  return text.split(/\s+/u).length >= 2 && ASK.test(text);
}
