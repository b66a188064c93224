import type { MirrorStore } from "../store/mirror-store.ts";
import { linesOf } from "./lines-of.ts";
import { lineOf, type MirrorEntry } from "./mirror-entry.ts";
import type { MirrorIndex } from "./mirror-index.ts";

/** A step of a run. `put` and `move` come before the step, all others after it; `clean` ends a `put` without an entry. */
type Step =
  | readonly ["put", MirrorEntry]
  | readonly ["clean", path: string]
  | readonly ["move", from: string, to: string]
  | readonly ["entry", MirrorEntry]
  | readonly ["drop", productId: string, assetId: string];

/**
 * What a run did since its index was written, so that a killed run loses nothing. Steps that are recorded while one
 * write is in progress share the next one.
 */
export class Journal {
  readonly #store: Pick<MirrorStore, "append" | "remove">;
  readonly #path: string;
  #waiting: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** `isCut`: the journal of a killed run ends within a line. */
  constructor(store: Pick<MirrorStore, "append" | "remove">, path: string, isCut: boolean) {
    this.#store = store;
    this.#path = path;
    if (isCut) this.#waiting.push("\n");
  }

  /** Records a step; resolves when another process would see it. A failed write fails all later ones. */
  record(...step: Step): Promise<void> {
    const [kind, value] = step;
    const line = kind === "entry" || kind === "put" ? `["${kind}",${lineOf(value)}]` : JSON.stringify(step);
    this.#waiting.push(`${line}\n`);
    this.#next ??= this.#write();
    return this.#next;
  }

  /** Removes the journal: the index has everything. */
  async clear(): Promise<void> {
    await this.#writing;
    await this.#store.remove(this.#path);
  }

  #write(): Promise<void> {
    const write = this.#writing.then(async () => {
      const text = this.#waiting.join("");
      this.#waiting = [];
      this.#next = null;
      await this.#store.append(this.#path, text);
    });
    this.#writing = write;
    write.catch(() => {});
    return write;
  }
}

/** What a journal leaves to clean up. */
export interface Leftovers {
  /** The entries of files that may have been written. */
  readonly begun: readonly MirrorEntry[];
  /** Moves of which the end was not recorded. */
  readonly moves: readonly { readonly from: string; readonly to: string }[];
  /** The products whose entries the journal added or changed. */
  readonly products: ReadonlySet<string>;
  /** Whether a kill cut the last line short. */
  readonly isCut: boolean;
}

/**
 * Takes the steps of a journal into the index that it belongs to, line by line: that of a first run is larger than the
 * index. An incomplete line is ignored.
 */
export async function replay(parts: AsyncIterable<Uint8Array>, index: MirrorIndex): Promise<Leftovers> {
  const begun = new Map<string, MirrorEntry>();
  const moves = new Map<string, string>();
  const products = new Set<string>();
  const lines = linesOf(parts);
  let next = await lines.next();
  for (; next.done !== true; next = await lines.next()) {
    const step = stepOf(next.value);
    if (step === null) continue;
    if (step[0] === "put") begun.set(step[1].path, step[1]);
    else if (step[0] === "clean") begun.delete(step[1]);
    else if (step[0] === "move") moves.set(step[1], step[2]);
    else if (step[0] === "entry") {
      const [, entry] = step;
      for (const [from, to] of moves) if (to === entry.path) moves.delete(from);
      begun.delete(entry.path);
      index.set(entry);
      products.add(entry.product_id);
    } else {
      const [, product_id, asset_id] = step;
      index.drop(product_id, asset_id);
    }
  }
  return {
    begun: [...begun.values()],
    moves: [...moves].map(([from, to]) => ({ from, to })),
    products,
    isCut: next.value !== "",
  };
}

function stepOf(line: string): Step | null {
  if (line === "") return null;
  try {
    return JSON.parse(line) as Step;
  } catch {
    // A kill or a full disk cut it short.
    return null;
  }
}
