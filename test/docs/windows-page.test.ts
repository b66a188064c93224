import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { inCmd, inPowerShell, type ShellWords, translated } from "../windows/shells.ts";
import { blocksOf } from "./pages/blocks.ts";

const page = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), "utf8");

/** The commands of the guide, in its blocks and its sentences, without what a comment says that the reader does by hand. */
const guideCommands = (): string[] =>
  page("guide.md")
    .split("\n")
    .filter((line) => !line.startsWith("<!--"))
    .flatMap((line) => {
      const typed = /^(?:\$ )?((?:cat|export) .+)$/.exec(line);
      const quoted = line.matchAll(/`((?:cat|mkdir|cd) [^`]+)`/g);
      return typed === null ? Array.from(quoted, ([, command]) => command!) : [typed[1]!];
    });

/** The lines of the blocks of a language in the page, without comments. */
const shown = (language: string): string[] =>
  blocksOf(page("windows.md"))
    .filter((block) => block.language === language)
    .flatMap(({ lines }) => lines.map((line) => line.replace(/(?:^| +)(?:#|REM|& REM) .*$/, "")))
    .filter((line) => line !== "");

test.each<[string, ShellWords]>([
  ["powershell", inPowerShell],
  ["bat", inCmd],
])("docs/windows.md has every command of the guide for %s, and no other", (language, words) => {
  const expected = new Set(guideCommands().map((command) => translated(command, words)));
  expect(expected.size).toBeGreaterThan(20);
  expect([...new Set(shown(language))].sort()).toEqual([...expected].sort());
});
