import { dirname } from "node:path";
import { encodingName } from "../../flows/rows/encoding.ts";
import { withValues } from "../../flows/rows/mapped-columns.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { counted, series, shownName } from "../../flows/words.ts";
import { truncated } from "../../text.ts";
import type { App } from "../app/app.ts";
import { openPrompts } from "../app/prompts.ts";
import type { Choice, Prompts } from "../app/terminal-prompts.ts";
import { type FileMapping, type MappedFile, shownLength } from "./file-head.ts";
import {
  type Answers,
  type AskedFile,
  asMapping,
  type FileGuesses,
  type Guess,
  type SharedGuess,
  shared,
  toGuesses,
} from "./guesses.ts";
import type { MappedInput } from "./map-files.ts";

/**
 * Shows all that is not known of the files on one screen, each with a guess that can be changed, and saves
 * the answers. Nothing is saved while a file lacks a column that it needs.
 */
export async function askMappings(app: App, asked: readonly AskedFile[]): Promise<FileMapping[]> {
  const answers: Answers = {
    map: new Map(),
    values: new Map(),
    encoding: asked.find(isEncoded)?.mapping.encoding,
  };
  let prompts: Prompts | undefined;
  const unsure = asked.find(
    ({ encodings }) => encodings !== null && !encodings.isSure && encodings.names.length > 1,
  );
  if (unsure !== undefined) {
    prompts = await openPrompts(app);
    // One Enter for all guesses must not take one that is as likely as others.
    answers.encoding = await askEncoding(app, prompts, unsure);
  }
  for (;;) {
    if (answers.encoding === undefined && asked.some(isEncoded)) return asked.map(withoutEncoding);
    const files: FileGuesses[] = [];
    for (const askedFile of asked) files.push(await toGuesses(askedFile, answers));
    const guesses = shared(files);
    if (guesses.length === 0) return asked.map(({ mapping }) => mapping);
    prompts ??= await openPrompts(app);
    const answer = await prompts.select(...toScreen(app, files, guesses));
    if (typeof answer === "object") {
      const [first] = answer.of as [FileGuesses];
      const { file } = first;
      if (answer.kind === "encoding") answers.encoding = await askEncoding(app, prompts, first);
      else if (answer.kind === "column") await correctColumn(app, prompts, answer, guesses, answers);
      else await correctValue(app, prompts, file, answer, answers);
      continue;
    }
    if (answer === "save") {
      const { saveAnswers } = await import("./save-answers.ts");
      for (const [folder, ofFolder] of byFolder(files)) {
        // People recognize a column or a value as their file has it.
        const titled = shared(ofFolder).map((guess) => ({ ...guess, name: guess.title }));
        const { map, values } = asMapping(titled);
        const encoding = ofFolder.some(isEncoded) ? answers.encoding : undefined;
        await saveAnswers(app, folder, { columns: map, values, encoding });
      }
    }
    return files.map((file) => {
      if (file.guesses.length === 0) return file.mapping;
      const { map, values } = asMapping(file.guesses);
      return {
        map: new Map([...file.mapping.map, ...map]),
        values: withValues(values, file.mapping.values),
        encoding: isEncoded(file) ? answers.encoding : file.mapping.encoding,
      };
    });
  }
}

const isEncoded = ({ encodings }: AskedFile): boolean => encodings !== null;

/** The mapping of a file whose text is right in no encoding: the check reports it. */
const withoutEncoding = (asked: AskedFile): FileMapping =>
  isEncoded(asked) ? { ...asked.mapping, encoding: undefined } : asked.mapping;

function toScreen(
  { io }: App,
  files: readonly FileGuesses[],
  guesses: readonly SharedGuess[],
): [string, Choice<SharedGuess | "save" | "use">[], SharedGuess | "save" | "use"] {
  const [{ file }] = files as [FileGuesses];
  const whole = files.length === 1 ? shownName(file.file) : counted(files.length, "file");
  const question = `Read ${counts(guesses)} of ${whole} like this?`;
  // A value without a guess is to be seen first: a long list is cut at the end of the screen.
  const inOrder = [...guesses.filter(({ to }) => to === null), ...guesses.filter(({ to }) => to !== null)];
  const corrections = inOrder.map((value) => ({ name: io.visible(toText(value, files)), value }));
  const lacking = files.find(({ missing }) => missing.length > 0);
  if (lacking === undefined) {
    const name = file.flags.mapFile ?? "catalogue.map.json";
    const save = io.visible(`Yes, and save it in ${name} for later files`);
    return [question, [{ name: save, value: "save" }, ...corrections], "save"];
  }
  const of = files.length === 1 ? "" : ` of ${shownName(lacking.file.file)}`;
  return [
    `${question} No column${of} is read as ${series(lacking.missing, "or")}: choose the column.`,
    [...corrections, { name: "No column has it: list the problems", value: "use" }],
    guesses.find(({ kind, to, of }) => kind === "column" && to === "ignore" && of.includes(lacking)) ?? "use",
  ];
}

