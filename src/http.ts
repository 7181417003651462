import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import type { Principal } from "./access.ts";
import { ShortlistError } from "./errors.ts";
import { benchRoutes } from "./http/bench-routes.ts";
import { catalogRoutes } from "./http/catalog-routes.ts";
import { funnelRoutes } from "./http/funnel-routes.ts";
import { DOCS_PAGE, DOCS_SCRIPT, docsAsset, errorsPage } from "./http/docs.ts";
import { importRoutes } from "./http/import-routes.ts";
import { jobRoutes } from "./http/job-routes.ts";
import { openapi } from "./http/openapi.ts";
import { problem } from "./http/problem.ts";
import type { Service } from "./service.ts";

interface HttpOptions {
  service: Service;
  /** Who asks; keys will decide, for now it is whoever reaches the address. */
  principal: () => Principal;
  version: string;
  isReady: () => boolean;
  onError: (error: unknown) => void;
}

/** The HTTP edge: routes, problem details, operations. Not listening yet. */
export function httpServer(options: HttpOptions): Server {
  return createAdaptorServer({ fetch: httpApp(options).fetch }) as Server;
}

function httpApp({ service, principal, version, isReady, onError }: HttpOptions): Hono {
  const app = new Hono();
  const routes = [catalogRoutes, importRoutes, funnelRoutes, jobRoutes, benchRoutes].flatMap((of) =>
    of(service),
  );
  const document = openapi(routes, version);

  const paths = [...new Set(routes.map(({ path }) => path))].map((path) => ({
    path,
    methods: routes
      .filter((route) => route.path === path)
      .map(({ method }) => method.toUpperCase()),
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  app.onError((error, c) => {
    if (!(error instanceof ShortlistError) || error.code === "internal") onError(error);
    return problem(c, error);
  });

  app.use("*", async (c, next) => {
    await next();
    c.header("x-content-type-options", "nosniff");
    const route = paths.find(({ pattern }) => pattern.test(c.req.path))?.path ?? "other";
    service.telemetry.requests.inc({ route, method: c.req.method, status: c.res.status });
  });
  for (const route of routes) {
    app.on(route.method, route.path.replace(/\{(\w+)\}/g, ":$1"), async (c) => {
      if (!isReady()) throw new ShortlistError("not_ready", "The first revision is not live yet.");
      const startedAt = performance.now();
      const param = (name: string) => c.req.param(name) ?? "";
      try {
        return await Promise.resolve(route.handle({ c, principal: principal(), param })).catch(
          (error: unknown) => {
            if (!(error instanceof ShortlistError) || error.code === "internal") onError(error);
            return problem(c, error);
          },
        );
      } finally {
        service.telemetry.requestSeconds.observe(
          { route: route.path },
          (performance.now() - startedAt) / 1000,
        );
      }
    });
  }
  app.get("/healthz", (c) => c.json({ status: "ok", version }));
  app.get("/readyz", (c) => {
    if (!isReady()) throw new ShortlistError("not_ready", "The first revision is not live yet.");
    return c.json({ status: "ready" });
  });
  app.get("/metrics", async (c) =>
    c.body(await service.telemetry.expose(), 200, {
      "content-type": service.telemetry.contentType,
    }),
  );
  app.get("/openapi.json", (c) => c.json(document));
  app.get("/docs", (c) => c.html(DOCS_PAGE));
  app.get("/docs/errors", (c) => c.html(errorsPage()));
  app.get("/docs/start.js", (c) => c.body(DOCS_SCRIPT, 200, { "content-type": "text/javascript" }));
  app.get("/docs/assets/:name", (c) => {
    const asset = docsAsset(c.req.param("name"));
    if (!asset) throw new ShortlistError("unknown_route", "There is no such asset.");
    return c.body(new Uint8Array(asset.content), 200, { "content-type": asset.type });
  });

  app.notFound((c) => {
    const known = paths.find(({ pattern }) => pattern.test(c.req.path));
    if (known) {
      c.header("allow", known.methods.join(", "));
      return problem(
        c,
        new ShortlistError(
          "method_not_allowed",
          `${c.req.method} is not one of ${known.methods.join(", ")}.`,
        ),
      );
    }
    return problem(
      c,
      new ShortlistError("unknown_route", `${c.req.method} ${c.req.path} is not served.`),
    );
  });
  return app;
}
