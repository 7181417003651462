import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localPrincipal, type Principal } from "../src/access.ts";
import { readCalibration } from "../src/calibration.ts";
import { type Config, loadConfig } from "../src/config.ts";
import { VIEW_TEMPLATE } from "../src/discovery.ts";
import { findModel, startEmbedder } from "../src/embedder.ts";
import { httpServer } from "../src/http.ts";
import { createService, type Service } from "../src/service.ts";
import { openStore } from "../src/store.ts";

/** What a test reads of a JSON answer. */
// eslint-disable-next-line typescript/no-explicit-any
export type Json = any;

interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

export interface RunningService {
  url: string;
  service: Service;
  config: Config;
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Puts the tools and waits until they are live. */
  put(catalog: string, tools: readonly unknown[]): Promise<Json>;
  /** The job, once it has ended. */
  ended(job: Json): Promise<Json>;
  close(): Promise<void>;
}

/** The whole service on a socket of its own: real store, real encoder. */
export async function runService(
  over: {
    config?: (config: Config) => Config;
    principal?: (config: Config) => Principal;
    environment?: (name: string) => string | undefined;
  } = {},
): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), "shortlist-"));
  const loaded = loadConfig("shortlist.config.json");
  const config = over.config?.(loaded) ?? loaded;
  const model = await findModel("models", undefined, () => {});
  const embedder = await startEmbedder(model, {
    template: VIEW_TEMPLATE,
    indexLanes: 1,
  });
  const service = createService({
    calibration: readCalibration(model.path),
    store: openStore(folder),
    embedder,
    config: () => config,
    folder,
    ...(over.environment && { environment: over.environment }),
    onError: console.error,
  });
  const principal = over.principal?.(config) ?? localPrincipal(config.ceiling);
  const server = httpServer({
    service,
    principal: () => principal,
    version: "test",
    isReady: () => true,
    onError: console.error,
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const running: RunningService = {
    url,
    service,
    config,
    async request(method, path, body, headers = {}) {
      const isRaw = typeof body === "string" || body instanceof Uint8Array;
      const response = await fetch(url + path, {
        method,
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json");
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? JSON.parse(text) : text,
      };
    },
    async ended(job) {
      for (;;) {
        const { body } = await running.request("GET", `/v1/jobs/${job.id}`);
        if (body.state !== "queued" && body.state !== "running") return body;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async put(catalog, tools) {
      const { body } = await running.request("PUT", `/v1/catalogs/${catalog}/tools`, tools);
      return running.ended(body.job);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return running;
}
