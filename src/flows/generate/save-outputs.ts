// Saving: the output of each task that succeeded, in a file that appears complete, while others run.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Client } from "../../client/client.ts";
import { detectImageType, imageExtensions, imageTypeBytes, safeFilename } from "../../contract/image-file.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { imageTypes } from "../../contract/value-sets.ts";
import { syncFolder } from "../../move-file.ts";
import { fileContent, toContent } from "../bucket/content.ts";
import { hasLabel, isLabeled, toDigitalSource } from "../files/ai-label.ts";
import { fileStart, OutputError } from "../files/disk.ts";
import { downloadFile, rejectIncompleteImage, withSizeHint } from "../files/download-file.ts";
import { imageInMemory } from "../files/image-bytes.ts";
import { UnnamedFile } from "../files/output-file.ts";
import { SyncBatches, type WaitingFile } from "../files/sync-batches.ts";
import type { WaitingReader } from "../service.ts";
import type { ImageBucket } from "./image-bucket.ts";
import { type NamedOutput, rejectedFolder } from "./result.ts";

/** How many downloads run at once: signed URLs have no rate limit. */
const downloadsAtOnce = 8;

export interface SaveOptions {
  /** The largest image to save, in bytes. */
  readonly maxBytes: number;
  readonly label: boolean;
  /** Where images go from the folder; absent if they stay there. */
  readonly bucket?: ImageBucket | null | undefined;
}

/** An image that is saved: under which name, and whether it has the label of generated ones. */
interface SavedOutput {
  readonly name: string;
  readonly label: boolean;
}

interface UnnamedOutput extends WaitingFile {
  readonly file: UnnamedFile;
  readonly path: string;
}

type ServiceOfSaver = Omit<WaitingReader, "concurrency">;

export class OutputSaver {
  readonly #folder: string;
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #options: SaveOptions;
  readonly #limit = pLimit(downloadsAtOnce);
  readonly #jobs: Promise<void>[] = [];
  readonly #batches: SyncBatches<UnnamedOutput, string>;
  /** The paths of the files in the folder, with slashes, by task ID. */
  readonly files = new Map<string, string>();
  /** Whether each of these files has the label, by task ID. */
  readonly labels = new Map<string, boolean>();
  /** The number of images that this command saved as sent, because they cannot have the label. */
  unlabeled = 0;
  /** Why outputs were not saved, by task ID. */
  readonly faults = new Map<string, unknown>();
  /** The content of the folder when the first output was added: all names, and those of unfinished files. */
  #before: Promise<{ names: ReadonlySet<string>; parts: readonly string[] }> | null = null;

  constructor(folder: string, { client, clock, signal }: ServiceOfSaver, options: SaveOptions) {
    this.#folder = folder;
    this.#client = client;
    this.#signal = signal;
    this.#options = options;
    const steps = {
      sync: ({ file, path }: UnnamedOutput) => orUnusable(path, () => file.sync()),
      target: async ({ path }: UnnamedOutput) => path,
      name: ({ file }: UnnamedOutput, path: string) => orUnusable(path, () => void file.moveTo(path, false)),
    };
    this.#batches = new SyncBatches(steps, clock);
  }

  /** Saves the output of a task, unless an earlier command has; returns at once. */
  add(task: Task, named: NamedOutput): void {
    const save = async () => {
      this.#signal.throwIfAborted();
      const { bucket } = this.#options;
      return bucket ? this.#intoBucket(task, named, bucket) : this.#intoFolder(task, named);
    };
    const job = async () => {
      try {
        const { name, label, placed } = await this.#limit(() => this.#batches.during(save));
        // While others are downloaded.
        await placed;
        this.files.set(task.id, name);
        this.labels.set(task.id, label);
      } catch (error) {
        this.faults.set(task.id, withSizeHint(error));
      }
    };
    this.#jobs.push(job());
  }

