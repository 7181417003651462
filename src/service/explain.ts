import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../access.ts";
import type { Config } from "../config.ts";
import { K_MAX, locate, type Question } from "../discovery.ts";
import {
  type ExposurePolicy,
  factsNamed,
  hiddenBy,
  intersect,
  preconditionMet,
} from "../exposure.ts";
import type { ToolSpec } from "../tool.ts";
import { type Asks, ASKED } from "./ask.ts";
import { unknownTool } from "./unknown-tool.ts";

export const ExplainRequest = Type.Object(
  { ...ASKED, tool: Type.String({ minLength: 1, maxLength: 64 }) },
  { additionalProperties: false, title: "ExplainRequest" },
);
export type ExplainRequest = Static<typeof ExplainRequest>;

/** Why a tool is visible or not: the stage where it fell out, the rule, its ranks, what would show it. */
export class Explanations {
  readonly #asks: Asks;
  readonly #config: () => Config;

  constructor(asks: Asks, config: () => Config) {
    this.#asks = asks;
    this.#config = config;
  }

  /** @throws ShortlistError `unknown_tool`, also where the tool lies above the principal's ceiling */
  async explain(principal: Principal, catalog: string, request: ExplainRequest) {
    const { snapshot, question } = await this.#asks.prepare(principal, catalog, request);
    const { revision, tools, rowOf } = snapshot;
    const head = { catalog, revision, tool: request.tool, effective_policy: question.policy };
    if (this.#config().controls.some(({ name }) => name === request.tool)) {
      return { ...head, ...VISIBLE, rule: "trusted_control", rank: null, scores: null };
    }
    const row = rowOf.get(request.tool) ?? -1;
    const tool = tools[row];
    if (!tool || hiddenBy(principal.ceiling, tool))
      throw unknownTool(request.tool, tools, principal);

    const isMet = !tool.precondition || preconditionMet(tool.precondition, question.facts);
    const isUnwanted = question.exclude?.includes(tool.name) ? "exclude" : undefined;
    const rule =
      hiddenBy(question.policy, tool) ?? (isMet ? undefined : "precondition") ?? isUnwanted;
    if (rule) {
      const would_show = [
        ...this.#otherPolicies(principal, tool, question.policy),
        ...missingFacts(tool, question, isMet),
        ...(isUnwanted ? [{ change: "exclude", value: tool.name }] : []),
      ];
      return {
        ...head,
        visible: false,
        stage: "exposure",
        rule,
        rank: null,
        scores: null,
        would_show,
      };
    }
    const { rank, fell, trace, tokens } = locate(snapshot, question, row);
    if (!fell) return { ...head, ...VISIBLE, rule: null, rank, scores: trace };
    const byRank = rank <= K_MAX ? [{ change: "k", value: rank }] : [{ change: "query" }];
    const would_show = {
      rank: byRank,
      floor: [{ change: "floor", value: trace.probability }, ...(rank > question.k ? byRank : [])],
      budget: [{ change: "token_budget", value: tokens }],
    }[fell];
    return {
      ...head,
      visible: false,
      stage: "discovery",
      rule: fell,
      rank,
      scores: trace,
      would_show,
    };
  }

  /** Phases that show the tool, and what of the policy would have to differ. */
  #otherPolicies(principal: Principal, tool: ToolSpec, policy: ExposurePolicy): Change[] {
    const rule = hiddenBy(policy, tool);
    if (!rule) return [];
    const phases = [...this.#config().phases].flatMap(([name, phase]) =>
      hiddenBy(intersect(principal.ceiling, phase), tool) ? [] : [name],
    );
    const anyFamily = { ...policy, allowed_families: ["*"] };
    const anyEffect = { ...anyFamily, max_effect: "destructive" as const };
    return [
      ...(phases.length > 0 ? [{ change: "phase", value: phases }] : []),
      ...(rule === "family" ? [{ change: "family", value: tool.family }] : []),
      ...(hiddenBy(anyFamily, tool) === "effect" ? [{ change: "effect", value: tool.effect }] : []),
      ...(hiddenBy(anyEffect, tool) === "open_world"
        ? [{ change: "open_world", value: true }]
        : []),
    ];
  }
}

interface Change {
  change: string;
  value?: unknown;
  missing?: string[];
}

const VISIBLE = { visible: true, stage: "visible", would_show: [] };

function missingFacts(tool: ToolSpec, { facts }: Question, isMet: boolean): Change[] {
  if (isMet) return [];
  const missing = [...factsNamed(tool.precondition)].filter((name) => !Object.hasOwn(facts, name));
  return [{ change: "facts", value: tool.precondition, missing }];
}
