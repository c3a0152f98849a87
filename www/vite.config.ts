import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
  // The built page works from any folder of a static server.
  base: "./",
  resolve: {
    alias: {
      // just-bash's browser build imports gzip from Node.
      "node:zlib": fileURLToPath(new URL("./src/shims/zlib.ts", import.meta.url)),
    },
  },
  // Pre-bundling would part the package's modules from the wasm file beside them.
  optimizeDeps: { exclude: ["tackroom"] },
  // just-bash, about 1 MB before compression.
  build: { target: "es2022", chunkSizeWarningLimit: 1500 },
});
