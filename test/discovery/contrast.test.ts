import { describe, expect, it } from "vitest";
import { discover, rowOf } from "../../src/discovery.ts";
import { contrastsOf } from "../../src/discovery/contrast.ts";
import { EVERYTHING } from "../../src/exposure.ts";
import { buildSnapshot } from "../../src/snapshot.ts";
import type { ToolSpec } from "../../src/tool.ts";
import { tool } from "../tool-factory.ts";

/** Vectors of 16 dimensions by hand: each text has its axis, so that every cosine is known. */
const AXES: Record<string, number[]> = {};
const unit = (axis: number[]) => {
  const vector = new Float32Array(16);
  for (const i of axis) vector[i] = 1 / Math.sqrt(axis.length);
  return vector;
};
const snapshotOf = (tools: ToolSpec[]) =>
  buildSnapshot({
    catalog: "c",
    revision: 1,
    rows: tools.map(rowOf),
    dimension: 16,
    vectorOf: (text) => unit(AXES[text] ?? [15]),
  });
const ask = async (tools: ToolSpec[], axis: number[]) =>
  discover(await snapshotOf(tools), {
    query: "zzz",
    vector: unit(axis),
    policy: EVERYTHING,
    facts: {},
    k: 10,
    parts: [],
  });

describe("contrast", () => {
  it("is embedded without the pointer to the rival", () => {
    const spec = tool({
      name: "a",
      avoid_when: [
        "the definition is wanted: use lookup_symbol",
        "it is late; call the desk",
        "plain",
      ],
    });
    expect(contrastsOf(spec)).toEqual(["the definition is wanted", "it is late", "plain"]);
  });

  it("costs rank where the query is nearer to avoid_when than to use_when, and the trace says so", async () => {
    Object.assign(AXES, { "used so": [0, 1], "not so": [0], "other use": [0, 1] });
    const tools = [
      tool({ name: "a", use_when: ["used so"], avoid_when: ["not so: use b"] }),
      tool({ name: "b", use_when: ["other use"] }),
    ];
    // a's best view has the cosine 0.707, its avoid_when 1: it loses 0.5 (1 - 0.707 - 0.1); b loses nothing.
    const { trace } = await ask(tools, [0]);
    expect(trace.tools.map(({ name }) => name)).toEqual(["b", "a"]);
    expect(trace.tools[1]!.contrast).toEqual({
      text: "not so",
      penalty: expect.closeTo(0.0964, 3),
    });
    expect(trace.tools[1]!.score).toBeCloseTo(Math.SQRT1_2 - 0.0964, 3);
    expect(trace.tools[0]!.contrast).toBeNull();
  });

  it("costs nothing where the query is nearer to use_when", async () => {
    const tools = [tool({ name: "a", use_when: ["used so"], avoid_when: ["not so: use b"] })];
    const { trace } = await ask(tools, [0, 1]);
    expect(trace.tools[0]).toMatchObject({ contrast: null, score: expect.closeTo(1, 4) });
  });
});
