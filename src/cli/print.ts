import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ShortlistError } from "../errors.ts";

/** One value as JSON on standard output. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printLine(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Rows as aligned columns. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of rows)
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
}

/** Writes a file, its folder too where there is none. @throws ShortlistError `bad_request` where it cannot be written */
export function writeText(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (error) {
    throw new ShortlistError(
      "bad_request",
      `${file} cannot be written: ${(error as Error).message}.`,
    );
  }
}
