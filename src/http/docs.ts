import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ERRORS } from "../errors.ts";

const ASSETS: Record<string, string> = {
  "swagger-ui.css": "text/css",
  "swagger-ui-bundle.js": "text/javascript",
};

/** A file of the API browser, from its package: nothing is fetched from elsewhere. */
export function docsAsset(name: string): { type: string; content: Buffer } | undefined {
  const type = ASSETS[name];
  if (type === undefined) return undefined;
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  return { type, content: readFileSync(join(folder, name)) };
}

export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Shortlist API</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css"></head>
<body><main id="api"></main>
<script src="/docs/assets/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script></body>
</html>
`;

export const DOCS_SCRIPT = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true });\n`;

/** The error table as a page; each row is the target of a problem's \`type\`. */
export function errorsPage(): string {
  const rows = Object.entries(ERRORS)
    .map(
      ([code, { status, title, remedy }]) =>
        `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}</td><td>${remedy}</td></tr>`,
    )
    .join("\n");
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Shortlist errors</title></head>
<body><h1>Errors</h1><table><thead><tr><th>code</th><th>status</th><th>what happened</th><th>what to do</th></tr></thead>
<tbody>
${rows.replaceAll("{", "&#123;")}
</tbody></table></body>
</html>
`;
}
