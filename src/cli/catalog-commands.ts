import type { Command } from "commander";
import type { Report } from "../service.ts";
import { follow, readList, type Runtime, withService } from "./local-service.ts";
import { printJson, printLine } from "./print.ts";

/** `index`. */
export function catalogCommands(program: Command, runtime: Runtime): void {
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
}
