import { readFileSync } from "node:fs";

const names = [
  "page.html",
  "page.css",
  "cards.css",
  "dialogs.css",
  "elements.js",
  "review.js",
  "names.js",
  "images.js",
  "cards.js",
  "filters.js",
  "movement.js",
  "decide.js",
  "large-view.js",
  "keys.js",
  "csv.js",
  "main.js",
] as const;

/** The texts of the files in `page/`, each script after those that it imports. The build (scripts/build.js) puts the texts here. */
export const pageFiles: Readonly<Record<string, string>> = Object.fromEntries(
  names.map((name) => [name, readFileSync(new URL(`./page/${name}`, import.meta.url), "utf8")]),
);
