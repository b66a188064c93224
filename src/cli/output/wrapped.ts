import stringWidth from "string-width";
import type { Output } from "../context/standard-streams.ts";

/** Commands to type, which are copied in one piece. */
const commandLine = /^ {2}(?:cat|curl|export) /;
/** The same at the end of a sentence, e.g. `2 rows failed: cat imports rows ID --status failed`. */
const commandAtEnd = /(?<=: )cat [^:]*[^.:]$/;

/** The width that lines for people must fit; null without a terminal, or if its width is unknown. */
export const lineWidth = ({ isTTY, columns }: Pick<Output, "isTTY" | "columns">): number | null =>
  isTTY && columns > 0 ? columns : null;

/** A text in lines of a width, as `wrapped`; unchanged without a width. */
export const wrappedText = (text: string, width: number | null): string =>
  width === null
    ? text
    : text
        .split("\n")
        .flatMap((line) => wrapped(line, width))
        .join("\n");

/** A line in lines of a width with its indent, broken at single spaces; URLs and commands stay whole. */
export function wrapped(text: string, width: number): string[] {
  if (stringWidth(text) <= width || commandLine.test(text)) return [text];
  const indent = /^ */.exec(text)![0];
  const lines: string[] = [];
  let [line, filled] = ["", 0];
  for (const word of splitWords(text.slice(indent.length))) {
    const length = stringWidth(word);
    if (line !== "" && filled + 1 + length <= width) {
      line += ` ${word}`;
      filled += 1 + length;
      continue;
    }
    if (line !== "") lines.push(line);
    [line, filled] = [indent + word, indent.length + length];
  }
  return [...lines, line];
}

function splitWords(line: string): string[] {
  const start = commandAtEnd.exec(line)?.index ?? line.length;
  // Several spaces align columns.
  const words = line
    .slice(0, start)
    .trimEnd()
    .split(/(?<! ) (?! )/);
  return start === line.length ? words : [...words, line.slice(start)];
}

/** A text in pieces of a width, broken anywhere. Spaces at the start are kept. */
export function folded(text: string, width: number): string[] {
  const parts: string[] = [];
  let [part, filled] = ["", 0];
  for (const character of text) {
    const wide = stringWidth(character);
    if (filled + wide > width && part !== "") {
      parts.push(part);
      [part, filled] = ["", 0];
    }
    part += character;
    filled += wide;
  }
  return [...parts, part];
}

/** A text in a width, with `…` if it was cut. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const [first = ""] = folded(text, Math.max(1, width - 1));
  return width < 2 ? first.slice(0, width) : `${first}…`;
}

/** The least width of a text next to its name; in less, it continues below the name. */
const leastColumn = 20;

/**
 * A page of help in lines of a width, broken between words: the text next to a name continues in its column,
 * a comment of an example as a comment, and a paragraph is filled again. Example commands stay in one piece;
 * unchanged without a width.
 */
export function wrappedColumns(text: string, width: number | null): string {
  if (width === null) return text;
  const isWide = (line: string) => stringWidth(line) > width;
  return text
    .replace(/^\S.*(?:\n\S.*)+/gm, (paragraph) =>
      paragraph.split("\n").some(isWide) ? kept(paragraph.replaceAll("\n", " ")) : paragraph,
    )
    .split("\n")
    .flatMap((line) => (isWide(line) ? brokenLine(line, width) : [line]))
    .join("\n")
    .replaceAll(unbroken, " ");
}

/** Names with their texts, in two columns. */
export function namedLines(all: readonly (readonly [name: string, text: string])[], indent = "  "): string {
  const width = Math.max(0, ...all.map(([name]) => name.length));
  return all.map(([name, text]) => `${indent}${name.padEnd(width)}  ${text}\n`).join("");
}

/** Stands for the spaces of a command between backticks while the paragraph is broken. */
const unbroken = "\u00a0";
const kept = (text: string): string => text.replace(/`[^`]*`/g, (code) => code.replaceAll(" ", unbroken));

function brokenLine(line: string, width: number): string[] {
  if (/^ *\$ /.test(line)) return [line];
  const [, start, rest] = /^( +(?:# |\S(?:\S| (?! ))* {2,}))(\S.*)$/.exec(line) ?? [];
  if (start === undefined || rest === undefined) return wrapped(line, width);
  const isComment = start.endsWith("# ");
  const used = stringWidth(start);
  if (!isComment && width - used < leastColumn) {
    const indent = " ".repeat(/^ */.exec(line)![0].length + 2);
    return [start.trimEnd(), ...wrapped(indent + rest, width)];
  }
  return wrapped(rest, width - used).map((part, index) =>
    index === 0 || isComment ? start + part : " ".repeat(used) + part,
  );
}
