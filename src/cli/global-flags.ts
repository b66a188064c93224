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
