import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** SHA-256 over what the page is built from; a test of crates/report computes the same. */
function sources(): string {
  const files = [...readdirSync("src").map((name) => `src/${name}`), "index.html", "package-lock.json", "vite.config.ts"];
  const hash = createHash("sha256");
  for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest("hex");
}

const named: Plugin = {
  name: "sources",
  transformIndexHtml: () => [{ tag: "meta", attrs: { name: "tautwire-sources", content: sources() }, injectTo: "head" }],
};

// One file with everything in it: it becomes crates/report/src/page.html.
export default defineConfig({
  plugins: [named, viteSingleFile()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { target: "es2022", modulePreload: false },
});
