import { Command, CommanderError } from "commander";
import { catalogCommands } from "./cli/catalog-commands.ts";
import { funnelCommands } from "./cli/funnel-commands.ts";
import type { Runtime } from "./cli/local-service.ts";
import { measuringCommands } from "./cli/measuring-commands.ts";
import { ShortlistError } from "./errors.ts";

export { follow, readList, type Runtime } from "./cli/local-service.ts";

/** Runs one command. @returns the exit code */
export async function runCli(argv: readonly string[], runtime: Runtime): Promise<number> {
  const program = new Command("shortlist")
    .description("Decides which tools an agent may choose from this turn.")
    .version(runtime.version)
    .exitOverride();

  program
    .command("serve")
    .description("Serve over HTTP (HOST, PORT, SHORTLIST_DATA, SHORTLIST_CONFIG, SHORTLIST_MODEL)")
    .option("--no-example", "do not load the example registry into an empty store")
    .option("--reembed", "embed every catalog again where the model is another one", false)
    .action((options: { example: boolean; reembed: boolean }) => runtime.serve(options));

  catalogCommands(program, runtime);
  funnelCommands(program, runtime);
  measuringCommands(program, runtime);

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
