import { tokensOf } from "./lexical-index/tokens.ts";
import type { RowRange } from "./rows.ts";

export { tokensOf } from "./lexical-index/tokens.ts";

/** BM25 (Robertson and Zaragoza 2009) with the model card's parameters. */
const K1 = 1.2;
const B = 0.75;

/** The outcome of one query, valid until the next. */
export interface LexicalScores {
  /** The rows that share a word with the query, in no order. */
  rows: Uint32Array;
  /** The score of every row, 0 where it matched nothing. */
  scores: Float32Array;
}

/** BM25 over row-ordered postings: only the postings inside the allowed ranges are read. */
export interface LexicalIndex {
  readonly size: number;
  score(query: string, ranges: readonly RowRange[], excluded: ReadonlySet<number>): LexicalScores;
}

/** A word of nearly every document says nothing, and its postings are the longest. */
const IDF_MIN = 0.05;

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
    if (idf < IDF_MIN) return undefined;
    const impacts = Float32Array.from(rows, (row, i) => {
      const count = countsOf[term]![i]!;
      return (idf * count * (K1 + 1)) / (count + K1 * (1 - B + (B * lengths[row]!) / meanLength));
    });
    return { rows: Uint32Array.from(rows), impacts };
  });

  const scores = new Float32Array(size);
  const touched = new Uint32Array(size);
  let touchedCount = 0;
  return {
    size,
    score(query, ranges, excluded) {
      for (let i = 0; i < touchedCount; i++) scores[touched[i]!] = 0;
      touchedCount = 0;
      for (const token of new Set(tokensOf(query))) {
        const posting = postings[terms.get(token) ?? -1];
        if (!posting) continue;
        const { rows, impacts } = posting;
        for (const { start, end } of ranges) {
          const stop = lowerBound(rows, end);
          for (let i = lowerBound(rows, start); i < stop; i++) {
            const row = rows[i]!;
            if (scores[row] === 0) {
              if (excluded.size > 0 && excluded.has(row)) continue;
              touched[touchedCount++] = row;
            }
            scores[row]! += impacts[i]!;
          }
        }
      }
      return { rows: touched.subarray(0, touchedCount), scores };
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
