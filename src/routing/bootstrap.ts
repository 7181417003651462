const SEED = 20_260_101;
const RESAMPLES_MAX = 1_000;
const RESAMPLES_MIN = 100;
/** Draws in all: large suites have narrow intervals and need fewer resamples. */
const DRAWS_MAX = 1_000_000;
const TAIL = 0.025;
const NEGLIGIBLE = 1e-18;

/** The 95 % percentile bootstrap interval (Efron 1979) of the mean of the values that are numbers; null where there is none. */
export function intervalOf(values: Float64Array): [number, number] | null {
  const own = values.filter((value) => !Number.isNaN(value));
  if (own.length === 0) return null;
  if (own.every((value) => value === 0 || value === 1)) return binomialInterval(own);
  return percentiles(own.length, (draw) => {
    let sum = 0;
    for (let i = 0; i < own.length; i++) sum += own[draw()]!;
    return sum / own.length;
  });
}

/**
 * The same for the difference of two means over the same cases, in the same order: pairs are drawn
 * together, so that what is hard for both does not widen the interval. Null where no case counts in both.
 */
export function pairedInterval(
  before: Float64Array,
  after: Float64Array,
): { difference: number; interval: [number, number]; cases: number } | null {
  const differences = after
    .map((value, i) => value - before[i]!)
    .filter((value) => !Number.isNaN(value));
  const interval = intervalOf(differences);
  if (!interval) return null;
  const difference = differences.reduce((sum, value) => sum + value, 0) / differences.length;
  return { difference, interval, cases: differences.length };
}

/**
 * Of zeros and ones the bootstrap needs no draws: a resample's sum is binomial, and its percentiles
 * are known. The probabilities are relative to the most likely sum, so that none underflows.
 */
function binomialInterval(bits: Float64Array): [number, number] {
  const size = bits.length;
  const share = bits.reduce((sum, bit) => sum + bit, 0) / size;
  if (share === 0 || share === 1) return [share, share];
  const mode = Math.min(size, Math.floor((size + 1) * share));
  const odds = share / (1 - share);
  const chances = new Float64Array(size + 1);
  chances[mode] = 1;
  for (let k = mode; k < size && chances[k]! > NEGLIGIBLE; k++)
    chances[k + 1] = (chances[k]! * odds * (size - k)) / (k + 1);
  for (let k = mode; k > 0 && chances[k]! > NEGLIGIBLE; k--)
    chances[k - 1] = (chances[k]! * k) / (odds * (size - k + 1));
  const total = chances.reduce((sum, chance) => sum + chance, 0);
  const quantile = (level: number) => {
    let sum = 0;
    let k = 0;
    while (k < size && (sum += chances[k]! / total) < level) k++;
    return k / size;
  };
  return [quantile(TAIL), quantile(1 - TAIL)];
}

/** Seeded, so that the same records have the same interval. */
function percentiles(size: number, statistic: (draw: () => number) => number): [number, number] {
  const resamples = Math.min(RESAMPLES_MAX, Math.max(RESAMPLES_MIN, Math.floor(DRAWS_MAX / size)));
  let state = SEED;
  const draw = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * size);
  };
  const sorted = Float64Array.from({ length: resamples }, () => statistic(draw)).toSorted();
  const at = (share: number) => sorted[Math.min(resamples - 1, Math.floor(share * resamples))]!;
  return [at(TAIL), at(1 - TAIL)];
}