  /** Waits until every output that was added is on the disk, under its name. */
  async settled(): Promise<void> {
    await Promise.all(this.#jobs);
    if (this.files.size > 0) await syncFolder(this.#folder);
  }

  /** Removes what killed commands left of an output; a running one has named its file by now. */
  async #removeParts(id: string): Promise<void> {
    for (const part of (await this.#readFolder()).parts)
      if (part.startsWith(`.${id}.`)) await rm(join(this.#folder, part), { force: true }).catch(() => {});
  }

  /** `placed` resolves once the image has its name. */
  async #intoFolder(task: Task, named: NamedOutput): Promise<SavedOutput & { placed?: Promise<void> }> {
    const saved = await this.#findSaved(task, named);
    if (saved !== null) {
      await this.#removeParts(task.id);
      // As an earlier command has saved it, or the service has sent it.
      return { name: saved, label: isLabeled(join(this.#folder, saved)) };
    }
    const { chunks, path: complete, bytes, name, label } = await this.#download(task, named);
    const path = join(this.#folder, name);
    const unnamed = { parts: this.#folder, start: `.${task.id}.` };
    const file = await orUnusable(path, () =>
      chunks === null ? UnnamedFile.adopt(complete, unnamed) : UnnamedFile.write(chunks, unnamed),
    );
    const placed = this.#batches.add({ file, path, bytes }).then(() => this.#removeParts(task.id));
    placed.catch(() => {});
    await this.#batches.room();
    return { name, label, placed };
  }

  async #intoBucket(
    task: Task,
    named: NamedOutput,
    bucket: ImageBucket,
  ): Promise<SavedOutput & { placed?: undefined }> {
    const own = outputExtensions.map((extension) => outputName(named, task.id, extension));
    const saved = own.find((name) => bucket.has(name));
    if (saved !== undefined) return { name: saved, label: await bucket.isLabeled(saved) };
    const { chunks, path, type, name, label } = await this.#download(task, named);
    const content = chunks === null ? await fileContent(path) : toContent(Buffer.concat(chunks));
    await bucket.save(name, content, { task: task.id, label, type });
    if (chunks === null) await rm(path, { force: true });
    return { name, label };
  }

  /** The file of an earlier command; null for none, and for one that was emptied or replaced. */
  async #findSaved(task: Task, named: NamedOutput): Promise<string | null> {
    const { names } = await this.#readFolder();
    const own = outputExtensions.map((extension) => outputName(named, task.id, extension));
    for (const name of [...own, ...own.map((name) => `${rejectedFolder}/${name}`)]) {
      if (!names.has(name)) continue;
      const start = await fileStart(join(this.#folder, name), imageTypeBytes).catch(() => null);
      if (start !== null && detectImageType(start) !== null) return name;
    }
    return null;
  }

  #readFolder() {
    const list = (folder: string) => readdir(folder).catch(() => []);
    this.#before ??= Promise.all([list(this.#folder), list(join(this.#folder, rejectedFolder))]).then(
      ([all, rejected]) => ({
        names: new Set([...all, ...rejected.map((name) => `${rejectedFolder}/${name}`)]),
        parts: all.filter((name) => name.endsWith(".part")),
      }),
    );
    return this.#before;
  }

  /** Downloads a small output into memory, and a large one to a path, with a part to continue. */
  async #download({ id, type: made, output_image }: Task, named: NamedOutput) {
    if (output_image === null) throw new Error(`task ${id} has no output`);
    const { url } = output_image;
    const signal = this.#signal;
    const freshUrl = async () => {
      const task = await this.#client.tasks.get({ task_id: id }, { signal });
      return task.output_image?.url ?? url;
    };
    let type: (typeof imageTypes)[number] | null = null;
    const path = join(this.#folder, `.${outputName(named, id, "")}.image`);
    const { chunks, bytes, label } = await downloadFile(this.#client, {
      path,
      inMemory: true,
      url,
      resource: output_image.id,
      freshUrl,
      signal,
      limits: { maxBytes: this.#options.maxBytes },
      label: this.#options.label ? toDigitalSource(made) : null,
      imageProblem: (head) => {
        type = detectImageType(head);
        return type === null ? "is not a JPEG, PNG or WebP image" : null;
      },
      // Its length may be unknown; one in memory has its announced length.
      check: async (part) => rejectIncompleteImage(part, url),
    });
    if (label === false) this.unlabeled++;
    return {
      ...{ chunks, path, bytes, type: type! as keyof typeof imageExtensions },
      name: outputName(named, id, imageExtensions[type!]),
      label: label ?? (chunks === null ? isLabeled(path) : hasLabel(imageInMemory(chunks))),
    };
  }
}

/** Throws an OutputError of a path where the system fails the work on its file. */
async function orUnusable<Result>(path: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new OutputError(path, error as NodeJS.ErrnoException);
  }
}

const outputExtensions: readonly string[] = Object.values(imageExtensions);

/** So many characters of a task's ID are unique in a folder: they are random, or count up. */
const idLength = 10;

/**
 * The file name of a task's output: reference, angle, background and model, and the end of the task's ID, so
 * that no two outputs share a name and the same task always has the same one, also where case or the form of
 * accents does not count.
 */
function outputName(named: NamedOutput, taskId: string, extension: string): string {
  const { productReference, productId, angleShot, background, modelName, modelId, subtype, style } = named;
  const parts = [
    productReference ?? productId,
    angleShot,
    background?.replace("#", ""),
    style ?? subtype,
    modelName ?? modelId,
  ];
  const stem = parts
    .filter((part) => part !== null && part !== undefined && part !== "")
    .map((part) => part!.replace(/[\s%&#+;,'`$!~(){}[\]^=@]+/g, "-"))
    .join("_")
    // A shell reads a leading dash as a flag.
    .replace(/^-+(?=.)/, "_");
  return safeFilename(stem, `_${taskId.slice(-idLength).toLowerCase()}${extension}`);
}
