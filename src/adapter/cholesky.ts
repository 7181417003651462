/**
 * `X` in `A X = B` for a symmetric positive definite A, all `size` by `size` and row by row, by Cholesky's
 * factorisation. A is overwritten by its factor. @throws Error where A is not positive definite
 */
export function solve(a: Float64Array, b: Float64Array, size: number): Float64Array {
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = a[i * size + j]!;
      for (let k = 0; k < j; k++) sum -= a[i * size + k]! * a[j * size + k]!;
      if (i !== j) a[i * size + j] = sum / a[j * size + j]!;
      else if (sum > 0) a[i * size + i] = Math.sqrt(sum);
      else throw new Error("the matrix is not positive definite");
    }
  }
  const x = Float64Array.from(b);
  // L Y = B, then L' X = Y; whole rows at a time, so that memory is read in order.
  for (let i = 0; i < size; i++) {
    const row = i * size;
    for (let k = 0; k < i; k++) subtract(x, row, k * size, a[row + k]!, size);
    scale(x, row, 1 / a[row + i]!, size);
  }
  for (let i = size - 1; i >= 0; i--) {
    const row = i * size;
    for (let k = i + 1; k < size; k++) subtract(x, row, k * size, a[k * size + i]!, size);
    scale(x, row, 1 / a[row + i]!, size);
  }
  return x;
}

function subtract(x: Float64Array, to: number, from: number, factor: number, size: number): void {
  if (factor === 0) return;
  for (let j = 0; j < size; j++) x[to + j]! -= factor * x[from + j]!;
}

function scale(x: Float64Array, row: number, by: number, size: number): void {
  for (let j = 0; j < size; j++) x[row + j]! *= by;
}