/** The files of each folder, and one of them: a folder has one file of mappings. */
function byFolder(files: readonly FileGuesses[]): [MappedInput, FileGuesses[]][] {
  const folders = new Map<string, [MappedInput, FileGuesses[]]>();
  for (const guesses of files) {
    const { file, flags } = guesses.file;
    const [, others = []] = folders.get(dirname(file)) ?? [];
    folders.set(dirname(file), [{ file, mapFile: flags.mapFile }, [...others, guesses]]);
  }
  return [...folders.values()];
}

const counts = (guesses: readonly Guess[]): string =>
  series(
    (["encoding", "column", "value"] as const)
      .map((kind) => [kind, guesses.filter((guess) => guess.kind === kind).length] as const)
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => (kind === "encoding" ? "the encoding" : counted(count, kind))),
    "and",
  );

/** Asks in which of the likely encodings the text of a file is right; undefined if it is in none. */
async function askEncoding(
  app: App,
  prompts: Prompts,
  { file, encodings }: AskedFile,
): Promise<string | undefined> {
  const choices = encodings!.names.map((value) => ({
    name: app.io.visible(`${encodingName(value)} ("${encodings!.shownAs(value)}")`),
    value,
  }));
  const none = { name: "None of them: list the problem", value: "" };
  const question = `Which text of ${shownName(file.file)} is right?`;
  return (await prompts.select(question, [...choices, none], choices[0]!.value)) || undefined;
}

function toText(guess: SharedGuess, files: readonly FileGuesses[]): string {
  const { kind, title, to, sample, of } = guess;
  // Of several files, the one that has the guess alone is named.
  const name = files.length > 1 && of.length === 1 ? shownName(of[0]!.file.file) : null;
  if (kind === "encoding") return `${name ?? (of.length > 1 ? "The files" : title)} as ${to} ("${sample}")`;
  const read =
    to === null
      ? "? (choose)"
      : kind === "column" && to === "ignore"
        ? "skipped"
        : to === ""
          ? "no value"
          : to;
  return `${truncated(title, shownLength)} = ${read}${toAbout(guess, name)}`;
}

function toAbout({ kind, field, sample, rows }: Guess, file: string | null = null): string {
  const example = sample === "" ? [] : [`example: ${truncated(sample, shownLength)}`];
  const parts = kind === "value" ? [field, counted(rows, "row")] : example;
  const all = file === null ? parts : [...parts, file];
  return all.length === 0 ? "" : ` (${all.join(", ")})`;
}

/** Asks what one column is, in all files that have it, and adds it to the answers. */
async function correctColumn(
  app: App,
  prompts: Prompts,
  guess: SharedGuess,
  guesses: readonly SharedGuess[],
  answers: Answers,
): Promise<void> {
  const { name, title, to, of } = guess;
  const taken = new Set(of.flatMap(({ fields }) => [...fields]));
  for (const asked of guesses)
    if (asked.kind === "column" && asked.name !== name && asked.of.some((file) => of.includes(file)))
      taken.add(asked.to!);
  const shown = app.io.visible(`What is in column "${truncated(title, shownLength)}"?${toAbout(guess)}`);
  const choices = columnChoices(of[0]!.file.words, title, taken, to === "ignore");
  answers.map.set(name, await prompts.select(shown, choices, to ?? "ignore"));
}

async function correctValue(
  app: App,
  prompts: Prompts,
  { words }: MappedFile,
  guess: Guess,
  answers: Answers,
): Promise<void> {
  const { field, name, title, to } = guess;
  const choices = [
    ...(words.listChoices(field) ?? []).map((choice) => ({ name: choice, value: choice })),
    ...(words.isOpen(field) ? [{ name: "send it as it is", value: title }] : []),
    { name: "no value", value: "" },
  ];
  const shown = app.io.visible(`What is "${truncated(title, shownLength)}"?${toAbout(guess)}`);
  const value = await prompts.select(shown, choices, to ?? (words.isOpen(field) ? title : ""));
  answers.values.set(field, (answers.values.get(field) ?? new Map<string, string>()).set(name, value));
}

/** The nearest fields first, then others that are free; skipping is first if it is the guess, else last. */
function columnChoices(
  words: Vocabulary,
  column: string,
  taken: ReadonlySet<string>,
  isSkipped: boolean,
): Choice<string>[] {
  const free = words.freeFields(taken);
  const first = words.nearest(column).filter((name) => free.includes(name));
  const names = [...first, ...free.filter((name) => !first.includes(name))];
  const fields = names.map((name) => ({ name, value: name }));
  const skip = { name: "something else (skip this column)", value: "ignore" };
  return isSkipped ? [skip, ...fields] : [...fields, skip];
}
