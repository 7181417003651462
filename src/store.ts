import type { Calibration } from "./calibration.ts";
import type { RoutingCase } from "./routing.ts";
import type { ToolSpec } from "./tool.ts";

export { openStore } from "./store/sqlite.ts";

/** A tool of a catalog and the source that brought it. */
export interface Entry {
  tool: ToolSpec;
  source: string;
}

export interface StoredRevision {
  revision: number;
  /** Fingerprint of the model that the revision was embedded with. */
  fingerprint: string;
  entries: Entry[];
}

export interface CatalogSummary {
  name: string;
  revision: number;
  tools: number;
}

export interface RevisionSummary {
  revision: number;
  created_at: string;
  fingerprint: string;
  tools: number;
  live: boolean;
}

/** A finished bench. `result` is what the wire shows; `outcomes` is what each case got, compressed. */
export interface StoredBench {
  id: string;
  catalog: string;
  created_at: string;
  result: Record<string, unknown>;
  outcomes: Uint8Array;
}

/** A learned query-side adapter: a square matrix, row by row, and how it did. */
export interface StoredAdapter {
  report: Record<string, unknown>;
  weights: Float32Array;
}

/** A decision as it was answered. */
export interface StoredTrace {
  id: string;
  catalog: string;
  at: string;
  trace: Record<string, unknown>;
}

/** What came of a decision, as far as it is known. */
export interface StoredRecord {
  selected?: string | null;
  acceptable?: string[];
  forbidden?: string[];
  verified_success?: boolean;
  progress?: number;
}

/** Everything that must outlive the process. A write has reached the disk when its call returns. */
export interface Store {
  catalogs(): CatalogSummary[];
  /** The given revision, or the live one; undefined where there is none. */
  revision(catalog: string, revision?: number): StoredRevision | undefined;
  /** The revisions that are held, newest first. */
  revisions(catalog: string): RevisionSummary[];
  /** Makes a held revision the live one; false where it is not held. */
  promote(catalog: string, revision: number): boolean;
  /** Writes tools ahead of a commit, so that a large one is short. Harmless where none follows. */
  saveTools(tools: readonly ToolSpec[]): void;
  /** Makes the entries the catalog's live revision, all or nothing, and gives its number. */
  commit(catalog: string, fingerprint: string, entries: readonly Entry[], kept: number): number;
  /** The vectors held of these texts under the fingerprint. @throws where a stored vector fails its check */
  vectors(fingerprint: string, texts: Iterable<string>): Map<string, Float32Array>;
  saveVectors(
    fingerprint: string,
    vectors: Iterable<readonly [text: string, vector: Float32Array]>,
  ): void;
  suite(name: string): RoutingCase[] | undefined;
  suites(): { name: string; cases: number }[];
  saveSuite(name: string, cases: readonly RoutingCase[]): void;
  deleteSuite(name: string): boolean;
  /** The catalogs' own calibrations under the model. */
  calibrations(fingerprint: string): Map<string, Calibration>;
  saveCalibration(catalog: string, calibration: Calibration): void;
  deleteCalibration(catalog: string, fingerprint: string): void;
  /** The catalogs' learned adapters under the model. */
  adapters(fingerprint: string): Map<string, StoredAdapter>;
  saveAdapter(catalog: string, fingerprint: string, adapter: StoredAdapter): void;
  deleteAdapter(catalog: string, fingerprint: string): boolean;
  saveTraces(traces: readonly StoredTrace[]): void;
  trace(id: string): StoredTrace | undefined;
  /** Removes the traces before a time and the oldest beyond `kept`, with their records. */
  pruneTraces(before: string, kept: number): void;
  /** Joins the record to what is known of the same trace and trial, and gives the whole. */
  saveRecord(trace: string, trial: number, record: StoredRecord): StoredRecord;
  /** What came of one trace, by trial. */
  recordsOf(trace: string): (StoredRecord & { trial: number })[];
  /** The catalog's records since a time, each with its trace, oldest first. */
  records(
    catalog: string,
    since: string,
  ): {
    trace_id: string;
    trial: number;
    record: StoredRecord;
    trace: Record<string, unknown>;
  }[];
  /** A bench's result with its cases' outcomes; the oldest beyond `kept` go. */
  saveBench(bench: StoredBench, kept: number): void;
  bench(id: string): StoredBench | undefined;
  /** Newest first, without their outcomes. */
  benches(): Omit<StoredBench, "outcomes">[];
  close(): void;
}
