import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { calibrate, type Judged, matchOf, readCalibration } from "../src/calibration.ts";
import { VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import { randomOf } from "./vector-index/contract.ts";

const MODEL = "models/shortlist-minilm-1";
const features = { cosine: 0.5, lexical: 0.3, margin: 0.1, eligible: 100 };

/** Cases whose right tools have high cosines, and whose others do not. */
function cases(count: number, seed = 1): Judged[] {
  const half = randomOf(seed);
  const random = () => half() + 0.5;
  return Array.from({ length: count }, (_, i) => {
    const answerable = i % 4 !== 0;
    const tools = Array.from({ length: 5 }, (__, rank) => {
      const acceptable = answerable && rank === 0;
      const cosine = random() * 0.5 + (acceptable ? 0.4 : 0);
      return { features: { ...features, cosine, margin: 0 }, acceptable };
    });
    return { answerable, tools };
  });
}

describe("the calibration that ships with the model", () => {
  const shipped = readCalibration(MODEL)!;

  it("belongs to the model", async () => {
    const embedder = await startEmbedder(await findModel("models", undefined, () => {}), {
      template: VIEW_TEMPLATE,
    });
    expect(shipped.fingerprint).toBe(embedder.fingerprint);
    await embedder.close();
  });

  it("grows with the evidence of each arm and with the lead", () => {
    const { probabilityOf } = matchOf(shipped);
    const base = probabilityOf(features);
    for (const more of [{ cosine: 0.7 }, { lexical: 0.5 }, { margin: 0.3 }])
      expect(probabilityOf({ ...features, ...more })).toBeGreaterThan(base);
  });

  it("has a floor that loses at most 1 % of the answerable cases that it has not seen", () => {
    const at = shipped.report.floors.find(({ floor }) => floor === shipped.floor)!;
    expect(at.lost).toBeLessThanOrEqual(0.01);
    expect(at.false_offer).toBeLessThan(1);
    expect(shipped.report.auroc_no_tool).toBeGreaterThan(0.8);
    expect(shipped.report.expected_calibration_error).toBeLessThan(0.05);
  });
});

describe("fitting", () => {
  it("gives probabilities that hold on cases it has not seen", () => {
    const { report, floor } = calibrate(cases(2_000), "f")!;
    expect(report.expected_calibration_error).toBeLessThan(0.03);
    expect(report.auroc_no_tool).toBeGreaterThan(0.9);
    expect(report.floors.find((at) => at.floor === floor)!.lost).toBeLessThan(0.03);
  });

  it("takes the highest floor that every suite bears", () => {
    const strong = cases(1_000).map((item) => ({ ...item, suite: "strong" }));
    const weak = cases(1_000, 2).map((item) => ({
      ...item,
      suite: "weak",
      tools: item.tools.map((one) => ({
        ...one,
        features: { ...one.features, cosine: one.features.cosine - 0.2 },
      })),
    }));
    const both = calibrate([...strong, ...weak], "f")!;
    const { probabilityOf } = matchOf(both);
    const best = weak
      .filter(({ answerable }) => answerable)
      .filter((_, i) => i % 2 === 0)
      .map(({ tools }) => Math.max(...tools.map((one) => probabilityOf(one.features))));
    const lost = best.filter((value) => value < both.floor).length / best.length;
    expect(lost).toBeLessThanOrEqual(0.01);
    expect(best.filter((value) => value < both.floor + 0.03).length / best.length).toBeGreaterThan(
      0.01,
    );
  });

  it("refuses too few examples of either kind", () => {
    expect(calibrate(cases(20), "f")).toBeUndefined();
    expect(calibrate([], "f")).toBeUndefined();
  });
});

describe("a model without a calibration, and one whose file is broken", () => {
  it("has none, and is refused", () => {
    const folder = mkdtempSync(join(tmpdir(), "shortlist-model-"));
    expect(readCalibration(folder)).toBeUndefined();
    writeFileSync(join(folder, "calibration.json"), '{"floor":2}');
    expect(() => readCalibration(folder)).toThrow(/floor/);
    writeFileSync(join(folder, "calibration.json"), "{");
    expect(() => readCalibration(folder)).toThrow(/calibration.json/);
  });
});
