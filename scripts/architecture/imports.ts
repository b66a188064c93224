import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path/posix";

/** What a file of src/ imports: files when it runs, now or later, and those of which it reads types only. */
export interface Imports {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

const statement = /^(?:import|export)\s+(?:(type)\s)?(?:([^;"]*?)\sfrom\s+)?"(\.[^"]+)"/gm;
const later = /(?<!typeof )import\("(\.[^"]+)"\)/g;

/** The imports in the text of a file, by their paths. Prose of comments does not begin a line with `import`. */
export function importsIn(file: string, text: string): Imports {
  const values: string[] = [];
  const types: string[] = [];
  const toPath = (specifier: string) => join(file, "..", specifier);
  for (const [, type, names = "", specifier] of text.matchAll(statement)) {
    const braced = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
    const named = braced?.split(",").filter((name) => name.trim() !== "") ?? [];
    const isType = type !== undefined || (named.length > 0 && named.every((name) => /^\s*type\s/.test(name)));
    (isType ? types : values).push(toPath(specifier!));
  }
  for (const [, specifier] of text.matchAll(later)) values.push(toPath(specifier!));
  return { values, types };
}

/** The imports of every file below src/, by path such as `src/clock.ts`. */
export function importsOfSources(root: string): ReadonlyMap<string, Imports> {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name.replaceAll("\\", "/")}`)
    .filter((name) => /\.tsx?$/.test(name))
    .sort();
  return new Map(names.map((name) => [name, importsIn(name, readFileSync(join(root, name), "utf8"))]));
}

/** The files that a run of `first` can reach, itself included. */
export function reachedFrom(first: string, imports: ReadonlyMap<string, Imports>): ReadonlySet<string> {
  const found = new Set([first]);
  for (const file of found) for (const path of imports.get(file)?.values ?? []) found.add(path);
  return found;
}
