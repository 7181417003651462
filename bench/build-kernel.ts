// Assembles src/vector-index/scan.wat into src/vector-index/scan-wasm.ts: npm run build:kernel
import { readFileSync, writeFileSync } from "node:fs";
import wabt from "wabt";

const source = "src/vector-index/scan.wat";
const { parseWat } = await wabt();
const { buffer } = parseWat(source, readFileSync(source, "utf8"), { simd: true }).toBinary({});
const base64 = Buffer.from(buffer).toString("base64");
writeFileSync(
  "src/vector-index/scan-wasm.ts",
  `// Assembled from scan.wat by \`npm run build:kernel\`; a test compares the two.\nexport const SCAN_WASM =\n  ${JSON.stringify(base64)};\n`,
);
