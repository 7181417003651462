import { Type } from "@sinclair/typebox";
import { invalidValue, ShortlistError } from "../errors.ts";
import { ImportRequest, type Service } from "../service.ts";
import { JobAnswer } from "./answers.ts";
import { readShape } from "./body.ts";
import { requireName } from "./catalog-routes.ts";
import { accepted, GATED, gateOf, type Route } from "./route.ts";

/** What comes into a catalog from elsewhere, and the revisions that it makes. */
export function importRoutes(service: Service): Route[] {
  const limit = () => service.config().limits.body_bytes_max;
  return [
    {
      method: "post",
      path: "/v1/catalogs/{catalog}/imports",
      tag: "catalogs",
      summary: "Replaces what one source brought with what a document holds",
      body: ImportRequest,
      query: GATED,
      answers: {
        202: {
          description: "The job, with the report; a dry run changes nothing.",
          schema: JobAnswer,
        },
      },
      async handle({ c, principal, param }) {
        const catalog = requireName(param("catalog"));
        const request = await readShape<ImportRequest>(c, ImportRequest, limit());
        const job = service.imports.start(principal, catalog, request, gateOf(c));
        return accepted(c, job);
      },
    },
    {
      method: "get",
      path: "/v1/catalogs/{catalog}/overlaps",
      tag: "catalogs",
      summary: "Pairs of tools too alike in words, coarse contracts, texts that address the model",
      query: {
        cosine_min: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 0.85 })),
      },
      answers: { 200: { description: "Pairs, most alike first, with the contrast they lack." } },
      async handle({ c, principal, param }) {
        const asked = c.req.query("cosine_min");
        const least = asked === undefined ? undefined : Number(asked);
        if (least !== undefined && !(asked !== "" && least >= 0 && least <= 1)) {
          throw invalidValue("/cosine_min", "must be a number from 0 to 1");
        }
        return c.json(await service.overlaps.lint(principal, param("catalog"), least));
      },
    },
    {
      method: "get",
      path: "/v1/catalogs/{catalog}/revisions",
      tag: "catalogs",
      summary: "The revisions that are held, newest first",
      answers: { 200: { description: "Numbers, times, sizes, and which is live." } },
      handle: ({ c, principal, param }) =>
        c.json({ revisions: service.revisions.list(principal, param("catalog")) }),
    },
    {
      method: "post",
      path: "/v1/catalogs/{catalog}/revisions/{revision}/promote",
      tag: "catalogs",
      summary: "Makes a held revision the live one, if it passes the gate",
      query: GATED,
      answers: { 202: { description: "The job.", schema: JobAnswer } },
      handle({ c, principal, param }) {
        const revision = revisionOf(param("revision"));
        const gate = gateOf(c);
        const job = service.revisions.promote(principal, param("catalog"), revision, gate);
        return accepted(c, job);
      },
    },
    {
      method: "get",
      path: "/v1/catalogs/{catalog}/revisions/{revision}/diff/{other}",
      tag: "catalogs",
      summary: "What differs from one held revision to another",
      answers: { 200: { description: "Names added and removed, and the fields that changed." } },
      handle({ c, principal, param }) {
        const [from, to] = [revisionOf(param("revision")), revisionOf(param("other"))];
        return c.json(service.revisions.diff(principal, param("catalog"), from, to));
      },
    },
  ];
}

function revisionOf(text: string): number {
  const revision = Number(text);
  if (Number.isInteger(revision) && revision >= 1) return revision;
  throw new ShortlistError("unknown_revision", "A revision is a whole number from 1.");
}
