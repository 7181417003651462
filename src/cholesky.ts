/**
 * `X` in `A X = B` for a symmetric positive definite A of `size` by `size` and a B of `size` by `columns`,
 * row by row, by Cholesky's factorisation. A is overwritten by its factor. @throws Error where A is not
 * positive definite
 */
export function solve(
  a: Float64Array,
  b: Float64Array,
  size: number,
  columns: number,
): Float64Array {
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
  const subtract = (to: number, from: number, factor: number) => {
    if (factor === 0) return;
    for (let j = 0; j < columns; j++) x[to * columns + j]! -= factor * x[from * columns + j]!;
  };
  const scale = (row: number, by: number) => {
    for (let j = 0; j < columns; j++) x[row * columns + j]! *= by;
  };
  // L Y = B, then L' X = Y; whole rows at a time, so that memory is read in order.
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) subtract(i, k, a[i * size + k]!);
    scale(i, 1 / a[i * size + i]!);
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) subtract(i, k, a[k * size + i]!);
    scale(i, 1 / a[i * size + i]!);
  }
  return x;
}
