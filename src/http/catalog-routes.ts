import { Type } from "@sinclair/typebox";
import { invalidValue } from "../errors.ts";
import type { Service } from "../service.ts";
import { ToolSpec } from "../tool.ts";
import { readJson, readList } from "./body.ts";
import { accepted, GATED, gateOf, ifMatchOf, type Route } from "./route.ts";
import { CatalogList, JobAnswer, ToolAnswer, ToolPage } from "./answers.ts";

const LIST_TYPES = ["application/json", "application/x-ndjson"];
const PAGE_DEFAULT = 100;
const PAGE_MAX = 1_000;

export function catalogRoutes(service: Service): Route[] {
  const limit = () => service.config().limits.body_bytes_max;
  return [
    {
      method: "get",
      path: "/v1/catalogs",
      tag: "catalogs",
      summary: "The catalogs with their live revisions",
      answers: { 200: { description: "The catalogs.", schema: CatalogList } },
      handle: ({ c, principal }) => c.json({ catalogs: service.registry.catalogs(principal) }),
    },
    {
      method: "get",
      path: "/v1/catalogs/{catalog}/tools",
      tag: "catalogs",
      summary: "The tools by name, a page at a time",
      query: {
        after: Type.Optional(Type.String({ description: "The last name of the page before." })),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: PAGE_DEFAULT }),
        ),
      },
      answers: {
        200: { description: "A page; `next` is null on the last one.", schema: ToolPage },
      },
      handle({ c, principal, param }) {
        const size = Number(c.req.query("limit") ?? PAGE_DEFAULT);
        if (!Number.isInteger(size) || size < 1 || size > PAGE_MAX) {
          throw invalidValue("/limit", `must be a whole number from 1 to ${PAGE_MAX}`);
        }
        const page = service.registry.list(
          principal,
          param("catalog"),
          c.req.query("after") ?? "",
          size,
        );
        return c.json(page, 200, { etag: `"${page.revision}"` });
      },
    },
    {
      method: "put",
      path: "/v1/catalogs/{catalog}/tools",
      tag: "catalogs",
      summary: "Replaces what the source `registry` brought, creating the catalog if need be",
      body: Type.Array(ToolSpec),
      bodyTypes: LIST_TYPES,
      query: GATED,
      answers: {
        202: {
          description: "The job; the revision goes live when it succeeds.",
          schema: JobAnswer,
        },
      },
      async handle({ c, principal, param }) {
        const catalog = requireName(param("catalog"));
        const job = await service.registry.replace(principal, catalog, await readList(c, limit()), {
          ifMatch: ifMatchOf(c),
          gate: gateOf(c),
        });
        return accepted(c, job);
      },
    },
    {
      method: "patch",
      path: "/v1/catalogs/{catalog}/tools",
      tag: "catalogs",
      summary: "Adds or changes a batch of tools, one revision for all",
      body: Type.Array(ToolSpec),
      bodyTypes: LIST_TYPES,
      query: GATED,
      answers: {
        202: {
          description: "The job; the revision goes live when it succeeds.",
          schema: JobAnswer,
        },
      },
      async handle({ c, principal, param }) {
        const values = await readList(c, limit());
        const job = await service.registry.upsert(principal, param("catalog"), values, {
          ifMatch: ifMatchOf(c),
          gate: gateOf(c),
        });
        return accepted(c, job);
      },
    },
    {
      method: "get",
      path: "/v1/catalogs/{catalog}/tools/{tool}",
      tag: "catalogs",
      summary: "One tool",
      answers: { 200: { description: "The tool.", schema: ToolAnswer } },
      handle({ c, principal, param }) {
        const { revision, tool } = service.registry.get(principal, param("catalog"), param("tool"));
        return c.json(tool, 200, { etag: `"${revision}"` });
      },
    },
    {
      method: "put",
      path: "/v1/catalogs/{catalog}/tools/{tool}",
      tag: "catalogs",
      summary: "Adds or changes one tool; answers when it is live",
      body: ToolSpec,
      answers: { 200: { description: "The tool, live.", schema: ToolAnswer } },
      async handle({ c, principal, param }) {
        const value = await readJson(c, limit());
        const { revision, tool } = await service.registry.put(
          principal,
          param("catalog"),
          param("tool"),
          value,
          ifMatchOf(c),
        );
        return c.json(tool, 200, { etag: `"${revision}"` });
      },
    },
    {
      method: "delete",
      path: "/v1/catalogs/{catalog}/tools/{tool}",
      tag: "catalogs",
      summary: "Removes one tool; answers when it is gone",
      answers: { 200: { description: "The new revision." } },
      async handle({ c, principal, param }) {
        const gone = await service.registry.delete(
          principal,
          param("catalog"),
          param("tool"),
          ifMatchOf(c),
        );
        return c.json(gone, 200, { etag: `"${gone.revision}"` });
      },
    },
    {
      method: "post",
      path: "/v1/catalogs/{catalog}/reindex",
      tag: "catalogs",
      summary: "Embeds what has no vector yet and builds the revision again",
      query: GATED,
      answers: { 202: { description: "The job.", schema: JobAnswer } },
      handle({ c, principal, param }) {
        const options = { ifMatch: ifMatchOf(c), gate: gateOf(c) };
        const job = service.registry.reindex(principal, param("catalog"), options);
        return accepted(c, job);
      },
    },
  ];
}

export function requireName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) return name;
  const message = "must match ^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$";
  throw invalidValue("/name", message, `The name ${message}.`);
}
