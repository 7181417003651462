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
    const gradient = weights.map((weight) => -RIDGE * weight);
    const hessian = weights.map((_, i) => weights.map((__, j) => (i === j ? RIDGE : 0)));
    for (const { terms, label, weight } of rows) {
      const p = logistic(weights, terms);
      const residual = weight * (label - p);
      const curvature = weight * p * (1 - p);
      for (let i = 0; i < size; i++) {
        gradient[i]! += residual * terms[i]!;
        for (let j = 0; j <= i; j++) hessian[i]![j]! += curvature * terms[i]! * terms[j]!;
      }
    }
    for (let i = 0; i < size; i++)
      for (let j = i + 1; j < size; j++) hessian[i]![j] = hessian[j]![i]!;
    const step = solve(hessian, gradient);
    for (let i = 0; i < size; i++) weights[i]! += step[i]!;
    if (Math.max(...step.map(Math.abs)) < STEP_MIN) break;
  }
  return weights;
}

/** Solves `matrix x = vector` for a positive definite matrix by Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, vector[i]!]);
  const size = vector.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++)
      if (Math.abs(rows[row]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = row;
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    const own = rows[column]!;
    if (own[column] === 0) continue;
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const factor = rows[row]![column]! / own[column]!;
      for (let i = column; i <= size; i++) rows[row]![i]! -= factor * own[i]!;
    }
  }
  return rows.map((row, i) => (row[i] === 0 ? 0 : row[size]! / row[i]!));
}
