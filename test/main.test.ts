import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Json } from "./running-service.ts";
import { tool } from "./tool-factory.ts";

const scratch = mkdtempSync(join(tmpdir(), "shortlist-main-"));
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

interface Process {
  child: ChildProcess;
  url: string;
  output(): string;
  ended: Promise<number | null>;
}

/** The built program, serving on a free port. */
async function serve(
  folder: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Process> {
  const child = spawn("node", ["dist/main.js", "serve", ...args], {
    env: { ...process.env, SHORTLIST_DATA: join(scratch, folder), PORT: "0", ...env },
  });
  running.add(child);
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) =>
    child.once("exit", (code) => resolve(code)),
  );
  for (;;) {
    const url = /listens on (\S+)/.exec(output)?.[1];
    if (url) return { child, url, output: () => output, ended };
    if (child.exitCode !== null) throw new Error(output);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const cli = (args: string[], env: Record<string, string> = {}) =>
  spawnSync("node", ["dist/main.js", ...args], {
    env: { ...process.env, SHORTLIST_DATA: join(scratch, "cli"), ...env },
    encoding: "utf8",
  });

const get = async (url: string): Promise<Json> => (await fetch(url)).json();
const put = (url: string, tools: unknown[]) =>
  fetch(url, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(tools),
  });

describe("shortlist serve", () => {
  it("loads the example registry once, and prints a query that answers", async () => {
    const first = await serve("example");
    const command = /curl -s (\S+) -H 'content-type: application\/json' \\\n\s+-d '(.*)'/.exec(
      first.output(),
    )!;
    const answer = await fetch(command[1]!, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: command[2]!,
    });
    expect(((await answer.json()) as Json).tools.at(-1).name).toBe("no_applicable_tool");
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);

    const second = await serve("example");
    expect((await get(`${second.url}/v1/jobs`)).jobs).toEqual([]);
    const [before] = (await get(`${second.url}/v1/catalogs`)).catalogs;
    expect(before).toMatchObject({ name: "example", revision: 1 });
    second.child.kill("SIGTERM");
    await second.ended;
  });

  it("keeps what it acknowledged, and either revision whole, through kill -9 (invariant 8)", async () => {
    const sets = [1, 2, 3, 4, 5].map((version) =>
      Array.from({ length: 40 }, (_, i) =>
        tool({ name: `tool_${i}`, purpose: `Version ${version} of number ${i}.` }),
      ),
    );
    let acknowledged = 0;
    for (const [index, tools] of sets.entries()) {
      const { child, url, ended } = await serve("crash", ["--no-example"]);
      const { catalogs } = await get(`${url}/v1/catalogs`);
      expect(catalogs[0]?.revision ?? 0).toBeGreaterThanOrEqual(acknowledged);
      if (catalogs.length > 0) {
        const { tools: held } = await get(`${url}/v1/catalogs/crash/tools?limit=1000`);
        expect(held).toHaveLength(40);
        expect(new Set(held.map(({ purpose }: Json) => purpose.split(" ")[1])).size).toBe(1);
      }
      const { job } = (await (await put(`${url}/v1/catalogs/crash/tools`, tools)).json()) as Json;
      // Killed at another moment each time: at once, while it embeds, after it has said so.
      const deadline = performance.now() + [0, 60, 150, 400, 40_000][index]!;
      for (let state = ""; state !== "succeeded" && performance.now() < deadline;) {
        const now = await get(`${url}/v1/jobs/${job.id}`);
        state = now.state;
        if (state === "succeeded") acknowledged = now.revision;
      }
      child.kill("SIGKILL");
      await ended;
    }
    expect(acknowledged).toBeGreaterThan(0);
    const { url, child } = await serve("crash", ["--no-example"]);
    expect((await get(`${url}/v1/catalogs`)).catalogs[0]).toMatchObject({
      revision: acknowledged,
      tools: 40,
    });
    child.kill("SIGTERM");
  });

  it("takes a new configuration on SIGHUP, and keeps the old one where the new is wrong", async () => {
    const path = join(scratch, "config.json");
    const shipped = JSON.parse(readFileSync("shortlist.config.json", "utf8"));
    writeFileSync(path, JSON.stringify(shipped));
    const { child, url, output } = await serve("reload", ["--no-example"], {
      SHORTLIST_CONFIG: path,
    });
    await put(`${url}/v1/catalogs/c/tools`, [tool({ name: "a" })]);
    const phaseOf = async () =>
      (
        await fetch(`${url}/v1/catalogs/c/query`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ query: "x", phase: "mine" }),
        })
      ).status;
    const reload = async (content: string, says: string) => {
      writeFileSync(path, content);
      child.kill("SIGHUP");
      while (!output().includes(says)) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    while ((await get(`${url}/v1/catalogs`)).catalogs.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await phaseOf()).toBe(404);
    await reload(
      JSON.stringify({ ...shipped, phases: { ...shipped.phases, mine: shipped.phases.any } }),
      "is in force",
    );
    expect(await phaseOf()).toBe(200);
    await reload("{", "stays as it was");
    expect(await phaseOf()).toBe(200);
    child.kill("SIGTERM");
  });

  it.each([
    ["a configuration that is wrong", { SHORTLIST_CONFIG: "package.json" }, "/default_phase"],
    ["a model that is not there", { SHORTLIST_MODEL: "./nowhere" }, "nowhere has no config.json"],
  ])("refuses to start with %s, and says what to do", (_, env, says) => {
    const { status, stderr } = cli(["serve"], env);
    expect(status).toBe(1);
    expect(stderr).toContain(says);
  });
});

