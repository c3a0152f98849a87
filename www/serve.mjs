// Serves the built page on 127.0.0.1: node serve.mjs [--port N] [--strict]
// Says "ready URL" once it listens, and stops when its standard input ends, so that it cannot
// outlive whoever started it.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { preview } from "vite";

const { values } = parseArgs({
  options: { port: { type: "string", default: "4173" }, strict: { type: "boolean", default: false } },
});

const server = await preview({
  root: dirname(fileURLToPath(import.meta.url)),
  logLevel: "warn",
  preview: { host: "127.0.0.1", port: Number(values.port), strictPort: values.strict },
});
const { port } = server.httpServer.address();
console.log(`ready http://127.0.0.1:${port}/`);

process.stdin.on("end", () => process.exit(0)).resume();
