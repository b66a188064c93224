import { InvalidArgumentError, Option } from "commander";
import { UsageError } from "../context/errors.ts";

/** The default of `--max-bytes`: the service accepts photos of 10 MB. */
export const defaultMaxBytes = 50_000_000;

const units: Readonly<Record<string, number>> = { "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9 };

/** Parses a size such as `50MB`, `2GB` or `50000000` into bytes, for a flag. */
export function byteSize(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,3})?)\s*([kmg]?b)?$/i.exec(text) ?? [];
  const value = number === "" ? Number.NaN : Math.round(Number(number) * units[unit.toLowerCase()]!);
  if (!(value >= 1 && value <= Number.MAX_SAFE_INTEGER))
    throw new InvalidArgumentError("use a size such as 50MB, 2GB or 50000000");
  return value;
}

/** `--max-bytes` for commands that download images. */
export const maxBytesFlag = (): Option =>
  new Option("--max-bytes <SIZE>", "largest image, for example 100MB (default: 50MB)").argParser(byteSize);

/** The value of `--max-bytes`, which needs `--save`. Throws UsageError. */
export function maxBytesOf({
  maxBytes,
  save,
}: {
  maxBytes?: number | undefined;
  save?: string | undefined;
}): number {
  if (maxBytes !== undefined && save === undefined)
    throw new UsageError("--max-bytes needs --save", {
      param: "--max-bytes",
      hint: "Add --save, or remove --max-bytes.",
    });
  return maxBytes ?? defaultMaxBytes;
}
