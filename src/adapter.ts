import { solve } from "./cholesky.ts";
import { unit } from "./embedder.ts";

/**
 * Learned routing: a linear map of the query's vector, `q' = normalise(q + step * W q)`, fitted so that
 * requests land nearer to the tools that answered them. Tools' vectors stay as they are, so a fit
 * costs no reindex and is undone by leaving it out.
 */
export interface Adapter {
  dimension: number;
  /** `step * W`, row by row. */
  weights: Float32Array;
}

/** A request's unit vector and its tool's. */
export interface Pair {
  query: Float32Array;
  tool: Float32Array;
}

/** The adapted unit vector. */
export function adapt({ dimension, weights }: Adapter, query: Float32Array): Float32Array {
  const out = new Float32Array(dimension);
  for (let i = 0, at = 0; i < dimension; i++) {
    let sum = query[i]!;
    for (let j = 0; j < dimension; j++) sum += weights[at++]! * query[j]!;
    out[i] = sum;
  }
  return unit(out);
}

/**
 * Ridge regression of what a query misses of its tool: `W = argmin sum |t - q - W q|^2 + ridge |W|^2`,
 * that is `(Q'Q + ridge I) W' = Q'(T - Q)`. `step` scales the whole map.
 */
export function fitAdapter(
  pairs: readonly Pair[],
  dimension: number,
  ridge: number,
  step: number,
): Adapter {
  const gram = new Float64Array(dimension * dimension);
  const cross = new Float64Array(dimension * dimension);
  for (const { query, tool } of pairs) {
    for (let i = 0; i < dimension; i++) {
      const value = query[i]!;
      const at = i * dimension;
      for (let j = 0; j < dimension; j++) {
        gram[at + j]! += value * query[j]!;
        cross[at + j]! += value * (tool[j]! - query[j]!);
      }
    }
  }
  for (let i = 0; i < dimension; i++) gram[i * dimension + i]! += ridge;
  const transposed = solve(gram, cross, dimension, dimension);
  const weights = new Float32Array(dimension * dimension);
  for (let i = 0; i < dimension; i++)
    for (let j = 0; j < dimension; j++)
      weights[i * dimension + j] = step * transposed[j * dimension + i]!;
  return { dimension, weights };
}
