import type { Command } from "commander";
import type { Report } from "../service.ts";
import { catalogOf, follow, readList, type Runtime, withService } from "./local-service.ts";
import { printJson, printLine } from "./print.ts";

/** `index` and `overlaps`. */
export function catalogCommands(program: Command, runtime: Runtime): void {
  program
    .command("overlaps")
    .description("Tools too alike in words, coarse contracts, texts that address the model")
    .option("-c, --catalog <name>", "the catalog; may be left out where there is only one")
    .option("--json", "print JSON")
    .action(async (options: { catalog?: string; json?: boolean }) => {
      await withService(runtime, async ({ service, principal }) => {
        const catalog = catalogOf(service, principal, options);
        const lint = await service.overlaps.lint(principal, catalog);
        if (options.json) return printJson(lint);
        for (const { tools, cosine, same_purpose, missing_contrast } of lint.overlaps) {
          const missing =
            missing_contrast.length > 0 ? `; no avoid_when in ${missing_contrast.join(", ")}` : "";
          printLine(
            `${cosine.toFixed(3)} ${tools.join(" and ")}${same_purpose ? ", same purpose" : ""}${missing}`,
          );
        }
        for (const { tool, pointer, message } of lint.weaknesses)
          printLine(`${tool} ${pointer}: ${message}`);
        printLine(
          `${lint.overlaps.length} pairs from ${lint.cosine_min} up, ${lint.weaknesses.length} weak contracts or texts`,
        );
      });
    });

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
