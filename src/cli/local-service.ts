import { readFileSync } from "node:fs";
import type { Principal } from "../access.ts";
import { ShortlistError } from "../errors.ts";
import type { Job } from "../job.ts";
import type { Service } from "../service.ts";
import { progressBar } from "./progress.ts";

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
  /** Over the local store, or one in a folder of its own beside it. */
  open(folder?: string): Promise<LocalService>;
}

export async function withService(
  runtime: Runtime,
  use: (local: LocalService) => Promise<void>,
  folder?: string,
): Promise<void> {
  const local = await runtime.open(folder);
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

export function catalogOf(
  service: Service,
  principal: Principal,
  { catalog }: { catalog?: string },
): string {
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
