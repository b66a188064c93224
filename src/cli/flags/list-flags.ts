import { type Command, Option } from "commander";
import { limits } from "../../contract/limits.ts";
import { type RawPrintFlags, withPrintFlags } from "./print-flags.ts";
import { wholeNumber } from "./values.ts";

/** The flags of a list as commander parses them. */
export interface RawListFlags extends RawPrintFlags {
  limit?: number;
  all?: true;
}

/** Adds `--limit`, `--all` and the flags of all commands that print resources. */
export const withListFlags = (one: Command): Command =>
  withPrintFlags(
    one
      .addOption(
        new Option("--limit <N>", "maximum number to list")
          .default(undefined, String(limits.page.default))
          .argParser(wholeNumber({ min: 1 }))
          .conflicts("all"),
      )
      .option("--all", "list all of them"),
  );

/** The maximum number of rows to print; null prints all. */
export const readLimit = ({ limit, all }: RawListFlags): number | null =>
  all ? null : (limit ?? limits.page.default);
