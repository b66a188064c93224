import { existsSync, readdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { ApiError } from "../../../client/api-error.ts";
import type { SeenTexts } from "../../../client/seen-texts.ts";
import { CatError, fileProblem } from "../../../errors.ts";
import { StateError } from "../../../state/state-error.ts";
import type { FileFetcher } from "../../files/download-file.ts";
import { withSizeHint } from "../../files/download-file.ts";
import { foldedPath } from "../../files/file-names.ts";
import type { RemovableFile } from "../../files/output-file.ts";
import { SyncBatches, type WaitingFile } from "../../files/sync-batches.ts";
import { isOfCaller, isServiceFailure } from "../../service-errors.ts";
import type { WantedAsset } from "./compare.ts";
import { downloadAsset, type ImageFacts } from "./download-asset.ts";
import { type ListedAsset, type MirrorEntry, toEntryKey } from "./mirror-entry.ts";
import { mayBelongTo, type PlacedFile, type PutContent } from "./mirror-store.ts";
import { candidates, namesOfOthers } from "./rename.ts";
import type { SyncRun } from "./sync-run.ts";

/** The most images that wait: enough to know early how many there are, and a few MB. */
const mostWaiting = 3_000;

/** After so many consecutive failures of the network or the service, the run stops. */
const mostConsecutive = 25;

/** Downloads assets into the mirror, several at once. An asset that fails keeps its earlier file. */
export class AssetFetcher {
  readonly #run: SyncRun;
  readonly #downloads: FileFetcher;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #jobs = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #batches: SyncBatches<UnnamedImage, Target>;
  /** Paths, folded, of new assets that are being written. */
  readonly #taken = new Set<string>();
  #others: Promise<SeenTexts> | null = null;
  /** Files of earlier runs in the scratch folder, read once: a look for each image takes time. */
  readonly #left: ReadonlySet<string>;
  #consecutive = 0;
  #hasRoom = () => {};

  constructor(run: SyncRun, downloads: FileFetcher) {
    this.#run = run;
    this.#downloads = downloads;
    this.#limit = pLimit(run.input.concurrency);
    this.#signal = AbortSignal.any([run.host.signal, this.#stop.signal]);
    const { scratch } = run.mirror.store;
    this.#left = new Set(existsSync(scratch) ? readdirSync(scratch) : []);
    const steps = {
      sync: ({ file, listed, known }: UnnamedImage) =>
        run.mirror.store.sync!(file, () => this.#usualPath(listed, known)),
      // Also in a run that is stopped: what is complete is not downloaded again.
      target: (image: UnnamedImage) => this.#target(image),
      record: (targets: readonly Target[]) => run.mirror.index.willPlace(targets.map(({ entry }) => entry)),
      name: (image: UnnamedImage, target: Target) => this.#name(image, target),
    };
    this.#batches = new SyncBatches(steps, run.host.clock);
  }

  /** Aborts when the run is interrupted, or when an error ends it. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Adds an asset; resolves when another one may be added. Throws what ended the run. */
  async add(wanted: WantedAsset): Promise<void> {
    this.#signal.throwIfAborted();
    const job: Promise<void> = this.#try(wanted).finally(() => {
      this.#jobs.delete(job);
      this.#hasRoom();
    });
    this.#jobs.add(job);
    while (this.#limit.pendingCount >= mostWaiting)
      await new Promise<void>((resolve) => {
        this.#hasRoom = resolve;
      });
    this.#signal.throwIfAborted();
  }

  /** Waits for all downloads. Throws what ended the run. */
  async settled(): Promise<void> {
    await Promise.all(this.#jobs);
    this.#signal.throwIfAborted();
  }

  /** Ends all downloads, and waits for them. */
  async stop(reason: unknown): Promise<void> {
    this.#stop.abort(reason);
    await Promise.all(this.#jobs);
  }

  async #try(wanted: WantedAsset): Promise<void> {
    try {
      const { placed } = await this.#limit(() => this.#batches.during(() => this.#fetch(wanted)));
      await placed;
      this.#consecutive = 0;
    } catch (error) {
      if (!this.#signal.aborted) this.#failed(wanted, withSizeHint(error));
    }
  }

  #failed({ listed, known }: WantedAsset, error: unknown): void {
    const { counts, host } = this.#run;
    if (isFatal(error)) {
      this.#stop.abort(error);
      return;
    }
    const failed = error as CatError;
    counts.fail(listed.fields, failed, known !== null && known.removed !== true);
    host.onFailed(listed.fields, failed);
    this.#consecutive =
      isServiceFailure(error) && failed.code !== "wrong_content" ? this.#consecutive + 1 : 0;
    if (this.#consecutive === mostConsecutive) this.#stop.abort(error);
  }

  /** Downloads an image, unless it is there; `placed` resolves once it has its name. */
  async #fetch(wanted: WantedAsset): Promise<{ readonly placed: Promise<void> | null }> {
    this.#signal.throwIfAborted();
    const { counts, input, mirror } = this.#run;
    if (input.dryRun) await this.#pretend(wanted);
    if (input.dryRun || (await this.#takeLeft(wanted))) return { placed: null };
    let { listed } = wanted;
    const { store } = mirror;
    const { chunks, path, ...image } = await downloadAsset(this.#downloads, listed, {
      scratch: store.scratch,
      isLeft: (name) => this.#left.has(name),
      freshUrl: async () => {
        listed = await wanted.fresh.of(listed);
        return listed.url;
      },
      signal: this.#signal,
      maxBytes: input.maxBytes,
      label: input.label,
      isJoined: store.write === undefined,
    });
    const onPlaced = () => {
      counts.bytes += (image.sent ?? image).bytes;
      if (image.label === false) counts.unlabeled++;
    };
    let file: RemovableFile | null = null;
    try {
      this.#signal.throwIfAborted();
      const shown = () => this.#usualPath(listed, wanted.known);
      file = (await store.write?.(chunks ?? path, shown)) ?? null;
      if (file !== null) {
        const unnamed = { ...wanted, listed, image, file, bytes: image.bytes };
        const placed = this.#batches.add(unnamed).then(onPlaced);
        placed.catch(() => {});
        await this.#batches.room();
        return { placed };
      }
      await this.#place(listed, wanted.known, image, chunks ?? path);
      onPlaced();
      return { placed: null };
    } finally {
      if (file === null && chunks === null) await rm(path, { force: true });
    }
  }

  /** Takes over an image that a stopped run has left under either name; false if there is none. */
  async #takeLeft({ listed: { fields }, known }: WantedAsset): Promise<boolean> {
    const { mirror, toPath } = this.#run;
    if (mirror.store.leftAt === undefined || known?.damaged === true) return false;
    const isOfOtherAsset = (entry: MirrorEntry) => toEntryKey(entry) !== toEntryKey(fields);
    for (const path of new Set([known?.path ?? toPath(fields), toPath(fields)])) {
      const leftover = await mirror.store.leftAt(path, fields);
      if (leftover === null || mirror.index.atPath(path).some(isOfOtherAsset)) continue;
      const entry = { ...fields, ...leftover, path };
      mirror.index.place(entry);
      this.#placed(entry, known);
      return true;
    }
    return false;
  }

  /** The path of an image, and whether nothing may have it: something else is seen when the file gets it. */
  async #target({ listed, known, image }: UnnamedImage): Promise<Target> {
    const own = await this.#ownPath(known);
    const path = own ?? (await this.#newPath(listed.fields, async () => true));
    return { entry: toEntry(listed, path, image), exclusive: own === null };
  }

  async #name({ file, listed, known, image }: UnnamedImage, { entry, exclusive }: Target): Promise<void> {
    const { store, index } = this.#run.mirror;
    const placed = await store.put(entry.path, file, { exclusive, entry });
    if (placed !== null) return this.#indexed({ ...entry, ...placed }, known);
    index.forget(entry.path);
    this.#taken.delete(foldedPath(entry.path));
    await this.#place(listed, known, image, file);
  }

  /** Writes the file between two records, by which the next run finds it after a kill. */
  async #place(
    listed: ListedAsset,
    known: MirrorEntry | null,
    image: ImageFacts,
    content: PutContent,
  ): Promise<void> {
    const { store, index } = this.#run.mirror;
    let placed: PlacedFile | null = null;
    const write = async (path: string, exclusive: boolean) => {
      const entry = toEntry(listed, path, image);
      index.willPlace([entry]);
      placed = await store.put(path, content, { exclusive, entry });
      if (placed === null) index.forget(path);
      return placed !== null;
    };
    let path = await this.#ownPath(known);
    if (path !== null) await write(path, false);
    // A file that the index does not know stays.
    else path = await this.#newPath(listed.fields, (path) => write(path, true));
    this.#indexed({ ...toEntry(listed, path, image), ...(placed as PlacedFile | null) }, known);
  }

  #indexed(entry: MirrorEntry, known: MirrorEntry | null): void {
    this.#run.mirror.index.place(entry);
    this.#placed(entry, known);
  }

  async #pretend({ listed, known }: WantedAsset): Promise<void> {
    const { store, index } = this.#run.mirror;
    const isFree = async (path: string) => (await store.stat(path)) === null;
    const path = (await this.#ownPath(known)) ?? (await this.#newPath(listed.fields, isFree));
    const entry = { ...listed.fields, path, bytes: 0, sha256: "0" };
    index.set(entry);
    this.#placed(entry, known);
  }

  #placed(entry: MirrorEntry, known: MirrorEntry | null): void {
    const { counts } = this.#run;
    this.#taken.delete(foldedPath(entry.path));
    counts.recover(toEntryKey(entry));
    (known === null || known.removed === true ? counts.added : counts.changed).add(toEntryKey(entry), 1);
  }

  /** The path that an image is likely to get, for errors: templates take time for each image. */
  #usualPath({ fields }: ListedAsset, known: MirrorEntry | null): string {
    return known?.path ?? this.#run.toPath(fields);
  }

  /** The path of an entry, also of a damaged file; null if the file may be another one's, also of a shard. */
  async #ownPath(known: MirrorEntry | null): Promise<string | null> {
    if (known === null) return null;
    const file = await this.#run.mirror.store.stat(known.path);
    if (file !== null && !mayBelongTo(known, file) && known.damaged !== true) return null;
    const isShared =
      this.#run.mirror.index.atPath(known.path).length > 1 ||
      (await this.#namesOfOthers()).has(foldedPath(known.path));
    return isShared ? null : known.path;
  }

  /** The preferred path of a new asset that no other one has, and that `isFree`. */
  async #newPath(fields: ListedAsset["fields"], isFree: (path: string) => Promise<boolean>): Promise<string> {
    const others = await this.#namesOfOthers();
    const { mirror, toPath } = this.#run;
    for (const path of candidates(fields, toPath)) {
      const key = foldedPath(path);
      if (this.#taken.has(key) || others.has(key) || mirror.index.atPath(path).length > 0) continue;
      this.#taken.add(key);
      if (await isFree(path)) return path;
      this.#taken.delete(key);
    }
    throw new Error("candidates never end");
  }

  #namesOfOthers(): Promise<SeenTexts> {
    const { mirror, input } = this.#run;
    this.#others ??= namesOfOthers(mirror.store, input.shard, input.folder);
    return this.#others;
  }
}

