import { createHash } from "node:crypto";
import type { GalleryData } from "./gallery-data.ts";
import { pageFiles } from "./page-files.ts";

/** The text of the page before its images, and after them. */
export function pageAround(data: GalleryData): { before: string; after: string } {
  const style = textsOf(".css").join("\n");
  const script = `"use strict";\n(() => {\n${textsOf(".js").map(withoutModules).join("\n")}\n})();`;
  const policy = [
    "default-src 'none'",
    // A page on a disk may show the saved images next to it.
    "img-src data: file:",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const parts: Readonly<Record<string, string>> = {
    policy: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    style: `<style>${style}</style>`,
    data: `<script type="application/json" id="data">${jsonInHtml(data)}</script>`,
    script: `<script>${script}</script>`,
  };
  const [before, after] = pageFiles["page.html"]!.split("<!-- images -->") as [string, string];
  return { before: before.replace(/<!-- (\w+) -->/g, (_, name: string) => parts[name]!), after };
}

/** Images by their index, as WebP in base64; null where one is missing. */
export const imageBlock = (number: number, images: readonly (string | null)[]): string =>
  `<script type="application/json" id="images-${number}">${JSON.stringify(images)}</script>\n`;

/** JSON that no HTML parser takes for its end, and no older script for two lines. */
export const jsonInHtml = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const textsOf = (extension: string): string[] =>
  Object.entries(pageFiles).flatMap(([name, text]) => (name.endsWith(extension) ? text : []));

/** The scripts of the page become one: a page on a disk cannot import others. */
const withoutModules = (text: string): string =>
  text.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
