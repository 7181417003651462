import { quantise } from "./codes.ts";
import { SCAN_WASM } from "./scan-wasm.ts";

const PAGE_BYTES = 65_536;
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;
/** The kernel reads four vectors of four floats, or sixteen codes, a turn. */
const DIMENSION_MULTIPLE = 16;
/** Rows from which codes are kept: a first look at them pays (bench:crossover). */
const CODES_ROWS_MIN = 2_000;
/** What sums of single floats may differ by. */
const ROUNDING = 1e-5;

const kernel = new WebAssembly.Module(Buffer.from(SCAN_WASM, "base64"));

/** Inner products of the query with the rows [start, end); `scores[row]` is valid until the next scan. */
export type Scan = (start: number, end: number) => Float32Array;

/** The vectors of a revision's views, one contiguous array in the memory of the kernel that scans it. */
export interface Rows {
  readonly count: number;
  readonly dimension: number;
  /** Row `i` is `vectors[i * dimension …]`; written by `set` alone. */
  readonly vectors: Float32Array;
  set(row: number, vector: Float32Array): void;
  scanner(query: Float32Array): Scan;
  /** The same from codes of 8 bits, a third of the time, and by how much each product may be off at most; undefined where there are few rows. */
  roughScanner?(query: Float32Array): { scan: Scan; error: number };
}

/** Room for `count` rows, all zero. */
export function allocateRows(
  count: number,
  dimension: number,
  codesRowsMin = CODES_ROWS_MIN,
): Rows {
  if (dimension % DIMENSION_MULTIPLE !== 0) {
    throw new Error(
      `vectors of ${dimension} dimensions: a multiple of ${DIMENSION_MULTIPLE} is needed`,
    );
  }
  const rowBytes = dimension * FLOAT_BYTES;
  const withCodes = count >= codesRowsMin;
  const layout = layoutOf({
    query: rowBytes,
    rows: count * rowBytes,
    scores: count * FLOAT_BYTES,
    queryCodes: dimension * Int16Array.BYTES_PER_ELEMENT,
    codes: withCodes ? count * dimension : 0,
    scales: withCodes ? count * FLOAT_BYTES : 0,
  });
  const pages = Math.ceil(layout.end / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = new WebAssembly.Instance(kernel, { env: { memory } });
  const { scan, scan_codes } = exports as unknown as Kernel;
  const { buffer } = memory;
  const query = new Float32Array(buffer, layout.at.query, dimension);
  const vectors = new Float32Array(buffer, layout.at.rows, count * dimension);
  const scores = new Float32Array(buffer, layout.at.scores, count);
  const queryCodes = new Int16Array(buffer, layout.at.queryCodes, dimension);
  const codes = new Int8Array(buffer, layout.at.codes, withCodes ? count * dimension : 0);
  const scales = new Float32Array(buffer, layout.at.scales, withCodes ? count : 0);
  const narrow = new Int8Array(dimension);
  let errorMax = 0;

  return {
    count,
    dimension,
    vectors,
    set(row, vector) {
      vectors.set(vector, row * dimension);
      if (!withCodes) return;
      const { scale, error } = quantise(vector, codes, row * dimension);
      scales[row] = scale;
      errorMax = Math.max(errorMax, error);
    },
    scanner(vector) {
      query.set(vector);
      const { at } = layout;
      return (start, end) => {
        const out = at.scores + start * FLOAT_BYTES;
        scan(at.query, at.rows + start * rowBytes, end - start, dimension, out);
        return scores;
      };
    },
    ...(withCodes && {
      roughScanner(vector: Float32Array) {
        const { scale, error } = quantise(vector, narrow, 0);
        queryCodes.set(narrow);
        const { at } = layout;
        return {
          // Cauchy and Schwarz: |q.v - q'.v'| <= |v - v'| + |q - q'| (1 + |v - v'|), for unit q and v.
          error: errorMax + error * (1 + errorMax) + ROUNDING,
          scan(start: number, end: number) {
            const scaleAt = at.scales + start * FLOAT_BYTES;
            const codesAt = at.codes + start * dimension;
            const out = at.scores + start * FLOAT_BYTES;
            scan_codes(at.queryCodes, codesAt, end - start, dimension, scaleAt, scale, out);
            return scores;
          },
        };
      },
    }),
  };
}

interface Kernel {
  scan(query: number, rows: number, count: number, dimension: number, out: number): void;
  scan_codes(
    query: number,
    rows: number,
    count: number,
    dimension: number,
    scales: number,
    by: number,
    out: number,
  ): void;
}

/** Where each part begins: one after the other, at multiples of 16 bytes. */
function layoutOf<Part extends string>(
  bytes: Record<Part, number>,
): { at: Record<Part, number>; end: number } {
  let end = 0;
  const at = {} as Record<Part, number>;
  for (const [part, size] of Object.entries(bytes) as [Part, number][]) {
    at[part] = end;
    end += Math.ceil(size / 16) * 16;
  }
  return { at, end };
}
