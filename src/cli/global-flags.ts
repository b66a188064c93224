/** A flag that every command takes, before or after its name. */
export interface GlobalFlag {
  /** As it is typed, e.g. `--profile`. */
  readonly flag: string;
  /** The placeholder of its value in help; null for a switch. */
  readonly value: string | null;
  readonly about: string;
}

/** The global flags, in the order in which help shows them (interface, Commands). */
export const globalFlags = [
  { flag: "--profile", value: "NAME", about: "the profile with your settings (or CAT_PROFILE)" },
  { flag: "--base-url", value: "URL", about: "address of the service, without /v1 (or CAT_BASE_URL)" },
  { flag: "--mock", value: null, about: "try it out: a made-up service with 24 demo products" },
  { flag: "--json", value: null, about: "for programs: JSON on stdout, errors as JSON on stderr" },
  { flag: "--quiet", value: null, about: "print data and errors only" },
  { flag: "--no-progress", value: null, about: "no progress bar and no progress lines" },
  { flag: "--no-color", value: null, about: "no colours (or NO_COLOR)" },
  { flag: "--no-input", value: null, about: "never ask a question" },
  { flag: "--yes", value: null, about: "answer yes to every question" },
  { flag: "--verbose", value: null, about: "a line for each request, and details of faults" },
] as const satisfies readonly GlobalFlag[];

const byName: ReadonlyMap<string, GlobalFlag> = new Map(globalFlags.map((flag) => [flag.flag, flag]));

/** How many arguments at `index` make up a global flag with its value; 0 when there stands something else. */
export function globalFlagLength(argv: readonly string[], index: number): 0 | 1 | 2 {
  const [name, ...inlineValue] = argv[index]!.split("=");
  const flag = byName.get(name!);
  if (flag === undefined) return 0;
  if (flag.value === null) return inlineValue.length === 0 ? 1 : 0;
  return inlineValue.length > 0 ? 1 : 2;
}
