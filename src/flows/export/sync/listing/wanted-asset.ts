import type { MirrorEntry } from "../index/mirror-entry.ts";
import type { ListedAsset } from "./asset-fields.ts";
import type { FreshAssets } from "./fresh-assets.ts";

/** An asset whose file is missing or out of date, and its earlier entry. */
export interface WantedAsset {
  readonly listed: ListedAsset;
  readonly known: MirrorEntry | null;
  readonly fresh: FreshAssets;
}
