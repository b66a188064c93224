import { crc32 } from "node:zlib";
import { fileOf, type StoredFile, tagOf } from "../files/stored-file.ts";
import type { Pictures } from "../images/pictures.ts";
import type { ExportRecord } from "../store/export-record.ts";
import type { ImageRecord, Organization } from "../store/organization.ts";
import type { Life } from "../work/life.ts";
import { SharedWork } from "../work/shared-work.ts";
import type { World } from "../world/world.ts";
import { exportRow, heldImages } from "./export-rows.ts";
import { Filenames } from "./filenames.ts";
import { layOut, type ZipFile, type ZipLayout } from "./stored-zip.ts";

/** After so many bytes that were looked at in one go, others get their turn. */
const turnBytes = 16 * 1024 * 1024;

/** One ExportRow a line; its URLs are those of when it was written, and not signed again (Exports, Frozen). */
export function manifestOf(world: World, organization: Organization, job: ExportRecord): StoredFile {
  const writtenAt = Date.parse(job.created_at);
  const lines = job.products.map(
    (product) => `${JSON.stringify(exportRow(world, organization, product, job.roles, writtenAt))}\n`,
  );
  return fileOf(Buffer.from(lines.join("")), {
    type: "application/x-ndjson",
    modified: writtenAt,
  });
}

type Measure = Pick<ZipFile, "size" | "crc">;

interface Zip {
  readonly layout: ZipLayout;
  readonly images: readonly ImageRecord[];
  readonly etag: string;
}

/** The ZIPs of export jobs: what stands where in each is found out once, its bytes are read whenever they are asked for. */
export class ZipArtifacts {
  readonly #pictures: Pictures;
  readonly #zips = new WeakMap<ExportRecord, SharedWork<Zip>>();
  /** An image never changes, and may be held for many products and stand in many ZIPs. */
  readonly #measures = new WeakMap<ImageRecord, Measure>();

  constructor(pictures: Pictures) {
    this.#pictures = pictures;
  }

  /** For a reader who waits no longer than `life`: after its end nothing more is looked at, and what is read breaks off (EndedError). */
  async fileOf(organization: Organization, job: ExportRecord, life: Life): Promise<StoredFile> {
    let work = this.#zips.get(job);
    if (work === undefined || work.isLost) {
      work = new SharedWork((life) => this.#measure(organization, job, life));
      this.#zips.set(job, work);
    }
    const zip = await work.resultFor(life);
    return {
      type: "application/zip",
      etag: zip.etag,
      modified: Date.parse(job.finished_at ?? job.created_at),
      size: zip.layout.size,
      read: (start, end) => this.#read(zip, start, end, life),
    };
  }

  /** Looks at every image, for its size and checksum. */
  async #measure(organization: Organization, job: ExportRecord, life: Life): Promise<Zip> {
    const names = new Filenames();
    const images: ImageRecord[] = [];
    const files: ZipFile[] = [];
    let looked = 0;
    for (const product of job.products) {
      for (const { image, filename } of heldImages(organization, product, job.roles)) {
        life.mustGoOn();
        let known = this.#measures.get(image);
        if (known === undefined) {
          const bytes = await this.#pictures.bytesOf(image, life);
          known = { size: bytes.length, crc: crc32(bytes) };
          this.#measures.set(image, known);
          looked += bytes.length;
        }
        const dot = filename.lastIndexOf(".");
        files.push({ name: names.take(filename.slice(0, dot), "", filename.slice(dot)), ...known });
        images.push(image);
        if (looked < turnBytes) continue;
        looked = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const layout = layOut(files, Date.parse(job.created_at));
    const parts = layout.parts.map(({ bytes, file }) => bytes ?? this.#pictures.tagOf(images[file]!));
    return { layout, images, etag: tagOf(...parts) };
  }

  /** The bytes from `start` up to `end`; images before and after them are not looked at. */
  async *#read({ layout, images }: Zip, start: number, end: number, life: Life): AsyncGenerator<Uint8Array> {
    for (const part of layout.parts) {
      if (part.at + part.size <= start) continue;
      if (part.at >= end) return;
      life.mustGoOn();
      const bytes = part.bytes ?? (await this.#pictures.bytesOf(images[part.file]!, life));
      yield bytes.subarray(Math.max(0, start - part.at), end - part.at);
    }
  }
}
