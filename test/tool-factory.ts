import type { ToolSpec } from "../src/tool.ts";

/** A valid tool, with what a test cares about laid over it. */
export function tool(over: Partial<ToolSpec> & { name: string }): ToolSpec {
  return {
    family: "repository",
    purpose: `Does what ${over.name} does.`,
    use_when: [],
    avoid_when: [],
    input_schema: { type: "object", properties: {}, additionalProperties: false },
    output_schema: {},
    effect: "read_only",
    idempotent: true,
    open_world: false,
    ...over,
  };
}

/** The seed's control tools (seed 000, section 8). */
export const CONTROLS: ToolSpec[] = ["ask_user", "wait_for_event", "no_applicable_tool"].map(
  (name) => tool({ name, family: "control", effect: "none", purpose: `Control ${name}.` }),
);
export const CONTROL_NAMES = new Set(CONTROLS.map((control) => control.name));
