// Executes the Dockerfile's RUN and COPY steps without an engine: npm run bench:docker
// Each stage is a clean folder and npm's cache is empty. What only root in a container can do
// (apt-get, chown, USER) is printed and left out.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

interface Step {
  instruction: string;
  rest: string;
}

const steps: Step[] = readFileSync("Dockerfile", "utf8")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => {
    const [instruction = "", ...rest] = line.trim().split(/\s+/);
    return { instruction, rest: rest.join(" ") };
  });

const scratch = mkdtempSync(join(tmpdir(), "shortlist-docker-"));
const stages = new Map<string, string>();
const env: NodeJS.ProcessEnv = { ...process.env, npm_config_cache: join(scratch, "npm-cache") };
// The host's npm run must not leak its own configuration into the container's.
for (const name of Object.keys(env))
  if (/^npm_(package|lifecycle|command)/.test(name)) delete env[name];
let root = "";
let folder = "/";
let command: string[] = [];

const inside = (path: string) => join(root, resolve(folder, path));

for (const { instruction, rest } of steps) {
  console.log(`${instruction} ${rest}`);
  if (instruction === "FROM") {
    const name = /AS (\w+)/.exec(rest)?.[1] ?? "final";
    root = join(scratch, name);
    folder = "/";
    mkdirSync(root);
    stages.set(name, root);
  } else if (instruction === "WORKDIR") {
    folder = resolve(folder, rest);
    mkdirSync(inside("."), { recursive: true });
  } else if (instruction === "COPY") {
    const words = rest.split(" ");
    const from = words[0]!.startsWith("--from=")
      ? stages.get(words.shift()!.slice(7))!
      : process.cwd();
    const target = words.pop()!;
    for (const source of words) {
      const into = target.endsWith("/") ? join(target, basename(source)) : target;
      cpSync(join(from, source), inside(into), { recursive: true });
    }
  } else if (instruction === "RUN") {
    for (const part of rest.split(" && ")) {
      if (/^(apt-get|rm -rf \/var|chown)/.test(part)) console.log(`  left out: ${part}`);
      else
        execFileSync("sh", ["-c", part.replace("mkdir /", `mkdir ${root}/`)], {
          cwd: inside("."),
          env,
          stdio: "inherit",
        });
    }
  } else if (instruction === "ENV") {
    for (const pair of rest.split(" ")) env[pair.split("=")[0]!] = pair.split("=")[1]!;
  } else if (instruction === "CMD") {
    command = JSON.parse(rest) as string[];
  }
}

console.log("starting the final stage");
const script = `
  ${command.join(" ")} & pid=$!
  for i in $(seq 600); do
    node -e "fetch('http://127.0.0.1:'+process.env.PORT+'/readyz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))" && ready=1 && break
    sleep 0.2
  done
  kill $pid; wait $pid; test "$ready" = 1`;
const runtime = { ...env, HOST: "127.0.0.1", PORT: "8798", SHORTLIST_DATA: join(root, "data") };
execFileSync("sh", ["-c", script], { cwd: inside("."), env: runtime, stdio: "inherit" });
console.log("every step passed, and the final stage got ready");
rmSync(scratch, { recursive: true });
