import type { Principal } from "../access.ts";
import type { Work } from "../job.ts";
import type { Verdict } from "../routing.ts";
import type { Snapshot } from "../snapshot.ts";

/** A labelled suite that a new revision must pass before it goes live. */
export interface SuiteGate {
  suite: string;
  gate: string;
}

/** Tells whether a candidate revision passes, against the live one. */
export interface Judge {
  /** @throws ShortlistError `invalid_gate`, `unknown_suite`, before anything is embedded */
  requireGate(gate: SuiteGate): void;
  judge(
    principal: Principal,
    candidate: Snapshot,
    gate: SuiteGate,
    work: Work,
  ): Promise<Verdict & { suite: string; lost: string[] }>;
}
