import { type Shard, shardName } from "./shard.ts";

/** The hidden folder of every mirror: its state, and what is unfinished. */
export const hiddenFolder = ".catalogue-sync";

/** Where the files of a mirror are, relative to its folder. */
export interface MirrorFiles {
  readonly index: string;
  /** The folder of everything else. */
  readonly work: string;
  readonly state: string;
  readonly journal: string;
}

/** The index of all assets, written by a mirror without shards or by `--merge`. */
export const completeIndex = "catalogue.ndjson";

/** The names of a mirror, or of one of its shards. */
export function mirrorFiles(shard: Shard | null): MirrorFiles {
  const work = `${hiddenFolder}/${shard === null ? "all" : shardName(shard)}`;
  return {
    index: shard === null ? completeIndex : `catalogue.${shardName(shard)}.ndjson`,
    work,
    state: `${work}/state.json`,
    journal: `${work}/journal.ndjson`,
  };
}

/** The names of the mirror or shard with the state at this path; null if it is not a state. */
export function filesOfState(path: string): MirrorFiles | null {
  const [, name = ""] = /^\.catalogue-sync\/([^/]+)\/state\.json$/.exec(path) ?? [];
  const shard = shardOfIndex(`catalogue.${name}.ndjson`);
  return name === "all" || shard !== null ? mirrorFiles(shard) : null;
}

/** The shard of an index, from its name; null for any other file. */
export function shardOfIndex(name: string): Shard | null {
  const found = /^catalogue\.([1-9]\d*)-of-([1-9]\d*)\.ndjson$/.exec(name);
  return found === null ? null : { number: Number(found[1]), of: Number(found[2]) };
}
