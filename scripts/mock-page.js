// @ts-check
// Bundles the page of the mock (src/mock-page/app/) into one HTML text. The build inlines it into the mock; a mock that runs
// from its sources bundles it on the first request.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "src", "mock-page", "app");
const styles = ["page.css", "parts.css", "requests.css", "data.css", "forms.css"];

/** The page, and what esbuild says about its inputs. */
export async function bundlePage() {
  const made = await build({
    absWorkingDir: root,
    entryPoints: [join(folder, "main.tsx")],
    bundle: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
    write: false,
    metafile: true,
    outdir: "page",
    legalComments: "none",
    logLevel: "warning",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  // HTML ends a script at this text, wherever it is.
  const script = (made.outputFiles[0]?.text ?? "").trim().replaceAll("</script", "<\\/script");
  const texts = await Promise.all(styles.map((name) => readFile(join(folder, name), "utf8")));
  const style = (await transform(texts.join("\n"), { loader: "css", minify: true })).code.trim();
  const template = await readFile(join(folder, "page.html"), "utf8");
  const html = template
    .replace("<!-- style -->", () => `<style>${style}</style>`)
    .replace("<!-- script -->", () => `<script>${script}</script>`);
  return { page: { html, style, script }, metafile: made.metafile };
}
