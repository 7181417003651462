import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { fitLogistic, logistic } from "./calibration/logistic.ts";
import { type Judged, lostAt, report } from "./calibration/report.ts";
import { type Discovered, featuresOf, type Match, type MatchFeatures } from "./discovery.ts";
import { ShortlistError } from "./errors.ts";
import { checkShape } from "./tool.ts";

export type { Judged } from "./calibration/report.ts";

const Rate = Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]);

/** What the fit does on cases that it has not seen. */
const CalibrationReport = Type.Object({
  cases: Type.Object({ answerable: Type.Integer(), no_tool: Type.Integer() }),
  reliability: Type.Array(
    Type.Object(
      {
        from: Type.Number(),
        to: Type.Number(),
        tools: Type.Integer(),
        predicted: Rate,
        observed: Rate,
      },
      { description: "Tools by predicted probability, and the share of them that is acceptable." },
    ),
  ),
  expected_calibration_error: Rate,
  auroc_no_tool: Type.Union([Type.Number(), Type.Null()], {
    description: "Of the largest probability, for telling the cases that no tool answers.",
  }),
  floors: Type.Array(
    Type.Object(
      { floor: Type.Number(), false_offer: Rate, false_abstain: Rate, lost: Rate },
      {
        description:
          "Of the cases that no tool answers, those that get one; of the answerable, those that get none, and those of them whose right tool was retrieved.",
      },
    ),
  ),
});
export type CalibrationReport = Static<typeof CalibrationReport>;

/** A fit from features to the probability that a tool is acceptable; of use only with its model. */
export const Calibration = Type.Object(
  {
    fingerprint: Type.String(),
    weights: Type.Record(Type.String(), Type.Number()),
    floor: Type.Number({ minimum: 0, maximum: 1 }),
    report: CalibrationReport,
  },
  { title: "Calibration" },
);
export type Calibration = Static<typeof Calibration>;

/** Share of each suite's answerable cases that the default floor may lose. */
const LOSS_MAX = 0.01;
/** Examples of each kind that a fit needs. */
const EXAMPLES_MIN = 20;

/**
 * Platt scaling (Platt 1999) over several features: a logistic regression. The margin counts
 * differently for the first of a ranking than for those behind it, hence two weights.
 */
const TERMS: Record<string, (features: MatchFeatures) => number> = {
  intercept: () => 1,
  cosine: ({ cosine }) => cosine,
  lexical: ({ lexical }) => lexical,
  lead: ({ margin }) => Math.max(0, margin),
  behind: ({ margin }) => Math.min(0, margin),
  log2_eligible: ({ eligible }) => Math.log2(Math.max(1, eligible)),
};
const NAMES = Object.keys(TERMS);
const termsOf = (features: MatchFeatures) => NAMES.map((name) => TERMS[name]!(features));

/** The fit that came with a model, if any. @throws ShortlistError `invalid_model` where it cannot be read */
export function readCalibration(modelPath: string): Calibration | undefined {
  const path = join(modelPath, "calibration.json");
  if (!existsSync(path)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ShortlistError("invalid_model", `${path}: ${(error as Error).message}`);
  }
  const faults = checkShape(Calibration, value);
  if (faults.length === 0) return value as Calibration;
  const list = faults.map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  throw new ShortlistError("invalid_model", `${path}: ${list}`);
}

/** The fit as discovery uses it. */
export function matchOf({ weights, floor }: Pick<Calibration, "weights" | "floor">): Match {
  const vector = NAMES.map((name) => weights[name] ?? 0);
  return { floor, probabilityOf: (features) => logistic(vector, termsOf(features)) };
}

/** Fits on half of the cases and measures on the other; undefined where there are too few examples of either kind. */
export function calibrate(cases: readonly Judged[], fingerprint: string): Calibration | undefined {
  const [fitting, held] = halves(cases);
  const rows = fitting.flatMap(({ tools, weight = 1 }) =>
    tools.map(({ features, acceptable }) => ({
      terms: termsOf(features),
      label: Number(acceptable),
      weight,
    })),
  );
  const positives = rows.filter(({ label }) => label === 1).length;
  if (positives < EXAMPLES_MIN || rows.length - positives < EXAMPLES_MIN) return undefined;
  const fitted = fitLogistic(rows, NAMES.length);
  const weights = Object.fromEntries(NAMES.map((name, i) => [name, round(fitted[i]!, 5)]));
  const { probabilityOf } = matchOf({ weights, floor: 0 });
  const floor = floorFor(fitting, probabilityOf);
  return { fingerprint, weights, floor, report: report(held, probabilityOf, floor) };
}

/** What was retrieved for a case, as examples to fit on. */
export function examplesOf(
  { ranked, eligible }: Discovered,
  acceptable: readonly string[],
  k: number,
): Judged["tools"] {
  const features = featuresOf(ranked, eligible.count);
  return ranked
    .slice(0, k)
    .map(({ tool }, i) => ({ features: features[i]!, acceptable: acceptable.includes(tool.name) }));
}

/** The highest floor, in steps of 0.001, that loses at most `LOSS_MAX` of the answerable cases of every suite. */
function floorFor(cases: readonly Judged[], probabilityOf: Match["probabilityOf"]): number {
  const losses = [...new Set(cases.map(({ suite }) => suite))].map((name) =>
    lostAt(
      cases.filter(({ suite }) => suite === name),
      probabilityOf,
    ),
  );
  const isLoss = (floor: number) => losses.some((loss) => (loss(floor) ?? 0) > LOSS_MAX);
  let floor = 0;
  while (floor < 1 && !isLoss(floor + 0.001)) floor = round(floor + 0.001, 3);
  return floor;
}

/** Every other case of each suite and kind: a suite may come in any order. */
function halves(cases: readonly Judged[]): [Judged[], Judged[]] {
  const seen = new Map<string, number>();
  const [fitting, held]: [Judged[], Judged[]] = [[], []];
  for (const item of cases) {
    const kind = `${item.answerable} ${item.suite}`;
    const count = seen.get(kind) ?? 0;
    seen.set(kind, count + 1);
    (count % 2 === 0 ? fitting : held).push(item);
  }
  return [fitting, held];
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
