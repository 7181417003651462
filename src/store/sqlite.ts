import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { ShortlistError } from "../errors.ts";
import type { RoutingCase } from "../routing.ts";
import type { CatalogSummary, Entry, Store, StoredRevision } from "../store.ts";
import type { ToolSpec } from "../tool.ts";
import { measurements } from "./measurements.ts";
import { migrate } from "./migrations.ts";

const hash16 = (text: string) => createHash("sha256").update(text).digest().subarray(0, 16);

/** SQLite in the folder, created where absent. WAL, and `synchronous=FULL`: acknowledged means on disk. */
export function openStore(folder: string): Store {
  let db: Database.Database;
  try {
    mkdirSync(folder, { recursive: true });
    db = new Database(join(folder, "shortlist.db"));
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("foreign_keys = ON");
    migrate(db);
  } catch (error) {
    throw new ShortlistError(
      "corrupt_store",
      `The database in ${folder} cannot be opened: ${(error as Error).message}`,
    );
  }

  const selectCatalogs = db.prepare<[], CatalogSummary>(
    `SELECT c.name, r.revision, (SELECT count(*) FROM manifest m WHERE m.revision = r.id) AS tools
       FROM catalogs c JOIN revisions r ON r.id = c.live ORDER BY c.name`,
  );
  const selectLive = db.prepare<[string], { id: number; revision: number; fingerprint: string }>(
    `SELECT r.id, r.revision, r.fingerprint FROM catalogs c JOIN revisions r ON r.id = c.live WHERE c.name = ?`,
  );
  const selectRevision = db.prepare<
    [string, number],
    { id: number; revision: number; fingerprint: string }
  >(`SELECT id, revision, fingerprint FROM revisions WHERE catalog = ? AND revision = ?`);
  const selectRevisions = db.prepare<
    [string],
    { revision: number; created_at: string; fingerprint: string; tools: number; live: number }
  >(
    `SELECT r.revision, r.created_at, r.fingerprint,
            (SELECT count(*) FROM manifest m WHERE m.revision = r.id) AS tools, r.id = c.live AS live
       FROM revisions r JOIN catalogs c ON c.name = r.catalog
      WHERE r.catalog = ? ORDER BY r.revision DESC`,
  );
  const selectEntries = db.prepare<[number], { spec: string; source: string }>(
    `SELECT t.spec, m.source FROM manifest m JOIN tools t ON t.id = m.tool WHERE m.revision = ?`,
  );
  const selectLast = db.prepare<[string], { last: number }>(
    `SELECT coalesce(max(revision), 0) AS last FROM revisions WHERE catalog = ?`,
  );
  const insertRevision = db.prepare(
    `INSERT INTO revisions (catalog, revision, fingerprint, created_at) VALUES (?, ?, ?, ?)`,
  );
  const insertTool = db.prepare(
    `INSERT INTO tools (hash, spec) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`,
  );
  const insertEntry = db.prepare(
    `INSERT INTO manifest (revision, tool, source) SELECT ?, id, ? FROM tools WHERE hash = ?`,
  );
  const setLive = db.prepare(
    `INSERT INTO catalogs (name, live) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET live = excluded.live`,
  );
  const pruneRevisions = db.prepare(`DELETE FROM revisions WHERE catalog = ? AND revision <= ?`);
  const pruneTools = db.prepare(`DELETE FROM tools WHERE id NOT IN (SELECT tool FROM manifest)`);
  const selectVector = db
    .prepare<[string, Buffer], Buffer>(
      `SELECT vector FROM embeddings WHERE fingerprint = ? AND text_hash = ?`,
    )
    .pluck();
  const insertVector = db.prepare(
    `INSERT INTO embeddings (fingerprint, text_hash, vector) VALUES (?, ?, ?)
       ON CONFLICT (fingerprint, text_hash) DO NOTHING`,
  );
  const selectSuite = db.prepare<[string], { cases: string }>(
    `SELECT cases FROM suites WHERE name = ?`,
  );
  const selectSuites = db.prepare<[], { name: string; cases: number }>(
    `SELECT name, json_array_length(cases) AS cases FROM suites ORDER BY name`,
  );
  const upsertSuite = db.prepare(
    `INSERT INTO suites (name, cases) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET cases = excluded.cases`,
  );
  const removeSuite = db.prepare(`DELETE FROM suites WHERE name = ?`);

  // A tool is written once and known by its object after that: a commit only has to name it.
  const hashes = new WeakMap<ToolSpec, Buffer>();
  const saveTools = db.transaction((tools: readonly ToolSpec[]): void => {
    for (const tool of tools) {
      const spec = JSON.stringify(tool);
      const hash = hash16(spec);
      insertTool.run(hash, spec);
      hashes.set(tool, hash);
    }
  });
  const commit = db.transaction(
    (catalog: string, fingerprint: string, entries: readonly Entry[], kept: number): number => {
      saveTools(entries.flatMap(({ tool }) => (hashes.has(tool) ? [] : [tool])));
      const revision = selectLast.get(catalog)!.last + 1;
      const id = insertRevision.run(
        catalog,
        revision,
        fingerprint,
        new Date().toISOString(),
      ).lastInsertRowid;
      for (const { tool, source } of entries) {
        const name = () => insertEntry.run(id, source, hashes.get(tool)).changes === 1;
        if (name()) continue;
        saveTools([tool]); // pruned since it was written ahead
        name();
      }
      setLive.run(catalog, id);
      if (pruneRevisions.run(catalog, revision - kept).changes > 0) pruneTools.run();
      return revision;
    },
  );
  const saveVectors = db.transaction(
    (fingerprint: string, vectors: Iterable<readonly [string, Float32Array]>) => {
      for (const [text, vector] of vectors) {
        insertVector.run(
          fingerprint,
          hash16(text),
          Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
        );
      }
    },
  );

  return {
    catalogs: () => selectCatalogs.all(),
    revision(catalog, revision): StoredRevision | undefined {
      const row =
        revision === undefined ? selectLive.get(catalog) : selectRevision.get(catalog, revision);
      return (
        row && {
          revision: row.revision,
          fingerprint: row.fingerprint,
          entries: selectEntries
            .all(row.id)
            .map(({ spec, source }) => ({ tool: JSON.parse(spec) as ToolSpec, source })),
        }
      );
    },
    revisions: (catalog) =>
      selectRevisions.all(catalog).map((row) => ({ ...row, live: row.live === 1 })),
    promote(catalog, revision) {
      const row = selectRevision.get(catalog, revision);
      if (row) setLive.run(catalog, row.id);
      return row !== undefined;
    },
    saveTools: (tools) => saveTools.immediate(tools),
    commit: (...args) => commit.immediate(...args),
    vectors(fingerprint, texts) {
      const found = new Map<string, Float32Array>();
      for (const text of texts) {
        const vector = selectVector.get(fingerprint, hash16(text));
        // A copy: the driver's buffer may start at any byte, a Float32Array only at a multiple of four.
        if (vector) found.set(text, new Float32Array(new Uint8Array(vector).buffer));
      }
      return found;
    },
    saveVectors: (fingerprint, vectors) => saveVectors.immediate(fingerprint, vectors),
    suite(name) {
      const row = selectSuite.get(name);
      return row && (JSON.parse(row.cases) as RoutingCase[]);
    },
    suites: () => selectSuites.all(),
    saveSuite: (name, cases) => void upsertSuite.run(name, JSON.stringify(cases)),
    deleteSuite: (name) => removeSuite.run(name).changes > 0,
    ...measurements(db),
    close: () => db.close(),
  };
}
