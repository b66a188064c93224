import type { EncodingName } from "../../flows/rows/encoding.ts";
import type { FileAnswers, Mapping } from "../../flows/rows/mapped-columns.ts";
import { normalValue, withValues } from "../../flows/rows/value-map.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import { counted, series, shownName, truncated } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { type Choice, openPrompts, type Prompts } from "../app/prompts.ts";
import { encodingName, likeliest, likelyEncodings, type ShownAs } from "./file-encoding.ts";
import {
  type FileHead,
  type FileMapping,
  type MappedFile,
  readHead,
  shownLength,
  wrongValues,
} from "./file-head.ts";
import type { SavedMapping } from "./saved-mapping.ts";

/** A file with more different wrong values has texts in that column, which are too many to map one by one. */
const mostValues = 20;

/** Something that is not known, and what it is read as. */
interface Guess {
  readonly kind: "encoding" | "column" | "value";
  /** The field of a value. */
  readonly field: string;
  /** The normal header, or the normal value. */
  readonly name: string;
  /** As the file has it. */
  readonly title: string;
  readonly about: string;
  /** A field, a value, "" for no value; null for a value without a guess. */
  readonly to: string | null;
}

/**
 * Shows everything that is not known of a file on one screen, with a guess for each: one Enter takes all, and each can be
 * changed. Returns the mapping with the answers.
 */
export async function askMapping(
  app: App,
  file: MappedFile,
  mapping: FileMapping,
  saved: SavedMapping,
  shownAs: ShownAs | null,
): Promise<FileMapping> {
  const answers: Answers = { map: new Map(), values: new Map(), encoding: mapping.encoding };
  let prompts: Prompts | undefined;
  for (;;) {
    const read = { ...file.read, encoding: answers.encoding };
    const guesses = [
      ...encodingGuess(answers, shownAs),
      ...(await guessesOf({ ...file, read }, mapping, answers)),
    ];
    if (guesses.length === 0) return mapping;
    prompts ??= await openPrompts(app);
    const answer = await prompts.select<Guess | "save" | "use">(
      `Read ${counts(guesses)} of ${shownName(file.file)} like this?`,
      [
        {
          name: app.io.visible(`Yes, and remember it for later files (profile ${saved.profile})`),
          value: "save",
        },
        { name: "Yes, for this file only", value: "use" },
        ...guesses.map((guess) => ({ name: app.io.visible(textOf(guess)), value: guess })),
      ],
      "save",
    );
    if (typeof answer === "object") {
      if (shownAs !== null && answer.kind === "encoding")
        await correctEncoding(app, prompts, answers, shownAs);
      else await correct(app, prompts, file, answer, guesses, answers);
      continue;
    }
    const { encoding } = answers;
    const chosen = { ...asMapping(guesses), ...(shownAs !== null && { encoding }) };
    const complete = {
      map: new Map([...mapping.map, ...chosen.map]),
      values: withValues(chosen.values, mapping.values),
      encoding,
    };
    if (answer === "use") return { ...complete, answers: asAnswers(complete) };
    await saved.save(chosen);
    return complete;
  }
}

const asAnswers = ({ map, values, encoding }: FileMapping): FileAnswers => ({
  columns: Object.fromEntries(map),
  values: Object.fromEntries([...values].map(([field, some]) => [field, Object.fromEntries(some)])),
  encoding,
});

const counts = (guesses: readonly Guess[]): string =>
  series(
    (["encoding", "column", "value"] as const)
      .map((kind) => [kind, guesses.filter((guess) => guess.kind === kind).length] as const)
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => (kind === "encoding" ? "the encoding" : counted(count, kind))),
    "and",
  );

/** What was chosen so far. */
type Answers = Mapping & { encoding: EncodingName };

/** The encoding as something to confirm, for a file that is not UTF-8. */
const encodingGuess = ({ encoding }: Answers, shownAs: ShownAs | null): Guess[] =>
  shownAs === null || encoding === undefined
    ? []
    : [
        {
          kind: "encoding",
          field: "",
          name: "",
          title: "The file",
          to: encodingName(encoding),
          about: ` ("${shownAs(encoding)}")`,
        },
      ];

async function correctEncoding(
  app: App,
  prompts: Prompts,
  answers: Answers,
  shownAs: ShownAs,
): Promise<void> {
  const choices = Object.entries(likelyEncodings).map(([value, name]) => ({
    name: app.io.visible(`${name} ("${shownAs(value)}")`),
    value,
  }));
  answers.encoding = await prompts.select("Which text is right?", choices, answers.encoding ?? likeliest);
}

