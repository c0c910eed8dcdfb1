import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file with everything in it: it becomes crates/report/src/page.html.
export default defineConfig({
  plugins: [viteSingleFile()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { target: "es2022", modulePreload: false },
});
