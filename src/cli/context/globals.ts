/** A flag that every command accepts, before or after its name. */
export interface GlobalFlag {
  /** As it is typed, e.g. `--profile`. */
  readonly flag: string;
  /** The placeholder of its value in help; null for a switch. */
  readonly value: string | null;
  readonly about: string;
}

/** The global flags, in the order of the help. */
export const globalFlags = [
  { flag: "--profile", value: "NAME", about: "profile to use (or CAT_PROFILE)" },
  { flag: "--base-url", value: "URL", about: "URL of the service, without /v1 (or CAT_BASE_URL)" },
  { flag: "--mock", value: null, about: "use a temporary mock service with 24 demo products" },
  { flag: "--json", value: null, about: "print results and errors as JSON, for scripts" },
  { flag: "--quiet", value: null, about: "print only results and errors" },
  { flag: "--progress", value: "HOW", about: "json: progress as JSON lines on stderr" },
  { flag: "--no-progress", value: null, about: "do not show progress" },
  { flag: "--no-color", value: null, about: "do not use colors (or NO_COLOR)" },
  { flag: "--no-input", value: null, about: "never prompt" },
  { flag: "--yes", value: null, about: "answer yes to all prompts" },
  { flag: "--verbose", value: null, about: "print a line per request, and stack traces of errors" },
] as const satisfies readonly GlobalFlag[];

const byName: ReadonlyMap<string, GlobalFlag> = new Map(globalFlags.map((flag) => [flag.flag, flag]));

/** The number of arguments at `index` that form a global flag with its value; 0 for anything else. */
export function globalFlagLength(argv: readonly string[], index: number): 0 | 1 | 2 {
  const [name, ...inlineValue] = argv[index]!.split("=");
  const flag = byName.get(name!);
  if (flag === undefined) return 0;
  if (flag.value === null) return inlineValue.length === 0 ? 1 : 0;
  return inlineValue.length > 0 ? 1 : 2;
}

/** The flags that choose the service. */
export interface ServiceFlags {
  profile: string | undefined;
  baseUrl: string | undefined;
  mock: boolean;
}

export interface GlobalOptions extends ServiceFlags {
  json: boolean;
  quiet: boolean;
  /** False with `--no-progress`; `json` with `--progress json`. */
  progress: boolean | "json";
  /** False with `--no-color`. */
  color: boolean;
  /** False with `--no-input`. */
  input: boolean;
  yes: boolean;
  verbose: boolean;
}

/** The values without any flag. */
export const noGlobals = (): GlobalOptions => ({
  profile: undefined,
  baseUrl: undefined,
  mock: false,
  json: false,
  quiet: false,
  progress: true,
  color: true,
  input: true,
  yes: false,
  verbose: false,
});

/** The global flags that decide how errors are printed, even if the command line cannot be parsed. */
export type EarlyFlags = Pick<GlobalOptions, "json" | "quiet" | "verbose" | "color">;

/** Reads the flags from the raw arguments, up to `--`. */
export function earlyFlags(argv: readonly string[]): EarlyFlags {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  return {
    json: flags.includes("--json"),
    quiet: flags.includes("--quiet"),
    verbose: flags.includes("--verbose"),
    color: !flags.includes("--no-color"),
  };
}