/** Problems of one path; any other problem of a file is likely to affect all files. */
const ofOnePath = new Set(["ENAMETOOLONG", "ENOTDIR", "EISDIR", "ELOOP", "EINVAL", "EEXIST", "ENOTEMPTY"]);

/** Whether an error of one asset ends the run: of the disk, of the API key, or an internal error. */
function isFatal(error: unknown): boolean {
  if (!(error instanceof CatError) || error instanceof StateError) return true;
  if (error instanceof ApiError && isOfCaller(error)) return true;
  // Of a store, which ends the run as the service does.
  if (error.code === "lease_lost" || error.type === "unauthorized" || error.type === "forbidden") return true;
  if (error.type !== "output" && error.type !== "file") return false;
  const { code = "" } = (error.cause ?? {}) as { code?: string };
  return !(ofOnePath.has(code) || (fileProblem({ code }) === null && error.type === "output"));
}

const toEntry = (
  { fields }: ListedAsset,
  path: string,
  { bytes, sha256, sent, mime_type }: ImageFacts,
): MirrorEntry => ({ ...fields, mime_type, path, bytes, sha256, sent_sha256: sent?.sha256 });

interface UnnamedImage extends WantedAsset, WaitingFile {
  readonly image: ImageFacts;
}

interface Target {
  readonly entry: MirrorEntry;
  /** Whether a file that has the path stays. */
  readonly exclusive: boolean;
}

/** Removes unfinished downloads that no later run resumes. */
export async function clearScratch(scratch: string): Promise<void> {
  const names = await readdir(scratch).catch(() => []);
  for (const name of names) await rm(join(scratch, name), { force: true, recursive: true });
}
