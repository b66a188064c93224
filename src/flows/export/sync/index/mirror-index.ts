import { CatError } from "../../../../errors.ts";
import { entryOf, lineOf, type MirrorEntry, removedEnding } from "./mirror-entry.ts";
import { PackedLines, type Piece } from "./packed-lines.ts";

/** The lines of one product: where they are, their first byte, and the one after the last. */
interface Lines {
  /** The file as it was read, or lines that changed since. */
  readonly piece: Piece;
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
/** Changed products whose lines are kept as text; a run changes the lines of a product one after the other. */
const usualOpen = 512;

/**
 * The index of a mirror: a line per asset, in order of product and asset ID. The file stays in memory as it was read,
 * and only lines of products in question are parsed: reading 100,000 of them for a handful of changes would take most
 * of the time and memory of a run. Changed lines are soon packed.
 */
export class MirrorIndex {
  readonly #name: string;
  readonly #lines = new Map<string, Lines>();
  /** The lines of products changed last, by product and asset ID; they replace those in `#lines`. */
  readonly #open = new Map<string, Map<string, string>>();
  readonly #mostOpen: number;
  readonly #packed = new PackedLines();
  #isChanged = false;

  private constructor(name: string, mostOpen: number) {
    this.#name = name;
    this.#mostOpen = mostOpen;
  }

  /** Reads a file of that name. Throws a CatError of type input if it is not an index. */
  static read(name: string, file: Buffer, mostOpen = usualOpen): MirrorIndex {
    const index = new MirrorIndex(name, mostOpen);
    index.#findLines(file);
    return index;
  }

