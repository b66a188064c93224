// What the rows of one file said when they were imported last, so that an edit is told from what others changed.

import { realpathSync } from "node:fs";
import type { SaidRow } from "../../state/ledger.ts";
import type { Source } from "../rows/source.ts";
import type { Run } from "../run/run.ts";
import { shortDigest } from "../short-digest.ts";
import { type Before, type DecidedRow, type NotApplied, noEdits } from "./decide.ts";
import { FieldDigests, type LedgerField, type MemoSaid, sourceDigestBytes } from "./digests.ts";
import { isSameSource, packSaid, type Said, type SaidPhoto, unpackSaid } from "./said.ts";

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

  constructor(run: Run, source: Pick<Source, "path" | "sheet">, isPlan: boolean) {
    this.#run = run;
    this.#isPlan = isPlan;
    this.#place = toPlace(source);
  }

  /** Whether the file was imported from here before. */
  get areAny(): boolean {
    const file = this.#findFile();
    return file !== null && this.#run.state.ledger.isSaid(file);
  }

  /** What the row of a reference said before, if it had the same as_exported. */
  of(reference: string, exported: string | undefined): Before | null {
    const row = this.stored(reference);
    if (row === null || !toDigest(exported).equals(row.exported)) return null;
    const { productId } = row;
    return { said: unpackSaid(row.said), productId, isOf: (id) => id === productId };
  }

  /** What is kept of the row of a reference. */
  stored(reference: string): SaidRow | null {
    const file = this.#findFile();
    return file === null ? null : this.#run.state.ledger.said(file, reference);
  }

  /** What a row says now, for its next import: a cell that was not carried out stays as it was before. */
  toKeep(row: DecidedRow, productId: string): SaidRow {
    const said = withOpen({ said: row.cells.said, before: row.before }, row.decision.notApplied);
    return { ...this.#key(row), productId, said: packSaid(said) };
  }

  /** What the memo of a row in a batch has of it: what the product is changed further after the batch stays as it was. */
  memo(row: DecidedRow): { said?: MemoSaid } {
    if (this.#place === null) return {};
    const { decision, cells, before, known } = row;
    const { fields, detach, move } = "edits" in decision ? decision.edits : noEdits;
    const earlier = before?.said.photos ?? [];
    const same = (all: readonly SaidPhoto[], { source }: SaidPhoto) =>
      all.find((one) => isSameSource(one.source, source));
    const { photos } = cells.said;
    const open = {
      emptied: [...(decision.notApplied?.emptied ?? []), ...(Object.keys(fields) as LedgerField[])],
      removed:
        detach.length === 0
          ? (decision.notApplied?.removed ?? [])
          : earlier.filter((photo) => same(photos ?? [], photo) === undefined),
    };
    const isMoved = ({ source }: SaidPhoto) => move.some(({ image }) => image === known?.imageOf(source));
    const unmoved =
      photos?.flatMap((photo) => (isMoved(photo) ? (same(earlier, photo) ?? []) : [photo])) ?? null;
    const said = withOpen({ said: { ...cells.said, photos: unmoved }, before }, open);
    // The sources of an as_exported are too short to be kept: it stays the before of its row.
    if (said.photos?.some(({ source }) => source.length < sourceDigestBytes)) return {};
    return { said: { exported: this.#key(row).exported, said: packSaid(said) } };
  }

  #key({ reference, content }: DecidedRow): Pick<SaidRow, "reference" | "exported"> {
    return { reference, exported: toDigest(content.as_exported) };
  }

  /** Where the rows are, as the options of a run keep it. */
  get place(): string | null {
    return this.#place;
  }

  /** Records what a row says of a product that was deleted. */
  addDeleted(row: DecidedRow): void {
    if (row.before?.productId != null) this.add(row, row.before.productId);
  }

  /** Records what a row says; written with others. */
  add(row: DecidedRow, productId: string): void {
    if (this.#place === null || this.#isPlan) return;
    const next = this.toKeep(row, productId);
    const known = this.of(row.reference, row.content.as_exported);
    if (known?.isOf(productId) && packSaid(known.said).equals(next.said)) return;
    this.#rows.push(next);
    if (this.#rows.length >= rowsAtOnce) this.write();
  }

  /** Writes the rows that were added. */
  write(): void {
    this.say(this.#rows);
    this.#rows = [];
  }

  say(rows: readonly SaidRow[]): void {
    if (this.#place === null || rows.length === 0) return;
    const { state, account, clock } = this.#run;
    this.#file ??= state.ledger.openFile(account, this.#place, clock.now());
    state.ledger.say(this.#file, rows);
  }

  #findFile(): number | null {
    const { state, account } = this.#run;
    if (this.#file === undefined)
      this.#file = this.#place === null ? null : state.ledger.findFile(account, this.#place);
    return this.#file;
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

/** What a row says, but for the fields and photos that stay as they were before. */
function withOpen(
  { said: now, before }: { readonly said: Said; readonly before: Before | null },
  open: NotApplied | undefined,
): Said {
  if (open === undefined) return now;
  const { emptied, removed } = open;
  return {
    fields: FieldDigests.pick(emptied, before?.said.fields ?? FieldDigests.nothing, now.fields),
    photos: removed.length === 0 ? now.photos : [...(now.photos ?? []), ...removed],
  };
}
