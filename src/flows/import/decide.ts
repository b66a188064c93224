// The one place that decides about a row: from what it says, what it said before, and what is known of its
// product (docs/resuming.md). Plan, import and report use its decision.

import { shellWord } from "../../shell-word.ts";
import { hasUnseen, lookOf } from "../../text.ts";
import { meantReference } from "../rows/damage.ts";
import { changedMeanwhile, decideFields, type FieldDecision, productDeleted } from "./decide-fields.ts";
import {
  type ComparisonResult,
  type Conflict,
  decidePhotos,
  distinctPhotos,
  type PhotoDecision,
} from "./decide-photos.ts";
import { FieldDigests, type FieldValues, type LedgerField, ledgerFields, type RowMemo } from "./digests.ts";
import { type FileImage, type FileRow, toFieldValues } from "./file-row.ts";
import type { RowOptions } from "./import-input.ts";
import type { KnownImage, KnownProduct, ReadProduct } from "./known-product.ts";
import type { Lookalike } from "./lookalikes.ts";
import { lookalikeCode, spelled } from "./references.ts";
import { isEdited, type RowWithDigests, type Said, type SaidPhoto } from "./said.ts";

export interface DecidedRow extends RowWithDigests {
  /** Its place among all rows of the file, from 0. */
  readonly rowIndex: number;
  readonly line: number;
  /** Trimmed, in the form the service compares. */
  readonly reference: string;
  /** The product of the reference: null if there is none, undefined if it is not known. */
  readonly known: KnownProduct | null | undefined;
  readonly before: Before | null;
  /** The ID of its product if that may have another reference now: to be read. */
  readonly sought: string | null;
  /** The reason for which it is in a failed file. */
  readonly earlierCode: string | undefined;
  readonly decision: RowDecision;
}

export interface Before {
  readonly said: Said;
  /** The product that it was about. */
  readonly isOf: (productId: string) => boolean;
  /** Its ID; null if only a digest of it is known. */
  readonly productId: string | null;
}

export interface RowFacts {
  /** Null if it is not known. */
  readonly before: Before | null;
  /** The row has an as_exported, of its reference. */
  readonly isExported: boolean;
  /** The reference that it was exported with, if the row has another one; null if that product is gone. */
  readonly renamedFrom: string | null | undefined;
  /** The reference that others gave to the product of before, then `known`; null if it is that of the row. */
  readonly renamedTo: string | null;
  /** Its product; null if there is none, undefined if it is not known yet. */
  readonly known: KnownProduct | null | undefined;
  /** A product of another reference that looks the same, where there is none of the reference. */
  readonly lookalike: Lookalike | null;
  readonly findCompared: (source: Buffer) => ComparisonResult | undefined;
  /** The product as first read, if others have changed it since; null if there was none. */
  readonly overtaken: ReadProduct | null | undefined;
  readonly earlierConflict: string | undefined;
  /** The row of a failed file may lack photos that were attached. */
  readonly mayBePartial: boolean;
}

export interface DecideOptions extends Readonly<RowOptions> {
  /** No product of the file that was known exists: another catalogue. */
  readonly isOtherCatalogue?: boolean | undefined;
  /** A plan shows the product of a row in each mode. */
  readonly isPlan?: boolean | undefined;
}

/** Changes of a product that exists, besides those of its batch. */
export interface Edits {
  /** Fields to write; null clears one. */
  readonly fields: FieldValues;
  readonly move: PhotoDecision["move"];
  readonly detach: PhotoDecision["detach"];
}

export interface SkippedEdits {
  readonly emptied: readonly LedgerField[];
  readonly removed: readonly SaidPhoto[];
}

