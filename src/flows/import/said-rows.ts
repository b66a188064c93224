// The rows of a file when they were imported last, so that edits are told from what others changed.

import { realpathSync } from "node:fs";
import type { SaidRow } from "../../state/ledger.ts";
import { formatOfName } from "../rows/input-format.ts";
import type { InputRow } from "../rows/row-form.ts";
import { photoColumns } from "../rows/row-form.ts";
import type { Source } from "../rows/source.ts";
import type { Run } from "../run/run.ts";
import { shortDigest } from "../short-digest.ts";
import { type Before, type DecidedRow, editsOf, type SkippedEdits } from "./decide.ts";
import { FieldDigests, type LedgerField, type MemoSaid, sourceDigestBytes } from "./digests.ts";
import type { FileRow } from "./file-row.ts";
import type { ImportedRow } from "./row-result.ts";
import {
  atPlaces,
  isSameSource,
  packSaid,
  placeOfColumn,
  referenceOfRow,
  type Said,
  type SaidPhoto,
  unpackSaid,
} from "./said.ts";

/** Rows written at once. */
const rowsAtOnce = 1_000;

const noDigest = Buffer.alloc(0);

/** Distinguishes one value of as_exported from another. */
const toDigest = (exported: string | undefined): Buffer =>
  exported === undefined ? noDigest : shortDigest(exported, 8);

/** The rows of a file that has a lasting place; of another one nothing is known or kept. */
export class SaidRows {
  readonly #run: Run;
  readonly #place: string | null;
  #file: number | null | undefined;
  #rows: SaidRow[] = [];
  /** A plan records nothing. */
  readonly #isPlan: boolean;

  constructor(run: Run, source: Source, isPlan: boolean) {
    this.#run = run;
    this.#isPlan = isPlan;
    this.#place = toPlace(source);
  }

  /** Whether the file was imported from here before. */
  get areAny(): boolean {
    const { file } = this;
    return file !== null && this.#run.state.ledger.isSaid(file);
  }

  /** The earlier content of the row of a reference, if it had the same as_exported. */
  of(reference: string, exported: string | undefined): Before | null {
    const row = this.stored(reference);
    if (row === null || !toDigest(exported).equals(row.exported)) return null;
    const { productId } = row;
    return { said: unpackSaid(row.said), productId, isOf: (id) => id === productId };
  }

  stored(reference: string): SaidRow | null {
    const { file } = this;
    return file === null ? null : this.#run.state.ledger.said(file, reference);
  }

