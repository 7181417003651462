import { SCAN_WASM } from "./scan-wasm.ts";

const PAGE_BYTES = 65_536;
/** The kernel reads four vectors of four floats a turn. */
const DIMENSION_MULTIPLE = 16;

const kernel = new WebAssembly.Module(Buffer.from(SCAN_WASM, "base64"));

/** Inner products of the query with the rows [start, end); `scores[row]` is valid until the next scan. */
type Scan = (start: number, end: number) => Float32Array;

/** The vectors of a revision's views, one contiguous array in the memory of the kernel that scans it. */
export interface Rows {
  readonly count: number;
  readonly dimension: number;
  /** Row `i` is `vectors[i * dimension …]`. */
  readonly vectors: Float32Array;
  scanner(query: Float32Array): Scan;
}

/** Room for `count` rows, all zero. */
export function allocateRows(count: number, dimension: number): Rows {
  if (dimension % DIMENSION_MULTIPLE !== 0) {
    throw new Error(
      `vectors of ${dimension} dimensions: a multiple of ${DIMENSION_MULTIPLE} is needed`,
    );
  }
  // Layout: the query, the rows, a score a row.
  const rowBytes = dimension * Float32Array.BYTES_PER_ELEMENT;
  const rowsAt = rowBytes;
  const scoresAt = rowsAt + count * rowBytes;
  const pages = Math.ceil((scoresAt + count * Float32Array.BYTES_PER_ELEMENT) / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const query = new Float32Array(memory.buffer, 0, dimension);
  const vectors = new Float32Array(memory.buffer, rowsAt, count * dimension);
  const scores = new Float32Array(memory.buffer, scoresAt, count);
  const { exports } = new WebAssembly.Instance(kernel, { env: { memory } });
  const scan = exports["scan"] as (
    query: number,
    rows: number,
    count: number,
    dimension: number,
    out: number,
  ) => void;

  return {
    count,
    dimension,
    vectors,
    scanner(vector) {
      query.set(vector);
      return (start, end) => {
        scan(
          0,
          rowsAt + start * rowBytes,
          end - start,
          dimension,
          scoresAt + start * Float32Array.BYTES_PER_ELEMENT,
        );
        return scores;
      };
    },
  };
}
