import type { Word } from "../architecture/page.ts";
import { type ExportedName, headWord } from "./names.ts";

/** The singular forms that a plural may have. */
const singulars = (word: string): string[] => [
  word,
  ...(word.endsWith("ies") ? [`${word.slice(0, -3)}y`] : []),
  ...(word.endsWith("es") ? [word.slice(0, -2)] : []),
  ...(word.endsWith("s") ? [word.slice(0, -1)] : []),
];

/** Exported types of flows and state whose last word is neither in the glossary nor general: `src/a.ts Name`. */
export function unknownTypes(
  names: readonly ExportedName[],
  glossary: readonly Word[],
  general: ReadonlySet<string>,
): string[] {
  const words = new Set([...glossary.map(({ word }) => word.split(" ").at(-1)!), ...general]);
  return names
    .filter(({ isType, file }) => isType && /^src\/(?:flows|state)\//.test(file))
    .filter(({ name }) => !singulars(headWord(name)).some((word) => words.has(word)))
    .map(({ name, file }) => `${file} ${name}`);
}
