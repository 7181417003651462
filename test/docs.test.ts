import { exec, execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningService, runService } from "./running-service.ts";

const PAGES = [
  "README.md",
  ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];
const blocks = PAGES.flatMap((page) =>
  Array.from(readFileSync(page, "utf8").matchAll(/```sh\n(.*?)```/gs), ([, block]) => ({
    page,
    block: block!,
  })),
);
const folder = mkdtempSync(join(tmpdir(), "shortlist-docs-"));

let running: RunningService;
beforeAll(async () => {
  running = await runService();
  await running.put("example", JSON.parse(readFileSync("data/registry.json", "utf8")));
});
afterAll(async () => {
  await running.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("every request of the docs gets a good answer", () => {
  const requests = blocks.filter(({ block }) => block.includes("curl "));
  it.each(
    requests.map(({ page, block }) => [
      page,
      block.split("\n").find((line) => line.startsWith("curl"))!,
      block,
    ]),
  )("%s: %s", async (_page, _line, block) => {
    const command = block
      .replaceAll("http://127.0.0.1:8787", running.url)
      .replaceAll("curl -s", "curl -s --fail-with-body");
    const { status, stdout } = await new Promise<{ status: number; stdout: string }>((resolve) => {
      exec(command, (error, out) => resolve({ status: error ? 1 : 0, stdout: out }));
    });
    expect(stdout, stdout).not.toContain('"code"');
    expect(status).toBe(0);
    const answer = JSON.parse(stdout);
    if (answer.job) expect((await running.ended(answer.job)).state).toBe("succeeded");
  });
  it("there are some", () => expect(requests.length).toBeGreaterThan(8));
});

describe("every command of the docs runs", () => {
  const env = { ...process.env, SHORTLIST_DATA: folder };
  const commands = blocks.flatMap(({ page, block }) =>
    block
      .split("\n")
      .flatMap((line) => (line.startsWith("npx shortlist ") ? [[page, line] as const] : [])),
  );
  beforeAll(
    () =>
      void execFileSync(
        "node",
        ["dist/main.js", "index", "data/registry.json", "--catalog", "example"],
        { env },
      ),
  );
  it.each(commands)("%s: %s", (_page, line) => {
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", line.replace("npx shortlist", "node dist/main.js")],
      { env, encoding: "utf8" },
    );
    expect([status, stderr]).toEqual([0, ""]);
  });

  it("and every npm script that they name exists", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    for (const page of PAGES) {
      for (const [, name] of readFileSync(page, "utf8").matchAll(/npm run ([\w:]+)/g)) {
        expect(scripts, page).toHaveProperty([name!]);
      }
    }
  });

  it("and every page that they link is there", () => {
    for (const page of PAGES) {
      for (const [, target] of readFileSync(page, "utf8").matchAll(/\]\(([\w./-]+\.md)\)/g)) {
        expect(() => readFileSync(join(page, "..", target!)), `${page} -> ${target}`).not.toThrow();
      }
    }
  });
});