  /** The content for the memo of a row in a batch; later changes of the product are not in it. */
  memo(row: DecidedRow): { said?: MemoSaid } {
    if (this.#place === null) return {};
    const { decision, cells, before, known } = row;
    const { fields, detach, move } = editsOf(decision);
    const earlier = before?.said.photos ?? [];
    const same = (all: readonly SaidPhoto[], { source }: SaidPhoto) =>
      all.find((one) => isSameSource(one.source, source));
    const { photos } = cells.said;
    // What a row said has no photos of others: until they are detached, its photos are those of before.
    const own = new Set(earlier.map(({ source }) => known?.imageOf(source)));
    const isOwn = detach.every(({ image }) => own.has(image));
    const unnamed = isOwn ? earlier.filter((photo) => same(photos ?? [], photo) === undefined) : [];
    const open = {
      emptied: [...(decision.notApplied?.emptied ?? []), ...(Object.keys(fields) as LedgerField[])],
      removed: detach.length === 0 ? (decision.notApplied?.removed ?? []) : unnamed,
    };
    const isMoved = ({ source }: SaidPhoto) => move.some(({ image }) => image === known?.imageOf(source));
    const unmoved =
      photos?.flatMap((photo) => (isMoved(photo) ? (same(earlier, photo) ?? []) : [photo])) ?? null;
    const said = withOpen({ said: { ...cells.said, photos: isOwn ? unmoved : earlier }, before }, open);
    // The sources of an as_exported are too short to be kept: it stays the before of its row.
    if (said.photos?.some(({ source }) => source.length < sourceDigestBytes)) return {};
    return { said: { exported: toDigest(row.content.as_exported), said: packSaid(said) } };
  }

  /** Records what a row says, for its next import, with others: a cell not carried out stays as before. */
  add({ reference, content, cells, before, decision }: DecidedRow, productId: string): void {
    if (this.#place === null || this.#isPlan) return;
    const said = packSaid(withOpen({ said: cells.said, before }, decision.notApplied));
    const known = this.of(reference, content.as_exported);
    if (known?.isOf(productId) && packSaid(known.said).equals(said)) return;
    this.#rows.push({ reference, exported: toDigest(content.as_exported), productId, said });
    if (this.#rows.length >= rowsAtOnce) this.write();
  }

  write(): void {
    if (this.#rows.length === 0) return;
    this.#run.state.ledger.say(this.openFile()!, this.#rows);
    this.#rows = [];
  }

  /** The file in the ledger; null if nothing is known of it. */
  get file(): number | null {
    const { state, account } = this.#run;
    if (this.#file === undefined)
      this.#file = this.#place === null ? null : state.ledger.findFile(account, this.#place);
    return this.#file;
  }

  /** The same, added if it is missing; null for a file without a lasting place. */
  openFile(): number | null {
    const { state, account, clock } = this.#run;
    if (this.#place !== null) this.#file ??= state.ledger.openFile(account, this.#place, clock.now());
    return this.#file ?? null;
  }
}

/** The canonical path of a file, and its sheet; null if it has no lasting place. */
export function toPlace({ path, sheet }: Pick<Source, "path" | "sheet">): string | null {
  if (path === null) return null;
  try {
    return `${realpathSync(path)}${sheet === undefined ? "" : `#${sheet.sheet}`}`;
  } catch {
    return path;
  }
}

/** The content of a row, but for the fields and photos that stay as they were before. */
function withOpen(
  { said: now, before }: { readonly said: Said; readonly before: Before | null },
  open: SkippedEdits | undefined,
): Said {
  if (open === undefined) return now;
  const { emptied, removed } = open;
  return {
    fields: FieldDigests.pick(emptied, before?.said.fields ?? FieldDigests.nothing, now.fields),
    photos: removed.length === 0 ? now.photos : [...(now.photos ?? []), ...removed],
  };
}

/** Rows of a failed file that are kept in memory until it is written; of more, nothing is known. */
const mostRows = 10_000;

/** Records what rows of a failed file said before as those of its sheet: other files know nothing. */
export class FailedBefore {
  readonly #run: Run;
  readonly #said: SaidRows;
  #rows: SaidRow[] | null = [];

  constructor(run: Run, said: SaidRows) {
    this.#run = run;
    this.#said = said;
  }

  /** A row that is written, without the photos that are attached. */
  add({ content }: InputRow, { done = [] }: ImportedRow): void {
    const said = this.#said.stored(referenceOfRow(content as FileRow));
    if (said === null || this.#rows === null) return;
    const { [photoColumns]: columns = [] } = content as FileRow;
    const left = columns.filter((_, index) => !done.includes(index));
    const places = new Set(left.flatMap((column) => placeOfColumn(column) ?? []));
    const own = done.length === 0 ? said.said : packSaid(atPlaces(unpackSaid(said.said), places));
    this.#rows.push({ ...said, said: own });
    if (this.#rows.length > mostRows) this.#rows = null;
  }

  /** `path`: where the file is now; null if there is none. */
  write(path: string | null): void {
    const rows = this.#rows ?? [];
    if (path === null || formatOfName(path) === "workbook") return;
    const { state, account, clock } = this.#run;
    const place = toPlace({ path })!;
    if (rows.length === 0 && state.ledger.findFile(account, place) === null) return;
    state.ledger.say(state.ledger.openFile(account, place, clock.now()), rows, { isAnew: true });
  }
}
