import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { Principal } from "./access.ts";
import { printJson, printLine, printTable } from "./cli/print.ts";
import { progressBar } from "./cli/progress.ts";
import { ShortlistError } from "./errors.ts";
import type { Job } from "./job.ts";
import type { QueryRequest, Report, Service } from "./service.ts";

/** A service over the local store, for one command. */
interface LocalService {
  service: Service;
  principal: Principal;
  close(): Promise<void>;
}

/** What the process gives the command line. */
export interface Runtime {
  version: string;
  serve(options: { example: boolean; reembed: boolean }): Promise<void>;
  open(): Promise<LocalService>;
}

interface Asked {
  catalog?: string;
  phase?: string;
  k?: number;
  facts?: Record<string, unknown>;
  json?: boolean;
}

/** Runs one command. @returns the exit code */
export async function runCli(argv: readonly string[], runtime: Runtime): Promise<number> {
  const program = new Command("shortlist")
    .description("Decides which tools an agent may choose from this turn.")
    .version(runtime.version)
    .exitOverride();

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
      .addOption(new Option("--facts <json>", "what the runtime knows").argParser(json))
      .option("--json", "print JSON");

  program
    .command("serve")
    .description("Serve over HTTP (HOST, PORT, SHORTLIST_DATA, SHORTLIST_CONFIG, SHORTLIST_MODEL)")
    .option("--no-example", "do not load the example registry into an empty store")
    .option("--reembed", "embed every catalog again where the model is another one", false)
    .action((options: { example: boolean; reembed: boolean }) => runtime.serve(options));

  program
    .command("index")
    .description("Load a registry file (a JSON array or NDJSON of tools) into a catalog")
    .argument("<file>", "the file")
    .option("-c, --catalog <name>", "the catalog", "default")
    .option("--json", "print JSON")
    .action(async (file: string, options: { catalog: string; json?: boolean }) => {
      const values = readList(file);
      await withService(runtime, async ({ service, principal }) => {
        const job = await follow(
          service,
          await service.registry.replace(principal, options.catalog, values),
          "Embedding",
        );
        if (options.json) return printJson(job);
        const report = job["report"] as Report;
        printLine(
          `${options.catalog}: revision ${String(job["revision"])}, ${report.added} added, ${report.changed} changed, ` +
            `${report.unchanged} unchanged, ${report.removed} removed, ${String(job["embedded"])} texts embedded`,
        );
        for (const { name, reason, errors } of report.quarantined) {
          printLine(`quarantined ${name}: ${reason}`);
          for (const { pointer, message } of errors) printLine(`  ${pointer || "/"} ${message}`);
        }
      });
    });

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

  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (!(error instanceof ShortlistError)) throw error;
    process.stderr.write(`shortlist: ${error.message}\n`);
    for (const { pointer, message } of error.faults)
      process.stderr.write(`  ${pointer || "/"} ${message}\n`);
    if (error.known.length > 0) process.stderr.write(`  known: ${error.known.join(", ")}\n`);
    return 1;
  }
}

async function withService(
  runtime: Runtime,
  use: (local: LocalService) => Promise<void>,
): Promise<void> {
  const local = await runtime.open();
  try {
    await use(local);
  } finally {
    await local.close();
  }
}

/** Shows the job's progress until its end. @throws ShortlistError where it failed */
export async function follow(service: Service, job: Job, label: string): Promise<Job> {
  const bar = progressBar(label);
  for await (const { job: now } of service.jobs.watch(job.id, 0, new AbortController().signal)) {
    bar.update(now.done, Math.max(now.total, 1));
  }
  bar.stop();
  if (job.state !== "succeeded") {
    throw new ShortlistError(
      (job.error?.code as ShortlistError["code"]) ?? "internal",
      job.error?.detail ?? `The job is ${job.state}.`,
    );
  }
  return job;
}

function requestOf(query: string, { phase, k, facts }: Asked): QueryRequest {
  return {
    query,
    ...(phase !== undefined && { phase }),
    ...(k !== undefined && { k }),
    ...(facts && { facts }),
  };
}

function catalogOf(service: Service, principal: Principal, { catalog }: Asked): string {
  if (catalog !== undefined) return catalog;
  const names = service.registry.catalogs(principal).map(({ name }) => name);
  if (names.length === 1) return names[0]!;
  throw new ShortlistError("unknown_catalog", "Name the catalog with --catalog.", [], names);
}

/** A JSON array, or one value a line. @throws ShortlistError `malformed_json`, `bad_request` */
export function readList(file: string): unknown[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ShortlistError("bad_request", `${file} cannot be read: ${(error as Error).message}.`);
  }
  try {
    if (text.trimStart().startsWith("[")) return JSON.parse(text) as unknown[];
    return text
      .split("\n")
      .flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as unknown]));
  } catch (error) {
    throw new ShortlistError("malformed_json", `${file}: ${(error as Error).message}`);
  }
}
