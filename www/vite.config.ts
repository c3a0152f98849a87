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
  // just-bash, about 1 MB before compression.
  build: { target: "es2022", sourcemap: false, chunkSizeWarningLimit: 4096 },
  preview: { headers: { "Content-Security-Policy": policy, "Cache-Control": "no-store" } },
});
