import { Type } from "@sinclair/typebox";
import { ExposurePolicy } from "../exposure.ts";
import { EFFECTS, ToolSpec } from "../tool.ts";

// What the answers look like, for `/openapi.json`.
const Names = Type.Array(Type.String());
const Nullable = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

export const ToolAnswer = ToolSpec;

export const CatalogList = Type.Object({
  catalogs: Type.Array(
    Type.Object({ name: Type.String(), revision: Type.Integer(), tools: Type.Integer() }),
  ),
});

export const ToolPage = Type.Object({
  catalog: Type.String(),
  revision: Type.Integer(),
  total: Type.Integer(),
  tools: Type.Array(ToolSpec),
  next: Type.Union([Type.String(), Type.Null()]),
});

const Job = Type.Object(
  {
    id: Type.String(),
    kind: Type.String(),
    catalog: Type.String(),
    state: Type.Union(
      ["queued", "running", "succeeded", "failed", "cancelled"].map((state) => Type.Literal(state)),
    ),
    done: Type.Integer(),
    total: Type.Integer(),
    rate: Nullable("Units a second."),
    eta_s: Nullable("Seconds left."),
    created_at: Type.String({ format: "date-time" }),
    finished_at: Type.Optional(Type.String({ format: "date-time" })),
    error: Type.Optional(Type.Object({ code: Type.String(), detail: Type.String() })),
    embedded: Type.Optional(Type.Integer({ description: "Texts that had no vector yet." })),
    revision: Type.Optional(Type.Integer()),
    report: Type.Optional(
      Type.Object({
        added: Type.Integer(),
        changed: Type.Integer(),
        unchanged: Type.Integer(),
        removed: Type.Integer(),
        quarantined: Type.Array(
          Type.Object({
            name: Type.String(),
            reason: Type.String(),
            errors: Type.Array(Type.Object({ pointer: Type.String(), message: Type.String() })),
          }),
        ),
      }),
    ),
  },
  { title: "Job" },
);
export { Job as JobView };
export const JobAnswer = Type.Object({ job: Job });
export const JobList = Type.Object({ jobs: Type.Array(Job) });

const Shown = {
  trace_id: Type.String(),
  decision: Type.Union(["none", "sole", "choose"].map((decision) => Type.Literal(decision))),
  decision_reason: Type.String(),
  effective_policy: ExposurePolicy,
  config_hash: Type.String(),
  funnel: Type.Object({
    registry: Type.Integer(),
    eligible: Type.Integer(),
    retrieved: Type.Integer(),
    visible: Type.Integer(),
  }),
  intents: Type.Optional(
    Type.Object(
      { found: Type.Integer(), used: Type.Integer() },
      { description: "Only where the request asks for several things; `used` is capped." },
    ),
  ),
  tokens: Type.Optional(
    Type.Object(
      { budget: Type.Integer(), used: Type.Integer() },
      { description: "Only with a token_budget: what the ordinary tools' definitions take." },
    ),
  ),
  tools: Type.Array(
    Type.Object({
      name: Type.String(),
      control: Type.Boolean(),
      family: Type.String(),
      effect: Type.Union(EFFECTS.map((effect) => Type.Literal(effect))),
      open_world: Type.Boolean(),
      score: Nullable("Orders the tools; null for a control."),
      probability: Nullable(
        "That the tool is acceptable; null for a control and without a calibration.",
      ),
      kept: Type.Optional(Type.Boolean({ description: "Named in `keep`." })),
      catalog: Type.Optional(Type.String({ description: "Where several were asked." })),
      tool: Type.Optional(Type.String({ description: "Its name in its catalog." })),
    }),
  ),
  definitions: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
};
const Trace = Type.Object({}, { additionalProperties: true });

export const QueryAnswer = Type.Object({
  catalog: Type.String(),
  revision: Type.Integer(),
  ...Shown,
  trace: Type.Optional(Trace),
});

export const ManyQueryAnswer = Type.Object({
  catalogs: Type.Array(Type.Object({ catalog: Type.String(), revision: Type.Integer() })),
  ...Shown,
  traces: Type.Optional(Type.Array(Type.Object({ catalog: Type.String(), trace: Trace }))),
});

export const ExplainAnswer = Type.Object({
  catalog: Type.String(),
  revision: Type.Integer(),
  tool: Type.String(),
  effective_policy: ExposurePolicy,
  visible: Type.Boolean(),
  stage: Type.Union(["exposure", "discovery", "visible"].map((stage) => Type.Literal(stage))),
  rule: Type.Union([Type.String(), Type.Null()]),
  rank: Nullable("Among the eligible, from 1."),
  scores: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
  would_show: Type.Array(Type.Object({ change: Type.String() }, { additionalProperties: true })),
});

export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String(),
    errors: Type.Array(Type.Object({ pointer: Type.String(), message: Type.String() })),
    known: Type.Optional(Names),
  },
  { title: "Problem" },
);
