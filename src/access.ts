import type { ExposurePolicy } from "./exposure.ts";

/** Who asks, and what they may reach at most. Goes through every route and use case. */
export interface Principal {
  readonly id: string;
  /** Every effective policy is intersected with it: a request can narrow, never widen. */
  readonly ceiling: ExposurePolicy;
  /** False where the catalog must look as if it did not exist. */
  maySee(catalog: string): boolean;
}

/** Whoever reaches the loopback address; its ceiling is the configuration's. */
export function localPrincipal(ceiling: ExposurePolicy): Principal {
  return { id: "local", ceiling, maySee: () => true };
}