export type RowDecision = (
  | {
      /** Send it in a batch with these images, then change the product. */
      readonly kind: "send";
      readonly isNew: boolean;
      readonly row: Omit<FileRow, "images">;
      readonly images: readonly FileImage[];
      readonly memo: RowMemo;
      readonly edits: Edits;
    }
  /** Change its product without a batch. */
  | { readonly kind: "change"; readonly productId: string; readonly edits: Edits }
  /** Nothing was edited, and nothing differs. */
  | { readonly kind: "unchanged"; readonly productId: string }
  /** Nothing was edited; the service has other values or photos, which are kept. */
  | { readonly kind: "kept"; readonly productId: string }
  /** Nothing was edited, and the product was deleted. */
  | { readonly kind: "deleted" }
  | ({ readonly kind: "conflict" } & Conflict)
  | { readonly kind: "unread" }
  /** These of its photos must be compared with those of its product first. */
  | {
      readonly kind: "uncompared";
      readonly photos: readonly number[];
      readonly against: readonly KnownImage[];
    }
  /** Fail it: the service rejected some photos. `discarded`: photos lost with the row. */
  | { readonly kind: "rejected"; readonly discarded: readonly number[] }
  /** Leave it out: it would no longer be imported as planned. */
  | { readonly kind: "moved" }
) & { readonly notApplied?: SkippedEdits | undefined };

const noEdits: Edits = { fields: {}, move: [], detach: [] };

export const editsOf = (decision: RowDecision): Edits => ("edits" in decision ? decision.edits : noEdits);

/** The fields that a decision writes, with their values; null clears one. */
export const writtenFields = (decision: RowDecision): FieldValues => ({
  ...(decision.kind === "send" && toFieldValues(decision.row)),
  ...editsOf(decision).fields,
});

export const areNone = ({ fields, move, detach }: Edits): boolean =>
  Object.keys(fields).length === 0 && move.length === 0 && detach.length === 0;

export function decide(row: RowWithDigests, facts: RowFacts, options: DecideOptions): RowDecision {
  const decision = decideNow(row, facts, options);
  const { overtaken, known } = facts;
  if (options.mode !== "upsert" || overtaken === undefined || known === undefined) return decision;
  if (decision.kind !== "send" && decision.kind !== "change") return decision;
  const now = known?.read ?? null;
  const conflict = changedMeanwhile(writtenFields(decision), overtaken, now, options);
  return conflict === null ? decision : { kind: "conflict", ...conflict };
}

function decideNow(row: RowWithDigests, facts: RowFacts, options: DecideOptions): RowDecision {
  const { mode, photos, exact = false, conflicts } = options;
  if (mode !== "upsert" || photos === "all") return sendAsIs(row, facts, options);
  const { earlierConflict, known, renamedFrom, renamedTo } = facts;
  if (earlierConflict !== undefined && conflicts === undefined && !exact)
    return { kind: "conflict", code: earlierConflict, message: earlierMessage };
  if (known === undefined) return { kind: "unread" };
  if (renamedFrom !== undefined) return renamed(row.content.reference, renamedFrom);
  if (renamedTo !== null) return decideRenamed(row, facts, renamedTo, options);
  return known === null ? decideMissing(row, facts, options) : decideKnown(row, { ...facts, known }, options);
}

function decideMissing(row: RowWithDigests, facts: RowFacts, options: DecideOptions): RowDecision {
  const { exact = false, conflicts, isOtherCatalogue = false } = options;
  if (facts.earlierConflict === "product_deleted" && conflicts === "service") return { kind: "deleted" };
  const before = isOtherCatalogue || exact ? null : facts.before;
  return before === null ? create(row, facts, options) : decideDeleted(row, { ...facts, before }, options);
}

