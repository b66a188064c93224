import type { Client } from "../../../client/client.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import { CatError } from "../../../errors.ts";
import { type LiveSelection, readPages } from "../live/read-pages.ts";
import { isSameVersion, keyOf, type ListedAsset, listedAssets, type MirrorEntry } from "./mirror-entry.ts";
import type { MirrorIndex } from "./mirror-index.ts";
import { type Shard, shardOf } from "./mirror-state.ts";

/** An asset whose file is missing or out of date, and its earlier entry. */
export interface WantedAsset {
  readonly listed: ListedAsset;
  readonly known: MirrorEntry | null;
  readonly fresh: FreshAssets;
}

/** Where a comparison reads, and who receives its results. */
interface Comparison {
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
export async function compare(
  index: MirrorIndex,
  selection: LiveSelection,
  comparison: Comparison,
): Promise<void> {
  const { client, signal, shard, onCompared, onPage } = comparison;
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
      await compareProduct(index.ofProduct(id), listed, fresh, { index, ...comparison });
      onCompared(listed.length);
    }
  }
  if (selection.since !== null) return;
  for (const id of index.products())
    if (!seen.has(id)) for (const entry of index.ofProduct(id).values()) vanish(entry, comparison);
}

async function compareProduct(
  entries: Map<string, MirrorEntry>,
  assets: readonly ListedAsset[],
  fresh: FreshAssets,
  comparison: Comparison & { index: MirrorIndex },
): Promise<void> {
  const byId = new Map(assets.map((asset) => [asset.fields.asset_id, asset]));
  for (const listed of byId.values()) {
    const { fields } = listed;
    const known = entries.get(fields.asset_id) ?? null;
    entries.delete(fields.asset_id);
    const isIntact = known !== null && isSameVersion(known, fields) && known.damaged !== true;
    // The user may have deleted a file that was kept.
    if (!isIntact || (known.removed === true && !(await comparison.hasFile(known)))) {
      await comparison.onWanted({ listed, known, fresh });
      continue;
    }
    const { path, bytes, sha256, mime_type } = known;
    const current = { ...fields, path, bytes, sha256, mime_type };
    if (known.removed === true) comparison.onListedAgain(current);
    comparison.index.set(current);
  }
  for (const entry of entries.values()) vanish(entry, comparison);
}

function vanish(entry: MirrorEntry, { onVanished }: Comparison): void {
  if (entry.removed !== true) onVanished(entry);
}

/**
 * New URLs for the assets of one page. Signed URLs expire after an hour, and only an export row has the URL of the
 * active version, so the page is read again: once for all its assets that need it.
 */
export class FreshAssets {
  readonly #again: () => Promise<readonly ExportRow[]>;
  #reading: Promise<ReadonlyMap<string, ListedAsset>> | null = null;

  constructor(again: () => Promise<readonly ExportRow[]>) {
    this.#again = again;
  }

  /** The asset as it is listed now. Throws a CatError if the page no longer has it. */
  async of(stale: ListedAsset): Promise<ListedAsset> {
    const before = await this.#reading?.catch(() => null);
    const known = before?.get(keyOf(stale.fields));
    if (known !== undefined && known.url !== stale.url) return known;
    // Another asset of the page may have begun the next reading meanwhile.
    if (before === (await this.#reading?.catch(() => null))) this.#reading = this.#read();
    const current = (await this.#reading!).get(keyOf(stale.fields));
    if (current !== undefined) return current;
    throw new CatError("its URL has expired, and the service no longer lists it", {
      type: "bad_answer",
      code: "asset_gone",
      hint: "Run the command again.",
    });
  }

  async #read(): Promise<ReadonlyMap<string, ListedAsset>> {
    const rows = await this.#again();
    return new Map(rows.flatMap(listedAssets).map((asset) => [keyOf(asset.fields), asset]));
  }
}
