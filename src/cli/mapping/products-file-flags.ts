import type { Command } from "commander";
import { productsKind, type SelectionKind } from "../../flows/export/selection/columns.ts";
import { checkEncodingName, type EncodingName } from "../../flows/rows/encoding.ts";
import { UsageError } from "../context/errors.ts";
import { readDelimiter } from "../files/file-flags.ts";
import { flagName } from "../output/command-words.ts";
import { type MapFlags, type RawMapFlags, readMapFlags, withMapFlags } from "./map-flags.ts";

export interface RawProductsFileFlags extends RawMapFlags {
  readonly sheet?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
}

export interface ProductsFileFlags extends MapFlags {
  readonly sheet: string | undefined;
  readonly delimiter: string | undefined;
  readonly encoding: EncodingName;
}

export const withProductsFileFlags = (made: Command, of: string): Command =>
  withMapFlags(
    made.option("--sheet <NAME>", `sheet of ${of} (default: the one whose columns fit)`),
    "reference:OLD=NEW",
  )
    .option("--delimiter <C>", `column separator of ${of} (default: detected)`)
    .option("--encoding <NAME>", `text encoding of ${of} (default: detects UTF-8 and UTF-16)`);

/** The flags about a file. Throws UsageError. */
export const readProductsFileFlags = (
  raw: RawProductsFileFlags,
  { words }: SelectionKind = productsKind,
): ProductsFileFlags => ({
  ...readMapFlags(raw, words),
  sheet: raw.sheet,
  delimiter: raw.delimiter === undefined ? undefined : readDelimiter(raw.delimiter),
  encoding: raw.encoding === undefined ? undefined : checkEncodingName(raw.encoding),
});

/** Rejects the flags about a file without the flag that names it. Throws UsageError. */
export function rejectProductsFileFlags(raw: RawProductsFileFlags, of: string): void {
  const names = ["sheet", "map", "mapValue", "mapFile", "delimiter", "encoding"] as const;
  const name = names.find((flag) => raw[flag] !== undefined);
  if (name === undefined) return;
  const param = flagName(name);
  throw new UsageError(`${param} needs ${of}`, { param, hint: `Add ${of}, or remove ${param}.` });
}
