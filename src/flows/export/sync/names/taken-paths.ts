import type { MirrorIndex } from "../index/mirror-index.ts";
import { TextSet } from "../index/text-set.ts";
import { candidates } from "./candidates.ts";
import { folded } from "./folded.ts";
import type { NamedEntry, PathOf } from "./template.ts";

/** The paths of a mirror while files are added: each goes to one asset. */
export class TakenPaths {
  readonly #pathOf: PathOf;
  readonly #taken = new TextSet();

  constructor(index: MirrorIndex, pathOf: PathOf) {
    this.#pathOf = pathOf;
    for (const { path } of index.entries()) this.#taken.add(folded(path));
  }

  /** The preferred path of a new asset that `isFree`; it is taken from then on. */
  async take(entry: NamedEntry, isFree: (path: string) => Promise<boolean>): Promise<string> {
    for (const path of candidates(entry, this.#pathOf)) {
      if (this.#taken.add(folded(path)) && (await isFree(path))) return path;
    }
    throw new Error("candidates never end");
  }
}
