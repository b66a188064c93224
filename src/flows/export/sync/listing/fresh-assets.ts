import type { ExportRow } from "../../../../contract/resources/export.ts";
import { CatError } from "../../../../errors.ts";
import { keyOf } from "../index/mirror-entry.ts";
import { type ListedAsset, listedAssets } from "./asset-fields.ts";

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
    const read = await this.#reading?.catch(() => null);
    const known = read?.get(keyOf(stale.fields));
    if (known !== undefined && known.url !== stale.url) return known;
    // Another asset of the page may have begun the next reading meanwhile.
    if (read === (await this.#reading?.catch(() => null))) this.#reading = this.#read();
    const found = (await this.#reading!).get(keyOf(stale.fields));
    if (found !== undefined) return found;
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
