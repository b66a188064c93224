import { type Command, Option } from "commander";
import { limits } from "../../contract/limits.ts";
import { type ListFormat, listFormats } from "../output/columns.ts";
import { wholeNumber } from "./values.ts";

/** The flags of a list as commander parses them. */
export interface RawListFlags {
  limit?: number;
  all?: true;
  format?: ListFormat;
}

/** The number of rows to print, and their format. */
export interface ListFlags {
  /** The maximum number of rows to print; null prints all. */
  limit: number | null;
  format: ListFormat | undefined;
}

/** Adds `--limit`, `--all` and `--format`. */
export const withListFlags = (one: Command): Command =>
  one
    .addOption(
      new Option("--limit <N>", "maximum number to list")
        .default(undefined, String(limits.page.default))
        .argParser(wholeNumber({ min: 1 }))
        .conflicts("all"),
    )
    .option("--all", "list all of them")
    .addOption(new Option("--format <FORMAT>", "output format").choices(listFormats));

/** The limit and the format that the flags ask for. */
export const readListFlags = ({ limit, all, format }: RawListFlags): ListFlags => {
  return { limit: all ? null : (limit ?? limits.page.default), format };
};
