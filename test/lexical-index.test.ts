import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lexicalIndex, tokensOf } from "../src/lexical-index.ts";

describe("tokens", () => {
  it.each([
    ["listFailed_checks", ["list", "fail", "check"]],
    ["HTTPServer", ["http", "server"]],
    ["get-oauth2-token", ["get", "oauth", "2", "oauth2", "token"]],
    ["Überfällige Rechnungen", ["uberfallig", "rechnungen"]],
    ["café", ["caf"]],
    ["просроченные счета", ["просроченн", "счет"]],
    ["ещё", ["еще"]],
    ["发送付款提醒", ["发送", "送付", "付款", "款提", "提醒"]],
    ["ガ", ["ガ"]],
    ["the and of", []],
    ["🙂 !!! \0", []],
  ])("of %j are %j", (text, tokens) => {
    expect(tokensOf(text)).toEqual(tokens);
  });

  it("are the same for the forms of a word", () => {
    const same = (...words: string[]) => expect(new Set(words.flatMap(tokensOf)).size).toBe(1);
    same("create", "creates", "created", "creating");
    same("invoice", "invoices", "invoiced", "invoicing");
    same("stop", "stopped", "stopping", "stops");
    same("query", "queries");
    same("счёт", "счета", "счетов", "счетами");
    same("задача", "задачу", "задачи", "задачами");
    same("просроченный", "просроченные", "просроченных");
  });
});

describe("BM25", () => {
  const everything = [{ start: 0, end: 3 }];

  it("gives the value computed by hand", async () => {
    // Two documents of 2 and 1 tokens, mean length 1.5. "alpha" is in both (idf = ln(1 + 0.5/2.5) =
    // 0.18232), "beta" in the first (idf = ln(1 + 1.5/1.5) = 0.69315). For document 0:
    // tf part = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2/1.5)) = 2.2 / 2.5 = 0.88 -> 0.16044 and 0.60997.
    const index = await lexicalIndex(["alpha beta", "alpha"]);
    const { scores } = index.score("alpha beta", [{ start: 0, end: 2 }], new Set());
    expect(scores[0]).toBeCloseTo(0.16044 + 0.60997, 4);
    // Document 1: 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1/1.5)) = 2.2 / 1.9 = 1.15789 -> 0.21111.
    expect(scores[1]).toBeCloseTo(0.21111, 4);
  });

  it("scores nothing outside the ranges, and nothing excluded", async () => {
    const index = await lexicalIndex(["alpha", "alpha", "alpha"]);
    expect(index.score("alpha", [{ start: 1, end: 3 }], new Set([2])).rows).toEqual(
      Uint32Array.of(1),
    );
  });

  it("forgets the query before", async () => {
    const index = await lexicalIndex(["alpha", "beta", "gamma"]);
    index.score("alpha", everything, new Set());
    const { scores } = index.score("beta", everything, new Set());
    expect(Array.from(scores, (score) => score > 0)).toEqual([false, true, false]);
  });

  it("takes any text", async () => {
    const index = await lexicalIndex(["alpha", "", "constructor __proto__ toString"]);
    expect(index.score("toString", everything, new Set()).rows).toEqual(Uint32Array.of(2));
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const row of index.score(text, everything, new Set()).rows)
          expect(row).toBeLessThan(3);
      }),
    );
  });
});
