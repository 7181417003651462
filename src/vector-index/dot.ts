/** Inner product of `query` with the row that starts at `offset`; the cosine, where both have unit length. */
export function dot(query: Float32Array, rows: Float32Array, offset: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  // Four sums: a single one would wait for each addition to finish.
  for (let i = 0; i < query.length; i += 4) {
    a += query[i]! * rows[offset + i]!;
    b += query[i + 1]! * rows[offset + i + 1]!;
    c += query[i + 2]! * rows[offset + i + 2]!;
    d += query[i + 3]! * rows[offset + i + 3]!;
  }
  return a + b + (c + d);
}
