import { type Imports, reachedFrom } from "./imports.ts";

/** The rows of the tables below each heading of a page, as the cells between the bars. */
function tablesOf(page: string): ReadonlyMap<string, readonly (readonly string[])[]> {
  const sections = page.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [title, ...lines] = section.split("\n");
      const rows = lines.filter((line) => line.startsWith("|")).slice(2);
      return [
        title!,
        rows.map((row) =>
          row
            .split(/(?<!\\)\|/)
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ),
      ];
    }),
  );
}

const pathIn = (cell: string): string => `src/${cell.replaceAll("`", "")}`;

const journeys = ["A CSV row", "A try-on", "A mirrored asset", "A delivery", "A GET in the mock"];

export interface Word {
  readonly word: string;
  readonly file: string;
}

/** The words of the glossary. */
export const glossaryOf = (page: string): Word[] =>
  (tablesOf(page).get("Glossary") ?? []).map(([word, , file]) => ({ word: word!, file: pathIn(file!) }));

/**
 * What is wrong with docs/architecture.md: a place whose file lacks the name, and a journey that has not ten files, or one that
 * no import leads to from its first.
 */
export function pageProblems(
  page: string,
  imports: ReadonlyMap<string, Imports>,
  read: (file: string) => string,
): string[] {
  const tables = tablesOf(page);
  const places = (tables.get("Places") ?? []).flatMap(([question, cell, name]) => {
    const file = pathIn(cell!);
    const has = imports.has(file) && read(file).includes(name!.replaceAll("`", ""));
    return has ? [] : [`${question} ${file} has no ${name}`];
  });
  const steps = journeys.flatMap((title) => {
    const files = (tables.get(title) ?? []).map(([, file]) => pathIn(file!));
    const reached = files.length === 0 ? new Set() : reachedFrom(files[0]!, imports);
    const lost = files.filter((file) => !imports.has(file) || !reached.has(file));
    return [
      ...(files.length === 10 ? [] : [`${title}: ${files.length} files, not ten`]),
      ...lost.map((file) => `${title}: no import leads from ${files[0]} to ${file}`),
    ];
  });
  return [...places, ...steps];
}

/** Glossary words that their file does not have, and those that are listed twice or out of order. */
export function glossaryProblems(words: readonly Word[], read: (file: string) => string | null): string[] {
  return words.flatMap(({ word, file }, at) => {
    const text = read(file);
    const isThere = text?.toLowerCase().includes(word.replaceAll(" ", "")) ?? false;
    const before = words[at - 1]?.word ?? "";
    return [
      ...(isThere ? [] : [`glossary: ${file} does not have the word ${word}`]),
      ...(before < word ? [] : [`glossary: ${word} is a duplicate, or out of order`]),
    ];
  });
}
