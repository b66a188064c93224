import { crc32 } from "node:zlib";
import type { AssetRole, exportFormats } from "../../contract/value-sets.ts";
import { entityTag, type StoredFile, toStoredFile } from "../files/stored-file.ts";
import type { Pictures } from "../images/pictures.ts";
import type { Organization } from "../store/organization.ts";
import type { ExportedProduct, ExportRecord, ImageRecord } from "../store/records.ts";
import { nextTurn } from "../work/next-turn.ts";
import type { World } from "../world/world.ts";
import { exportRow, Filenames, heldImages } from "./export-rows.ts";
import { layOut, type ZipFile, type ZipLayout } from "./stored-zip.ts";

/** Duration of a ZIP job at speed 1: a fixed part, and a part per image. */
const beginningMs = 1_000;
const assetMs = 5;

/** Freezes a selection (Exports). A manifest is completed immediately; a ZIP takes time on the clock. */
export function startExport(
  world: World,
  organization: Organization,
  products: readonly ExportedProduct[],
  options: { format: (typeof exportFormats)[number]; roles: readonly AssetRole[] | null },
): ExportRecord {
  const { format, roles } = options;
  const created_at = world.timestamp();
  let total_assets = 0;
  for (const product of products) total_assets += heldImages(organization, product, roles).length;
  const isWritten = format === "manifest";
  const job: ExportRecord = {
    id: world.ids.next(),
    format,
    status: isWritten ? "completed" : "processing",
    total_assets,
    error: null,
    created_at,
    finished_at: isWritten ? created_at : null,
    ready_at:
      world.clock.now() + (isWritten ? 0 : (beginningMs + total_assets * assetMs) / world.options.speed),
    roles,
    products,
  };
  organization.exports.set(job.id, job);
  continueExport(world, organization, job);
  return job;
}

/** Schedules the end of a job in progress, also for a job restored from a snapshot. */
export function continueExport(world: World, organization: Organization, job: ExportRecord): void {
  if (job.status !== "processing") return;
  world.schedule(Math.ceil(job.ready_at), () => {
    const failure = world.faults.ofJob("export");
    job.error = failure && { ...failure };
    job.status = job.error === null ? "completed" : "failed";
    job.finished_at = world.timestamp();
    // Only a job that was processing has events (States, Export job); a manifest never is.
    world.deliveries.announce(
      organization,
      job.status === "failed" ? "export.failed" : "export.completed",
      job,
    );
  });
}

/** Bytes to measure before the event loop gets a turn. */
const turnBytes = 16 * 1024 * 1024;

/** One ExportRow per line. URLs are signed when it is written, and never again (Exports, Frozen). */
export function toManifest(world: World, organization: Organization, job: ExportRecord): StoredFile {
  const writtenAt = Date.parse(job.created_at);
  const lines = job.products.map(
    (product) => `${world.printed(exportRow(world, organization, product, job.roles, writtenAt))}\n`,
  );
  return toStoredFile(Buffer.from(lines.join("")), {
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

/** The ZIPs of export jobs. The layout of each is computed once; its bytes are read on demand. */
export class ZipArtifacts {
  readonly #zips = new WeakMap<ExportRecord, Promise<Zip>>();
  /** Cached per image, because images never change and can be in many ZIPs. */
  readonly #measures = new WeakMap<ImageRecord, Measure>();

  constructor(private readonly pictures: Pictures) {}

  /** The ZIP of a job. When `life` ends, measuring stops and reading fail. */
  async toFile(organization: Organization, job: ExportRecord, life: AbortSignal): Promise<StoredFile> {
    const measured = this.#zips.get(job) ?? this.#measure(organization, job, life);
    this.#zips.set(job, measured);
    const zip = await measured;
    return {
      type: "application/zip",
      etag: zip.etag,
      modified: Date.parse(job.finished_at ?? job.created_at),
      size: zip.layout.size,
      read: (start, end) => this.#read(zip, start, end, life),
    };
  }

  async #measure(organization: Organization, job: ExportRecord, life: AbortSignal): Promise<Zip> {
    const names = new Filenames();
    const images: ImageRecord[] = [];
    const files: ZipFile[] = [];
    let measured = 0;
    for (const product of job.products) {
      for (const { image, filename } of heldImages(organization, product, job.roles)) {
        life.throwIfAborted();
        let known = this.#measures.get(image);
        if (known === undefined) {
          const bytes = await this.pictures.assetBytes(image, life);
          known = { size: bytes.length, crc: crc32(bytes) };
          this.#measures.set(image, known);
          measured += bytes.length;
        }
        const dot = filename.lastIndexOf(".");
        files.push({ name: names.unused(filename.slice(0, dot), "", filename.slice(dot)), ...known });
        images.push(image);
        if (measured < turnBytes) continue;
        measured = 0;
        await nextTurn();
      }
    }
    const layout = layOut(files, Date.parse(job.created_at));
    const parts = layout.parts.map(({ bytes, file }) => bytes ?? this.pictures.assetTag(images[file]!));
    return { layout, images, etag: entityTag(...parts) };
  }

  /** The bytes from `start` up to `end`; other images are not read. */
  async *#read(
    { layout, images }: Zip,
    start: number,
    end: number,
    life: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    for (const part of layout.parts) {
      if (part.at + part.size <= start) continue;
      if (part.at >= end) return;
      life.throwIfAborted();
      const bytes = part.bytes ?? (await this.pictures.assetBytes(images[part.file]!, life));
      yield bytes.subarray(Math.max(0, start - part.at), end - part.at);
    }
  }
}
