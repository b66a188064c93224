import { allAngleShots, type GenerationKind, listBackgrounds } from "../../contract/generation-rules.ts";
import { pathPlaceholder } from "../flags/local-path.ts";
import type { CommandList, ListedCommand, ListedFlag } from "./command-list.ts";

/** The completion at the last word, found without looking anything up. */
export interface Expected {
  /** Fixed candidates, with a description. */
  readonly words: readonly (readonly [word: string, about: string])[];
  /** Names that must be looked up; null for none. */
  readonly kind: Kind | null;
  /** Whether names of files fit. */
  readonly files: boolean;
  /** The text that candidates must start with. */
  readonly typed: string;
  /** The flag of `--flag=value` with its `=`, else empty: shells complete the entire word. */
  readonly before: string;
}

/** Fields whose values the specification does not list. */
export type LearnedField = "background" | "angle_shot";
/** Their values that this machine has seen and no list of this program has. */
export type LearnedKind = `${GenerationKind} ${LearnedField}`;

/** Names of a profile that are kept on this machine. */
export type Kind = "profiles" | "products" | "models" | LearnedKind;

const nothing = { words: [], kind: null, files: false, before: "" };

/** The candidates at the last of `words`. `isCat`: a first word may be a file for the system's cat. */
export function expectedAt(list: CommandList, words: readonly string[], isCat: boolean): Expected {
  const typed = words.at(-1) ?? "";
  const place = findPlace(list, words.slice(0, -1));
  if (place === null) return { ...nothing, files: true, typed };
  if (place.flag !== null) return { ...nothing, ...listValues(place.flag, place.path), typed };
  if (isFlag(typed)) return { ...nothing, typed, ...flagAt(list, place, typed) };
  const subs = subcommands(list, place.path);
  if (place.path === "" && place.isHelp) {
    const topics = list.topics.map(({ name, summary }) => [name, summary] as const);
    return { ...nothing, typed, words: [...subs, ...topics] };
  }
  if (place.path === "") return { ...nothing, typed, words: [...subs, ["help", "show help"]], files: isCat };
  if (place.command === null) return { ...nothing, typed, words: subs };
  if (place.path === "commands") {
    const name = words.slice(words.length - 1 - place.given, -1).join(" ");
    return { ...nothing, typed, words: subcommands(list, name) };
  }
  const { arguments: all } = place.command;
  const argument = all[place.given] ?? (all.at(-1)?.repeatable ? all.at(-1)! : null);
  // `cat export sync`: a command with subcommands of its own.
  const first = place.given === 0 ? subs : [];
  if (argument === null) return { ...nothing, typed, words: first };
  const expected = listValues({ ...argument, flag: "", value: argument.name }, "");
  return { ...nothing, ...expected, typed, words: [...first, ...expected.words] };
}

/** The flags that begin as typed, or the values of one with `=`. */
function flagAt(list: CommandList, { command, path }: TypedBefore, typed: string): Partial<Expected> {
  const flags = [...(command?.flags ?? []), ...list.global_flags];
  const at = typed.indexOf("=");
  if (typed.startsWith("--") && at > 0) {
    const flag = flags.find((candidate) => candidate.flag === typed.slice(0, at));
    if (flag === undefined || flag.value === null) return {};
    return { ...listValues(flag, path), typed: typed.slice(at + 1), before: typed.slice(0, at + 1) };
  }
  const help = ["--help", "show help"] as const;
  return { words: [...flags.map((candidate) => [candidate.flag, candidate.description] as const), help] };
}

interface TypedBefore {
  /** The words of the command so far, e.g. `products list`; empty before the first. */
  readonly path: string;
  readonly command: ListedCommand | null;
  /** Whether `help` comes before it. */
  readonly isHelp: boolean;
  /** The number of arguments before this word. */
  readonly given: number;
  /** The flag whose value this word is. */
  readonly flag: ListedFlag | null;
}

/** The place after some words; null where anything is a file: for the system's cat, and after `--`. */
function findPlace(list: CommandList, words: readonly string[]): TypedBefore | null {
  let path = "";
  let command: ListedCommand | null = null;
  let given = 0;
  let isHelp = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === "--") return null;
    if (isFlag(word)) {
      const flag = flagNamed(list, command, word);
      if (flag === undefined && path === "") return null;
      if (flag?.value == null) continue;
      if (++index === words.length) return { path, command, isHelp, given, flag };
      continue;
    }
    const next = path === "" ? word : `${path} ${word}`;
    if (path === "" && word === "help") isHelp = true;
    else if (given === 0 && list.commands.some(({ name }) => `${name} `.startsWith(`${next} `))) {
      path = next;
      command = list.commands.find(({ name }) => name === next) ?? null;
    } else if (path === "") return null;
    else given++;
  }
  return { path, command, isHelp, given, flag: null };
}

const isFlag = (word: string): boolean => word.startsWith("-") && word !== "-";

const flagNamed = (list: CommandList, command: ListedCommand | null, word: string): ListedFlag | undefined =>
  [...(command?.flags ?? []), ...list.global_flags].find(
    ({ flag, short }) => flag === word || short === word,
  );

/** The next words of the commands that start with `path`. */
function subcommands({ commands }: CommandList, path: string): (readonly [string, string])[] {
  const before = path === "" ? "" : `${path} `;
  const values = new Map<string, string>();
  for (const { name, summary } of commands) {
    if (!name.startsWith(before)) continue;
    const [word, ...rest] = name.slice(before.length).split(" ");
    if (!values.has(word!)) values.set(word!, rest.length === 0 ? summary : "");
  }
  return [...values];
}

function listValues(
  candidate: Pick<ListedFlag, "flag" | "value" | "choices">,
  path: string,
): Omit<Expected, "typed" | "before"> {
  const { flag, value } = candidate;
  const slugs = path === "tryon" || path === "beautify" ? listSlugs(path, flag) : null;
  if (slugs !== null) return slugs;
  const names = value ?? "";
  return {
    words: toChoices(candidate),
    kind:
      flag === "--profile"
        ? "profiles"
        : /\bID\|NAME/.test(names)
          ? "models"
          : /\bID\|REF/.test(names)
            ? "products"
            : null,
    files: pathPlaceholder.test(names),
  };
}

/** Backgrounds and angle shots: those that are listed, and those that this machine has seen. */
function listSlugs(command: GenerationKind, flag: string): Omit<Expected, "typed" | "before"> | null {
  if (flag !== "--background" && flag !== "--angle") return null;
  const [field, listed] =
    flag === "--background"
      ? (["background", listBackgrounds(command)] as const)
      : (["angle_shot", allAngleShots(command)] as const);
  return { words: listed.map((slug) => [slug, ""] as const), kind: `${command} ${field}`, files: false };
}

const toChoices = ({ choices }: Pick<ListedFlag, "choices">): (readonly [string, string])[] =>
  (choices ?? []).map((choice) => [choice, ""] as const);
