import stringWidth from "string-width";
import { wrapped } from "./wrapped.ts";

/** The least width of a text next to its name; in less, it continues below the name. */
const leastColumn = 20;

/**
 * A page of help in lines of a width, broken between words: the text next to a name continues in its column, a comment
 * of an example as a comment, and a paragraph is filled again. Example commands stay in one piece; unchanged without a width.
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

/** Stands for the spaces of a command between backticks while the paragraph is broken. */
const unbroken = "\u00a0";
const kept = (text: string): string => text.replace(/`[^`]*`/g, (code) => code.replaceAll(" ", unbroken));

function brokenLine(line: string, width: number): string[] {
  if (/^ *\$ /.test(line)) return [line];
  const [, start, rest] = /^( +(?:# |\S.*? {2,}))(\S.*)$/.exec(line) ?? [];
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
