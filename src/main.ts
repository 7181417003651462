#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { localPrincipal } from "./access.ts";
import { readCalibration } from "./calibration.ts";
import { follow, readList, type Runtime, runCli } from "./cli.ts";
import { progressBar } from "./cli/progress.ts";
import { type Config, loadConfig } from "./config.ts";
import { VIEW_TEMPLATE } from "./discovery.ts";
import { findModel, startEmbedder } from "./embedder.ts";
import { httpServer } from "./http.ts";
import { createService } from "./service.ts";
import { openStore } from "./store.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const EXAMPLE_CATALOG = "example";
const DRAIN_MS = 10_000;
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  version: string;
};

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

function logError(error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** Everything that one process holds: configuration, store, encoder and the service over them. */
async function assemble(beside = "") {
  const configPath =
    process.env["SHORTLIST_CONFIG"] ??
    [resolve("shortlist.config.json"), join(ROOT, "shortlist.config.json")].find(existsSync)!;
  let config: Config = loadConfig(configPath);
  const folder = join(process.env["SHORTLIST_DATA"] ?? resolve("var"), beside);
  const store = openStore(folder);
  const bar = progressBar("Downloading");
  let isSaid = false;
  const onDownload = (name: string, percent: number) => {
    if (!isSaid) log(`Downloading the model ${name} from the hub into models/cache, once.`);
    isSaid = true;
    bar.update(Math.round(percent), 100);
  };
  const model = await findModel(join(ROOT, "models"), process.env["SHORTLIST_MODEL"], onDownload);
  bar.stop();
  const embedder = await startEmbedder(model, { template: VIEW_TEMPLATE });
  const service = createService({
    calibration: readCalibration(model.path),
    store,
    embedder,
    config: () => config,
    folder,
    environment: (name) => process.env[name],
    onError: logError,
  });
  const principal = () => localPrincipal(config.ceiling);

  return {
    service,
    embedder,
    principal,
    config: () => config,
    async load({ example, reembed }: { example: boolean; reembed: boolean }): Promise<void> {
      if (reembed)
        await service.registry.reembed(
          principal(),
          (job) => void follow(service, job, `Embedding ${job.catalog}`),
        );
      await service.load();
      if (example && store.catalogs().length === 0) {
        const values = readList(join(ROOT, "data", "registry.json"));
        await follow(
          service,
          await service.registry.replace(principal(), EXAMPLE_CATALOG, values),
          "Embedding the example registry",
        );
      }
    },
    async reload(): Promise<void> {
      try {
        config = loadConfig(configPath);
        await service.reload();
        log(`Configuration ${config.hash} is in force.`);
      } catch (error) {
        log(`The configuration stays as it was: ${(error as Error).message}`);
      }
    },
  };
}

async function serve(options: { example: boolean; reembed: boolean }): Promise<void> {
  const startedAt = performance.now();
  const host = process.env["HOST"] ?? "127.0.0.1";
  const port = Number(process.env["PORT"] ?? 8787);
  const parts = await assemble();
  let encoderAt = NaN;
  const encoderUp = parts.embedder.ready().then(() => (encoderAt = performance.now()));
  encoderUp.catch(() => {}); // awaited below, once the address is taken
  let isReady = false;
  const server = httpServer({
    service: parts.service,
    principal: parts.principal,
    version,
    isReady: () => isReady,
    onError: (error) =>
      log(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
  await new Promise<void>((done, fail) => server.once("error", fail).listen(port, host, done));

  const closed = new Promise<void>((done) => {
    const stop = () => {
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      void parts.service.close().then(() => {
        clearTimeout(timer);
        server.closeAllConnections();
        done();
      });
    };
    process.once("SIGTERM", stop);
    process.once("SIGINT", stop);
  });
  process.on("SIGHUP", () => void parts.reload());

  // The store's revisions come to life while the encoder starts.
  await Promise.all([encoderUp, parts.load(options)]);
  isReady = true;
  const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(2);
  const address = server.address() as AddressInfo;
  const url = `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  const catalog = parts.service.registry.catalogs(parts.principal())[0];
  const ready = `ready in ${seconds(startedAt)} s, ${seconds(encoderAt)} s after the encoder`;
  const query = `{"query":"which checks broke on my branch?","phase":"diagnose","k":5}`;
  const invitation = catalog
    ? `
${catalog.name}: ${catalog.tools} tools, revision ${catalog.revision}. Ask it:

  curl -s ${url}/v1/catalogs/${catalog.name}/query -H 'content-type: application/json' \\
    -d '${query}'
`
    : "";
  log(`Shortlist ${version} listens on ${url} (${ready})${invitation}`);
  await closed;
}

const runtime: Runtime = {
  version,
  serve,
  async open(folder) {
    const parts = await assemble(folder);
    await parts.load({ example: false, reembed: false });
    return {
      service: parts.service,
      principal: parts.principal(),
      close: () => parts.service.close(),
    };
  },
};

process.exitCode = await runCli(process.argv.slice(2), runtime).catch((error: unknown) => {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
});
