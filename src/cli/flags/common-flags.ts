import { type Command, Option } from "commander";
import { counted } from "../../flows/words.ts";
import { UsageError } from "../context/errors.ts";
import { byteSize, duration } from "./values.ts";

/** `--timeout` of commands that wait; then they exit with 7. */
export const timeoutFlag = (about = "how long to wait"): Option =>
  new Option("--timeout <TIME>", `${about}, e.g. 90s, 30m, 2h (then: exit 7)`).argParser(duration);

/** `--no-thumbnail` for commands that show pictures. */
export const thumbnailFlag = (): Option =>
  new Option("--no-thumbnail", "no small picture on the terminal (or CAT_THUMBNAILS=off)");

/** Adds `--no-formula-guard`, `--excel` and `--no-excel`, for commands that write CSV. */
export const withCsvFlags = (made: Command): Command =>
  made
    .option("--no-formula-guard", "no apostrophe before CSV cells that start like a formula")
    .option("--excel", "write CSV that opens right in Excel")
    .addOption(new Option("--no-excel", "write plain CSV, whatever the profile says"));

/** The format of an output: CSV with `--excel`. Throws UsageError for another one with `--excel`. */
export function formatForExcel<Format extends string>(
  format: Format | undefined,
  excel: boolean | undefined,
): Format | "csv" | undefined {
  if (excel !== true || format === undefined || format === "csv") return excel ? "csv" : format;
  throw new UsageError(`--excel cannot be used with --format ${format}`, {
    param: "--excel",
    hint: "Remove one of them: only CSV is written for Excel.",
  });
}

/** The formats of a sheet that `cat import` reads back. */
export const sheetFormats = ["csv", "xlsx", "ndjson"] as const;
export type SheetFormat = (typeof sheetFormats)[number];

/** The default of `--max-bytes`: the service accepts photos of 10 MB. */
export const defaultMaxBytes = 50_000_000;

/** `--max-bytes` for commands that download images. */
export const maxBytesFlag = (): Option =>
  new Option("--max-bytes <SIZE>", "largest image, for example 100MB (default: 50MB)").argParser(byteSize);

/** The value of `--max-bytes`, which needs `--save`. Throws UsageError. */
export function readMaxBytes(flags: { maxBytes?: number | undefined; save?: string | undefined }): number {
  if (flags.maxBytes !== undefined && flags.save === undefined) {
    const hint = "Add --save, or remove --max-bytes.";
    throw new UsageError("--max-bytes needs --save", { param: "--max-bytes", hint });
  }
  return flags.maxBytes ?? defaultMaxBytes;
}

/** `--no-label` for commands that save generated images. */
export const labelFlag = (): Option =>
  new Option("--no-label", "save images as sent, without the label of AI-generated ones");

/** The value of `--label` or `--no-label`, which need `--save`. Throws UsageError. */
export function readLabel<Label extends boolean | string | undefined>({
  label,
  save,
}: {
  label?: Label;
  save?: string | undefined;
}): Label {
  if (label === true || label === undefined || save !== undefined) return label as Label;
  const flag = label === false ? "--no-label" : "--label";
  throw new UsageError(`${flag} needs --save`, { param: flag, hint: `Add --save, or remove ${flag}.` });
}

export const unlabeledLine = (count: number): string =>
  `${counted(count, "image")} saved as sent: the AI label cannot be added to ${count === 1 ? "it" : "them"}.`;
