import { setMaxListeners } from "node:events";
import type { Client } from "../../../../client/client.ts";
import type { CatError } from "../../../../errors.ts";
import { withSizeHint } from "../../../files/wrong-content.ts";
import { isOfService } from "../../../service-errors.ts";
import type { Mirror } from "../index/mirror.ts";
import { keyOf, type MirrorEntry } from "../index/mirror-entry.ts";
import type { Shard } from "../index/shard.ts";
import type { ListedAsset } from "../listing/asset-fields.ts";
import type { WantedAsset } from "../listing/wanted-asset.ts";
import { namesOfOthers } from "../names/names-of-others.ts";
import { TakenPaths } from "../names/taken-paths.ts";
import type { PathOf } from "../names/template.ts";
import { failureOf, type SyncCounts } from "../result/summary.ts";
import { type DownloadedImage, downloadImage } from "./download-image.ts";
import { isFatal } from "./fatal.ts";
import { Slots } from "./slots.ts";

/** After so many consecutive failures of the network or the service, the run stops. */
const mostConsecutive = 25;

interface FetcherDeps {
  readonly mirror: Mirror;
  readonly client: Pick<Client, "downloadInto">;
  readonly pathOf: PathOf;
  readonly shard: Shard | null;
  readonly counts: SyncCounts;
  readonly concurrency: number;
  /** The largest image. */
  readonly maxBytes: number;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly onFailed: (asset: ListedAsset, error: CatError) => void;
}

/** Downloads assets into the mirror, several at once. An asset that fails keeps its earlier file. */
export class AssetFetcher {
  readonly #deps: FetcherDeps;
  readonly #slots: Slots;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #paths: Promise<TakenPaths> | null = null;
  #consecutive = 0;

  constructor(deps: FetcherDeps) {
    this.#deps = deps;
    this.#slots = new Slots(deps.concurrency);
    this.#signal = AbortSignal.any([deps.signal, this.#stop.signal]);
    // Each download listens to it.
    setMaxListeners(0, this.#signal);
  }

  /** Aborts when the run is interrupted, or when an error ends it. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Adds an asset; resolves when its download has started. Throws what ended the run. */
  async add(wanted: WantedAsset): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#slots.start(async () => {
      try {
        await this.#fetch(wanted);
        this.#consecutive = 0;
      } catch (error) {
        if (!this.#signal.aborted) this.#failed(wanted, withSizeHint(error));
      }
    });
  }

  /** Waits for all downloads. Throws what ended the run. */
  async settled(): Promise<void> {
    await this.#slots.settled();
    this.#signal.throwIfAborted();
  }

  /** Ends all downloads, and waits for them. */
  async stop(reason: unknown): Promise<void> {
    this.#stop.abort(reason);
    await this.#slots.settled();
  }

  #failed({ listed, known }: WantedAsset, error: unknown): void {
    const { counts, onFailed } = this.#deps;
    if (isFatal(error)) {
      this.#stop.abort(error);
      return;
    }
    const failed = error as CatError;
    counts.fail(failureOf(listed.fields, failed), known !== null && known.removed !== true);
    onFailed(listed, failed);
    this.#consecutive = isOfService(error) && failed.code !== "wrong_content" ? this.#consecutive + 1 : 0;
    if (this.#consecutive === mostConsecutive) this.#stop.abort(error);
  }

  async #fetch(wanted: WantedAsset): Promise<void> {
    const { counts, client, isDryRun, maxBytes, mirror } = this.#deps;
    const { known, fresh } = wanted;
    if (isDryRun) return this.#pretend(wanted);
    let { listed } = wanted;
    const { product_id, asset_id, mime_type } = listed.fields;
    const image = await downloadImage(client, {
      url: listed.url,
      freshUrl: async () => {
        listed = await fresh.of(listed);
        return listed.url;
      },
      ...{
        announced: mime_type,
        assetId: asset_id,
        productId: product_id,
        scratch: mirror.store.scratch,
        maxBytes,
        signal: this.#signal,
      },
    });
    try {
      this.#signal.throwIfAborted();
      await this.#place(listed, known, image);
      counts.bytes += image.bytes;
    } finally {
      await image.release();
    }
  }

  /** Writes the file, with a record before and after: the next run knows a file that a kill leaves between them. */
  async #place(listed: ListedAsset, known: MirrorEntry | null, image: DownloadedImage): Promise<void> {
    const { store, journal } = this.#deps.mirror;
    const { content, bytes, sha256, mime_type } = image;
    const fields = { ...listed.fields, mime_type };
    const entryAt = (path: string) => ({ ...fields, path, bytes, sha256 });
    const write = async (path: string, exclusive: boolean) => {
      await journal.record("put", entryAt(path));
      return store.put(path, content(), { exclusive });
    };
    const writeNew = async (path: string) => {
      // A file that the index does not know stays.
      if ((await store.stat(path)) !== null) return false;
      if (await write(path, true)) return true;
      await journal.record("clean", path);
      return false;
    };
    const kept = await this.#ownPath(known);
    const path = kept ?? (await this.#newPath(fields, writeNew));
    if (kept !== null) await write(path, false);
    const entry = entryAt(path);
    await journal.record("entry", entry);
    this.#taken(entry, known);
  }

  async #pretend({ listed, known }: WantedAsset): Promise<void> {
    const { store } = this.#deps.mirror;
    const isFree = async (path: string) => (await store.stat(path)) === null;
    const path = (await this.#ownPath(known)) ?? (await this.#newPath(listed.fields, isFree));
    this.#taken({ ...listed.fields, path, bytes: 0, sha256: "0" }, known);
  }

  #taken(entry: MirrorEntry, known: MirrorEntry | null): void {
    const { counts, mirror } = this.#deps;
    mirror.index.set(entry);
    counts.recover(keyOf(entry));
    (known === null || known.removed === true ? counts.added : counts.changed).add(keyOf(entry));
  }

  /** The path of an entry, unless another entry has it too. */
  async #ownPath(known: MirrorEntry | null): Promise<string | null> {
    return known === null || (await this.#takenPaths()).isShared(known.path) ? null : known.path;
  }

  async #newPath(fields: ListedAsset["fields"], isFree: (path: string) => Promise<boolean>): Promise<string> {
    return (await this.#takenPaths()).take(fields, isFree);
  }

  #takenPaths(): Promise<TakenPaths> {
    const { mirror, pathOf, shard } = this.#deps;
    this.#paths ??= namesOfOthers(mirror.store, shard).then(
      (others) => new TakenPaths(mirror.index, pathOf, others),
    );
    return this.#paths;
  }
}
