import { tokensOf } from "./lexical-index/tokens.ts";
import type { RowRange } from "./rows.ts";

export { tokensOf } from "./lexical-index/tokens.ts";

/** BM25 (Robertson and Zaragoza 2009) with the model card's parameters. */
const K1 = 1.2;
const B = 0.75;

/** Scores by row; rows that share no word with the query are not in it. */
export interface LexicalScores {
  rows: number[];
  /** The score of any row, 0 where it matched nothing. Valid until the next `score`. */
  of(row: number): number;
}

/** BM25 over row-ordered postings: only the postings inside the allowed ranges are read. */
export interface LexicalIndex {
  readonly size: number;
  score(query: string, ranges: readonly RowRange[], excluded: ReadonlySet<number>): LexicalScores;
}

/** Documents read a turn of the event loop. */
const DOCUMENTS_A_TURN = 250;

/** `documents[row]` is the row's text. `turn` lets others run between batches. */
export async function lexicalIndex(
  documents: readonly string[],
  turn: () => Promise<void> = async () => {},
): Promise<LexicalIndex> {
  const terms = new Map<string, number>();
  const rowsOf: number[][] = [];
  const countsOf: number[][] = [];
  const lengths = new Uint32Array(documents.length);
  for (const [row, document] of documents.entries()) {
    if (row % DOCUMENTS_A_TURN === 0) await turn();
    const counts = new Map<string, number>();
    for (const token of tokensOf(document)) {
      counts.set(token, (counts.get(token) ?? 0) + 1);
      lengths[row]!++;
    }
    for (const [token, count] of counts) {
      let term = terms.get(token);
      if (term === undefined) {
        term = rowsOf.length;
        terms.set(token, term);
        rowsOf.push([]);
        countsOf.push([]);
      }
      rowsOf[term]!.push(row);
      countsOf[term]!.push(count);
    }
  }

  const size = documents.length;
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / size || 1;
  const postings = rowsOf.map((rows, term) => {
    const idf = Math.log(1 + (size - rows.length + 0.5) / (rows.length + 0.5));
    const impacts = Float32Array.from(rows, (row, i) => {
      const count = countsOf[term]![i]!;
      return (idf * count * (K1 + 1)) / (count + K1 * (1 - B + (B * lengths[row]!) / meanLength));
    });
    return { rows: Uint32Array.from(rows), impacts };
  });

  const scores = new Float32Array(size);
  let touched: number[] = [];
  return {
    size,
    score(query, ranges, excluded) {
      for (const row of touched) scores[row] = 0;
      touched = [];
      for (const token of new Set(tokensOf(query))) {
        const posting = postings[terms.get(token) ?? -1];
        if (!posting) continue;
        for (const { start, end } of ranges) {
          for (
            let i = lowerBound(posting.rows, start);
            i < posting.rows.length && posting.rows[i]! < end;
            i++
          ) {
            const row = posting.rows[i]!;
            if (excluded.has(row)) continue;
            if (scores[row] === 0) touched.push(row);
            scores[row]! += posting.impacts[i]!;
          }
        }
      }
      return { rows: touched, of: (row) => scores[row]! };
    },
  };
}

/** The first index whose value is at least `value`. */
function lowerBound(sorted: Uint32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
