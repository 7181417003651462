import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import { calibrate, type Judged } from "../calibration.ts";
import { discover, featuresOf, K_DEFAULT } from "../discovery.ts";
import { ShortlistError } from "../errors.ts";
import { hiddenBy } from "../exposure.ts";
import type { Job, Jobs, Work } from "../job.ts";
import type { RoutingCase } from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Asks } from "./ask.ts";
import type { Calibrations } from "./calibrations.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";
import { LABELLED, type Suites } from "./suites.ts";

export const CalibrationRequest = Type.Object(LABELLED, {
  additionalProperties: false,
  title: "CalibrationRequest",
});
export type CalibrationRequest = Static<typeof CalibrationRequest>;

const CASES_A_TURN = 20;

/** Fits a catalog's own calibration on labelled cases. */
export class Calibrator {
  readonly #live: LiveCatalogs;
  readonly #asks: Asks;
  readonly #suites: Suites;
  readonly #calibrations: Calibrations;
  readonly #jobs: Jobs;

  constructor(
    live: LiveCatalogs,
    asks: Asks,
    suites: Suites,
    calibrations: Calibrations,
    jobs: Jobs,
  ) {
    this.#live = live;
    this.#asks = asks;
    this.#suites = suites;
    this.#calibrations = calibrations;
    this.#jobs = jobs;
  }

  /** The calibration in force. @throws ShortlistError `unknown_catalog` */
  get(principal: Principal, catalog: string) {
    this.#live.get(principal, catalog);
    return this.#calibrations.get(catalog);
  }

  /** Back to the model's own. @throws ShortlistError `unknown_catalog` */
  delete(principal: Principal, catalog: string): void {
    this.#live.get(principal, catalog);
    this.#calibrations.delete(catalog);
  }

  /** @throws ShortlistError `unknown_catalog`, `unknown_suite`, `empty_suite`, `invalid_suite` */
  start(principal: Principal, catalog: string, request: CalibrationRequest): Job {
    const snapshot = this.#live.get(principal, catalog);
    const cases = this.#suites.labelled(request);
    return this.#jobs.start(
      "calibrate",
      `calibrate ${catalog}`,
      async (work) => {
        const judged = await this.#judge(principal, snapshot, cases, work);
        const calibration = calibrate(judged, this.#calibrations.fingerprint);
        if (!calibration) {
          throw new ShortlistError(
            "too_few_cases",
            `The half of ${judged.length} cases that fits does not have 20 retrieved tools of either kind.`,
          );
        }
        this.#calibrations.save(catalog, calibration);
        return { calibration };
      },
      cases.length,
    );
  }

  /** The cases with what is retrieved for each, as far as the principal may see it. */
  async #judge(
    principal: Principal,
    snapshot: Snapshot,
    cases: readonly RoutingCase[],
    work: Work,
  ): Promise<Judged[]> {
    const judged: Judged[] = [];
    for (const item of cases) {
      work.signal.throwIfAborted();
      const { vector, parts } = await this.#asks.encode(snapshot.catalog, item.goal);
      const policy = this.#asks.effectivePolicy(principal, item);
      const { ranked, eligible } = discover(snapshot, {
        query: item.goal,
        vector,
        parts,
        policy,
        facts: item.facts ?? {},
        k: K_DEFAULT,
      });
      const features = featuresOf(ranked, eligible.count);
      const tools = ranked.slice(0, K_DEFAULT).map(({ tool }, i) => ({
        features: features[i]!,
        acceptable: item.acceptable.includes(tool.name),
      }));
      const answerable = item.acceptable.some((name) => {
        const row = snapshot.rowOf.get(name);
        return row !== undefined && !hiddenBy(policy, snapshot.tools[row]!);
      });
      judged.push({ answerable, tools });
      if (judged.length % CASES_A_TURN === 0) {
        work.progress(judged.length, cases.length);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return judged;
  }
}
