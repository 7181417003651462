// Tools and requests as many as are asked for, no two alike.
// Families sized so that a policy over the first ones leaves 1 % or 10 % of the tools.
export const FAMILIES = 100;
const OBJECTS =
  "invoice branch customer shipment dashboard ticket release calendar warehouse alert contract refund".split(
    " ",
  );
const VERBS = "create list update archive search export approve compare schedule restore".split(
  " ",
);

export function toolOf(i: number) {
  const object = OBJECTS[i % OBJECTS.length]!;
  const verb = VERBS[Math.floor(i / OBJECTS.length) % VERBS.length]!;
  return {
    name: `${verb}_${object}_${i}`,
    family: `family_${String(i % FAMILIES).padStart(2, "0")}`,
    purpose: `${verb} the ${object} number ${i} of region ${(i * 7919) % 977} for team ${(i * 31) % 211}, with its history and notes.`,
    use_when: [],
    avoid_when: [],
    input_schema: {
      type: "object",
      properties: { [`${object}_id`]: { type: "string" }, region: { type: "string" } },
    },
    output_schema: {},
    effect: "read_only" as const,
    idempotent: true,
    open_world: false,
  };
}

export const queryOf = (i: number) =>
  `please ${VERBS[i % VERBS.length]} whatever ${OBJECTS[(i * 5) % OBJECTS.length]} team ${i % 211} asked about in region ${(i * 13) % 977}`;
