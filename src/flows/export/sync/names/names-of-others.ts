import { folded } from "../index/folded.ts";
import { linesOf } from "../index/lines-of.ts";
import { entryOf } from "../index/mirror-entry.ts";
import { mirrorFiles } from "../index/mirror-files.ts";
import type { Shard } from "../index/shard.ts";
import { TextSet } from "../index/text-set.ts";
import type { MirrorStore } from "../store/mirror-store.ts";

/** The paths, folded, in the indexes of the other shards that mirror into the same folder. */
export async function namesOfOthers(
  store: Pick<MirrorStore, "stat" | "readParts">,
  shard: Shard | null,
): Promise<TextSet> {
  const names = new TextSet();
  if (shard === null) return names;
  const { of } = shard;
  for (let number = 1; number <= of; number++) {
    const { index } = mirrorFiles({ number, of });
    if (number === shard.number || (await store.stat(index)) === null) continue;
    for await (const line of linesOf(store.readParts(index))) {
      const entry = entryOf(line);
      if (entry !== null) names.add(folded(entry.path));
    }
  }
  return names;
}
