import { describe, expect, it } from "vitest";
import { judge, parseGate, type Rates } from "../../src/routing.ts";

const rates = (over: Partial<Rates>) =>
  ({ tool_recall: null, violation_rate: null, ...over }) as Rates;

describe("a gate", () => {
  it("reads a metric, a k, a comparison and a number, or a difference to the live revision", () => {
    expect(parseGate("recall@10>=0.95")).toMatchObject({
      metric: "tool_recall",
      k: 10,
      least: true,
      value: 0.95,
      isRelative: false,
    });
    expect(parseGate("violation_rate@5 <= 0")).toMatchObject({ least: false, value: 0 });
    expect(parseGate("ndcg@10>=live-0.01")).toMatchObject({ isRelative: true, value: -0.01 });
  });

  it.each(["recall>=0.9", "recall@0>=0.9", "accuracy@5>=1", "recall@5=1", "", "recall@5>=x"])(
    "%j is refused",
    (text) => expect(() => parseGate(text)).toThrow(/no gate/),
  );

  it("passes at its value, fails under it, and fails on null", () => {
    const gate = parseGate("recall@10>=0.95");
    expect(judge(gate, rates({ tool_recall: 0.95 }), undefined).passed).toBe(true);
    expect(judge(gate, rates({ tool_recall: 0.949 }), undefined).passed).toBe(false);
    expect(judge(gate, rates({}), undefined)).toMatchObject({ passed: false, value: null });
    const least = parseGate("violation_rate@10<=0.1");
    expect(judge(least, rates({ violation_rate: 0.2 }), undefined).passed).toBe(false);
  });

  it("against the live revision, takes any value where there is none, and fails where its rate is null", () => {
    const gate = parseGate("recall@10>=live-0.02");
    expect(judge(gate, rates({ tool_recall: 0.9 }), rates({ tool_recall: 0.91 })).passed).toBe(
      true,
    );
    const lost = judge(gate, rates({ tool_recall: 0.88 }), rates({ tool_recall: 0.91 }));
    expect(lost).toMatchObject({ passed: false, required: 0.89 });
    expect(judge(gate, rates({ tool_recall: 0.1 }), undefined).passed).toBe(true);
    expect(judge(gate, rates({ tool_recall: 0.9 }), rates({})).passed).toBe(false);
  });
});
