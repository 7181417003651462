import { EXACT_NAME_BONUS, type Scored, saturated } from "./arms.ts";

/** What is known of a retrieved tool before it is known whether it is the right one. */
export interface MatchFeatures {
  /** Of the tool's best view, -1 to 1. */
  cosine: number;
  /** Saturated BM25, 0 to 1. */
  lexical: number;
  /** Score over the best other tool's: positive for the first, negative for the others, 0 where there is no other. */
  margin: number;
  /** Ordinary tools that were eligible. */
  eligible: number;
}

/** The features of each tool of a ranking. An exact name's bonus says nothing of how alike the tools are. */
export function featuresOf(ranking: readonly Scored[], eligible: number): MatchFeatures[] {
  const scores = ranking.map(
    ({ score, exact_name }) => score - (exact_name ? EXACT_NAME_BONUS : 0),
  );
  let [first, second] = [-Infinity, -Infinity];
  for (const score of scores) {
    if (score > first) [first, second] = [score, first];
    else if (score > second) second = score;
  }
  return ranking.map(({ cosine, bm25 }, i) => {
    const score = scores[i]!;
    const margin = ranking.length === 1 ? 0 : score === first ? score - second : score - first;
    return { cosine, lexical: saturated(bm25), margin, eligible };
  });
}