describe("the command line", () => {
  it("indexes a file, asks it and explains", () => {
    const file = join(scratch, "tools.ndjson");
    const tools = [
      tool({
        name: "list_failed_checks",
        family: "ci",
        purpose: "Lists the checks that failed on a branch.",
      }),
      tool({ name: "write_file", effect: "mutating", purpose: "Writes a file of the repository." }),
      { name: "broken" },
    ];
    writeFileSync(file, tools.map((item) => JSON.stringify(item)).join("\n"));
    const indexed = cli(["index", file, "--catalog", "mine"]);
    expect([indexed.status, indexed.stderr]).toEqual([0, ""]);
    expect(indexed.stdout).toContain("mine: revision 1, 2 added, 0 changed");
    expect(indexed.stdout).toContain("quarantined broken: not a valid ToolSpec");

    const asked = cli(["query", "which checks broke", "--phase", "verify", "--explain"]);
    expect(asked.stdout).toMatch(
      /registry 2 > eligible 1 > retrieved 1 > visible 4: sole\n.*list_failed_checks.*cosine/,
    );
    expect(
      JSON.parse(cli(["query", "which checks broke", "--json", "-k", "1"]).stdout).tools[0].name,
    ).toBe("list_failed_checks");

    const explained = cli(["explain", "write_file", "which checks broke", "--phase", "discover"]);
    expect(explained.stdout).toContain("write_file: fell out at exposure (effect)");
    expect(explained.stdout).toContain('would show it: phase {"value":["modify","any"]}');
  });

  it.each([
    [["query", "x", "--phase", "none"], "There is no phase none"],
    [["query", "x", "--catalog", "none"], "There is no catalog none"],
    [["query", ""], "The query is empty"],
    [["explain", "none", "x"], "There is no tool none"],
    [["index", "nowhere.json"], "nowhere.json cannot be read"],
    [["index", "README.md"], "README.md"],
    [["query", "x", "-k", "0"], "a whole number"],
    [["nothing"], "unknown command"],
  ])("exits with 1 on %j", (args, says) => {
    const { status, stderr } = cli(args as string[]);
    expect(status).toBe(1);
    expect(stderr).toContain(says);
  });

  it("runs labelled cases over a registry file, writes the result and the report, and gates", () => {
    const cases = join(scratch, "cases.ndjson");
    writeFileSync(
      cases,
      [
        { task_id: "1", goal: "which checks failed?", acceptable: ["list_failed_checks"] },
        { task_id: "2", goal: "write the file", acceptable: ["write_file"] },
      ]
        .map((item) => JSON.stringify(item))
        .join("\n"),
    );
    const registry = join(scratch, "tools.ndjson");
    const [out, html] = [join(scratch, "made", "report.json"), join(scratch, "report.html")];
    const run = (...gates: string[]) =>
      cli([
        "bench",
        cases,
        "--registry",
        registry,
        "-k",
        "1,5",
        "--ablate",
        "--out",
        out,
        "--html",
        html,
        "--gate",
        ...gates,
      ]);
    const passed = run("recall@1>=0.9");
    expect([passed.status, passed.stderr]).toEqual([0, ""]);
    expect(passed.stdout).toContain("2 cases, coverage 1.000, exposure recall 1.000");
    expect(passed.stdout).toContain("vague overlapping tools");
    expect(passed.stdout).toContain("passed recall@1>=0.9: 1.000");
    expect(JSON.parse(readFileSync(out, "utf8")).by_k["5"].tool_recall).toBe(1);
    expect(readFileSync(html, "utf8")).toContain("<svg");
    const failed = run("recall@1>=0.9", "all_tools@5>=0.5");
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain("all_tools@5>=0.5");
    expect(cli(["bench", cases, "--gate", "recall>1"]).status).toBe(1);
    const nowhere = cli([
      "bench",
      cases,
      "--registry",
      registry,
      "-k",
      "1",
      "--out",
      "/dev/null/x",
    ]);
    expect([nowhere.status, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining("cannot be written"),
    ]);
    // What is served has not changed.
    expect(JSON.parse(cli(["query", "x", "--json", "-c", "mine"]).stdout).revision).toBe(1);
  });

  it.each(["serve", "index", "query", "explain", "bench", "calibrate", "tune"])(
    "has help for %s",
    (command) => {
      const { status, stdout } = cli([command, "--help"]);
      expect(status).toBe(0);
      expect(stdout).toContain(`Usage: shortlist ${command}`);
    },
  );
});
