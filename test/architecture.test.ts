import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * What each head file, and the files of its folder, may import: DESIGN's table. `rows.ts` is a
 * range of two numbers that ports and exposure speak in. A folder is private to its head and to
 * `service.ts`.
 */
const PORTS = ["embedder", "vector-index", "lexical-index"];
const MIDDLE = [
  "errors",
  "rows",
  "tool",
  "render",
  "exposure",
  ...PORTS,
  "snapshot",
  "discovery",
  "calibration",
  "cholesky",
  "adapter",
  "import",
  "overlap",
  "routing",
  "job",
  "access",
  "store",
  "telemetry",
];
const MAY_IMPORT: Record<string, readonly string[]> = {
  errors: [],
  rows: [],
  tool: ["errors"],
  render: ["tool"],
  exposure: ["tool", "rows"],
  embedder: ["errors"],
  "vector-index": ["errors", "rows"],
  "lexical-index": ["errors", "rows"],
  snapshot: [...PORTS, "exposure", "tool"],
  // Exposure's eligible rows are discovery's input; the snapshot is laid out by it.
  discovery: ["snapshot", "render", "exposure", "tool", ...PORTS],
  cholesky: [],
  adapter: ["cholesky", "embedder"],
  import: ["tool", "errors"],
  overlap: ["snapshot", "discovery", "tool"],
  calibration: ["cholesky", "discovery", "errors", "tool"],
  // A case may carry a policy of its own.
  routing: ["tool", "errors", "exposure"],
  job: ["errors"],
  access: ["exposure"],
  store: ["tool", "routing", "errors", "calibration"],
  telemetry: [],
  // The type of the trusted configuration; the service never reads the file.
  service: [...MIDDLE, "config"],
  // The default of `planner.graph_rows_min` is the crossover's.
  config: ["errors", "exposure", "tool", "import", "vector-index"],
  // Edges: contracts, errors and the service's type.
  http: ["errors", "tool", "calibration", "exposure", "routing", "job", "access", "service"],
  cli: ["errors", "job", "access", "service", "calibration", "routing"],
  main: [...MIDDLE, "service", "config", "http", "cli"],
};

const LINES_MAX = 300;
const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const headOf = (file: string) => file.split("/")[0]!.replace(/\.ts$/, "");
const importsOf = (file: string) =>
  Array.from(readFileSync(join("src", file), "utf8").matchAll(/from "(\.[^"]+)"/g), ([, target]) =>
    relative("src", join("src", dirname(file), target!)),
  );

describe("the architecture", () => {
  it("knows every head file", () => {
    const heads = new Set(files.map(headOf));
    expect([...heads].filter((head) => !(head in MAY_IMPORT))).toEqual([]);
    for (const head of heads)
      expect(
        existsSync(join("src", `${head}.ts`)),
        `src/${head}/ has no head file ${head}.ts`,
      ).toBe(true);
  });

  it("imports one way, by the table", () => {
    const broken = files.flatMap((file) =>
      importsOf(file).flatMap((target) =>
        headOf(target) === headOf(file) || MAY_IMPORT[headOf(file)]?.includes(headOf(target))
          ? []
          : [`src/${file} may not import src/${target}`],
      ),
    );
    expect(broken).toEqual([]);
  });

  it("keeps a folder private to its head file", () => {
    // `main.ts` shows a download's progress with the command line's bar.
    const excepted = new Set(["main.ts -> cli/progress.ts"]);
    const broken = files.flatMap((file) =>
      importsOf(file).flatMap((target) =>
        !target.includes("/") ||
        headOf(target) === headOf(file) ||
        excepted.has(`${file} -> ${target}`)
          ? []
          : [`src/${file} reaches into src/${target}: import its head file`],
      ),
    );
    expect(broken).toEqual([]);
  });

  it(`keeps files under ${LINES_MAX} lines, each named by the thing it holds`, () => {
    const roots = ["src", "test", "bench"];
    const all = roots
      .flatMap((root) =>
        readdirSync(root, { recursive: true, encoding: "utf8" }).map((file) => join(root, file)),
      )
      .filter((file) => file.endsWith(".ts"));
    const long = all.filter(
      (file) => readFileSync(file, "utf8").split("\n").length > LINES_MAX + 1,
    );
    expect(long, "split them").toEqual([]);
    expect(
      all.filter((file) => /(^|\/)(utils?|helpers?|shared|common|types|index)\.ts$/.test(file)),
      "say what they hold",
    ).toEqual([]);
  });

  it("reads the environment in the process alone, and runs no text as code", () => {
    for (const file of files) {
      const source = readFileSync(join("src", file), "utf8");
      if (file !== "main.ts")
        expect(source, `src/${file} reads process.env`).not.toContain("process.env");
      expect(source, `src/${file} evaluates text`).not.toMatch(/\beval\(|new Function\(/);
    }
  });
});