function decideKnown(
  row: RowWithDigests,
  {
    known,
    before: last,
    isExported,
    earlierConflict,
    mayBePartial,
    findCompared,
  }: RowFacts & { readonly known: KnownProduct },
  options: DecideOptions,
): RowDecision {
  const before = last?.isOf(known.id) ? last.said : null;
  if (known.read === null) {
    if (options.exact || before === null || isEdited(row.cells.said, before)) return { kind: "unread" };
    return unedited(row, known, before, isExported);
  }
  const keepsTheirs = earlierConflict !== undefined && options.conflicts === "service";
  const fields = decideFields(row, before, known, { ...options, isExported, keepsTheirs });
  const images = decidePhotos(row, before, known, {
    ...options,
    isExported: isExported && before !== null,
    mayBePartial,
    findCompared,
  });
  if (images.uncompared.length > 0)
    return { kind: "uncompared", photos: images.uncompared, against: images.others };
  const conflict = fields.conflict ?? images.conflict;
  if (conflict !== null) return { kind: "conflict", ...conflict };
  return carryOut(row, known, fields, images, options);
}

const earlierMessage =
  "this row was skipped as a conflict: empty its error_code, or add --conflicts service or --conflicts sheet";

/** The command that gives a product another reference; one that starts with - would be taken for a flag. */
function renameCommand(product: string, reference: string): string {
  const flag = `--reference ${shellWord(reference)}`;
  return `cat products update ${product.startsWith("-") ? `${flag} -- ${shellWord(product)}` : `${shellWord(product)} ${flag}`}`;
}

const renamed = (reference: string, from: string | null): RowDecision => ({
  kind: "conflict",
  code: "reference_changed",
  message:
    from === null
      ? "the row was exported with another reference, of a product that no longer exists: empty as_exported to import a new product"
      : `the row was exported as ${from}: to change its reference, run ${renameCommand(from, reference)}`,
});

/** A row whose product others gave another reference: importing it would create a second product. */
function decideRenamed(
  { cells, content: { reference } }: RowWithDigests,
  { before, known }: RowFacts,
  now: string,
  { exact = false, conflicts }: DecideOptions,
): RowDecision {
  if (!exact && (conflicts === "service" || !isEdited(cells.said, before!.said)))
    return { kind: "kept", productId: known!.id };
  return {
    kind: "conflict",
    code: "reference_changed",
    message: `the product has the reference ${now} since: write that in the row, or run ${renameCommand(now, reference)}`,
  };
}

/** A row of another mode, or with --photos all: it is sent as it is. */
function sendAsIs(row: RowWithDigests, { known, lookalike }: RowFacts, options: DecideOptions): RowDecision {
  const { mode, isPlan = false, namesFromReferences = false } = options;
  const { content } = row;
  const mustRead =
    mode === "upsert" || isPlan || lookalike !== null || mayBeOther(content.reference, options);
  if (mustRead && known === undefined) return { kind: "unread" };
  if (lookalike !== null) return lookingAlike(content.reference, lookalike);
  const name = namesFromReferences ? (known?.read?.name ?? content.name) : content.name;
  return send(row, { attach: eachOnce(row), isNew: !known, row: { ...content, name } }, noEdits, options);
}

/** Whether a product may exist of which a reference is another writing. */
const mayBeOther = (reference: string, { codesAsWritten = false }: DecideOptions): boolean =>
  lookOf(reference) !== reference || (!codesAsWritten && meantReference(reference) !== null);

function create(row: RowWithDigests, { lookalike }: RowFacts, options: DecideOptions): RowDecision {
  if (lookalike !== null) return lookingAlike(row.content.reference, lookalike);
  const attach = eachOnce(row);
  if (attach.length === 0) return noImages;
  return send(row, { attach, isNew: true, row: row.content }, noEdits, options);
}

/** Importing the row would create a second product that people cannot tell from the first. */
const lookingAlike = (reference: string, { id, reference: other }: Lookalike): RowDecision => ({
  kind: "conflict",
  code: lookalikeCode,
  message: `the reference ${spelled(reference)} looks like ${spelled(other)} of the product ${id}`,
  // No sheet can have such a reference.
  ...(hasUnseen(other) && { command: renameCommand(id, reference) }),
});

