import type { Raw } from "../import.ts";

/**
 * Function lists of the model providers: OpenAI chat (`{type, function: {…}}`), OpenAI responses
 * (`{type, name, parameters}`) and Anthropic (`{name, input_schema}`). They say nothing of effects, so
 * the worst is taken: destructive, open world, not idempotent, unless a rule of the configuration
 * knows better.
 */
export function readFunctions(list: readonly unknown[]): Raw[] {
  return list.map((value, index) => {
    const nameless = `#${index + 1}`;
    if (value === null || typeof value !== "object" || Array.isArray(value))
      return { original: nameless, spec: null, reason: "is no object" };
    const outer = value as Record<string, unknown>;
    const inner = isObject(outer["function"]) ? outer["function"] : outer;
    const original = typeof inner["name"] === "string" ? inner["name"] : nameless;
    const { type } = outer;
    if (typeof type === "string" && type !== "function" && type !== "custom")
      return { original, spec: null, reason: `is a built-in ${type}, no function` };
    const { description } = inner;
    const schema = inner["parameters"] ?? inner["input_schema"] ?? inner["inputSchema"];
    return {
      original,
      spec: {
        purpose:
          typeof description === "string" && description.trim() !== "" ? description : original,
        use_when: [],
        avoid_when: [],
        input_schema: schema ?? { type: "object", properties: {} },
        output_schema: {},
        effect: "destructive",
        idempotent: false,
        open_world: true,
      },
    };
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
