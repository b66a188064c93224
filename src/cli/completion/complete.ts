import { writeSync } from "node:fs";
import { visible } from "../../text.ts";
import type { CommandList } from "./command-list.ts";
import type { Lookup } from "./kept-names.ts";
import { expectedAt, type Kind } from "./words.ts";

/*
 * The entry point of `catalogue __complete NAME WORD ...`, which the scripts of `cat completion` run at each
 * Tab. It is built into a file of its own, because every millisecond is felt.
 */

/** Prints the candidates. Prints no error: there is no place for it. */
export async function complete(
  host: NodeJS.Process,
  argv: readonly string[],
  list: CommandList,
): Promise<void> {
  const text = await completions(host, argv, list);
  try {
    writeSync(1, text);
  } catch {
    // The shell closed the pipe.
  }
}

/** Candidates by line, described after a tab; last `:files` if files fit, else `:`. `argv`: typed so far. */
export async function completions(
  host: Pick<NodeJS.Process, "env">,
  argv: readonly string[],
  list: CommandList,
): Promise<string> {
  const [name, ...words] = argv;
  const { kind, files, typed, before, words: fixed } = expectedAt(list, words, name === "cat");
  const kept = kind === null ? [] : await lookUp(kind, { env: host.env, words });
  const lines = [...fixed, ...kept]
    .filter(([word]) => word.startsWith(typed) && visible(word) === word)
    .map(([word, about]) => `${before}${word}${about === "" ? "" : `\t${visible(about)}`}\n`);
  return `${lines.join("")}:${files ? "files" : ""}\n`;
}

async function lookUp(kind: Kind, lookup: Lookup): Promise<(readonly [name: string, about: string])[]> {
  try {
    const { keptNames } = await import("./kept-names.ts");
    return await keptNames(kind, lookup);
  } catch {
    return [];
  }
}