const noImages: RowDecision = {
  kind: "conflict",
  code: "no_images",
  message: "no product has this reference, and a new product needs a photo",
};

/** The photos of a row by their place, each source once. */
const eachOnce = ({ cells: { said }, content: { images } }: RowWithDigests): readonly number[] =>
  distinctPhotos(said.photos ?? [], images)
    .map(({ index }) => index)
    .sort((a, b) => a - b);

function decideDeleted(
  row: RowWithDigests,
  facts: RowFacts & { readonly before: Before },
  options: DecideOptions,
): RowDecision {
  const { before } = facts;
  if (!isEdited(row.cells.said, before.said) || options.conflicts === "service") return { kind: "deleted" };
  if (options.conflicts === "sheet") return create(row, facts, options);
  return { kind: "conflict", ...productDeleted };
}

/** A row that says what it said before, of a product of which only digests are known. */
function unedited(
  { cells }: RowWithDigests,
  known: KnownProduct,
  before: Said,
  isExported: boolean,
): RowDecision {
  const { fields } = known;
  const compared = ledgerFields.filter(
    (field) => cells.said.fields.knows(field) && before.fields.knows(field),
  );
  if (compared.some((field) => !fields.knows(field))) return { kind: "unread" };
  const isKept = compared.some(
    (field) => !fields.agrees(field, cells.said.fields) && (isExported || !cells.emptyFields.includes(field)),
  );
  return { kind: isKept ? "kept" : "unchanged", productId: known.id };
}

function carryOut(
  row: RowWithDigests,
  known: KnownProduct,
  { write, isKept, emptied }: FieldDecision,
  { attach, move, detach, notRemoved, isKept: arePhotosKept }: PhotoDecision,
  options: DecideOptions,
): RowDecision {
  const notApplied =
    emptied.length === 0 && notRemoved.length === 0 ? undefined : { emptied, removed: notRemoved };
  if (attach.length > 0) {
    // An upsert clears nothing, and needs a name (Imports, Row fields).
    const set = Object.fromEntries(Object.entries(write).filter(([, value]) => value !== null));
    const cleared = Object.fromEntries(Object.entries(write).filter(([, value]) => value === null));
    const { name, description: _, sex: __, ...others } = row.content;
    const own = { ...others, name: known.read?.name ?? name, ...set };
    const decision = send(
      row,
      { attach, isNew: false, row: own },
      { fields: cleared, move, detach },
      options,
    );
    return { ...decision, notApplied };
  }
  const edits: Edits = { fields: write, move, detach };
  if (!areNone(edits)) return { kind: "change", productId: known.id, edits, notApplied };
  return { kind: isKept || arePhotosKept ? "kept" : "unchanged", productId: known.id, notApplied };
}

/**
 * Sends a row in a batch with these photos. One rejected at upload counts like one the service failed to
 * fetch (Imports, rule 4): with `skip` the row is sent without it, if a photo remains.
 */
function send(
  row: RowWithDigests,
  { attach, isNew, row: own }: { attach: readonly number[]; isNew: boolean; row: Omit<FileRow, "images"> },
  edits: Edits,
  { onImageError }: DecideOptions,
): RowDecision {
  const { content, digests } = row;
  const rejected = row.rejected.filter(({ image }) => attach.includes(image));
  const sent = attach.filter((index) => !rejected.some(({ image }) => image === index));
  if (rejected.length > 0 && (onImageError === "fail_row" || sent.length === 0))
    return { kind: "rejected", discarded: sent };
  const memo: RowMemo = {
    fields: FieldDigests.of(toFieldValues(own)),
    sent: sent.map((image) => ({ image, digest: digests[image]! })),
    leftOut: content.images.flatMap((_, index) =>
      attach.some((other) => digests[other]!.equals(digests[index]!)) ? [] : [index],
    ),
    rejected,
  };
  return { kind: "send", isNew, row: own, images: sent.map((index) => content.images[index]!), memo, edits };
}
