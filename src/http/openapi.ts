import type { TSchema } from "@sinclair/typebox";
import { Problem } from "./answers.ts";
import type { Route } from "./route.ts";

/** The OpenAPI 3.1 document of the route table: nothing is described that is not served. */
export function openapi(routes: readonly Route[], version: string): Record<string, unknown> {
  const components: Record<string, unknown> = {};
  const register = (schema: TSchema): unknown => {
    const bare = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
    return hoist(bare, components);
  };
  const problem = {
    description: "Problem details (RFC 9457).",
    content: { "application/problem+json": { schema: register(Problem) } },
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const names = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
    (paths[route.path] ??= {})[route.method] = {
      operationId: operationId(route),
      summary: route.summary,
      tags: [route.tag],
      parameters: [
        ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
        ...Object.entries(route.query ?? {}).map(([name, schema]) => ({
          name,
          in: "query",
          schema: register(schema),
        })),
      ],
      ...(route.body && {
        requestBody: {
          required: true,
          content: Object.fromEntries(
            (route.bodyTypes ?? ["application/json"]).map((type) => [
              type,
              { schema: register(route.body!) },
            ]),
          ),
        },
      }),
      responses: {
        ...Object.fromEntries(
          Object.entries(route.answers).map(([status, { description, schema, type }]) => [
            status,
            {
              description,
              ...((schema || type) && {
                content: {
                  [type ?? "application/json"]: schema ? { schema: register(schema) } : {},
                },
              }),
            },
          ]),
        ),
        default: problem,
      },
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Shortlist",
      version,
      description: "Decides which tools an agent may choose from this turn.",
    },
    paths,
    components: { schemas: components },
  };
}

function operationId({ method, path }: Route): string {
  const words = path
    .replace("/v1/", "")
    .split(/[/{}._]+/)
    .filter(Boolean);
  return [method, ...words]
    .map((word, i) => (i === 0 ? word : word[0]!.toUpperCase() + word.slice(1)))
    .join("");
}

/** Moves each titled schema to the components and leaves a reference. */
function hoist(node: unknown, components: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((item) => hoist(item, components));
  if (node === null || typeof node !== "object") return node;
  const { title, ...rest } = node as Record<string, unknown>;
  const inner = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, hoist(value, components)]),
  );
  if (typeof title !== "string")
    return title === undefined ? inner : { ...inner, title: hoist(title, components) };
  components[title] = inner;
  return { $ref: `#/components/schemas/${title}` };
}
