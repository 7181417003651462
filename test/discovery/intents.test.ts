import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { INTENTS_MAX, intentsOf } from "../../src/discovery.ts";

describe("a request with several asks is split", () => {
  it.each<[string, string[]]>([
    [
      "Rerun the failed checks. Can you also page Ana?",
      ["Rerun the failed checks.", "Can you also page Ana?"],
    ],
    [
      "merge the branch and then delete it from the server",
      ["merge the branch", "delete it from the server"],
    ],
    [
      "find the invoice and send it to the customer",
      ["find the invoice", "send it to the customer"],
    ],
    [
      "- book a room\n- invite the team\n- order lunch",
      ["book a room", "invite the team", "order lunch"],
    ],
    ["1) create a ticket 7\n2) assign it to Bo", ["create a ticket 7", "assign it to Bo"]],
    [
      "what is the weather in Oslo, and when does my train leave?",
      ["what is the weather in Oslo", "when does my train leave?"],
    ],
    ["查看昨天的日志，然后重启服务", ["查看昨天的日志", "重启服务"]],
    ["列出未付的发票。给客户发送提醒。", ["列出未付的发票。", "给客户发送提醒。"]],
    [
      "Bitte zeig mir die Rechnung und dann kannst du sie verschicken",
      ["Bitte zeig mir die Rechnung", "kannst du sie verschicken"],
    ],
  ])("%j", (request, parts) => expect(intentsOf(request).parts).toEqual(parts));
});

describe("a request with one ask stays whole", () => {
  it.each([
    "which checks broke on my branch?",
    "My boarding pass says U2. Who is that carrier?",
    "open src/auth/token.py at v1.2.3, e.g. the last version",
    "compare revenue of Mr. Smith and Mrs. Jones",
    "search and rescue dogs in Norway",
    "I'm on call tonight. The dashboards look odd. Restart the payments service",
    "hello! thanks!",
    "发送付款提醒",
    "",
    "🙂. 🙂. 🙂.",
  ])("%j", (request) => expect(intentsOf(request).parts).toEqual([]));
});

it("asks beyond the cap are counted, not lost in silence", () => {
  const { parts, found } = intentsOf(
    Array.from({ length: 200 }, (_, i) => `create ticket number ${i}.`).join(" "),
  );
  expect([parts.length, found]).toEqual([INTENTS_MAX, 200]);
});

it("every part is of the request, and no text takes long", () => {
  const startedAt = performance.now();
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          "and ",
          "then ",
          ", ",
          ". ",
          "find it ",
          "请",
          "。",
          "\n- ",
          "e.g. ",
          "a.b ",
        ),
        { maxLength: 60 },
      ),
      (words) => {
        const request = words.join("");
        for (const part of intentsOf(request).parts) expect(request).toContain(part);
      },
    ),
  );
  for (const storm of [" ", ",", ".", "and ", "a, ", "\n", "then, "])
    intentsOf(storm.repeat(20_000));
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
