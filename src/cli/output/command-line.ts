import type { GlobalOptions } from "../context/global-options.ts";
import { shellWord } from "./shell-word.ts";

/** A command for the same service and profile, for the user to copy: `cat imports get ID --profile dev`. */
export function commandLine(
  words: readonly string[],
  { profile, baseUrl }: Pick<GlobalOptions, "profile" | "baseUrl">,
): string {
  const where = [
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(baseUrl === undefined ? [] : ["--base-url", baseUrl]),
  ];
  return ["cat", ...words, ...where].map(shellWord).join(" ");
}
