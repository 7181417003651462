import { type Command, InvalidArgumentError } from "commander";
import type { Calibration } from "../calibration.ts";
import { ShortlistError } from "../errors.ts";
import { type Measures, parseGate, type RoutingCase, type Verdict } from "../routing.ts";
import type { BenchRequest } from "../service.ts";
import { catalogOf, follow, readList, type Runtime, withService } from "./local-service.ts";
import { printJson, printLine, printTable, writeText } from "./print.ts";

interface BenchOptions {
  catalog?: string;
  registry?: string;
  k?: number[];
  ablate?: boolean;
  repeat?: number;
  selector?: string;
  gate?: string[];
  out?: string;
  html?: string;
  json?: boolean;
}

/** What of a result the command prints. */
interface Result {
  cases: number;
  coverage: number | null;
  exposure_recall: number | null;
  by_k: Record<string, Measures & { ordinary: Measures }>;
  ladder?: (Measures & { name: string })[];
  ablations?: (Measures & { name: string })[];
  verdicts?: Verdict[];
}

/** A catalog for a registry file, in a store of its own so that nothing that is served changes. */
const BENCH_FOLDER = "bench";
const BENCH_CATALOG = "registry";

const rate = (value: number | null | undefined) => value?.toFixed(3) ?? "none";

/** `bench`, `calibrate` and `tune`. */
export function measuringCommands(program: Command, runtime: Runtime): void {
  program
    .command("bench")
    .description("Run labelled cases through the funnel: which stage lost the right tool")
    .argument("<cases>", "a JSON array or NDJSON of routing cases")
    .option("-c, --catalog <name>", "the catalog; may be left out where there is only one")
    .option("--registry <file>", "tools of a file in place of a catalog")
    .option("-k, --k <numbers>", "such as 5,10,20,40", numbers)
    .option("--ablate", "add the ladder, and each mechanism left out in turn")
    .option("--repeat <trials>", "trials a case", (text) => numbers(text)[0]!)
    .option("--selector <name>", "a model of the configuration in place of the baseline")
    .option("--gate <gates...>", "such as recall@10>=0.95; the command fails where one does")
    .option("--out <file>", "write the result as JSON")
    .option("--html <file>", "write the report as one page")
    .option("--json", "print JSON")
    .action(async (file: string, options: BenchOptions) => {
      const cases = readList(file) as RoutingCase[];
      const tools = options.registry === undefined ? undefined : readList(options.registry);
      options.gate?.forEach((text) => parseGate(text));
      const folder = tools && BENCH_FOLDER;
      await withService(
        runtime,
        async ({ service, principal }) => {
          if (tools) {
            const job = await service.registry.replace(principal, BENCH_CATALOG, tools);
            await follow(service, job, "Embedding");
          }
          const catalog = tools ? BENCH_CATALOG : catalogOf(service, principal, options);
          const { id } = await follow(
            service,
            service.bench.start(principal, requestOf(catalog, cases, options)),
            "Asking",
          );
          const result = service.bench.get(principal, id);
          if (options.out) writeText(options.out, `${JSON.stringify(result, null, 2)}\n`);
          if (options.html) writeText(options.html, service.bench.report(principal, id));
          if (options.json) printJson(result);
          else print(result as unknown as Result);
          const { verdicts = [] } = result as unknown as Result;
          const failed = verdicts.filter(({ passed }) => !passed).map(({ gate }) => gate);
          if (failed.length > 0) throw new ShortlistError("gate_failed", failed.join(", "));
        },
        folder,
      );
    });

  const fitting = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .argument("<cases>", "a JSON array or NDJSON of routing cases")
      .option("-c, --catalog <name>", "the catalog; may be left out where there is only one")
      .option("--json", "print JSON");
  fitting("calibrate", "Fit a catalog's match floor on labelled cases").action(
    async (file: string, options: { catalog?: string; json?: boolean }) => {
      const cases = readList(file) as RoutingCase[];
      await withService(runtime, async ({ service, principal }) => {
        const catalog = catalogOf(service, principal, options);
        const started = service.calibrator.start(principal, catalog, { cases });
        const job = await follow(service, started, "Judging");
        const { floor, report } = job["calibration"] as Calibration;
        if (options.json) return printJson(job["calibration"]);
        const { answerable, no_tool } = report.cases;
        printLine(
          `${catalog}: floor ${floor}, measured on ${answerable} answerable cases and ${no_tool} that no tool answers`,
        );
        printTable([
          ["floor", "false offer", "false abstain"],
          ...report.floors.map((at) => [
            String(at.floor),
            rate(at.false_offer),
            rate(at.false_abstain),
          ]),
        ]);
      });
    },
  );
  fitting("tune", "Learn a catalog's routing from labelled cases; kept only where it wins").action(
    async (file: string, options: { catalog?: string; json?: boolean }) => {
      const cases = readList(file) as RoutingCase[];
      await withService(runtime, async ({ service, principal }) => {
        const catalog = catalogOf(service, principal, options);
        const job = await follow(
          service,
          service.tuner.start(principal, catalog, { cases }),
          "Fitting",
        );
        const { promoted, report } = job as unknown as {
          promoted: boolean;
          report: { before: number; after: number; interval: [number, number] };
        };
        if (options.json) return printJson({ promoted, report });
        const [low, high] = report.interval.map((value) => value.toFixed(3));
        printLine(
          `${catalog}: nDCG@10 on held-out cases ${rate(report.before)} before, ${rate(report.after)} after ` +
            `(${low} to ${high}): ${promoted ? "in force" : "not kept"}`,
        );
      });
    },
  );
}

