// What the rows of one file said when they were imported last, so that an edit is told from what others changed.

import { realpathSync } from "node:fs";
import type { SaidRow } from "../../state/ledger.ts";
import type { Source } from "../rows/source.ts";
import type { Run } from "../run/run.ts";
import { shortDigest } from "../short-digest.ts";
import type { Before, DecidedRow } from "./decide.ts";
import { FieldDigests, type MemoSaid } from "./digests.ts";
import { packSaid, type Said, unpackSaid } from "./said.ts";

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
    const file = this.#findFile();
    const row = file === null ? null : this.#run.state.ledger.said(file, reference);
    if (row === null || !toDigest(exported).equals(row.exported)) return null;
    const { productId } = row;
    return { said: unpackSaid(row.said), productId, isOf: (id) => id === productId };
  }

  /** What a row says now, for its next import: a cell that was not carried out stays as it was before. */
  toKeep(row: DecidedRow, productId: string): SaidRow {
    const { reference, content, decision, before } = row;
    const said = packSaid(withNotApplied(row.cells.said, before?.said ?? null, decision.notApplied));
    return { reference, productId, exported: toDigest(content.as_exported), said };
  }

  /** What the memo of a row in a batch has of it. */
  memo(row: DecidedRow): { said?: MemoSaid } {
    if (this.#place === null) return {};
    const { exported, said } = this.toKeep(row, "");
    return { said: { exported, said } };
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

function withNotApplied(
  now: Said,
  before: Said | null,
  notApplied: DecidedRow["decision"]["notApplied"],
): Said {
  if (notApplied === undefined || before === null) return now;
  const { emptied, removed } = notApplied;
  return {
    fields: FieldDigests.pick(emptied, before.fields, now.fields),
    photos: removed.length === 0 ? now.photos : [...(now.photos ?? []), ...removed],
  };
}
