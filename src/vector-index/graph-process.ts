// The process that builds an HNSW graph: minutes of work for a large catalog, off the serving thread.
import { readFileSync } from "node:fs";
import { buildGraph } from "./graph.ts";

const [vectorsPath, graphPath, dimension] = process.argv.slice(2) as [string, string, string];
const onOrphaned = () => process.exit(1);
process.on("disconnect", onOrphaned);
const bytes = readFileSync(vectorsPath);
const vectors = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
await buildGraph(vectors, Number(dimension), graphPath);
process.off("disconnect", onOrphaned);
process.disconnect();
