/** Global flags that decide how errors look, which includes that of a command line that cannot be parsed. */
export interface EarlyFlags {
  json: boolean;
  verbose: boolean;
  color: boolean;
}

/** Reads them straight from the arguments, up to `--`. */
export function earlyFlags(argv: readonly string[]): EarlyFlags {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  return {
    json: flags.includes("--json"),
    verbose: flags.includes("--verbose"),
    color: !flags.includes("--no-color"),
  };
}
