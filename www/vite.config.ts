import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// The page runs under the policy that the package promises to work with: no eval, no inline script.
const policy = "script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'";

export default defineConfig({
  // The built page works from any folder of a static server.
  base: "./",
  resolve: {
    alias: {
      // just-bash's browser build imports gzip from Node.
      "node:zlib": fileURLToPath(new URL("./src/shims/zlib.ts", import.meta.url)),
    },
  },
  // In `vite dev`, pre-bundling would part the package's modules from the wasm file beside them.
  optimizeDeps: { exclude: ["tackroom"] },
  // just-bash is about 1.2 MB before compression.
  build: { target: "es2022", sourcemap: false, chunkSizeWarningLimit: 4096 },
  worker: { format: "es" },
  preview: { headers: { "Content-Security-Policy": policy, "Cache-Control": "no-store" } },
});
