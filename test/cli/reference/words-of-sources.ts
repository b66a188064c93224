import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../src", import.meta.url));
const folders = ["cli", "flows", "client", "http", "state"];
const textsOf = (all: readonly string[]): string[] =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && all.some((folder) => name.startsWith(`${folder}/`)))
    .filter((name) => !/^client\/api\/|^cli\/reference\/\w+-codes\.ts$|\/page\//.test(name))
    .map((name) => readFileSync(join(root, name), "utf8"));
const found = (texts: readonly string[], pattern: RegExp): Set<string> =>
  new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1]!)));

/** The strings of the sources that are words with underscores: codes of errors, and names of other things. */
export const wordsOfSources = (): Set<string> => found(textsOf(folders), /"([a-z]+(?:_[a-z]+)+)"/g);

/** The fields of the service's resources and of this program's own files. */
export const fieldsOfSources = (): Set<string> =>
  found(textsOf([...folders, "contract"]), /(?<![\w."?])"?([a-z]+(?:_[a-z]+)+)"?\??:/g);
