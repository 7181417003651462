import { setImmediate as turn } from "node:timers/promises";
import { type Block, blocksOf, compareRows } from "./exposure.ts";
import { lexicalIndex, type LexicalIndex } from "./lexical-index.ts";
import type { ToolSpec } from "./tool.ts";
import { allocateRows, exactIndex, type Rows, type VectorIndex } from "./vector-index.ts";

/** One text of a tool that is embedded. */
export interface View {
  kind: "primary" | "use_when" | "example";
  text: string;
}

/** A tool with everything a snapshot needs of it. */
export interface Row {
  tool: ToolSpec;
  views: readonly View[];
  /** Sentences that speak against the tool, embedded but never matched. */
  contrasts: readonly string[];
  /** What lexical search reads. */
  document: string;
}

/** An immutable revision of a catalog: rows in the order of `compareRows`, with both indexes over them. */
export interface Snapshot {
  readonly catalog: string;
  readonly revision: number;
  readonly tools: readonly ToolSpec[];
  readonly rowOf: ReadonlyMap<string, number>;
  readonly blocks: readonly Block[];
  /** Rows whose tool has a precondition, ascending. */
  readonly conditional: readonly number[];
  readonly viewOf: (viewRow: number) => View;
  readonly viewStarts: Uint32Array;
  readonly rows: Rows;
  /** The tool's avoid_when sentences: tool `t` has the rows `starts[t] … starts[t + 1]`. */
  readonly contrast: { texts: readonly string[]; starts: Uint32Array; rows: Rows };
  readonly dense: VectorIndex;
  /** The approximate index, where the revision is large enough and its graph is ready. */
  readonly hnsw?: VectorIndex;
  readonly lexical: LexicalIndex;
}

/** Vectors laid out a turn of the event loop: queries go on while a large revision is built. */
const VECTORS_A_TURN = 2_000;

/** Builds a revision beside the live one. `vectorOf` gives the unit vector of a view's text. */
export async function buildSnapshot(input: {
  catalog: string;
  revision: number;
  rows: readonly Row[];
  dimension: number;
  vectorOf(text: string): Float32Array;
}): Promise<Snapshot> {
  const { catalog, revision, dimension } = input;
  const described = input.rows.toSorted((a, b) => compareRows(a.tool, b.tool));
  const tools = described.map(({ tool }) => tool);
  const views = described.flatMap((row) => row.views);
  const contrasts = described.flatMap((row) => row.contrasts);
  const viewStarts = startsOf(described.map((row) => row.views.length));
  const contrastStarts = startsOf(described.map((row) => row.contrasts.length));
  const rowsOf = async (texts: readonly string[]): Promise<Rows> => {
    const rows = allocateRows(texts.length, dimension);
    for (const [index, text] of texts.entries()) {
      rows.set(index, input.vectorOf(text));
      if (index % VECTORS_A_TURN === 0) await turn();
    }
    return rows;
  };
  const rows = await rowsOf(views.map(({ text }) => text));
  return {
    catalog,
    revision,
    tools,
    rowOf: new Map(tools.map((tool, row) => [tool.name, row])),
    blocks: blocksOf(tools),
    conditional: tools.flatMap((tool, row) => (tool.precondition ? [row] : [])),
    viewOf: (viewRow) => views[viewRow]!,
    viewStarts,
    rows,
    contrast: { texts: contrasts, starts: contrastStarts, rows: await rowsOf(contrasts) },
    dense: exactIndex({ rows, starts: viewStarts }),
    lexical: await lexicalIndex(
      described.map(({ document }) => document),
      turn,
    ),
  };
}

/** Where each tool's rows begin, and where the last one's end. */
function startsOf(counts: readonly number[]): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  counts.forEach((count, i) => (starts[i + 1] = starts[i]! + count));
  return starts;
}
