import { stringify } from "csv-stringify/sync";
import type { Random } from "../../src/mock/seed/seed.ts";
import { photoBytes } from "../import/files.ts";
import type { Machine } from "./machine.ts";
import type { Row } from "./shop.ts";

/** Photos that are not used yet; the large ones of `photoBytes` are skipped. */
export class Photos {
  #last = 1000;

  next(): number {
    this.#last += this.#last % 5 === 4 ? 2 : 1;
    return this.#last;
  }
}

/** A product that is sold out: its row comes back on a later day. */
interface SoldOut {
  readonly row: Row;
  readonly backOn: number;
}

/** The sheet of the shop, which changes every day: as many rows come as go. */
export class Sheet {
  rows: Row[] = [];
  /** The rows that came back on the last day. */
  back: Row[] = [];
  readonly #random: Random;
  readonly #photos: Photos;
  #soldOut: SoldOut[] = [];
  #count = 0;

  constructor(random: Random, photos: Photos, size: number) {
    this.#random = random;
    this.#photos = photos;
    for (let at = 0; at < size; at++) this.#add();
  }

  #add(prefix = "N"): Row {
    const reference = `${prefix}-${this.#count++}`;
    const back = this.#random.next() < 0.5 ? this.#photos.next() : null;
    const row = { reference, name: `Dress ${reference}`, front: this.#photos.next(), back };
    this.rows.push(row);
    return row;
  }

  /** The changes of a day; without `replaces`, no photo is replaced. */
  change(day: number, replaces: boolean): void {
    const random = this.#random;
    const back = this.#soldOut.filter(({ backOn }) => backOn <= day);
    for (const { row } of back) this.rows.push(row);
    this.#soldOut = this.#soldOut.filter((one) => !back.includes(one));
    this.back = back.map(({ row }) => row);
    this.#add(random.next() < 0.02 ? "fail-model_unsafe_content" : "N");
    this.rows.splice(random.below(this.rows.length - 1), 1);
    // As many are away as come back: the catalogue keeps its size.
    if (random.next() < 0.2) {
      const [row] = this.rows.splice(random.below(this.rows.length - 1), 1);
      this.#soldOut.push({ row: row!, backOn: day + 1 + random.below(9) });
    }
    const edited = random.pick(this.rows);
    if (random.next() < 0.6) edited.name = `Dress ${edited.reference}, day ${day}`;
    const shown = random.pick(this.rows);
    if (replaces && random.next() < 0.4) shown.front = this.#photos.next();
    if (replaces && random.next() < 0.2) shown.back = this.#photos.next();
  }

  /** A mistake of the month's end, as copies of the rows. */
  mistaken(): Row[] {
    const rows = this.rows.map((row) => ({ ...row }));
    for (const row of rows.slice(0, 6)) row.name = `SALE ${row.name}`;
    rows[7]!.front = this.#photos.next();
    rows.push({
      reference: `SALE-${this.#count++}`,
      name: "Voucher",
      front: this.#photos.next(),
      back: null,
    });
    return rows;
  }
}

const pathOf = (reference: string, side: string): string => `photos/${reference}_${side}.png`;

/** Writes the sheet and its photos; a replaced photo has the name of the one before. */
export function writeSheet(machine: Machine, rows: readonly Row[], name = "sheet.csv"): void {
  const cells = rows.map(({ reference, name, front, back }) => {
    for (const [photo, side] of [[front, "front"] as const, [back, "back"] as const])
      if (photo !== null) machine.write(pathOf(reference, side), photoBytes(photo));
    return [reference, name, pathOf(reference, "front"), back === null ? "" : pathOf(reference, "back")];
  });
  machine.write(name, stringify([["reference", "name", "image_front", "image_back"], ...cells]));
}
