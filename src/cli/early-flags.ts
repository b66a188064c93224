/** The global flags that decide how errors are printed, even if the command line cannot be parsed. */
export interface EarlyFlags {
  json: boolean;
  verbose: boolean;
  color: boolean;
}

/** Reads the flags from the raw arguments, up to `--`. */
export function earlyFlags(argv: readonly string[]): EarlyFlags {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  return {
    json: flags.includes("--json"),
    verbose: flags.includes("--verbose"),
    color: !flags.includes("--no-color"),
  };
}
