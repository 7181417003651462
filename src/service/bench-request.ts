import { type Static, Type } from "@sinclair/typebox";
import { K_MAX } from "../discovery.ts";
import { LABELLED } from "./suites.ts";

const SentIn = Type.Object(
  {
    task_id: Type.String({ minLength: 1, maxLength: 200 }),
    trial: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
    selected: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()]),
    verified_success: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const BenchRequest = Type.Object(
  {
    catalog: Type.String({ minLength: 1, maxLength: 64 }),
    ...LABELLED,
    k: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: K_MAX }), {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
      }),
    ),
    token_budgets: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 10_000_000 }), {
        maxItems: 16,
        uniqueItems: true,
        description: "Runs that tokens of openai's definitions limit, in place of a k.",
      }),
    ),
    arms: Type.Optional(
      Type.Union([Type.Literal("hybrid"), Type.Literal("dense"), Type.Literal("lexical")]),
    ),
    ablate: Type.Optional(
      Type.Boolean({ description: "Adds the ladder, and each mechanism left out in turn." }),
    ),
    selector: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          "A model of the configuration's `selectors`; the deterministic baseline without.",
      }),
    ),
    repeat: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: "Trials a case." }),
    ),
    records: Type.Optional(
      Type.Array(SentIn, { description: "Selections made elsewhere, in place of a selector." }),
    ),
    gates: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: 32,
        description: "Such as recall@10>=0.95; over the cases with an ordinary acceptable tool.",
      }),
    ),
  },
  { additionalProperties: false, title: "BenchRequest" },
);
export type BenchRequest = Static<typeof BenchRequest>;
