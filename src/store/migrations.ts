import type { Database } from "better-sqlite3";

/** Numbered by position: never edit one that has shipped, append the next. */
const MIGRATIONS = [
  `CREATE TABLE tools (
     id INTEGER PRIMARY KEY,
     hash BLOB NOT NULL UNIQUE,
     spec TEXT NOT NULL
   ) STRICT;
   CREATE TABLE revisions (
     id INTEGER PRIMARY KEY,
     catalog TEXT NOT NULL,
     revision INTEGER NOT NULL,
     fingerprint TEXT NOT NULL,
     created_at TEXT NOT NULL,
     UNIQUE (catalog, revision)
   ) STRICT;
   CREATE TABLE catalogs (
     name TEXT PRIMARY KEY,
     live INTEGER NOT NULL REFERENCES revisions (id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE manifest (
     revision INTEGER NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
     tool INTEGER NOT NULL REFERENCES tools (id),
     source TEXT NOT NULL,
     PRIMARY KEY (revision, tool)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX manifest_by_tool ON manifest (tool);
   CREATE TABLE embeddings (
     fingerprint TEXT NOT NULL,
     text_hash BLOB NOT NULL,
     vector BLOB NOT NULL,
     PRIMARY KEY (fingerprint, text_hash)
   ) STRICT;
   CREATE TABLE suites (
     name TEXT PRIMARY KEY,
     cases TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE calibrations (
     catalog TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     calibration TEXT NOT NULL,
     PRIMARY KEY (catalog, fingerprint)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE benches (
     id TEXT PRIMARY KEY,
     catalog TEXT NOT NULL,
     created_at TEXT NOT NULL,
     result TEXT NOT NULL,
     outcomes BLOB NOT NULL
   ) STRICT;
   CREATE TABLE adapters (
     catalog TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     report TEXT NOT NULL,
     weights BLOB NOT NULL,
     PRIMARY KEY (catalog, fingerprint)
   ) STRICT;
   CREATE TABLE traces (
     id TEXT PRIMARY KEY,
     catalog TEXT NOT NULL,
     at TEXT NOT NULL,
     trace TEXT NOT NULL
   ) STRICT;
   CREATE INDEX traces_by_time ON traces (at);
   CREATE TABLE records (
     trace TEXT NOT NULL,
     trial INTEGER NOT NULL,
     at TEXT NOT NULL,
     record TEXT NOT NULL,
     PRIMARY KEY (trace, trial)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX records_by_time ON records (at);`,
];

/** Brings the database to the newest schema. @throws Error where a newer program has written it. */
export function migrate(db: Database): void {
  const version = db.pragma("user_version", { simple: true }) as number;
  if (version > MIGRATIONS.length) {
    throw new Error(
      `the database has schema ${version}, newer than this program's ${MIGRATIONS.length}`,
    );
  }
  for (let next = version; next < MIGRATIONS.length; next++) {
    db.transaction(() => {
      db.exec(MIGRATIONS[next]!);
      db.pragma(`user_version = ${next + 1}`);
    })();
  }
}
