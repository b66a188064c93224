import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import type { CatError } from "../../../errors.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { Shard } from "./index/shard.ts";
import type { ListedAsset } from "./listing/asset-fields.ts";
import type { readTemplate } from "./names/template.ts";
import type { Holder, MirrorStore } from "./store/mirror-store.ts";

/** What a run of a mirror is asked for. */
export interface SyncInput {
  /** The folder as typed. */
  readonly folder: string;
  /** Asset roles, sorted; null for all. */
  readonly roles: readonly string[] | null;
  /** Null for the names that the service suggests. */
  readonly template: string | null;
  readonly shard: Shard | null;
  /** Whether files of assets that the catalogue no longer has are deleted. */
  readonly delete: boolean;
  readonly maxDelete: number | null;
  readonly dryRun: boolean;
  readonly verify: boolean;
  /** Whether everything is read, instead of changes since the last run. */
  readonly full: boolean;
  /** Everything is read if the last time was longer ago, in milliseconds; null for never. */
  readonly fullEveryMs: number | null;
  readonly concurrency: number;
  /** The largest image, in bytes. */
  readonly maxBytes: number;
  /** Whether the user states that a new API key belongs to the organization of the mirror. */
  readonly sameOrganization: boolean;
}

/** What identifies an asset that failed. */
export interface FailedAsset {
  readonly fields: Pick<ListedAsset["fields"], "product_id" | "asset_id" | "reference">;
}

/** What a run of a mirror works with. */
export interface SyncDeps {
  readonly store: MirrorStore;
  readonly client: () => Promise<Client>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly holder: Holder;
  /** Names the service in the state of the mirror. */
  readonly baseUrl: string;
  /** A digest of the API key. */
  readonly keyFingerprint: string;
  readonly runId: string;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onFailed: (asset: FailedAsset, error: CatError) => void;
  /** Receives the rows of each page. */
  readonly onRows?: ((rows: readonly ExportRow[]) => void) | undefined;
  /** A message for users. */
  readonly onNote: (sentence: string) => void;
  /** The mirror has so many images that memory counts more than time. */
  readonly onLarge?: (() => void) | undefined;
}

/** One run of a mirror: what was asked for, and what it works with. */
export interface SyncRun {
  readonly input: SyncInput;
  readonly deps: SyncDeps;
  readonly pathOf: ReturnType<typeof readTemplate>;
}
