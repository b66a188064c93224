import { Option } from "commander";
import { UsageError } from "../context/errors.ts";
import { byteSize, duration } from "./values.ts";

/** `--timeout` of commands that wait; then they exit with 7. */
export const timeoutFlag = (about = "how long to wait"): Option =>
  new Option("--timeout <TIME>", `${about}, e.g. 90s, 30m, 2h (then: exit 7)`).argParser(duration);

/** `--no-thumbnail` for commands that show pictures. */
export const thumbnailFlag = (): Option =>
  new Option("--no-thumbnail", "no small picture on the terminal (or CAT_THUMBNAILS=off)");

/** `--no-formula-guard`, also for commands that write a results file. */
export const formulaGuardFlag = (): Option =>
  new Option("--no-formula-guard", "no apostrophe before CSV cells that start like a formula");

/** The default of `--max-bytes`: the service accepts photos of 10 MB. */
export const defaultMaxBytes = 50_000_000;

/** `--max-bytes` for commands that download images. */
export const maxBytesFlag = (): Option =>
  new Option("--max-bytes <SIZE>", "largest image, for example 100MB (default: 50MB)").argParser(byteSize);

/** The value of `--max-bytes`, which needs `--save`. Throws UsageError. */
export function maxBytesOf(flags: { maxBytes?: number | undefined; save?: string | undefined }): number {
  if (flags.maxBytes !== undefined && flags.save === undefined) {
    const hint = "Add --save, or remove --max-bytes.";
    throw new UsageError("--max-bytes needs --save", { param: "--max-bytes", hint });
  }
  return flags.maxBytes ?? defaultMaxBytes;
}
