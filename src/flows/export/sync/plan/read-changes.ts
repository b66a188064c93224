import type { Client } from "../../../../client/client.ts";
import type { ExportRow } from "../../../../contract/resources/export.ts";
import { type LiveSelection, readPages } from "../../live/read-pages.ts";
import type { MirrorEntry } from "../index/mirror-entry.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import { type Shard, shardOf } from "../index/shard.ts";
import { isSameVersion, type ListedAsset, listedAssets } from "../listing/asset-fields.ts";
import { FreshAssets } from "../listing/fresh-assets.ts";
import type { WantedAsset } from "../listing/wanted-asset.ts";

interface ReadDeps {
  readonly client: Pick<Client, "poll">;
  readonly signal: AbortSignal;
  readonly shard: Shard | null;
  /** Whether the file of an entry is there. */
  readonly hasFile: (entry: MirrorEntry) => Promise<boolean>;
  /** So many more assets were compared with the index. */
  readonly onCompared: (count: number) => void;
  readonly onPage: (rows: readonly ExportRow[]) => void;
  /** The next asset is read once this resolves. */
  readonly onWanted: (wanted: WantedAsset) => Promise<void>;
  /** An asset that was removed from the catalogue, and is listed again. */
  readonly onListedAgain: (entry: MirrorEntry) => void;
  /** An entry that is no longer listed. It stays as it is: the list may be incomplete. */
  readonly onVanished: (entry: MirrorEntry) => void;
}

/**
 * Reads the catalogue, or its changes, and compares it with the index. Unchanged files get their current fields.
 * Entries that are no longer listed are reported: those of the products read, and after a complete read those of all
 * other products.
 */
export async function readChanges(
  index: MirrorIndex,
  selection: LiveSelection,
  deps: ReadDeps,
): Promise<void> {
  const { client, signal, shard, onCompared, onPage } = deps;
  const seen = new Set<string>();
  for await (const { rows, again } of readPages(selection, { client, signal })) {
    onPage(rows);
    const fresh = new FreshAssets(again);
    for (const row of rows) {
      const { id } = row.product;
      if (shard !== null && shardOf(id, shard.of) !== shard.number) continue;
      // A list that shifts between pages may repeat a product; its later changes are part of the next delta.
      if (seen.has(id)) continue;
      seen.add(id);
      const listed = listedAssets(row);
      await compare(index, id, listed, fresh, deps);
      onCompared(listed.length);
    }
  }
  if (selection.since !== null) return;
  for (const id of index.products())
    if (!seen.has(id)) for (const entry of index.ofProduct(id).values()) vanish(entry, deps);
}

async function compare(
  index: MirrorIndex,
  productId: string,
  assets: readonly ListedAsset[],
  fresh: FreshAssets,
  deps: ReadDeps,
): Promise<void> {
  const entries = index.ofProduct(productId);
  const byId = new Map(assets.map((asset) => [asset.fields.asset_id, asset]));
  for (const listed of byId.values()) {
    const { fields } = listed;
    const known = entries.get(fields.asset_id) ?? null;
    entries.delete(fields.asset_id);
    const isIntact = known !== null && isSameVersion(known, fields) && known.damaged !== true;
    // The user may have deleted a file that was kept.
    if (!isIntact || (known.removed === true && !(await deps.hasFile(known)))) {
      await deps.onWanted({ listed, known, fresh });
      continue;
    }
    const { path, bytes, sha256, mime_type } = known;
    const current = { ...fields, path, bytes, sha256, mime_type };
    if (known.removed === true) deps.onListedAgain(current);
    index.set(current);
  }
  for (const entry of entries.values()) vanish(entry, deps);
}

function vanish(entry: MirrorEntry, { onVanished }: ReadDeps): void {
  if (entry.removed !== true) onVanished(entry);
}
