import { setImmediate as turn } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import { calibrate, examplesOf, type Judged } from "../calibration.ts";
import { discover, K_DEFAULT } from "../discovery.ts";
import { ShortlistError } from "../errors.ts";
import { hiddenBy } from "../exposure.ts";
import type { Job, Jobs, Work } from "../job.ts";
import type { RoutingCase } from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Funnels } from "./bench-funnels.ts";
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
  readonly #funnels: Funnels;
  readonly #suites: Suites;
  readonly #calibrations: Calibrations;
  readonly #jobs: Jobs;

  constructor(
    live: LiveCatalogs,
    funnels: Funnels,
    suites: Suites,
    calibrations: Calibrations,
    jobs: Jobs,
  ) {
    this.#live = live;
    this.#funnels = funnels;
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
    const { tools, rowOf } = snapshot;
    const judged: Judged[] = [];
    const prepared = await this.#funnels.prepare(principal, snapshot.catalog, cases, work);
    for (const { case: item, vector, parts, policy, facts } of prepared) {
      work.signal.throwIfAborted();
      const question = { query: item.goal, vector, parts, policy, facts, k: K_DEFAULT };
      const found = discover(snapshot, question);
      const answerable = item.acceptable.some((name) => {
        const tool = tools[rowOf.get(name) ?? -1];
        return tool !== undefined && !hiddenBy(policy, tool);
      });
      judged.push({ answerable, tools: examplesOf(found, item.acceptable, K_DEFAULT) });
      if (judged.length % CASES_A_TURN === 0) {
        work.progress(judged.length, cases.length);
        await turn();
      }
    }
    return judged;
  }
}
