import { keyLifeMs } from "../../contract/limits.ts";
import { isTooLargeForGateway } from "../../http/errors.ts";
import type { Uploads } from "../../state/uploads.ts";
import type { ProgressEvent } from "../progress-event.ts";
import { type RequestInFlight, sendEach } from "../run/requests.ts";
import { leastTimeLeft } from "../run/writes.ts";
import type { WaitingReader } from "../service.ts";
import { carriedOut, isOfContent, isRejectedByService } from "../service-errors.ts";
import { grouped } from "../words.ts";
import type { LocalPhotos } from "./local-photos.ts";

export interface UploadHost {
  photos: LocalPhotos;
  service: WaitingReader;
  uploads: Uploads;
  account: number;
  random: () => number;
  writesPerMinute: number;
  onProgress: (event: ProgressEvent) => void;
}

/** The outcome of a photo: the ID of the uploaded image, or the reason the service rejected it. */
export type PhotoUpload =
  | { readonly image: string }
  | { readonly rejected: { code: string; message: string } };

interface Upload {
  readonly sha256: string;
  /** The name in the state: another one for the original of a converted photo. */
  readonly name: string;
  readonly path: string;
  readonly size: number;
}

/**
 * Uploads photos, once per content. `wanted` maps the SHA-256 (hex) of each content to one of its paths;
 * outcomes are added to `done` under the same digest. Photos uploaded earlier or already in `done` are
 * skipped.
 *
 * Each attempt is recorded before its bytes are sent: after a lost response the request is repeated with the
 * same key and returns the same image. A rejected photo does not stop the others.
 *
 * Throws InputError if a photo changed since the check, the service's error if it denies the key or cannot be
 * reached, and the reason of an interrupt. After a throw nothing new is started, and finished uploads are
 * kept.
 */
export async function uploadPhotos(
  wanted: ReadonlyMap<string, string>,
  done: Map<string, PhotoUpload>,
  host: UploadHost,
): Promise<void> {
  const waiting: Upload[] = [];
  for (const [sha256, path] of wanted) {
    if (done.has(sha256)) continue;
    const name = await host.photos.uploadName(path);
    const image = host.uploads.findImage(host.account, name);
    if (image !== null) done.set(sha256, { image });
    else waiting.push({ sha256, name, path, size: await host.photos.size(path) });
  }
  if (waiting.length > 0) await uploadAll(waiting, done, host);
}

async function uploadAll(
  waiting: readonly Upload[],
  done: Map<string, PhotoUpload>,
  host: UploadHost,
): Promise<void> {
  const { service, photos, writesPerMinute, onProgress } = host;
  const total = waiting.reduce((sum, { size }) => sum + size, 0);
  const timeLeft = leastTimeLeft(waiting.length, writesPerMinute, service.clock);
  let uploaded = 0;
  let bytesDone = 0;
  // In bytes, because photos differ in size. Each upload is a write, so the write limit gives a minimum for
  // the time left.
  const report = () => {
    const note = `${grouped(uploaded)} of ${grouped(waiting.length)} photos`;
    const leastMsLeft = uploaded === waiting.length ? 0 : timeLeft();
    const bytes = { done: bytesDone, total, unit: "bytes" } as const;
    onProgress({ step: "uploading photos", ...bytes, note, ...(leastMsLeft > 0 && { leastMsLeft }) });
  };
  report();
  const stopped = await sendEach(waiting.values(), service, async (upload, begin) => {
    const bytes = await photos.read(upload.path, upload.sha256);
    done.set(upload.sha256, await uploadOne(upload, bytes, host, begin()));
    uploaded++;
    bytesDone += upload.size;
    report();
  });
  // An interrupt makes other steps fail with their own errors: report the interrupt.
  service.signal.throwIfAborted();
  if (stopped !== undefined) throw stopped;
}

/** Uploads one photo, whose bytes have just been read and checked against its digest. */
async function uploadOne(
  { sha256, name }: Upload,
  bytes: Buffer,
  host: UploadHost,
  { signal, onDoubt }: RequestInFlight,
): Promise<PhotoUpload> {
  const { service, uploads, account } = host;
  const { client, clock } = service;
  const at = clock.now();
  const newKey = newKeyFor(sha256, at, host.random);
  const attempt = { newKey, at, notBefore: at - keyLifeMs };
  const { key: idempotencyKey, begunAt } = uploads.begin(account, name, attempt);
  const now = client.serviceNow();
  // The service's time of an earlier attempt is not recorded; both clocks have moved on equally since.
  const keyFrom = { here: begunAt, service: now === null ? null : now - (at - begunAt) };
  try {
    // The key covers the file name, so it is derived from the bytes: a photo may have several paths.
    const file = { bytes, filename: sha256 };
    const upload = client.images.upload({ file }, { idempotencyKey, keyFrom, signal, onDoubt });
    const { reply, odd } = await carriedOut(upload);
    uploads.done(account, name, reply.id);
    if (odd !== undefined) throw odd;
    return { image: reply.id };
  } catch (error) {
    // It would reject the photo again, whatever its key: the other photos are not affected.
    if (isTooLargeForGateway(error)) return { rejected: tooLargeForGateway };
    // A 429 does not consume a key (Limits).
    if (!isRejectedByService(error) || error.status === 429) throw error;
    // The rejection is stored under the key (Cross-cutting rule 5). At worst an unused second image is
    // created.
    uploads.forget(account, name);
    if (!isOfContent(error)) throw error;
    const { code, message } = error.body;
    return { rejected: { code, message } };
  }
}

const tooLargeForGateway = {
  code: "body_too_large",
  message: "a gateway in front of the service rejects the photo as too large (status 413)",
};

/** A different key for each content and attempt. */
const newKeyFor = (sha256: string, at: number, random: () => number): string =>
  `photo_${sha256.slice(0, 32)}_${at.toString(36)}_${Math.floor(random() * 36 ** 8).toString(36)}`;
