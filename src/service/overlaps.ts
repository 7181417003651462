import { LRUCache } from "lru-cache";
import type { Principal } from "../access.ts";
import { hiddenBy } from "../exposure.ts";
import { COSINE_MIN, type Overlap, overlapsOf, type Weakness, weaknessesOf } from "../overlap.ts";
import type { LiveCatalogs } from "./live-catalogs.ts";

interface Lint {
  catalog: string;
  revision: number;
  cosine_min: number;
  overlaps: Overlap[];
  weaknesses: Weakness[];
}

const HELD_MAX = 8;

/** What makes a catalog hard to choose from. Worked out once a revision. */
export class Overlaps {
  readonly #held = new LRUCache<string, Promise<Lint>>({ max: HELD_MAX });
  readonly #live: LiveCatalogs;

  constructor(live: LiveCatalogs) {
    this.#live = live;
  }

  /** @throws ShortlistError `unknown_catalog` */
  async lint(principal: Principal, catalog: string, cosine_min = COSINE_MIN): Promise<Lint> {
    const snapshot = this.#live.get(principal, catalog);
    const { revision } = snapshot;
    const isSeen = (tool: (typeof snapshot.tools)[number]) => !hiddenBy(principal.ceiling, tool);
    const key = JSON.stringify([catalog, revision, cosine_min, principal.ceiling]);
    const known = this.#held.get(key);
    if (known) return known;
    const lint = overlapsOf(snapshot, isSeen, cosine_min).then((overlaps) => ({
      catalog,
      revision,
      cosine_min,
      overlaps,
      weaknesses: snapshot.tools.filter(isSeen).flatMap(weaknessesOf),
    }));
    this.#held.set(key, lint);
    lint.catch(() => this.#held.delete(key));
    return lint;
  }
}
