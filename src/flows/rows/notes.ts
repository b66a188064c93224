// Possible mistakes that are read as they are: said once per kind and file, with the count and the first
// place. A note changes neither counts nor the exit status.

import { shortened } from "../../contract/did-you-mean.ts";
import { truncated, visible } from "../../text.ts";
import { counted } from "../words.ts";
import type { Place } from "./problem.ts";
import { urlNoteKinds } from "./url-notes.ts";

export interface NoteKind {
  /** The sentence, without a period at its end. `value`: the text of the first place. */
  message(count: number, value: string): string;
  readonly hint?: string;
  /** Whether it is asked about on a terminal, before anything is sent. */
  readonly asks?: boolean;
  /** Whether it is about how references are written: of other texts it says less, and asks nothing. */
  readonly isOfCodes?: boolean;
  /** The kind that is not mentioned where the file has as many of this one, such as codes with decimals. */
  readonly explains?: string;
}

const isAre = (count: number, noun: string, single: string, several: string): string =>
  `${counted(count, noun)} ${count === 1 ? single : several}`;
const correct = "Correct them.";
const asWritten = `${correct} If the references of your shop are like that, add --codes-as-written.`;
const ofCodes = { hint: asWritten, asks: true, isOfCodes: true } as const;

/** The kinds, in no order: notes are listed by their first place. */
export const noteKinds = {
  ...urlNoteKinds,
  lines_above_header: {
    message: (count) => `${counted(count, "line")} above the header ${count === 1 ? "was" : "were"} not read`,
  },
  cmyk_photo: {
    message: (count) => `${counted(count, "photo")} in the colors of a printer (CMYK)`,
    hint: "Add --convert to upload such photos in sRGB",
  },
  turned_photo: {
    message: (count) => `${counted(count, "photo")} stored turned, with an EXIF orientation`,
    hint: "Add --convert to upload such photos upright",
  },
  small_photo: {
    message: (count, value) =>
      `${counted(count, "photo")} of less than 200 pixels, such as ${shortened(value)}`,
    hint: "Check that the URLs are not those of previews",
  },
  same_photo: {
    message: (count, value) =>
      `${counted(count, "photo")} also on another product, such as ${shortened(value)}`,
    hint: "Check that the products share them",
  },
  contradicting_rows: {
    message: (count, value) =>
      `${isAre(count, "product", "has", "have")} rows that contradict each other: ${value}`,
  },
  unmergeable_rows: {
    message: (count, value) =>
      `${isAre(count, "product", "has", "have")} several rows that cannot be merged: ${value}`,
    hint: "Correct that, and add --merge-rows",
  },
  unseen_ends: {
    message: (count, value) =>
      `characters that cannot be seen were removed at the ends of ${counted(count, "value")}, such as "${shown(value)}"`,
  },
  whole_decimal: {
    message: (count, value) =>
      `${isAre(count, "reference", "ends", "end")} with ${value.slice(value.search(/[.,]/))} (${shortened(value)}), as a program writes codes that it takes for numbers`,
    ...ofCodes,
  },
  decimal: { message: () => "", explains: "whole_decimal" },
  formatted_number: {
    message: (count, value) =>
      `${isAre(count, "value", "is a number as spreadsheets show it", "are numbers as spreadsheets show them")} (${shortened(value)})`,
    ...ofCodes,
  },
  leading_apostrophe: {
    message: (count, value) =>
      `${isAre(count, "reference", "begins", "begin")} with the apostrophe that marks a text in spreadsheets (${shortened(value)})`,
    ...ofCodes,
  },
  date_like: {
    message: (count, value) =>
      `${isAre(count, "value", "looks like a date", "look like dates")} (${shortened(value)}): a spreadsheet may have changed what was typed, such as MAR-1`,
    ...ofCodes,
  },
  like_existing: {
    message: (count, value) =>
      `${isAre(count, "new reference", "probably means an existing product", "probably mean existing products")} (${shortened(value)})`,
    asks: true,
  },
  empty_word: {
    message: (count, value) =>
      `${isAre(count, "value", "is", "are")} what programs write for a missing value (${shortened(value)})`,
    ...ofCodes,
  },
  double_encoded: {
    message: (count, value) =>
      `${isAre(count, "value", "has", "have")} letters that were encoded twice (${shortened(value)})`,
    hint: "Save the file again from its original, as UTF-8.",
    asks: true,
  },
} satisfies Readonly<Record<string, NoteKind>>;

const shown = (value: string): string => truncated(visible(value), 60);

export type NoteCode = keyof typeof noteKinds;

export interface FieldNote {
  readonly code: NoteCode;
  /** The path of the field within the row; undefined for the row itself. */
  readonly param?: string | undefined;
  /** The column of a cell, counted from 0, where it is known. */
  readonly column?: number | undefined;
  readonly value: string;
}

/** Where a note is, in the file's own terms. */
export interface NotePlace extends Place {
  readonly line: number;
  readonly param?: string | undefined;
}

export interface FileNote extends NotePlace {
  readonly code: NoteCode;
  readonly count: number;
  /** The text of the first place. */
  readonly value: string;
  readonly message: string;
}

const kindOf = (code: NoteCode): NoteKind => noteKinds[code];

interface Found {
  readonly place: NotePlace;
  readonly value: string;
  count: number;
  /** Whether one of them is about a reference. */
  isCode: boolean;
}

/** Counts the notes of a file, in memory that does not grow with their number. */
export class FileNotes {
  readonly #found = new Map<NoteCode, Found>();

  /** `place` is called for the first note of a kind. */
  add({ code, value, param }: FieldNote, place: () => NotePlace, count = 1): void {
    const known = this.#found.get(code);
    const isCode = param === "reference";
    if (known === undefined) this.#found.set(code, { place: place(), value, count, isCode });
    else {
      known.count += count;
      known.isCode ||= isCode;
    }
  }

  addHead({ headNotes }: { readonly headNotes: readonly Omit<FileNote, "message">[] }): void {
    for (const { code, value, count, ...place } of headNotes) this.add({ code, value }, () => place, count);
  }

  #isExplained(code: NoteCode, count: number): boolean {
    const isSilent = kindOf(code).explains !== undefined;
    return (
      isSilent ||
      [...this.#found].some(([other, found]) => kindOf(other).explains === code && found.count >= count)
    );
  }

  /** The notes by their first place. */
  list(): FileNote[] {
    return [...this.#found]
      .filter(([code, { count }]) => !this.#isExplained(code, count))
      .map(([code, { place, value, count, isCode }]) => {
        const { message, isOfCodes, hint: own } = kindOf(code);
        const said = message(count, value);
        const hint = isOfCodes && !isCode ? correct : own;
        return { code, count, ...place, value, message: hint === undefined ? said : `${said}. ${hint}` };
      })
      .sort((a, b) => a.line - b.line);
  }
}

export const doubtsAmong = (notes: readonly FileNote[]): FileNote[] =>
  notes.filter(({ code, message }) => {
    const { asks = false, isOfCodes = false } = kindOf(code);
    return asks && (!isOfCodes || message.endsWith(asWritten));
  });
