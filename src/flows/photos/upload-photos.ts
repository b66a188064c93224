import { ApiError } from "../../client/api-error.ts";
import { CatError } from "../../errors.ts";
import type { Uploads } from "../../state/uploads.ts";
import { RequestsInFlight } from "../batches/in-flight.ts";
import { keyLifeMs } from "../batches/key-life.ts";
import { grouped } from "../grouped.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { Service } from "../service.ts";
import { isOfContent, isRefusal } from "../service-errors.ts";
import type { LocalPhotos } from "./local-photos.ts";
import { WriteWindow } from "./write-window.ts";

export interface UploadDeps {
  photos: Pick<LocalPhotos, "read" | "size">;
  service: Pick<Service, "client" | "clock" | "concurrency"> & { signal?: AbortSignal | undefined };
  uploads: Uploads;
  account: number;
  random: () => number;
  /** What the service lets through. */
  writesPerMinute: number;
  onProgress: (event: ProgressEvent) => void;
}

/** The outcome of a photo that was uploaded: the image that it is now, or why the service rejected it. */
export type PhotoUpload =
  | { readonly image: string }
  | { readonly refused: { code: string; message: string } };

interface Upload {
  readonly sha256: string;
  readonly path: string;
  readonly size: number;
}

/**
 * Uploads photos, once per content: `wanted` leads from the SHA-256 (hex) of their bytes to one path of each, and what
 * became of it is added to `done` under the same digest. What was uploaded before is not sent again, nor what stands in
 * `done` already. Each attempt is written down before its bytes go out: one whose answer was lost is asked again under its
 * key, and gives the same image. A photo that the service refuses says nothing about the next one.
 * Throws InputError when a photo is not what it was when it was checked, the service's error when it refuses the caller or
 * cannot be reached, and the reason of an interrupt. Whatever is thrown, nothing more is begun, and what is done is kept.
 */
export async function uploadPhotos(
  wanted: ReadonlyMap<string, string>,
  done: Map<string, PhotoUpload>,
  deps: UploadDeps,
): Promise<void> {
  const waiting: Upload[] = [];
  for (const [sha256, path] of wanted) {
    if (done.has(sha256)) continue;
    const image = deps.uploads.imageOf(deps.account, sha256);
    if (image !== null) done.set(sha256, { image });
    else waiting.push({ sha256, path, size: await deps.photos.size(path) });
  }
  if (waiting.length > 0) await uploadAll(waiting, done, deps);
}

async function uploadAll(
  waiting: readonly Upload[],
  done: Map<string, PhotoUpload>,
  deps: UploadDeps,
): Promise<void> {
  const progress = new UploadProgress(waiting, deps);
  const underWay = new RequestsInFlight();
  const release = underWay.follow(deps.service.clock, deps.service.signal);
  const queue = waiting.values();
  let stopped: { reason: unknown } | null = null;
  const worker = async () => {
    for (const upload of queue) {
      try {
        deps.service.signal?.throwIfAborted();
        const bytes = await deps.photos.read(upload.path, upload.sha256);
        deps.service.signal?.throwIfAborted();
        // While it was read another one may have been refused.
        if (stopped !== null) return;
        done.set(upload.sha256, await uploadOne(upload, bytes, deps, underWay));
        progress.uploaded(upload);
      } catch (error) {
        stopped ??= { reason: error };
        underWay.leave(error);
      }
      if (stopped !== null) return;
    }
  };
  await Promise.all(Array.from({ length: deps.service.concurrency }, worker));
  release();
  // An interrupt makes other things fail, each in its own words: it is the reason.
  deps.service.signal?.throwIfAborted();
  if (stopped !== null) throw (stopped as { reason: unknown }).reason;
}

/** Uploads one photo, whose bytes were read when its turn came, and checked against its digest. */
async function uploadOne(
  { sha256 }: Upload,
  bytes: Buffer,
  deps: UploadDeps,
  underWay: RequestsInFlight,
): Promise<PhotoUpload> {
  const { service, uploads, account } = deps;
  const { client, clock } = service;
  const at = clock.now();
  const newKey = newKeyFor(sha256, at, deps.random);
  const idempotencyKey = uploads.begin(account, sha256, { newKey, at, notBefore: at - keyLifeMs });
  const way = underWay.begin();
  try {
    const { signal, onDoubt } = way;
    // The name is part of what the key stands for, so it follows from the bytes: one file may have several paths.
    const file = { bytes, filename: sha256 };
    const { id } = await client.images.upload({ file }, { idempotencyKey, signal, onDoubt });
    uploads.done(account, sha256, id);
    return { image: id };
  } catch (error) {
    if (!(error instanceof CatError) || !endsKey(error)) throw error;
    // The refusal is kept under the key (Cross-cutting rule 5); at worst a second image comes to be, which nothing has.
    uploads.forget(account, sha256);
    if (!(error instanceof ApiError) || !isOfContent(error)) throw error;
    const { code, message } = error.body;
    return { refused: { code, message } };
  } finally {
    underWay.end(way);
  }
}

/** Whether nothing is to be had any more under the same key; a 429 consumes none (Limits). */
const endsKey = (error: CatError): boolean => isRefusal(error) && error.status !== 429;

/** Another one for each content and attempt. */
const newKeyFor = (sha256: string, at: number, random: () => number): string =>
  `photo_${sha256.slice(0, 32)}_${at.toString(36)}_${Math.floor(random() * 36 ** 8).toString(36)}`;

/**
 * Tells how far the uploads are: in bytes, as photos differ in size, with their number as a note and, as each is a write,
 * what the write limit makes of the time left.
 */
class UploadProgress {
  readonly #deps: Pick<UploadDeps, "service" | "onProgress">;
  readonly #window: WriteWindow;
  readonly #photos: number;
  readonly #total: number;
  #uploaded = 0;
  #done = 0;

  constructor(
    waiting: readonly Upload[],
    deps: Pick<UploadDeps, "service" | "onProgress" | "writesPerMinute">,
  ) {
    this.#deps = deps;
    this.#window = new WriteWindow(deps.service.clock.now(), deps.writesPerMinute);
    this.#photos = waiting.length;
    this.#total = waiting.reduce((sum, { size }) => sum + size, 0);
    this.#tell();
  }

  uploaded({ size }: Upload): void {
    this.#uploaded++;
    this.#done += size;
    this.#window.wrote(this.#deps.service.clock.now());
    this.#tell();
  }

  #tell(): void {
    const { service, onProgress } = this.#deps;
    const note = `${grouped(this.#uploaded)} of ${grouped(this.#photos)} photos`;
    const leastMsLeft = this.#window.leastMsLeft(this.#photos - this.#uploaded, service.clock.now());
    const bytes = { done: this.#done, total: this.#total, unit: "bytes" } as const;
    onProgress({ step: "uploading photos", ...bytes, note, ...(leastMsLeft > 0 ? { leastMsLeft } : {}) });
  }
}
