import type { Database } from "better-sqlite3";
import type { Calibration } from "../calibration.ts";
import type { Store, StoredAdapter, StoredBench, StoredRecord, StoredTrace } from "../store.ts";

type Measurements = Pick<
  Store,
  | "calibrations"
  | "saveCalibration"
  | "deleteCalibration"
  | "adapters"
  | "saveAdapter"
  | "deleteAdapter"
  | "saveBench"
  | "bench"
  | "benches"
  | "saveTraces"
  | "trace"
  | "pruneTraces"
  | "saveRecord"
  | "records"
  | "recordsOf"
>;

/** What was fitted and measured: calibrations, adapters, benches, traces and records. */
export function measurements(db: Database): Measurements {
  const selectCalibrations = db.prepare<[string], { catalog: string; calibration: string }>(
    `SELECT catalog, calibration FROM calibrations WHERE fingerprint = ?`,
  );
  const upsertCalibration = db.prepare(
    `INSERT INTO calibrations (catalog, fingerprint, calibration) VALUES (?, ?, ?)
       ON CONFLICT (catalog, fingerprint) DO UPDATE SET calibration = excluded.calibration`,
  );
  const removeCalibration = db.prepare(
    `DELETE FROM calibrations WHERE catalog = ? AND fingerprint = ?`,
  );
  const selectAdapters = db.prepare<[string], { catalog: string; report: string; weights: Buffer }>(
    `SELECT catalog, report, weights FROM adapters WHERE fingerprint = ?`,
  );
  const upsertAdapter = db.prepare(
    `INSERT INTO adapters (catalog, fingerprint, report, weights) VALUES (?, ?, ?, ?)
       ON CONFLICT (catalog, fingerprint)
       DO UPDATE SET report = excluded.report, weights = excluded.weights`,
  );
  const removeAdapter = db.prepare(`DELETE FROM adapters WHERE catalog = ? AND fingerprint = ?`);
  const insertBench = db.prepare(
    `INSERT INTO benches (id, catalog, created_at, result, outcomes) VALUES (?, ?, ?, ?, ?)`,
  );
  const pruneBenches = db.prepare(
    `DELETE FROM benches WHERE id NOT IN (SELECT id FROM benches ORDER BY created_at DESC LIMIT ?)`,
  );
  const selectBench = db.prepare<[string], BenchRow>(`SELECT * FROM benches WHERE id = ?`);
  const selectBenches = db.prepare<[], Omit<BenchRow, "outcomes">>(
    `SELECT id, catalog, created_at, result FROM benches ORDER BY created_at DESC`,
  );
  const insertTrace = db.prepare(
    `INSERT INTO traces (id, catalog, at, trace) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  );
  const selectTrace = db.prepare<[string], { catalog: string; at: string; trace: string }>(
    `SELECT catalog, at, trace FROM traces WHERE id = ?`,
  );
  const pruneByTime = db.prepare(`DELETE FROM traces WHERE at < ?`);
  const pruneByCount = db.prepare(
    `DELETE FROM traces WHERE at < (SELECT at FROM traces ORDER BY at DESC LIMIT 1 OFFSET ?)`,
  );
  const pruneRecords = db.prepare(`DELETE FROM records WHERE trace NOT IN (SELECT id FROM traces)`);
  const upsertRecord = db.prepare(
    `INSERT INTO records (trace, trial, at, record) VALUES (?, ?, ?, ?)
       ON CONFLICT (trace, trial) DO UPDATE SET record = excluded.record`,
  );
  const selectRecord = db.prepare<[string, number], { record: string }>(
    `SELECT record FROM records WHERE trace = ? AND trial = ?`,
  );
  const selectRecordsOf = db.prepare<[string], { trial: number; record: string }>(
    `SELECT trial, record FROM records WHERE trace = ? ORDER BY trial`,
  );
  const selectRecords = db.prepare<
    [string, string],
    { trace_id: string; trial: number; record: string; trace: string }
  >(
    `SELECT r.trace AS trace_id, r.trial, r.record, t.trace FROM records r
       JOIN traces t ON t.id = r.trace WHERE t.catalog = ? AND t.at >= ? ORDER BY t.at`,
  );

  return {
    calibrations: (fingerprint) =>
      new Map(
        selectCalibrations
          .all(fingerprint)
          .map(({ catalog, calibration }) => [catalog, JSON.parse(calibration) as Calibration]),
      ),
    saveCalibration: (catalog, calibration) =>
      void upsertCalibration.run(catalog, calibration.fingerprint, JSON.stringify(calibration)),
    deleteCalibration: (catalog, fingerprint) => void removeCalibration.run(catalog, fingerprint),

    adapters: (fingerprint) =>
      new Map(
        selectAdapters.all(fingerprint).map(({ catalog, report, weights }) => [
          catalog,
          {
            report: JSON.parse(report) as StoredAdapter["report"],
            weights: new Float32Array(new Uint8Array(weights).buffer),
          },
        ]),
      ),
    saveAdapter: (catalog, fingerprint, { report, weights }) =>
      void upsertAdapter.run(
        catalog,
        fingerprint,
        JSON.stringify(report),
        Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength),
      ),
    deleteAdapter: (catalog, fingerprint) => removeAdapter.run(catalog, fingerprint).changes > 0,

    saveBench: db.transaction(
      ({ id, catalog, created_at, result, outcomes }: StoredBench, kept: number) => {
        insertBench.run(id, catalog, created_at, JSON.stringify(result), outcomes);
        pruneBenches.run(kept);
      },
    ),
    bench(id) {
      const row = selectBench.get(id);
      return row && { ...row, result: JSON.parse(row.result) as StoredBench["result"] };
    },
    benches: () =>
      selectBenches
        .all()
        .map((row) => ({ ...row, result: JSON.parse(row.result) as StoredBench["result"] })),

    saveTraces: db.transaction((traces: readonly StoredTrace[]) => {
      for (const { id, catalog, at, trace } of traces)
        insertTrace.run(id, catalog, at, JSON.stringify(trace));
    }),
    trace(id) {
      const row = selectTrace.get(id);
      return row && { id, ...row, trace: JSON.parse(row.trace) as StoredTrace["trace"] };
    },
    pruneTraces: db.transaction((before: string, kept: number) => {
      const gone = pruneByTime.run(before).changes + pruneByCount.run(kept - 1).changes;
      if (gone > 0) pruneRecords.run();
    }),
    saveRecord: db.transaction((trace: string, trial: number, record: StoredRecord) => {
      const known = selectRecord.get(trace, trial)?.record;
      const joined = { ...(known && (JSON.parse(known) as StoredRecord)), ...record };
      upsertRecord.run(trace, trial, new Date().toISOString(), JSON.stringify(joined));
      return joined;
    }),
    recordsOf: (trace) =>
      selectRecordsOf
        .all(trace)
        .map(({ trial, record }) => ({ trial, ...(JSON.parse(record) as StoredRecord) })),
    records: (catalog, since) =>
      selectRecords.all(catalog, since).map(({ trace_id, trial, record, trace }) => ({
        trace_id,
        trial,
        record: JSON.parse(record) as StoredRecord,
        trace: JSON.parse(trace) as StoredTrace["trace"],
      })),
  };
}

interface BenchRow {
  id: string;
  catalog: string;
  created_at: string;
  result: string;
  outcomes: Buffer;
}