const textOf = ({ kind, title, to, about }: Guess): string => {
  if (kind === "encoding") return `${title} as ${to}${about}`;
  const read =
    to === null
      ? "? (choose)"
      : kind === "column" && to === "ignore"
        ? "skipped"
        : to === ""
          ? "no value"
          : to;
  return `${truncated(title, shownLength)} = ${read}${about}`;
};

/** The unknown columns to ask about: of a file that needs one column only, the first that may be it. */
function unknownOf({ fields, unknown }: FileHead, { needsOne = false, nearest }: Vocabulary) {
  if (!needsOne) return unknown;
  const likely = [...unknown].find(([, { title }]) => nearest(title).length > 0);
  return fields.size > 0 || likely === undefined ? [] : [likely];
}

/** What is not known, with answers instead of guesses. */
async function guessesOf(file: MappedFile, mapping: Mapping, answers: Mapping): Promise<Guess[]> {
  const { form, words } = file;
  const head = await readHead(file, form(mapping));
  if (head === null) return [];
  const taken = new Set([...head.fields, ...answers.map.values()]);
  const columns = [...unknownOf(head, words)].map(([name, { title, sample }]): Guess => {
    const [near] = words.nearest(title).filter((field) => words.freeFields(taken).includes(field));
    const to = answers.map.get(name) ?? near ?? "ignore";
    taken.add(to);
    const about = sample === "" ? "" : ` (example: ${truncated(sample, shownLength)})`;
    return { kind: "column", field: "", name, title, about, to };
  });
  const map = new Map([...mapping.map, ...asMapping(columns).map]);
  const found = await wrongValues(file, form({ ...mapping, map }));
  // A value that is to be kept is mapped to itself.
  const wrong = found.filter(({ field, from }) => !mapping.values.get(field)?.has(normalValue(from)));
  if (wrong.length > mostValues) return columns;
  const values = wrong.map(({ field, from, to, rows }): Guess => {
    const name = normalValue(from);
    const answer = answers.values.get(field)?.get(name);
    return {
      kind: "value",
      field,
      name,
      title: from.trim(),
      about: ` (${field}, ${counted(rows, "row")})`,
      to: answer ?? to ?? null,
    };
  });
  return [...columns, ...values];
}

function asMapping(guesses: readonly Guess[]): {
  map: Map<string, string>;
  values: Map<string, Map<string, string>>;
} {
  const map = new Map<string, string>();
  const values = new Map<string, Map<string, string>>();
  for (const { kind, field, name, to } of guesses) {
    if (to === null || kind === "encoding") continue;
    if (kind === "column") map.set(name, to);
    else values.set(field, (values.get(field) ?? new Map<string, string>()).set(name, to));
  }
  return { map, values };
}

/** Asks what one column or value is, and adds it to the answers. */
async function correct(
  app: App,
  prompts: Prompts,
  { words }: MappedFile,
  { kind, field, name, title, about, to }: Guess,
  guesses: readonly Guess[],
  answers: Mapping,
): Promise<void> {
  const shown = app.io.visible(truncated(title, shownLength));
  if (kind === "column") {
    const taken = new Set(
      guesses.flatMap((one) => (one.kind === "column" && one.name !== name && one.to) || []),
    );
    const choices = columnChoices(words, title, taken);
    const question = app.io.visible(`What is in column "${shown}"?${about}`);
    (answers.map as Map<string, string>).set(name, await prompts.select(question, choices, to ?? "ignore"));
    return;
  }
  const choices = [
    ...(words.choicesOf(field) ?? []).map((choice) => ({ name: choice, value: choice })),
    ...(words.isOpen(field) ? [{ name: "as it is", value: title }] : []),
    { name: "no value", value: "" },
  ];
  const value = await prompts.select(app.io.visible(`What is "${shown}"?${about}`), choices, to ?? "");
  const values = answers.values as Map<string, Map<string, string>>;
  values.set(field, (values.get(field) ?? new Map<string, string>()).set(name, value));
}

/** The nearest fields first, then the others that no column has, then skipping the column. */
function columnChoices(words: Vocabulary, column: string, taken: ReadonlySet<string>): Choice<string>[] {
  const free = words.freeFields(taken);
  const first = words.nearest(column).filter((name) => free.includes(name));
  return [
    ...[...first, ...free.filter((name) => !first.includes(name))].map((name) => ({ name, value: name })),
    { name: "something else (skip this column)", value: "ignore" },
  ];
}
