import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The files that import one of `modules` (files or packages), also through other files. Paths are relative to the current folder. */
export function importersOf(modules: readonly string[], files: readonly string[]): Set<string> {
  const imported = new Map(
    files.map((file) => {
      const specifiers = readFileSync(file, "utf8").matchAll(/(?:from|import) "([^"]+)"/g);
      return [
        file,
        [...specifiers].map(([, name]) => (name!.startsWith(".") ? join(file, "..", name!) : name!)),
      ];
    }),
  );
  const found = new Set(modules);
  const isFound = (path: string) => found.has(path);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const [file, paths] of imported) if (paths.some(isFound)) found.add(file);
  }
  return found;
}
