import { readSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { SeenTexts } from "../../client/seen-texts.ts";
import { limits } from "../../contract/limits.ts";
import { newFile, type OpenFile } from "../../open-file.ts";
import { temporaryFolder, temporaryProblem } from "../files/disk.ts";
import type { ProgressEvent } from "../progress-event.ts";
import { shownName } from "../words.ts";
import { groupsOf, hasCode, type MergedCopy, mergedRow, type PackedRow, packRow } from "./merged-reader.ts";
import { openRows, type RowFile } from "./open-rows.ts";
import { UnreadableInput } from "./problem.ts";
import type { InputRow, MergedContent, MergeFault } from "./row-form.ts";
import { RowSet } from "./row-sets.ts";
import { TableReader } from "./table-rows.ts";

interface CopyHost {
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
}

/** A product has fewer rows: of more, the reference is none, and all of them would be in memory at once. */
const mostRows = 1_000;

/** Characters that are written at once. */
const written = 1024 * 1024;

/** Copies rows to a private folder, those of a key in place of the first. Throws CatError if it cannot. */
export async function mergedCopy(
  file: RowFile,
  { random, signal, onProgress }: CopyHost,
): Promise<MergedCopy> {
  const act = `copy ${shownName(file.source.name)} to`;
  const folder = temporaryFolder(act);
  const close = () => rm(folder, { recursive: true, force: true });
  const chains = new Chains(random);
  try {
    const copied = await copyRows({ ...file, merged: undefined }, join(folder, "rows"), {
      chains,
      signal,
      onProgress,
      unwritable: (cause) => {
        throw temporaryProblem(act, cause);
      },
    });
    const { products, rows } = chains;
    return { ...copied, products, rows, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface CopyOptions extends Omit<CopyHost, "random"> {
  readonly chains: Chains;
  readonly unwritable: (cause: unknown) => never;
}

async function copyRows(file: RowFile, path: string, options: CopyOptions) {
  const { chains, signal, onProgress, unwritable } = options;
  const reader = await openRows(file);
  const lines = await LineFile.begin(path).catch(unwritable);
  let stopped: UnreadableInput | null = null;
  try {
    for await (const rows of reader.batches()) {
      signal?.throwIfAborted();
      for (const row of rows) {
        const rowIndex = chains.add(keyOf(row, file));
        if (lines.add(packRow({ row, rowIndex }))) await lines.write().catch(unwritable);
      }
      onProgress?.({ step: "reading the rows of each product", done: chains.count, total: null });
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    stopped = error;
  } finally {
    await lines
      .write()
      .catch(unwritable)
      .finally(() => lines.close());
  }
  const headProblems = reader instanceof TableReader ? [] : reader.headProblems;
  const continued = new RowSet();
  const ordered = chains.isInOrder
    ? path
    : await reordered(lines, chains, `${path}-merged`).catch(unwritable);
  let next = 0;
  for (const rowIndex of chains.order()) {
    if (chains.isFollower(rowIndex)) continued.add(next);
    next++;
  }
  return { path: ordered, continued, headProblems, stopped };
}

function keyOf({ content }: InputRow, { form }: RowFile): string | undefined {
  const key = content === null ? undefined : form.unique?.toKey(content);
  return typeof key === "string" && !form.isDoubtful?.(content as object) ? key : undefined;
}

/** Writes the lines in the order of the products, and removes the first file. */
async function reordered(lines: LineFile, chains: Chains, path: string): Promise<string> {
  const output = await newFile(path);
  const from = await openToRead(lines.path);
  try {
    let parts: Buffer[] = [];
    let bytes = 0;
    for (const rowIndex of chains.order()) {
      const line = Buffer.allocUnsafe(lines.lengthOf(rowIndex));
      // Not in the thread pool: the way there takes longer.
      readSync(from.fd, line, 0, line.length, lines.startOf(rowIndex));
      parts.push(line);
      bytes += line.length;
      if (bytes < written) continue;
      await output.write(Buffer.concat(parts));
      [parts, bytes] = [[], 0];
    }
    await output.write(Buffer.concat(parts));
  } finally {
    await from.close();
    await output.close();
  }
  await rm(lines.path);
  return path;
}

const openToRead = async (path: string) => (await import("node:fs/promises")).open(path);

/** Which rows have the key of an earlier one, in 24 bytes per row and 16 more per key. */
class Chains {
  readonly #seen: SeenTexts;
  /** The next row of the same key, from 1; 0 for none. */
  #next = new Uint32Array(1024);
  /** Of the first row of a key: the last one so far, from 1, and how many there are. */
  #last = new Uint32Array(1024);
  #rows = new Uint16Array(1024);
  readonly #followers = new RowSet();
  count = 0;
  products = 0;
  /** The rows of products that have several. */
  rows = 0;
  /** Whether the rows of each product follow each other in the file. */
  isInOrder = true;

  constructor(random: () => number) {
    this.#seen = new SeenTexts(random);
  }

  add(key: string | undefined): number {
    const row = this.count++;
    if (row === this.#next.length) {
      this.#next = larger(this.#next, new Uint32Array(row * 2));
      this.#last = larger(this.#last, new Uint32Array(row * 2));
      this.#rows = larger(this.#rows, new Uint16Array(row * 2));
    }
    const first = key === undefined ? row : (this.#seen.add(key, row + 1) ?? row + 1) - 1;
    if (first === row) {
      this.#last[row] = row + 1;
      this.#rows[row] = 1;
      return row;
    }
    if (this.#rows[first]! >= mostRows) return row;
    const last = this.#last[first]! - 1;
    this.#next[last] = row + 1;
    this.#last[first] = row + 1;
    this.#followers.add(row);
    if (this.#rows[first]!++ === 1) {
      this.products++;
      this.rows++;
    }
    this.rows++;
    if (last !== row - 1) this.isInOrder = false;
    return row;
  }

  isFollower(row: number): boolean {
    return this.#followers.has(row);
  }

  /** All rows, those of a key together. */
  *order(): Generator<number> {
    for (let first = 0; first < this.count; first++) {
      if (this.isFollower(first)) continue;
      for (let row = first + 1; row !== 0; row = this.#next[row - 1]!) yield row - 1;
    }
  }
}

function larger<Numbers extends Uint32Array | Uint16Array | Float64Array>(
  old: Numbers,
  target: Numbers,
): Numbers {
  target.set(old);
  return target;
}

/** A file of lines that knows where each of them is. */
class LineFile {
  readonly path: string;
  readonly #file: OpenFile;
  #ends = new Float64Array(1024);
  #count = 0;
  #gathered: string[] = [];
  #length = 0;

  private constructor(path: string, file: OpenFile) {
    this.path = path;
    this.#file = file;
  }

  static begin = async (path: string): Promise<LineFile> => new LineFile(path, await newFile(path));

  /** Adds a line; returns whether those that were added have to be written. */
  add(line: string): boolean {
    if (this.#count === this.#ends.length) this.#ends = larger(this.#ends, new Float64Array(this.#count * 2));
    this.#ends[this.#count] = this.startOf(this.#count) + Buffer.byteLength(line);
    this.#count++;
    this.#gathered.push(line);
    this.#length += line.length;
    return this.#length >= written;
  }

  async write(): Promise<void> {
    const text = this.#gathered.join("");
    [this.#gathered, this.#length] = [[], 0];
    await this.#file.write(text);
  }

  startOf(line: number): number {
    return line === 0 ? 0 : this.#ends[line - 1]!;
  }

  lengthOf(line: number): number {
    return this.#ends[line]! - this.startOf(line);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Rows that could be one product each. */
export interface MergeableRows {
  readonly products: number;
  readonly rows: number;
}

/** The rows of one product that agree. */
export interface AgreeingRows {
  readonly first: InputRow;
  /** The places of all its rows in the file. */
  readonly indexes: readonly number[];
  /** Whether the first row lacks photos or fields of the others. */
  readonly isIncomplete: boolean;
}

interface MergeableHost {
  /** Whether the row repeats one of another file. */
  readonly repeatsOther?: (rowIndex: number) => boolean;
  readonly onGroup?: (group: AgreeingRows) => Promise<void>;
  /** Why rows of one key cannot be one product; `first`: the row that the row contradicts. */
  readonly onFault?: (row: InputRow, fault: MergeFault, first: InputRow | undefined) => void;
}

/** The products of several rows that can be merged; null without any. */
export async function findMergeable(
  copy: MergedCopy,
  { form }: RowFile,
  { repeatsOther = () => false, onGroup = async () => {}, onFault = () => {} }: MergeableHost = {},
): Promise<MergeableRows | null> {
  let [products, rows] = [0, 0];
  for await (const groups of groupsOf(copy))
    for (const group of groups) {
      const [{ row: first, rowIndex }] = group as [PackedRow];
      if (group.length === 1 || repeatsOther(rowIndex)) continue;
      const { merged, earlierReason } = mergedRow(group, form);
      if (merged === undefined) continue;
      const [fault] = [...merged.faults, ...tooManyPhotos(merged)];
      const isHeld = earlierReason !== undefined && hasCode(earlierReason, form.unique!.code);
      const contradicted = fault?.first === undefined ? undefined : group[fault.first]!.row;
      if (isHeld && contradicted === undefined) continue;
      if (fault !== undefined) onFault(group[fault.row]!.row, fault, contradicted);
      if (contradicted !== undefined) continue;
      if (fault === undefined) {
        products++;
        rows += group.length;
      }
      const alone = form.merge!([first.content as object]);
      const isIncomplete = JSON.stringify(alone.content) !== JSON.stringify(merged.content);
      await onGroup({ first, indexes: group.map(({ rowIndex }) => rowIndex), isIncomplete });
    }
  return products === 0 ? null : { products, rows };
}

function tooManyPhotos({ content, isTooMuch }: MergedContent): MergeFault[] {
  if (!isTooMuch) return [];
  const { length } = (content as { images: readonly unknown[] }).images;
  const message = `${length} photos; at most ${limits.imagesPerProduct.max} are allowed`;
  return [{ row: 0, param: "images", code: "invalid_row", message }];
}
