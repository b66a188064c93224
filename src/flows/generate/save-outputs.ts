// Saving: the output of each task that succeeded, as a file that appears when it is complete, while other
// tasks run.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Client } from "../../client/client.ts";
import { detectImageType, imageExtensions, imageTypeBytes, safeFilename } from "../../contract/image-file.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { imageTypes } from "../../contract/value-sets.ts";
import { moveFile, syncFolder } from "../../move-file.ts";
import { isLabeled, toDigitalSource } from "../files/ai-label.ts";
import { fileStart, OutputError } from "../files/disk.ts";
import { downloadFile, rejectIncompleteImage, withSizeHint } from "../files/download-file.ts";
import { placeFile } from "../files/output-file.ts";
import type { Service } from "../service.ts";
import type { ImageBucket } from "./image-bucket.ts";
import { type NamedOutput, rejectedFolder } from "./result.ts";

/** How many downloads run at once: signed URLs have no rate limit. */
const downloadsAtOnce = 8;

/** What the images of a command get. */
export interface SaveOptions {
  /** The largest image to save, in bytes. */
  readonly maxBytes: number;
  /** Whether saved images get the label of generated ones. */
  readonly label: boolean;
  /** Where images go from the folder; absent if they stay there. */
  readonly bucket?: ImageBucket | null | undefined;
}

/** Saves outputs in a folder, several at once. */
export class OutputSaver {
  readonly #folder: string;
  readonly #client: Pick<Client, "downloadInto" | "tasks">;
  readonly #signal: AbortSignal;
  readonly #options: SaveOptions;
  readonly #limit = pLimit(downloadsAtOnce);
  readonly #jobs: Promise<void>[] = [];
  /** The paths of the files in the folder, with slashes, by task ID. */
  readonly files = new Map<string, string>();
  /** Whether each of these files has the label, by task ID. */
  readonly labels = new Map<string, boolean>();
  /** The number of images that this command saved as sent, because they cannot have the label. */
  unlabeled = 0;
  /** Why outputs were not saved, by task ID. */
  readonly faults = new Map<string, unknown>();
  /** What was in the folder when the first output was added: all names, and those of unfinished files. */
  #before: Promise<{ names: ReadonlySet<string>; parts: readonly string[] }> | null = null;

  constructor(folder: string, { client, signal }: Pick<Service, "client" | "signal">, options: SaveOptions) {
    this.#folder = folder;
    this.#client = client;
    this.#signal = signal;
    this.#options = options;
  }

  /** Saves the output of a task, unless an earlier command has; returns at once. */
  add(task: Task, named: NamedOutput): void {
    const save = async () => {
      try {
        this.#signal.throwIfAborted();
        const { name, label } = this.#options.bucket
          ? await this.#intoBucket(task, named, this.#options.bucket)
          : await this.#intoFolder(task, named);
        this.files.set(task.id, name);
        this.labels.set(task.id, label);
      } catch (error) {
        this.faults.set(task.id, withSizeHint(error));
      }
    };
    this.#jobs.push(this.#limit(save));
  }

  /** Waits until every output that was added is on the disk, under its name. */
  async settled(): Promise<void> {
    await Promise.all(this.#jobs);
    if (this.files.size > 0) await syncFolder(this.#folder);
  }

  async #intoFolder(task: Task, named: NamedOutput): Promise<{ name: string; label: boolean }> {
    const name = (await this.#findSaved(task, named)) ?? (await this.#save(task, named));
    // Also of an earlier command, or as the service has sent it.
    return { name, label: isLabeled(join(this.#folder, name)) };
  }

  async #intoBucket(
    task: Task,
    named: NamedOutput,
    bucket: ImageBucket,
  ): Promise<{ name: string; label: boolean }> {
    const own = outputExtensions.map((extension) => outputName(named, task.id, extension));
    const saved = own.find((name) => bucket.has(name));
    if (saved !== undefined) return { name: saved, label: await bucket.isLabeled(saved) };
    const name = await this.#save(task, named);
    const label = isLabeled(join(this.#folder, name));
    const [type = ""] =
      Object.entries(imageExtensions).find(([, extension]) => name.endsWith(extension)) ?? [];
    await bucket.take(name, { task: task.id, label, type });
    return { name, label };
  }

  /** The file of an earlier command; null where there is none. One that was emptied or replaced is saved again. */
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

  /** Saves a small output at once, and a large one with a part on the disk, which the next command continues. */
  async #save({ id, type: made, output_image }: Task, named: NamedOutput): Promise<string> {
    if (output_image === null) throw new Error(`task ${id} has no output`);
    const { url } = output_image;
    const signal = this.#signal;
    const freshUrl = async () => {
      const task = await this.#client.tasks.get({ task_id: id }, { signal });
      return task.output_image?.url ?? url;
    };
    let type: (typeof imageTypes)[number] | null = null;
    const path = join(this.#folder, `.${outputName(named, id, "")}.image`);
    const { chunks, label } = await downloadFile(this.#client, {
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
    const name = outputName(named, id, imageExtensions[type!]);
    const target = join(this.#folder, name);
    const unusable = (error: NodeJS.ErrnoException) => {
      throw new OutputError(target, error);
    };
    if (chunks === null) {
      await Promise.resolve()
        .then(() => moveFile(path, target, false))
        .catch(unusable);
      return name;
    }
    for (const part of (await this.#readFolder()).parts)
      if (part.startsWith(`.${id}.`)) await rm(join(this.#folder, part), { force: true });
    await placeFile(target, chunks, { parts: this.#folder, start: `.${id}.` }).catch(unusable);
    return name;
  }
}

/** Every extension that an output may have. */
const outputExtensions: readonly string[] = Object.values(imageExtensions);

/** So many characters of a task's ID tell it from every other task of a folder: they are random, or count up. */
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
