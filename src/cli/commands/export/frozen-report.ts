import { CatError } from "../../../errors.ts";
import type { FrozenOutcome } from "../../../flows/export/frozen/frozen-summary.ts";
import { leftOutText } from "../../../flows/export/reviews.ts";
import { byteText, counted, grouped } from "../../../flows/words.ts";
import type { GlobalOptions } from "../../context/globals.ts";
import { unlabeledLine } from "../../flags/common-flags.ts";
import { onceOnly, typedLine } from "../../output/command-words.ts";
import type { FrozenFlags } from "./flags.ts";

interface ReportContext {
  /** Files of an earlier export that could be taken for parts of this one. */
  readonly leftovers: readonly string[];
  readonly globals: Pick<GlobalOptions, "mock">;
  readonly typed: readonly string[];
}

/** The report of a frozen export: the result first, then the next command. */
export function frozenLines(
  outcome: FrozenOutcome,
  command: FrozenFlags,
  { leftovers, globals, typed }: ReportContext,
): string[] {
  const { summary, stopped, isResumable, parts, deleted, leftOut, unlabeled, urlsUntil } = outcome;
  if (stopped !== undefined) {
    if (!isResumable) return [];
    const ready = summary.jobs.filter(({ status }) => status === "completed").length;
    const lines = [`Stopped: ${grouped(ready)} of ${counted(parts, "export job")} completed.`];
    if (globals.mock) return lines;
    const how =
      command.productsFrom === "-"
        ? "send the same products to the same command"
        : "run the same command again";
    return [...lines, `To resume, ${how} (completed jobs are kept):`, `  ${typedLine(typed, onceOnly)}`];
  }
  const lines = headline(outcome);
  if (deleted > 0)
    lines.push(
      `  ${counted(deleted, "product")} ${deleted === 1 ? "was" : "were"} deleted during the export and ${deleted === 1 ? "is" : "are"} not in it`,
    );
  const omitted = leftOutText(leftOut);
  if (omitted !== null) lines.push(`  ${omitted}`);
  if (unlabeled > 0) lines.push(unlabeledLine(unlabeled));
  if (urlsUntil !== null)
    lines.push(
      `The image URLs in it are valid until ${new Date(urlsUntil).toISOString().slice(0, 16)}Z; image IDs are permanent.`,
    );
  if (leftovers.length > 0)
    lines.push(`From an earlier export, and not part of this one: ${leftovers.join(", ")}`);
  return lines;
}

function headline({ summary, missing, extracted }: FrozenOutcome): string[] {
  const { products, assets, files, duration_ms } = summary;
  const [first] = files;
  if (first === undefined) return ["The catalogue has no products; nothing was written."];
  const images = missing === 0 ? counted(assets, "image") : ofImages(assets, missing);
  const what = `Exported ${counted(products, "product")} with ${images}`;
  const took = `in ${(duration_ms / 1000).toFixed(1)} s`;
  if (files.length > 1)
    return [
      `${what} to ${grouped(files.length)} files ${took}:`,
      ...files.map(({ path, bytes }) => `  ${path}  ${byteText(bytes)}`),
    ];
  const contents = extracted === null ? "" : `${counted(extracted, "file")}, `;
  return [`${what} to ${first.path} (${contents}${byteText(first.bytes)}) ${took}.`];
}

/** `9 of 11 images` */
export const ofImages = (present: number, missing: number): string =>
  `${grouped(present)} of ${counted(present + missing, "image")}`;

/** The error of an export whose ZIP has fewer images than the service counted: exit 8. The file is kept. */
export const imagesMissing = (missing: number, hint = "Run the command again for a new export."): CatError =>
  new CatError(`${counted(missing, "image")} ${missing === 1 ? "is" : "are"} not in the export`, {
    type: "partial",
    code: "images_missing",
    hint: `Their products may have been deleted meanwhile. ${hint}`,
  });
