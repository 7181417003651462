import { solve } from "../cholesky.ts";

/** One example: its terms, 0 or 1, and how much it counts. */
export interface LogisticRow {
  terms: readonly number[];
  label: number;
  weight: number;
}

/** Keeps the fit finite where the examples are separable. */
const RIDGE = 1e-3;
const ROUNDS_MAX = 50;
const STEP_MIN = 1e-8;

export function logistic(weights: readonly number[], terms: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < terms.length; i++) sum += weights[i]! * terms[i]!;
  return 1 / (1 + Math.exp(-sum));
}

/** Weighted maximum likelihood by Newton's method (iteratively reweighted least squares), with a small ridge. */
export function fitLogistic(rows: readonly LogisticRow[], size: number): number[] {
  const weights = Array.from({ length: size }, () => 0);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const gradient = Float64Array.from(weights, (weight) => -RIDGE * weight);
    // Symmetric: the solver reads its lower half alone.
    const hessian = new Float64Array(size * size);
    for (let i = 0; i < size; i++) hessian[i * size + i] = RIDGE;
    for (const { terms, label, weight } of rows) {
      const p = logistic(weights, terms);
      const residual = weight * (label - p);
      const curvature = weight * p * (1 - p);
      for (let i = 0; i < size; i++) {
        gradient[i]! += residual * terms[i]!;
        for (let j = 0; j <= i; j++) hessian[i * size + j]! += curvature * terms[i]! * terms[j]!;
      }
    }
    const step = solve(hessian, gradient, size, 1);
    for (let i = 0; i < size; i++) weights[i]! += step[i]!;
    if (Math.max(...step.map(Math.abs)) < STEP_MIN) break;
  }
  return weights;
}
