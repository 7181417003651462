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

/** Everything that must outlive the process. A write has reached the disk when its call returns. */
export interface Store {
  catalogs(): CatalogSummary[];
  /** The given revision, or the live one; undefined where there is none. */
  revision(catalog: string, revision?: number): StoredRevision | undefined;
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
  close(): void;
}
