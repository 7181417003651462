import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Entry, openStore, type Store } from "../src/store.ts";
import { tool } from "./tool-factory.ts";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shortlist-store-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const KEPT = 10;
const entries = (...names: string[]): Entry[] =>
  names.map((name) => ({ tool: tool({ name }), source: "registry" }));
const namesOf = (revision?: number) =>
  store.revision("c", revision)?.entries.map((entry) => entry.tool.name);
const raw = <T>(sql: string) => {
  const db = new Database(join(folder, "shortlist.db"), { readonly: true });
  try {
    return db.prepare(sql).get() as T;
  } finally {
    db.close();
  }
};

describe("the store", () => {
  it("has on disk what it has acknowledged", () => {
    const db = new Database(join(folder, "shortlist.db"));
    expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
    db.close();
    store.commit("c", "model", entries("a", "b"), KEPT);
    const again = openStore(folder);
    expect(again.catalogs()).toEqual([{ name: "c", revision: 1, tools: 2 }]);
    again.close();
  });

  it("numbers a catalog's revisions, and keeps the former ones whole", () => {
    expect(store.commit("c", "model", entries("a", "b"), KEPT)).toBe(1);
    expect(store.commit("c", "model", entries("b", "c"), KEPT)).toBe(2);
    expect(store.commit("d", "model", entries("x"), KEPT)).toBe(1);
    expect([namesOf(), namesOf(1), namesOf(3)]).toEqual([["b", "c"], ["a", "b"], undefined]);
  });

  it("holds an unchanged tool once", () => {
    store.commit("c", "model", entries("a", "b"), KEPT);
    store.commit("c", "model", entries("a", "b", "c"), KEPT);
    expect(raw<{ n: number }>("SELECT count(*) AS n FROM tools").n).toBe(3);
  });

  it("commits all or nothing", () => {
    store.commit("c", "model", entries("a"), KEPT);
    const broken = [
      ...entries("b"),
      { tool: tool({ name: "bad" }), source: null as unknown as string },
    ];
    expect(() => store.commit("c", "model", broken, KEPT)).toThrow();
    expect(store.catalogs()).toEqual([{ name: "c", revision: 1, tools: 1 }]);
    expect(raw<{ n: number }>("SELECT count(*) AS n FROM tools").n).toBe(1);
  });

  it("prunes revisions beyond those kept, and the tools that only they had", () => {
    for (const name of ["a", "b", "c"]) store.commit("c", "model", entries(name), 2);
    expect([namesOf(1), namesOf(2), namesOf(3)]).toEqual([undefined, ["b"], ["c"]]);
    expect(raw<{ n: number }>("SELECT count(*) AS n FROM tools").n).toBe(2);
    expect(store.commit("c", "model", entries("d"), 2)).toBe(4);
  });

  it("commits a tool that was written ahead, also where a prune has taken it since", () => {
    const ahead = entries("ahead");
    store.saveTools(ahead.map((entry) => entry.tool));
    for (const name of ["a", "b"]) store.commit("d", "model", entries(name), 1);
    expect(raw<{ n: number }>("SELECT count(*) AS n FROM tools").n).toBe(1);
    store.commit("c", "model", ahead, KEPT);
    expect(namesOf()).toEqual(["ahead"]);
  });

  it("gives a vector back bit for bit, under its own fingerprint only", () => {
    const inside = new Float32Array([9, 0.1, -0.2, 0.3, 1e-30]).subarray(1);
    store.saveVectors("model", [["text", inside]]);
    expect(store.vectors("model", ["text", "other"])).toEqual(
      new Map([["text", Float32Array.from(inside)]]),
    );
    expect(store.vectors("another", ["text"]).size).toBe(0);
  });

  it("keeps suites", () => {
    const suite = [{ task_id: "1", goal: "g", acceptable: ["a"] }];
    store.saveSuite("s", suite);
    store.saveSuite("s", [...suite, { task_id: "2", goal: "h", acceptable: ["b"] }]);
    expect(store.suites()).toEqual([{ name: "s", cases: 2 }]);
    expect(store.suite("s")).toHaveLength(2);
    expect([store.deleteSuite("s"), store.deleteSuite("s"), store.suite("s")]).toEqual([
      true,
      false,
      undefined,
    ]);
  });

  it("refuses a database of a newer program, one that is none, and a folder that cannot be", () => {
    const newer = mkdtempSync(join(tmpdir(), "shortlist-newer-"));
    const db = new Database(join(newer, "shortlist.db"));
    db.pragma("user_version = 99");
    db.close();
    expect(() => openStore(newer)).toThrow(/schema 99, newer/);
    writeFileSync(
      join(newer, "shortlist.db"),
      "no database at all, but long enough to have a header".repeat(10),
    );
    expect(() => openStore(newer)).toThrow(/cannot be opened/);
    expect(() => openStore(join(newer, "shortlist.db"))).toThrow(/cannot be opened/);
    rmSync(newer, { recursive: true, force: true });
  });
});
