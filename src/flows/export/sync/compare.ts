import { SeenTexts } from "../../../client/seen-texts.ts";
import type { ExportRow } from "../../../contract/resources/exports.ts";
import { CatError } from "../../../errors.ts";
import { type LiveSelection, readExportPages } from "../../catalogue/read-pages.ts";
import type { LeftOutCount } from "../reviews.ts";
import type { Mirror } from "./mirror.ts";
import { type ListedAsset, listedAssets, type MirrorEntry, toEntryKey, toVersion } from "./mirror-entry.ts";
import { toShard } from "./mirror-state.ts";
import { mayBelongTo } from "./mirror-store.ts";
import type { SyncRun } from "./sync-run.ts";

/** An asset whose file is missing or out of date, and its earlier entry. */
export interface WantedAsset {
  readonly listed: ListedAsset;
  readonly known: MirrorEntry | null;
  readonly fresh: FreshAssets;
}

interface Differences {
  readonly onPage: (rows: readonly ExportRow[]) => void;
  /** How many images of a product are left out by their decisions. */
  readonly onLeftOut: (productId: string, counts: LeftOutCount) => void;
  /** So many more assets were compared with the index. */
  readonly onCompared: (count: number) => void;
  /** The next asset is read once this resolves. */
  readonly onWanted: (wanted: WantedAsset) => Promise<void>;
  /** An asset that was removed from the catalogue, and is listed again. */
  readonly onListedAgain: (entry: MirrorEntry) => void;
  /** An entry that is no longer listed. It stays as it is: the list may be incomplete. */
  readonly onVanished: (entry: MirrorEntry, isDeleted: boolean) => void;
}

/**
 * Compares the catalogue, or its changes, with the index. Unchanged files get their current fields; entries
 * no longer listed are reported: of the products read, and after a complete read of all others.
 */
export async function compare(
  selection: LiveSelection,
  { input, host, client, mirror, gate }: SyncRun,
  signal: AbortSignal,
  differences: Differences,
): Promise<void> {
  const { index } = mirror;
  const { onPage, onCompared, onLeftOut, onVanished } = differences;
  const toAssets = (row: ExportRow) => listedAssets(row, (taskId) => host.reviews.of(taskId));
  const seen = new SeenTexts();
  const vanish = (entries: Iterable<MirrorEntry>, isDeleted = false) => {
    for (const entry of entries) if (entry.removed !== true) onVanished(entry, isDeleted);
  };
  for await (const { rows, again } of readExportPages(selection, { client, signal })) {
    onPage(rows);
    const fresh = new FreshAssets(again, toAssets);
    for (const row of rows) {
      const { id } = row.product;
      if (input.shard !== null && toShard(id, input.shard.of) !== input.shard.number) continue;
      // A list that shifts between pages may repeat a product; its later changes are part of the next delta.
      if (seen.add(id, 1) !== null) continue;
      const entries = index.ofProduct(id);
      const { kept, leftOut } = gate.select(toAssets(row), ({ fields }) => fields);
      onLeftOut(id, leftOut);
      const listed = new Map(kept.map((asset) => [asset.fields.asset_id, asset]));
      for (const [assetId, asset] of listed) {
        await compareAsset(
          { listed: asset, known: entries.get(assetId) ?? null, fresh },
          mirror,
          differences,
        );
        entries.delete(assetId);
      }
      vanish(entries.values(), row.product.deleted_at !== null);
      onCompared(listed.size);
    }
  }
  if (selection.since !== null) return;
  for (const id of index.products()) if (!seen.has(id)) vanish(index.ofProduct(id).values());
}

async function compareAsset(
  wanted: WantedAsset,
  { index, store }: Mirror,
  { onWanted, onListedAgain }: Differences,
): Promise<void> {
  const { known, listed } = wanted;
  const { fields } = listed;
  if (known === null || toVersion(known) !== toVersion(fields) || known.damaged === true)
    return onWanted(wanted);
  const { path, bytes, sha256, sent_sha256, etag, mime_type } = known;
  if (known.removed === true) {
    // The user may have deleted a file that was kept.
    if (!mayBelongTo(known, await store.stat(path))) return onWanted(wanted);
    onListedAgain(known);
  }
  index.set({ ...fields, path, bytes, sha256, sent_sha256, etag, mime_type });
}

/** New URLs for a page, read again once for all: signed URLs expire after an hour; only rows have them. */
class FreshAssets {
  readonly #again: () => Promise<readonly ExportRow[]>;
  #reading: Promise<ReadonlyMap<string, ListedAsset>> | null = null;

  readonly #toAssets: (row: ExportRow) => ListedAsset[];

  constructor(again: () => Promise<readonly ExportRow[]>, toAssets: (row: ExportRow) => ListedAsset[]) {
    this.#again = again;
    this.#toAssets = toAssets;
  }

  /** The asset as it is listed now. Throws a CatError if the page no longer has it. */
  async of(stale: ListedAsset): Promise<ListedAsset> {
    const before = await this.#reading?.catch(() => null);
    const known = before?.get(toEntryKey(stale.fields));
    if (known !== undefined && known.url !== stale.url) return known;
    // Another asset of the page may have begun the next reading meanwhile.
    if (before === (await this.#reading?.catch(() => null))) this.#reading = this.#read();
    const current = (await this.#reading!).get(toEntryKey(stale.fields));
    if (current !== undefined) return current;
    throw new CatError("its URL has expired, and the service no longer lists it", {
      type: "bad_response",
      code: "asset_gone",
      hint: "Run the command again.",
    });
  }

  async #read(): Promise<ReadonlyMap<string, ListedAsset>> {
    const rows = await this.#again();
    return new Map(rows.flatMap(this.#toAssets).map((asset) => [toEntryKey(asset.fields), asset]));
  }
}
