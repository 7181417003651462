import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store, type StoredTrace } from "../../src/store.ts";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shortlist-store-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});
const reopened = () => {
  store.close();
  store = openStore(folder);
  return store;
};

const trace = (id: string, at: string, catalog = "c"): StoredTrace => ({
  id,
  catalog,
  at,
  trace: { trace_id: id },
});

describe("traces and records", () => {
  it("outlive the process, and a record is joined to what is known", () => {
    store.saveTraces([trace("a", "2026-01-01T00:00:00.000Z")]);
    store.saveRecord("a", 0, { selected: "x" });
    expect(store.saveRecord("a", 0, { verified_success: true })).toEqual({
      selected: "x",
      verified_success: true,
    });
    // That nothing was selected is a fact too, not the absence of one.
    expect(store.saveRecord("a", 0, { selected: null }).selected).toBeNull();
    store.saveRecord("a", 1, { selected: "y" });
    expect(reopened().recordsOf("a")).toEqual([
      { trial: 0, selected: null, verified_success: true },
      { trial: 1, selected: "y" },
    ]);
    expect(store.trace("a")).toEqual(trace("a", "2026-01-01T00:00:00.000Z"));
    expect(store.records("c", "2026-01-01").map(({ trial }) => trial)).toEqual([0, 1]);
    expect(store.records("c", "2026-01-02")).toEqual([]);
    expect(store.records("other", "")).toEqual([]);
  });

  it("are pruned by age and by number, records with their traces", () => {
    const days = ["01", "02", "03", "04", "05"].map((day) => `2026-01-${day}T00:00:00.000Z`);
    store.saveTraces(days.map((at, i) => trace(`t${i}`, at)));
    for (let i = 0; i < 5; i++) store.saveRecord(`t${i}`, 0, { selected: "x" });
    store.pruneTraces("2026-01-02", 100);
    expect(store.trace("t0")).toBeUndefined();
    expect(store.recordsOf("t0")).toEqual([]);
    store.pruneTraces("", 2);
    expect([1, 2, 3, 4].map((i) => store.trace(`t${i}`)?.id)).toEqual([
      undefined,
      undefined,
      "t3",
      "t4",
    ]);
    expect(store.records("c", "").map(({ trace_id }) => trace_id)).toEqual(["t3", "t4"]);
  });
});

describe("what was fitted", () => {
  it("belongs to its catalog and its model", () => {
    const weights = Float32Array.of(0.5, -1, 2, 3);
    store.saveAdapter("c", "model", { report: { after: 0.9 }, weights });
    const report = { cases: { answerable: 1, no_tool: 0 } } as never;
    store.saveCalibration("c", {
      fingerprint: "model",
      weights: { cosine: 1 },
      floor: 0.1,
      report,
    });
    reopened();
    expect(store.adapters("model").get("c")).toEqual({ report: { after: 0.9 }, weights });
    expect(store.calibrations("model").get("c")?.floor).toBe(0.1);
    expect(store.adapters("other").size + store.calibrations("other").size).toBe(0);
    expect(store.deleteAdapter("c", "model")).toBe(true);
    store.deleteCalibration("c", "model");
    expect(store.adapters("model").size + store.calibrations("model").size).toBe(0);
  });
});

describe("benches", () => {
  it("are kept with their outcomes, the newest so many", () => {
    for (let i = 1; i <= 4; i++) {
      const created_at = `2026-01-0${i}T00:00:00.000Z`;
      const outcomes = Uint8Array.of(1, 2, i);
      store.saveBench({ id: `b${i}`, catalog: "c", created_at, result: { cases: i }, outcomes }, 3);
    }
    expect(
      reopened()
        .benches()
        .map(({ id }) => id),
    ).toEqual(["b4", "b3", "b2"]);
    expect(store.bench("b1")).toBeUndefined();
    expect(store.bench("b4")).toMatchObject({ catalog: "c", result: { cases: 4 } });
    expect([...store.bench("b4")!.outcomes]).toEqual([1, 2, 4]);
  });
});
