import { realpathSync } from "node:fs";
import nodePath, { type PlatformPath } from "node:path";
import { withoutGz } from "../../flows/rows/input-format.ts";
import type { Source } from "../../flows/rows/source.ts";
import { shownName } from "../../flows/words.ts";
import { type ListedProblem, type PhotoAt, placeText } from "../output/problem-groups.ts";
import { wholeMessage } from "../output/problem-list.ts";

/** The problems that a report lists; the others are counted. */
const mostListed = 1_000;

/** A longer message has values of cells, of which the start is enough. */
const longestMessage = 1_000;

/** A problem of a row as reports have it, with texts that are safe to show. */
export interface FoundProblem {
  /** The input as messages name it. */
  readonly input: string;
  /** The file from the root of the repository, with `/`; null for a file outside of it, or without a file. */
  readonly path: string | null;
  /** The lines of that file; null if they are not those of a text file, e.g. in a workbook. */
  readonly lines: { readonly first: number; readonly last: number } | null;
  /** The row or rows of the input, as numbers. */
  readonly row: string;
  /** The place for people, e.g. `products.csv:12` or `products.xlsx: Sheet1!C14`. */
  readonly place: string;
  readonly reference: string | null;
  readonly field: string | null;
  readonly code: string;
  /** The event, with the reference and the field. */
  readonly message: string;
}

export interface ProblemSource extends Pick<Source, "name" | "path" | "format"> {
  readonly photoAt?: PhotoAt | undefined;
}

/** A problem of a row; `reference` is that of the row. */
export type RowProblem = ListedProblem & { readonly reference?: string | undefined };

interface ReportPlace {
  readonly cwd: string;
  /** The folder of the repository, which paths start from. */
  readonly root: string;
  /** Makes a text safe to show. */
  shown(text: string): string;
}

/** Collects what reports for CI list: the first problems, and the counts of the summary. */
export class FoundProblems {
  readonly #place: ReportPlace;
  readonly listed: FoundProblem[] = [];
  /** All problems, also those that are not listed. */
  count = 0;
  /** Why the command has stopped, if it is not about rows. */
  stopped: { readonly code: string; readonly message: string } | null = null;
  /** Rows or images by their result, in the order to show. */
  counts: Readonly<Record<string, number>> = {};

  constructor(place: ReportPlace) {
    this.#place = { ...place, root: realFolder(place.root) };
  }

  /** The number of problems that are not listed. */
  get left(): number {
    return this.count - this.listed.length;
  }

  add({ name, path, format, photoAt }: ProblemSource, problem: RowProblem): void {
    if (++this.count > mostListed) return;
    const { cwd, root, shown } = this.#place;
    const { line, param, code, reference } = problem;
    const photo = typeof line === "number" ? photoAt?.(line, param) : undefined;
    const file = photo ?? (path === null || photoAt !== undefined ? null : name);
    const isText = photoAt === undefined && format !== "workbook" && withoutGz(name) === name;
    const [first, last = first] = `${line}`.split("-").map(Number) as [number, number?];
    this.listed.push({
      input: shown(shownName(name)),
      path: file === null ? null : pathWithin(root, inRealFolder(nodePath.resolve(cwd, file))),
      lines: isText && path !== null ? { first, last } : null,
      row: `${line}`,
      place: shown(placeText(shownName(name), problem, photoAt)),
      reference: reference === undefined ? null : shown(reference),
      field: param === undefined ? null : shown(param),
      code,
      message: shown(problemMessage(problem)),
    });
  }
}

/** The message with the reference and the field, unless it has them. */
function problemMessage(problem: RowProblem): string {
  const { reference, param } = problem;
  let message = wholeMessage(problem);
  if (param !== undefined && !message.includes(param)) message = `${param}: ${message}`;
  if (reference !== undefined && !message.includes(reference)) message = `${reference}: ${message}`;
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage)}…`;
}

/** A path from a folder, with `/`; null if it is not in the folder. */
export function pathWithin(
  folder: string,
  file: string,
  { relative, isAbsolute, sep }: PlatformPath = nodePath,
): string | null {
  const path = relative(folder, file);
  // A path to another drive is absolute.
  const isOutside = path === "" || isAbsolute(path) || path.split(sep)[0] === "..";
  return isOutside ? null : path.replaceAll(sep, "/");
}

/** The folder that links lead to: CI names the repository by one of its paths. */
function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The path of a file in its real folder. A file that is a link is in the folder of the link. */
const inRealFolder = (path: string): string =>
  nodePath.join(realFolder(nodePath.dirname(path)), nodePath.basename(path));
