import { type Command, InvalidArgumentError, Option } from "commander";
import type { QueryRequest } from "../service.ts";
import { catalogOf, type Runtime, withService } from "./local-service.ts";
import { printJson, printLine, printTable } from "./print.ts";

interface Asked {
  catalog?: string;
  phase?: string;
  k?: number;
  tokenBudget?: number;
  facts?: Record<string, unknown>;
  json?: boolean;
}

/** `query` and `explain`. */
export function funnelCommands(program: Command, runtime: Runtime): void {
  const wholeNumber = (text: string) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1)
      throw new InvalidArgumentError("a whole number from 1 is needed");
    return value;
  };
  const json = (text: string) => {
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch {
      throw new InvalidArgumentError("a JSON object is needed");
    }
  };
  const asking = (command: Command) =>
    command
      .option("-c, --catalog <name>", "the catalog; may be left out where there is only one")
      .option("-p, --phase <name>", "a phase of the configuration")
      .option("-k, --k <number>", "ordinary tools wanted", wholeNumber)
      .option("-b, --token-budget <number>", "tokens the definitions may take", wholeNumber)
      .addOption(new Option("--facts <json>", "what the runtime knows").argParser(json))
      .option("--json", "print JSON");

  asking(
    program.command("query").description("Ask the funnel").argument("<text>", "the user's request"),
  )
    .option("--explain", "print what each arm says of each tool")
    .action(async (text: string, options: Asked & { explain?: boolean }) => {
      await withService(runtime, async ({ service, principal }) => {
        const request: QueryRequest = {
          ...requestOf(text, options),
          explain: options.explain ?? false,
        };
        const answer = await service.queries.query(
          principal,
          catalogOf(service, principal, options),
          request,
        );
        if (options.json) return printJson(answer);
        const { registry, eligible, retrieved, visible } = answer.funnel;
        printLine(
          `registry ${registry} > eligible ${eligible} > retrieved ${retrieved} > visible ${visible}: ${answer.decision}`,
        );
        const trace = new Map(answer.trace?.tools.map((tool) => [tool.name, tool]));
        printTable(
          answer.tools.map(({ name, family, effect, open_world, score, control }) => {
            const arms = trace.get(name);
            return [
              score === null ? "" : score.toFixed(3),
              name,
              control ? "control" : family,
              effect + (open_world ? ", open world" : ""),
              arms
                ? `cosine ${arms.dense.score.toFixed(3)} (${arms.dense.view}), bm25 ${arms.lexical.score.toFixed(1)}`
                : "",
            ];
          }),
        );
      });
    });

  asking(
    program
      .command("explain")
      .description("Say where a named tool fell out, and what would show it")
      .argument("<tool>", "the tool's name")
      .argument("<text>", "the user's request"),
  ).action(async (tool: string, text: string, options: Asked) => {
    await withService(runtime, async ({ service, principal }) => {
      const request = { ...requestOf(text, options), tool };
      const answer = await service.explanations.explain(
        principal,
        catalogOf(service, principal, options),
        request,
      );
      if (options.json) return printJson(answer);
      printLine(
        `${tool}: ${answer.visible ? "visible" : `fell out at ${answer.stage}`}${answer.rule ? ` (${answer.rule})` : ""}`,
      );
      if (answer.rank !== null) printLine(`rank ${answer.rank} of the eligible`);
      for (const { change, ...rest } of answer.would_show)
        printLine(`would show it: ${change} ${JSON.stringify(rest)}`);
    });
  });
}

function requestOf(query: string, { phase, k, facts, tokenBudget }: Asked): QueryRequest {
  return {
    query,
    ...(phase !== undefined && { phase }),
    ...(k !== undefined && { k }),
    ...(facts && { facts }),
    ...(tokenBudget !== undefined && { token_budget: tokenBudget }),
  };
}