  /** Whether anything was set or dropped. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** The number of entries. */
  get size(): number {
    let sum = 0;
    for (const [id, { count }] of this.#lines) if (!this.#open.has(id)) sum += count;
    for (const lines of this.#open.values()) sum += lines.size;
    return sum;
  }

  /** The number of assets, without those that were removed from the catalogue and kept. */
  get present(): number {
    let sum = 0;
    for (const [id, { count, removed }] of this.#lines) if (!this.#open.has(id)) sum += count - removed;
    for (const lines of this.#open.values())
      for (const line of lines.values()) if (!line.endsWith(removedEnding)) sum++;
    return sum;
  }

  /** The products, in order. */
  products(): string[] {
    const ids = new Set(this.#lines.keys());
    for (const [id, lines] of this.#open) {
      if (lines.size > 0) ids.add(id);
      else ids.delete(id);
    }
    return [...ids].sort();
  }

  /** The entries of a product, by asset ID. */
  ofProduct(productId: string): Map<string, MirrorEntry> {
    const entries = new Map<string, MirrorEntry>();
    for (const [assetId, line] of this.#linesOf(productId))
      entries.set(assetId, this.#parsed(line, productId));
    return entries;
  }

  get(productId: string, assetId: string): MirrorEntry | null {
    const line = this.#linesOf(productId).get(assetId);
    return line === undefined ? null : this.#parsed(line, productId);
  }

  /** Adds or replaces an entry; an equal one changes nothing. */
  set(entry: MirrorEntry): void {
    const { product_id, asset_id } = entry;
    const line = lineOf(entry);
    const open = this.#open.get(product_id);
    // Without parsing: most lines that are set are those of the file.
    if (open === undefined ? this.#packedLines(product_id).includes(line) : open.get(asset_id) === line)
      return;
    this.#change(product_id).set(asset_id, line);
  }

  drop(productId: string, assetId: string): void {
    if (this.#linesOf(productId).has(assetId)) this.#change(productId).delete(assetId);
  }

  /** Every entry, in order. */
  *entries(): Generator<MirrorEntry> {
    for (const id of this.products()) {
      const changed = this.#open.get(id);
      if (changed === undefined) for (const line of this.#packedLines(id)) yield this.#parsed(line, id);
      else for (const assetId of [...changed.keys()].sort()) yield this.#parsed(changed.get(assetId)!, id);
    }
  }

  /** The entries that were removed from the catalogue and kept, in order. */
  *removed(): Generator<MirrorEntry> {
    for (const id of this.products()) {
      if (!this.#open.has(id) && this.#lines.get(id)!.removed === 0) continue;
      const entries = [...this.ofProduct(id).values()].filter(({ removed }) => removed === true);
      yield* entries.sort((one, other) => (one.asset_id < other.asset_id ? -1 : 1));
    }
  }

  /** The bytes of the index as it is now. */
  *content(): Generator<Uint8Array> {
    let text = "";
    // Neighbors are written together.
    let run: Pick<Lines, "piece" | "from" | "to"> | null = null;
    for (const id of this.products()) {
      const changed = this.#open.get(id);
      const lines = changed === undefined ? this.#lines.get(id)! : null;
      if (run !== null && (lines === null || lines.piece !== run.piece || lines.from !== run.to)) {
        yield run.piece().subarray(run.from, run.to);
        run = null;
      }
      if (text !== "" && (lines !== null || text.length > chunkLength)) {
        yield Buffer.from(text);
        text = "";
      }
      if (lines !== null) run = { piece: lines.piece, from: (run ?? lines).from, to: lines.to };
      if (changed !== undefined) text += textOf(changed);
    }
    if (run !== null) yield run.piece().subarray(run.from, run.to);
    if (text !== "") yield Buffer.from(text);
  }

  /** The lines of one product of the file, as they were read. */
  contentOf(productId: string): Uint8Array {
    const { piece, from, to } = this.#lines.get(productId)!;
    return piece().subarray(from, to);
  }

  #findLines(file: Buffer): void {
    const piece = () => file;
    let before = "";
    let number = 0;
    for (let at = 0; at < file.length; ) {
      number++;
      const end = file.indexOf(newline, at);
      const id = end < 0 ? null : productOf(file, at, end);
      if (id === null || id < before) throw this.#notAnIndex(number);
      const isRemoved = file.compare(ending, 0, ending.length, end - ending.length, end) === 0;
      const known = this.#lines.get(id) ?? { from: at, count: 0, removed: 0 };
      this.#lines.set(id, {
        piece,
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
    this.#isChanged = true;
    if (this.#open.size >= this.#mostOpen && !this.#open.has(productId)) this.#pack();
    this.#open.set(productId, lines);
    return lines;
  }

  /** Moves the lines of changed products into one piece of bytes. */
  #pack(): void {
    const texts: string[] = [];
    const packed: [id: string, lines: Omit<Lines, "piece">][] = [];
    let at = 0;
    for (const id of [...this.#open.keys()].sort()) {
      const lines = this.#open.get(id)!;
      const text = textOf(lines);
      const [from, to] = [at, at + Buffer.byteLength(text)];
      const removed = [...lines.values()].filter((line) => line.endsWith(removedEnding)).length;
      texts.push(text);
      packed.push([id, { from, to, count: lines.size, removed }]);
      at = to;
    }
    const piece = this.#packed.pack(Buffer.from(texts.join("")));
    for (const [id, lines] of packed) {
      if (lines.count > 0) this.#lines.set(id, { piece, ...lines });
      else this.#lines.delete(id);
    }
    this.#open.clear();
  }

  #linesOf(productId: string): Map<string, string> {
    const open = this.#open.get(productId);
    if (open !== undefined) return open;
    const lines = this.#packedLines(productId);
    return new Map(lines.map((line) => [this.#parsed(line, productId).asset_id, line]));
  }

  #packedLines(productId: string): string[] {
    const lines = this.#lines.get(productId);
    return lines === undefined
      ? []
      : lines
          .piece()
          .toString("utf8", lines.from, lines.to - 1)
          .split("\n");
  }

  #parsed(line: string, productId: string): MirrorEntry {
    const entry = entryOf(line);
    if (entry !== null) return entry;
    const { piece, from } = this.#lines.get(productId)!;
    throw this.#notAnIndex(piece().subarray(0, from).toString("latin1").split("\n").length);
  }

  #notAnIndex(line: number): CatError {
    return new CatError(`${this.#name}:${line} is not a line of an index`, {
      type: "input",
      code: "invalid_index",
      hint: "Restore the file from a backup, or mirror the catalogue into a new folder.",
    });
  }
}

/** The lines of a product, by asset ID, as the index has them. */
const textOf = (lines: ReadonlyMap<string, string>): string =>
  [...lines.keys()]
    .sort()
    .map((assetId) => `${lines.get(assetId)!}\n`)
    .join("");

/** The product of the line between two bytes; null if it is not a line of an index. */
function productOf(file: Buffer, from: number, to: number): string | null {
  if (file.compare(start, 0, start.length, from, Math.min(to, from + start.length)) !== 0) return null;
  const quote = file.indexOf(34, from + start.length);
  return quote < 0 || quote > to ? null : file.toString("latin1", from + start.length, quote);
}
