import { defineConfig } from "vite";

// The page runs under the policy that the package promises to work with: no eval, no inline script.
const policy = "script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'";

export default defineConfig({
  base: "./",
  build: { target: "es2022", sourcemap: false, chunkSizeWarningLimit: 4096 },
  worker: { format: "es" },
  preview: { headers: { "Content-Security-Policy": policy, "Cache-Control": "no-store" } },
});
