// Saved images in a bucket. They pass through a folder of this machine, where large ones are downloaded.

import { rmSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CatError } from "../../errors.ts";
import { newFile } from "../../open-file.ts";
import type { Bucket, Condition } from "../bucket/bucket.ts";
import { type ObjectContent, toContent } from "../bucket/content.ts";
import { probeConditions } from "../bucket/lease.ts";
import { temporaryFolder } from "../files/disk.ts";
import { type FolderOptions, folderResults, writeFolderResults } from "./folder-results.ts";
import type { ResultRow } from "./result.ts";

/** Other commands that write the lists while this one does. */
const mostTries = 10;

/** An image that is saved: of which task, and whether it has the label of generated ones. */
interface SavedImage {
  readonly task: string;
  readonly label: boolean;
  readonly type: string;
}

/** The images of a command in a bucket, named as in a folder. Call `close` at the end. */
export class ImageBucket {
  readonly #bucket: Bucket;
  readonly #names = new Set<string>();
  /** Whether the store checks conditions: otherwise two commands at once may lose rows of the lists. */
  #isChecked = false;
  #folder: string | null = null;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  get shown(): string {
    return this.#bucket.shown;
  }

  get folder(): string {
    this.#folder ??= temporaryFolder("save images through");
    return this.#folder;
  }

  close(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Finds out what is there, and that the bucket can be written. Brings its lists into the folder. */
  async open(): Promise<void> {
    for await (const { key, bytes } of this.#bucket.list("")) if (bytes > 0) this.#names.add(key);
    this.#isChecked = (await probeConditions(this.#bucket)) !== null;
    await this.#fetchLists();
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  async isLabeled(name: string): Promise<boolean> {
    return (await this.#bucket.head(name))?.metadata.label === "true";
  }

  async save(name: string, content: ObjectContent, { task, label, type }: SavedImage): Promise<void> {
    const metadata = { "task-id": task, "ai-generated": "true", label: String(label) };
    await this.#bucket.put(name, content, { type, metadata });
    this.#names.add(name);
  }

  /** Adds the rows of tasks to the lists in the bucket, as `writeFolderResults` does in a folder. */
  async writeLists(rows: readonly ResultRow[], options: FolderOptions): Promise<void> {
    const { csv, ndjson } = folderResults;
    for (let attempt = 1; attempt <= mostTries; attempt++) {
      const condition = await this.#fetchLists();
      await writeFolderResults(this.folder, rows, options);
      const etag = await this.#putList(ndjson, "application/x-ndjson", condition);
      if (etag === null) continue;
      await this.#putList(csv, "text/csv");
      // Another command may have written its rows between both.
      if ((await this.#bucket.head(ndjson))?.etag.replaceAll('"', "") === etag.replaceAll('"', "")) return;
    }
    throw new CatError(`cannot write ${this.shown}/${csv}: other commands are writing it`, {
      type: "output",
      code: "results_busy",
      hint: `To write it, ${options.again}.`,
    });
  }

  /** Resolves to what must be true for the next write of the list that the other one is made from. */
  async #fetchLists(): Promise<Condition> {
    let condition: Condition = "absent";
    for (const name of Object.values(folderResults)) {
      const path = join(this.folder, name);
      const object = await this.#bucket.get(name);
      await rm(path, { force: true });
      if (object !== null) {
        const file = await newFile(path);
        await file.write(await text(object.body)).finally(() => file.close());
      }
      if (object !== null && name === folderResults.ndjson) condition = { etag: object.etag };
    }
    return condition;
  }

  async #putList(name: string, type: string, condition?: Condition): Promise<string | null> {
    const content = toContent(await readFile(join(this.folder, name)));
    return this.#bucket.put(name, content, {
      type,
      ...(this.#isChecked && condition !== undefined && { condition }),
    });
  }
}
