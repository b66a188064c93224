import { readFileSync } from "node:fs";

const names = [
  "page.html",
  "page.css",
  "filters.css",
  "cards.css",
  "large.css",
  "review.js",
  "images.js",
  "cards.js",
  "decide.js",
  "notes.js",
  "gestures.js",
  "filters.js",
  "large-view.js",
  "formulas.js",
  "save.js",
  "main.js",
] as const;

/** The texts of the files in `page/`, in the order of imports. scripts/build.js puts them here. */
export const pageFiles: Readonly<Record<string, string>> = Object.fromEntries(
  names.map((name) => [name, readFileSync(new URL(`./page/${name}`, import.meta.url), "utf8")]),
);
