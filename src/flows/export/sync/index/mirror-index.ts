import { CatError } from "../../../../errors.ts";
import { entryOf, lineOf, type MirrorEntry, removedEnding } from "./mirror-entry.ts";

/** The lines of one product in the file: their bytes, first and after the last. */
interface Lines {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly removed: number;
}

const newline = 10;
const start = Buffer.from('{"product_id":"');
const ending = Buffer.from(removedEnding);
/** Characters written at once. */
const chunkLength = 256 * 1024;

/**
 * The index of a mirror: a line per asset, in order of product and asset ID. The file stays in memory as it was read,
 * and only lines of products in question are parsed: reading 100,000 of them for a handful of changes would take most
 * of the time and memory of a run.
 */
export class MirrorIndex {
  readonly #name: string;
  readonly #file: Buffer;
  readonly #lines = new Map<string, Lines>();
  /** The lines of changed products, by product and asset ID; they replace those of the file. */
  readonly #changed = new Map<string, Map<string, string>>();

  private constructor(name: string, file: Buffer) {
    this.#name = name;
    this.#file = file;
  }

  /** Reads a file of that name. Throws a CatError of type input if it is not an index. */
  static read(name: string, file: Buffer): MirrorIndex {
    const index = new MirrorIndex(name, file);
    index.#findLines();
    return index;
  }

  /** Whether anything was set or dropped. */
  get isChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** The number of assets, without those that were removed from the catalogue and kept. */
  get present(): number {
    let sum = 0;
    for (const [id, { count, removed }] of this.#lines) if (!this.#changed.has(id)) sum += count - removed;
    for (const lines of this.#changed.values())
      for (const line of lines.values()) if (!line.endsWith(removedEnding)) sum++;
    return sum;
  }

  /** The products, in order. */
  products(): string[] {
    const ids = new Set(this.#lines.keys());
    for (const [id, lines] of this.#changed) {
      if (lines.size > 0) ids.add(id);
      else ids.delete(id);
    }
    return [...ids].sort();
  }

  /** The entries of a product, by asset ID. */
  ofProduct(productId: string): Map<string, MirrorEntry> {
    const entries = new Map<string, MirrorEntry>();
    for (const [assetId, line] of this.#linesOf(productId)) entries.set(assetId, this.#parsed(line));
    return entries;
  }

  get(productId: string, assetId: string): MirrorEntry | null {
    const line = this.#linesOf(productId).get(assetId);
    return line === undefined ? null : this.#parsed(line);
  }

  /** Adds or replaces an entry; an equal one changes nothing. */
  set(entry: MirrorEntry): void {
    const { product_id, asset_id } = entry;
    const line = lineOf(entry);
    if (this.#linesOf(product_id).get(asset_id) === line) return;
    this.#change(product_id).set(asset_id, line);
  }

  drop(productId: string, assetId: string): void {
    if (this.#linesOf(productId).has(assetId)) this.#change(productId).delete(assetId);
  }

  /** Every entry, in order. */
  *entries(): Generator<MirrorEntry> {
    for (const id of this.products()) {
      const changed = this.#changed.get(id);
      if (changed === undefined) yield* this.#fileEntries(id);
      else for (const assetId of [...changed.keys()].sort()) yield this.#parsed(changed.get(assetId)!);
    }
  }

  /** The entries that were removed from the catalogue and kept, in order. */
  *removed(): Generator<MirrorEntry> {
    for (const id of this.products()) {
      if (!this.#changed.has(id) && this.#lines.get(id)!.removed === 0) continue;
      const entries = [...this.ofProduct(id).values()].filter(({ removed }) => removed === true);
      yield* entries.sort((one, other) => (one.asset_id < other.asset_id ? -1 : 1));
    }
  }

  /** The bytes of the index as it is now. */
  *content(): Generator<Uint8Array> {
    let text = "";
    // Unchanged neighbors are written together.
    let [from, to] = [0, 0];
    for (const id of this.products()) {
      const changed = this.#changed.get(id);
      const lines = changed === undefined ? this.#lines.get(id)! : null;
      if (to > from && lines?.from !== to) {
        yield this.#file.subarray(from, to);
        [from, to] = [0, 0];
      }
      if (text !== "" && (lines !== null || text.length > chunkLength)) {
        yield Buffer.from(text);
        text = "";
      }
      if (lines !== null) [from, to] = [to > from ? from : lines.from, lines.to];
      if (changed !== undefined)
        for (const assetId of [...changed.keys()].sort()) text += `${changed.get(assetId)!}\n`;
    }
    if (to > from) yield this.#file.subarray(from, to);
    if (text !== "") yield Buffer.from(text);
  }

  /** The lines of one product of the file, as they were read. */
  contentOf(productId: string): Uint8Array {
    const { from, to } = this.#lines.get(productId)!;
    return this.#file.subarray(from, to);
  }

  #findLines(): void {
    const file = this.#file;
    let before = "";
    let number = 0;
    for (let at = 0; at < file.length; ) {
      number++;
      const end = file.indexOf(newline, at);
      const id = end < 0 ? null : productOf(file, at, end);
      if (id === null || id < before) throw this.#notAnIndex(number);
      const isRemoved = file.compare(ending, 0, ending.length, end - ending.length, end) === 0;
      const known = this.#lines.get(id) ?? { from: at, to: at, count: 0, removed: 0 };
      this.#lines.set(id, {
        from: known.from,
        to: end + 1,
        count: known.count + 1,
        removed: known.removed + (isRemoved ? 1 : 0),
      });
      before = id;
      at = end + 1;
    }
  }

  #change(productId: string): Map<string, string> {
    const lines = this.#linesOf(productId);
    this.#changed.set(productId, lines);
    return lines;
  }

  #linesOf(productId: string): Map<string, string> {
    const changed = this.#changed.get(productId);
    if (changed !== undefined) return changed;
    const lines = new Map<string, string>();
    const { from, to } = this.#lines.get(productId) ?? { from: 0, to: 0 };
    if (to === from) return lines;
    for (const line of this.#file.toString("utf8", from, to - 1).split("\n"))
      lines.set(this.#parsed(line, from).asset_id, line);
    return lines;
  }

  *#fileEntries(productId: string): Generator<MirrorEntry> {
    const { from, to } = this.#lines.get(productId)!;
    for (const line of this.#file.toString("utf8", from, to - 1).split("\n")) yield this.#parsed(line, from);
  }

  #parsed(line: string, near = 0): MirrorEntry {
    const entry = entryOf(line);
    if (entry !== null) return entry;
    throw this.#notAnIndex(this.#file.subarray(0, near).toString("latin1").split("\n").length);
  }

  #notAnIndex(line: number): CatError {
    return new CatError(`${this.#name}:${line} is not a line of an index`, {
      type: "input",
      code: "invalid_index",
      hint: "Restore the file from a backup, or mirror the catalogue into a new folder.",
    });
  }
}

/** The product of the line between two bytes; null if it is not a line of an index. */
function productOf(file: Buffer, from: number, to: number): string | null {
  if (file.compare(start, 0, start.length, from, Math.min(to, from + start.length)) !== 0) return null;
  const quote = file.indexOf(34, from + start.length);
  return quote < 0 || quote > to ? null : file.toString("latin1", from + start.length, quote);
}
