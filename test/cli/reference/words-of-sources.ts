import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../src", import.meta.url));

/** The folders of src/ whose errors people and programs see. */
export const folders = ["cli", "flows", "client", "http", "state"];

/** The sources in some folders of src/, by path from there. */
export const readSources = (inFolders: readonly string[]): [path: string, text: string][] =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && inFolders.some((folder) => path.startsWith(`${folder}/`)))
    .map((path) => [path, readFileSync(join(root, path), "utf8")]);

const found = (inFolders: readonly string[], pattern: RegExp): Set<string> =>
  new Set(
    readSources(inFolders)
      .filter(([path]) => !/^client\/api\/|\/page\//.test(path))
      .flatMap(([, text]) => [...text.matchAll(pattern)].map((match) => match[1]!)),
  );

/** The strings of the sources that are words with underscores: codes of errors, and names of other things. */
export const wordsOfSources = (): Set<string> => found(folders, /"([a-z]+(?:_[a-z]+)+)"/g);

/** The fields of the service's resources and of this program's own files. */
export const fieldsOfSources = (): Set<string> =>
  found([...folders, "contract"], /(?<![\w."?])"?([a-z]+(?:_[a-z]+)+)"?\??:/g);
