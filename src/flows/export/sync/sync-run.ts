import type { Client } from "../../../client/client.ts";
import type { SeenTexts } from "../../../client/seen-texts.ts";
import type { Clock } from "../../../clock.ts";
import type { ExportRow } from "../../../contract/resources/exports.ts";
import type { CatError } from "../../../errors.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { ReviewFilter, ReviewGate, Reviews } from "../reviews.ts";
import type { Mirror } from "./mirror.ts";
import type { DecisionsReader } from "./mirror-decisions.ts";
import type { Shard } from "./mirror-state.ts";
import type { Holder, MirrorStore } from "./mirror-store.ts";
import type { FailedAsset, SyncCounts } from "./result.ts";
import type { PathOf } from "./template.ts";

export interface SyncInput {
  /** The folder as typed. */
  readonly folder: string;
  /** Asset roles, sorted; null for all. */
  readonly roles: readonly string[] | null;
  /** Which generated images count as listed, by their decisions; null for all. */
  readonly filter: ReviewFilter | null;
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
  /** Whether generated images that are downloaded get their label; those of earlier runs stay as they are. */
  readonly label: boolean;
  /** Whether the user states that a new API key belongs to the organization of the mirror. */
  readonly sameOrganization: boolean;
}

export interface SyncHost {
  readonly store: MirrorStore;
  readonly client: () => Promise<Client>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly holder: Holder;
  readonly baseUrl: string;
  readonly keyFingerprint: string;
  /** The decisions about generated images, to which those of the mirror are added. */
  readonly reviews: Reviews;
  readonly readDecisions: DecisionsReader;
  readonly runId: string;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onFailed: (asset: FailedAsset, error: CatError) => void;
  readonly onRows?: ((rows: readonly ExportRow[]) => void) | undefined;
  readonly onNote: (sentence: string) => void;
  /** The mirror has so many images that memory counts more than time. */
  readonly onLarge?: (() => void) | undefined;
}

/** One run of a mirror, which every stage of it works with. */
export interface SyncRun {
  readonly input: SyncInput;
  readonly host: SyncHost;
  readonly client: Client;
  readonly mirror: Mirror;
  readonly counts: SyncCounts;
  readonly gate: ReviewGate;
  readonly toPath: PathOf;
  /** The paths of files that a dry run would have deleted, which other files may get. */
  readonly freed: SeenTexts;
}
