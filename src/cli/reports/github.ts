import { grouped } from "../../flows/words.ts";
import type { FoundProblem, FoundProblems } from "./found-problems.ts";

/** GitHub shows ten errors per step. */
const mostAnnotations = 10;
/** The rows of the table; the files of the run have all. */
const mostRows = 20;

/** Annotations of GitHub Actions: ten at most; the last says how many more. `visible` cleans paths. */
export function annotations(
  { listed, count, stopped }: FoundProblems,
  visible: (text: string) => string,
): string[] {
  const lines = listed.map((problem) => annotation(problem, visible));
  if (stopped !== null) lines.unshift(`::error::${escapedData(stopped.message)}`);
  const all = count + (stopped === null ? 0 : 1);
  if (all <= mostAnnotations) return lines;
  const shown = lines.slice(0, mostAnnotations - 1);
  return [...shown, `::error::and ${grouped(all - shown.length)} more, listed in the log and in the reports`];
}

/** A problem, at its line of the file; a place without one is in the title. */
function annotation(
  { path, lines, place, message }: FoundProblem,
  visible: (text: string) => string,
): string {
  const properties = [
    ...(path === null ? [] : [`file=${escapedProperty(visible(path))}`]),
    ...(path === null || lines === null ? [] : [`line=${lines.first}`]),
    ...(path === null || lines === null || lines.first === lines.last ? [] : [`endLine=${lines.last}`]),
    ...(path === null || lines === null ? [`title=${escapedProperty(place)}`] : []),
  ];
  return `::error ${properties.join(",")}::${escapedData(message)}`;
}

/** As @actions/core escapes a message. */
const escapedData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

/** As @actions/core escapes the value of a property. */
const escapedProperty = (text: string): string =>
  escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** The summary of a job step in Markdown: the counts, then the first problems. */
export function stepSummary(title: string, { listed, count, counts, stopped }: FoundProblems): string {
  const parts = [`### ${inMarkdown(title)}`];
  const names = Object.keys(counts);
  if (names.length > 0)
    parts.push(
      table(names.map(inMarkdown), "---:", [
        Object.values(counts).map((number) => inMarkdown(grouped(number))),
      ]),
    );
  if (stopped !== null) parts.push(`**Stopped:** ${inMarkdown(stopped.message)}`);
  const rows = listed.slice(0, mostRows);
  if (rows.length > 0)
    parts.push(
      table(
        ["place", "code", "problem"],
        "---",
        rows.map(({ place, code, message }) => [place, code, message].map(inMarkdown)),
      ),
    );
  if (count > rows.length) parts.push(`and ${grouped(count - rows.length)} more`);
  // The file may end with a table or a paragraph.
  return `\n${parts.join("\n\n")}\n`;
}

const table = (head: readonly string[], rule: string, rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => rule), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** A text that Markdown shows as is: each character of markup is a character reference. */
export const inMarkdown = (text: string): string =>
  text.replace(/[^\p{L}\p{M}\p{N} ,;()'"/?%=-]/gu, (character) => `&#${character.codePointAt(0)};`);