function requestOf(catalog: string, cases: RoutingCase[], options: BenchOptions): BenchRequest {
  const { k, ablate, repeat, selector, gate } = options;
  return {
    catalog,
    cases,
    ...(k && { k }),
    ...(ablate && { ablate }),
    ...(repeat !== undefined && { repeat }),
    ...(selector !== undefined && { selector }),
    ...(gate && { gates: gate }),
  };
}

function numbers(text: string): number[] {
  const list = text.split(",").map(Number);
  if (list.every((value) => Number.isInteger(value) && value > 0)) return list;
  throw new InvalidArgumentError("whole numbers from 1 are needed, such as 5,10,20,40");
}

const HEADER = [
  "",
  "recall",
  "of ordinary",
  "nDCG@10",
  "selection",
  "abstention",
  "violations",
  "tokens",
];

function print({ cases, coverage, exposure_recall, by_k, ...tables }: Result): void {
  printLine(`${cases} cases, coverage ${rate(coverage)}, exposure recall ${rate(exposure_recall)}`);
  const row = (name: string, measures: Measures & { ordinary?: Measures }) => [
    name,
    rate(measures.tool_recall),
    rate(measures.ordinary?.tool_recall),
    rate(measures.ndcg_10),
    rate(measures.selection_accuracy),
    rate(measures.abstention_accuracy),
    rate(measures.violation_rate),
    measures.visible_tokens?.toFixed(0) ?? "none",
  ];
  printTable([
    HEADER,
    ...Object.entries(by_k).map(([k, measures]) => row(`k = ${k}`, measures)),
    ...(tables.ladder ?? []).map((rung) => row(rung.name, rung)),
    ...(tables.ablations ?? []).map((rung) => row(rung.name, rung)),
  ]);
  const last = Object.values(by_k).at(-1)!;
  const profile = Object.entries(last.failure_profile).map(([stage, count]) => `${stage} ${count}`);
  printLine(`lost at the last k: ${profile.join(", ")}`);
  for (const { acceptable, selected, count } of last.selection_confusions.slice(0, 10))
    printLine(`  ${count} x ${acceptable.join(" or ")} but chosen ${selected ?? "nothing"}`);
  for (const { gate, passed, value } of tables.verdicts ?? [])
    printLine(`${passed ? "passed" : "FAILED"} ${gate}: ${rate(value)}`);
}
