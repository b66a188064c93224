import { folded } from "../index/folded.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import { TextSet } from "../index/text-set.ts";
import { candidates } from "./candidates.ts";
import type { NamedEntry, PathOf } from "./template.ts";

/** The paths of a mirror while files are added: each goes to one asset. */
export class TakenPaths {
  readonly #pathOf: PathOf;
  readonly #others: Pick<TextSet, "has">;
  readonly #taken = new TextSet();
  /** Paths of several entries. */
  readonly #shared = new Set<string>();

  /** `others` has the names of other shards in the folder, folded. */
  constructor(index: MirrorIndex, pathOf: PathOf, others: Pick<TextSet, "has">) {
    this.#pathOf = pathOf;
    this.#others = others;
    for (const { path } of index.entries())
      if (!this.#taken.add(folded(path))) this.#shared.add(folded(path));
  }

  /** Whether another asset may have its file there: then none of them may replace it. */
  isShared(path: string): boolean {
    const key = folded(path);
    return this.#shared.has(key) || this.#others.has(key);
  }

  /** The preferred path of a new asset that `isFree`; it is taken from then on. */
  async take(entry: NamedEntry, isFree: (path: string) => Promise<boolean>): Promise<string> {
    for (const path of candidates(entry, this.#pathOf)) {
      const key = folded(path);
      if (!this.#others.has(key) && this.#taken.add(key) && (await isFree(path))) return path;
    }
    throw new Error("candidates never end");
  }
}
