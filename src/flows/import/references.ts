// References of an import: what looks equal is not two of them.

import { canonicalReference } from "../../contract/import-row.ts";
import { asEscape, hasUnseen, isPlainText, lookOf, visible, withoutUnseenEnds } from "../../text.ts";
import { inOneLine } from "../outputs/row-outcome.ts";
import { type FieldProblem, type UniqueKey, uncutTexts } from "../rows/row-form.ts";
import { type FirstUse, placeOfUse } from "../rows/row-sets.ts";
import type { FileRow } from "./file-row.ts";
import { exportedColumn, isExportedAs } from "./said.ts";

export const lookalikeCode = "lookalike_reference";

/** The reference of a row, if it has one that can be shown. */
export function readReference(row: unknown): string | undefined {
  const reference = (row as { reference?: unknown } | null)?.reference;
  if (typeof reference !== "string") return undefined;
  const canonical = canonicalReference(reference);
  return canonical === "" ? undefined : canonical;
}

/**
 * The key by which references that look equal are one: the service finds equal ones in one request only
 * (Imports, rule 1). One with a problem of its own has none.
 */
export const uniqueReference: UniqueKey = {
  toKey(row) {
    const reference = readReference(row);
    // Nearly all are plain.
    if (reference === undefined || isPlainText(reference) || hasUnseen(reference)) return reference;
    return lookOf(reference);
  },
  toText: (row) => (row as Partial<FileRow>)[uncutTexts]?.reference ?? readReference(row),
  param: "reference",
  code: "duplicate_reference_in_file",
  message: repetitionMessage,
  mayRepeat: (row, text, first) => text !== first.text && isAtService(row, text),
  codeOf: (text, first) => (areOne(text, first.text) ? undefined : lookalikeCode),
  reason: (reference) => inOneLine(`duplicate reference "${reference}", first used`),
  namesKey: (reason) => /^duplicate reference ".*", first used/.test(reason),
};

const isAtService = (row: unknown, reference: string): boolean =>
  isExportedAs(reference, (row as Partial<FileRow>)[exportedColumn]);

/** Whether two texts are one reference once their ends are cut. */
const areOne = (a: string, b: string): boolean => withoutUnseenEnds(a) === withoutUnseenEnds(b);

function repetitionMessage(text: string, first: FirstUse): string {
  const used = `first used${placeOfUse(first)}`;
  if (text === first.text) return `duplicate reference "${text}", ${used}`;
  return areOne(text, first.text)
    ? `duplicate reference "${visible(text)}", ${used} as "${visible(first.text)}"`
    : `reference ${spelled(text)} looks like ${spelled(first.text)}, ${used}: change one, or write both alike`;
}

/** A reference in quotes, with its characters that are not plain: it looks like another one. */
export function spelled(reference: string): string {
  const shown = visible(reference);
  const escaped = shown.replace(/[^ -~]/gu, asEscape);
  return `"${shown}"${escaped === shown ? "" : ` (${escaped})`}`;
}

/** The problem of a reference with a character that cannot be seen. */
export function referenceProblems(row: unknown): readonly FieldProblem[] {
  const reference = readReference(row);
  if (reference === undefined || !hasUnseen(reference) || isAtService(row, reference)) return none;
  const message = `reference "${visible(reference)}" has a character that cannot be seen: type it again without that`;
  return [{ param: "reference", code: "unseen_character", message }];
}

const none: readonly FieldProblem[] = [];
