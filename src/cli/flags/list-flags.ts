import { type Command, Option } from "commander";
import { limits } from "../../contract/limits.ts";
import { type ListFormat, listFormats } from "../output/columns.ts";
import { wholeNumber } from "./values.ts";

/** The flags of a list as commander hands them over. */
export interface RawListFlags {
  limit?: number;
  all?: true;
  format?: ListFormat;
}

/** How much of a list is wanted, and in which form. */
export interface ListFlags {
  /** The most rows to print; null prints all. */
  limit: number | null;
  format: ListFormat | undefined;
}

/** Adds `--limit`, `--all` and `--format`. */
export const withListFlags = (one: Command): Command =>
  one
    .addOption(
      new Option("--limit <N>", `how many at most (default ${limits.page.default})`)
        .argParser(wholeNumber({ min: 1 }))
        .conflicts("all"),
    )
    .option("--all", "all there are")
    .addOption(new Option("--format <FORMAT>", "how to print them").choices(listFormats));

/** What they come to. */
export const readListFlags = ({ limit, all, format }: RawListFlags): ListFlags => {
  return { limit: all ? null : (limit ?? limits.page.default), format };
};
