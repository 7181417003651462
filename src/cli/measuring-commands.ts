import type { Command } from "commander";
import type { Calibration } from "../calibration.ts";
import type { RoutingCase } from "../routing.ts";
import { catalogOf, follow, readList, type Runtime, withService } from "./local-service.ts";
import { printJson, printLine, printTable } from "./print.ts";

/** `calibrate`. */
export function measuringCommands(program: Command, runtime: Runtime): void {
  program
    .command("calibrate")
    .description("Fit a catalog's match floor on labelled cases")
    .argument("<cases>", "a JSON array or NDJSON of routing cases")
    .option("-c, --catalog <name>", "the catalog; may be left out where there is only one")
    .option("--json", "print JSON")
    .action(async (file: string, options: { catalog?: string; json?: boolean }) => {
      const cases = readList(file) as RoutingCase[];
      await withService(runtime, async ({ service, principal }) => {
        const catalog = catalogOf(service, principal, options);
        const started = service.calibrator.start(principal, catalog, { cases });
        const { calibration } = (await follow(service, started, "Judging")) as unknown as {
          calibration: Calibration;
        };
        if (options.json) return printJson(calibration);
        const { floor, report } = calibration;
        const { answerable, no_tool } = report.cases;
        printLine(
          `${catalog}: floor ${floor}, measured on ${answerable} answerable cases and ${no_tool} that no tool answers`,
        );
        const rate = (value: number | null) => value?.toFixed(3) ?? "none";
        printTable([
          ["floor", "false offer", "false abstain"],
          ...report.floors.map((at) => [
            String(at.floor),
            rate(at.false_offer),
            rate(at.false_abstain),
          ]),
        ]);
      });
    });
}
