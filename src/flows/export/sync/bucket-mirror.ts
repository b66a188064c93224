import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Clock } from "../../../clock.ts";
import { CatError } from "../../../errors.ts";
import { copyFile } from "../../../open-file.ts";
import { type Database, loadConnect } from "../../../state/sqlite.ts";
import {
  type Bucket,
  bareEtag,
  type Condition,
  type ObjectInfo,
  type PutOptions,
} from "../../bucket/bucket.ts";
import { BucketFile } from "../../bucket/bucket-file.ts";
import { changeObject } from "../../bucket/change-object.ts";
import { type ObjectContent, spool, toContent } from "../../bucket/content.ts";
import { type Lease, requireConditions, takeLease } from "../../bucket/lease.ts";
import { temporaryFolder } from "../../files/disk.ts";
import { shortDigest } from "../../short-digest.ts";
import { type ListedAsset, type MirrorEntry, toVersion } from "./mirror-entry.ts";
import { pathComponents } from "./mirror-folders.ts";
import { bindingFile, folderInBucket, hiddenFolder, type MirrorFiles, parseState } from "./mirror-state.ts";
import type { Binding, Change, Content, Holder, LeftFile, MirrorStore, PlacedFile } from "./mirror-store.ts";

/** Bytes in memory: more is sent from a file. Bytes in one request: more in parts, as stores accept 5 GB. */
const defaultLimits = { memory: 12 * 1024 ** 2, request: 4 * 1024 ** 3 };

interface BucketMirrorOptions {
  readonly files: MirrorFiles;
  readonly clock: Clock;
  /** Whether the user states that no other machine works on the mirror, whatever the store can check. */
  readonly isUnlocked: boolean;
  readonly limits?: typeof defaultLimits;
}

/**
 * A mirror in a bucket. A lease excludes other machines, the index is replaced only if it is the one that was
 * read, and images replace no object of another one. Its table is on this machine: call `close` at the end.
 */
export class BucketMirror implements MirrorStore {
  readonly waitHint = "Wait for it to finish. If it was killed, run the command again in a minute.";
  readonly keepsDatabases = false;
  readonly #bucket: Bucket;
  readonly #options: BucketMirrorOptions;
  readonly #limits: typeof defaultLimits;
  #folder: string | null = null;
  #lease: Lease | null = null;
  /** Whether the store checks conditions: otherwise a look comes before each exclusive write. */
  #isChecked = false;
  /** Whether a run was stopped, which may have left objects that no index names. */
  #mayHaveLeft = false;
  /** The ETag of the index as it was read; null without one, undefined before a look. */
  #indexEtag: string | null | undefined;
  /** The request that `touch` began. */
  #touched: Promise<unknown> = Promise.resolve();

  constructor(bucket: Bucket, options: BucketMirrorOptions) {
    this.#bucket = bucket;
    this.#options = options;
    this.#limits = options.limits ?? defaultLimits;
  }

  get scratch(): string {
    this.#folder ??= temporaryFolder("mirror through");
    return this.#folder;
  }

  close(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }

  async database(path: string, { isCopy = false } = {}): Promise<Database> {
    const connect = await loadConnect();
    const file = join(this.scratch, toObjectKey(path).replaceAll("/", "-"));
    if (!isCopy) return connect(file);
    const copy = join(this.scratch, `copy-${crypto.randomUUID()}`);
    if (existsSync(file)) await copyFile(file, copy);
    return connect(copy);
  }

  async read(path: string): Promise<Buffer | null> {
    const object = await this.#bucket.get(toObjectKey(path));
    if (object === null) return null;
    return buffer(object.body);
  }

  async *readParts(path: string): AsyncIterable<Uint8Array> {
    const object = await this.#bucket.get(toObjectKey(path));
    if (object === null)
      throw new CatError(`${this.#bucket.shown}/${path} does not exist`, {
        type: "not_found",
        code: "object_missing",
        hint: "Run the command again.",
      });
    if (path === this.#options.files.index) this.#indexEtag = object.etag;
    yield* object.body;
  }

  async stat(path: string) {
    await this.#touched;
    const object = await this.#bucket.head(toObjectKey(path));
    if (path === this.#options.files.index) this.#indexEtag = object?.etag ?? null;
    if (object === null || this.#isReserved(object)) return null;
    return { bytes: object.bytes, sha256: object.metadata.sha256 };
  }

  async put(
    path: string,
    content: Content | string,
    { exclusive = false, entry }: { exclusive?: boolean; entry?: MirrorEntry } = {},
  ): Promise<PlacedFile | null> {
    const key = toObjectKey(path);
    await this.#touched;
    const isIndex = path === this.#options.files.index;
    const file = join(this.scratch, `spool-${crypto.randomUUID()}`);
    const spooled = await spool(content, { memory: this.#limits.memory, file });
    try {
      this.#lease?.check();
      if (!this.#isChecked && exclusive && !(await this.#isFree(key))) return null;
      if (isIndex && this.#indexEtag === undefined) await this.stat(path);
      const condition = this.#conditionFor(isIndex, exclusive);
      const type = entry?.mime_type ?? (isIndex ? "application/x-ndjson" : "application/json");
      const isLarge = spooled.content.bytes > this.#limits.request;
      const etag = isLarge
        ? await this.#putParts(key, spooled.content, { type, condition })
        : await this.#putOne(key, spooled.content, {
            type,
            ...(entry !== undefined && { metadata: toMetadata(entry) }),
            ...(this.#isChecked && condition !== undefined && { condition }),
          });
      if (etag !== null) {
        if (isIndex) this.#indexEtag = etag;
        return { etag: bareEtag(etag) };
      }
      if (isIndex) throw this.#changedIndex(path);
      return null;
    } finally {
      await spooled.release();
    }
  }

  async change(path: string, change: Change): Promise<void> {
    if (!this.#isChecked) await this.#checkConditions("Add --decisions FILE on the machine that mirrors.");
    const isWritten = await changeObject(this.#bucket, toObjectKey(path), change, this.#isChecked);
    if (!isWritten) throw this.#changedIndex(path);
  }

  touch(path: string): void {
    const key = toObjectKey(path);
    const touch = async () => {
      if ((await this.#bucket.head(key)) === null) await this.#bucket.put(key, toContent(Buffer.alloc(0)));
    };
    this.#touched = this.#touched.then(touch);
    // The next write reports it.
    this.#touched.catch(() => {});
  }

  /** Copies, and removes the old object; a kill between them leaves both. */
  async rename(from: string, to: string): Promise<PlacedFile | null> {
    await this.#touched;
    const target = toObjectKey(to);
    this.#lease?.check();
    if (!(await this.#takesName(target))) return null;
    let etag: string;
    try {
      etag = await this.#bucket.copy(toObjectKey(from), target);
    } catch (error) {
      if (this.#isChecked) await this.#bucket.remove(target).catch(() => {});
      throw error;
    }
    await this.#bucket.remove(toObjectKey(from));
    return { etag: bareEtag(etag) };
  }

  /** A copy replaces what has its name, also of another shard: an empty object takes the name first. */
  async #takesName(key: string): Promise<boolean> {
    if (!this.#isChecked) return this.#isFree(key);
    const metadata = { [reservedField]: this.#options.files.work };
    const empty = toContent(Buffer.alloc(0));
    return (await this.#putOne(key, empty, { metadata, condition: "absent" })) !== null;
  }

  /** Whether an object is the empty one of a stopped rename: its name is free for this shard. */
  #isReserved({ metadata }: ObjectInfo): boolean {
    return this.#mayHaveLeft && metadata[reservedField] === this.#options.files.work;
  }

  async #isFree(key: string): Promise<boolean> {
    const object = await this.#bucket.head(key);
    return object === null || this.#isReserved(object);
  }

  async #putOne(key: string, content: ObjectContent, options: PutOptions): Promise<string | null> {
    const etag = await this.#bucket.put(key, content, options);
    if (etag !== null || !this.#mayHaveLeft) return etag;
    const object = await this.#bucket.head(key);
    if (object === null || !this.#isReserved(object)) return null;
    await this.#bucket.remove(key);
    return this.#bucket.put(key, content, options);
  }

  /** Keys differ by case. */
  async isSame(path: string, other: string): Promise<boolean> {
    return path === other;
  }

  async remove(path: string): Promise<void> {
    await this.#touched;
    this.#lease?.check();
    await this.#bucket.remove(toObjectKey(path));
  }

  async *list(folder = ""): AsyncIterable<string> {
    await this.#touched;
    const start = folder === "" ? "" : `${toObjectKey(folder)}/`;
    for await (const { key } of this.#bucket.list(start)) if (!key.endsWith("/")) yield objectPath(key);
  }

  async syncAll(): Promise<void> {
    await this.#touched;
  }

  async *etags() {
    await this.#touched;
    for await (const { key, bytes, etag } of this.#bucket.list(""))
      if (!key.endsWith("/")) yield { path: objectPath(key), bytes, etag: bareEtag(etag) };
  }

  /** By the size and the digest that the object was written with: nothing is downloaded. */
  async findFile(entry: MirrorEntry): Promise<PlacedFile | null> {
    const object = await this.#bucket.head(toObjectKey(entry.path));
    if (object?.bytes !== entry.bytes || object.metadata.sha256 !== entry.sha256) return null;
    return { etag: bareEtag(object.etag) };
  }

  async leftAt(path: string, fields: ListedAsset["fields"]): Promise<LeftFile | null> {
    if (!this.#mayHaveLeft) return null;
    const object = await this.#bucket.head(toObjectKey(path));
    const { "asset-id": asset, "product-id": product, version, sha256, type } = object?.metadata ?? {};
    const fits =
      asset === fields.asset_id &&
      product === fields.product_id &&
      version === versionDigest(fields) &&
      sha256 &&
      type;
    if (object === null || !fits) return null;
    const { bytes, etag, metadata } = object;
    return { bytes, sha256, mime_type: type, sent_sha256: metadata["sent-sha256"], etag: bareEtag(etag) };
  }

  async bind(selection: Binding): Promise<Binding> {
    const path = bindingFile;
    const text = `${JSON.stringify({ version: 1, ...selection }, null, 2)}\n`;
    const content = await this.read(path);
    if (content === null && (await this.put(path, [Buffer.from(text)], { exclusive: true })))
      return selection;
    return parseState(content ?? (await this.read(path)), this.#bucket.shown);
  }

  async lock(holder: Holder): Promise<{ release(): Promise<void> } | { readonly heldBy: Holder | null }> {
    const { files, clock, isUnlocked } = this.#options;
    await this.#checkConditions("Use one machine only, and add --unlocked, without --shard.");
    if (!isUnlocked) {
      const name = files.work.slice(hiddenFolder.length + 1);
      const lease = await takeLease(this.#bucket, `${folderInBucket}/lease-${name}`, { holder, clock });
      if ("heldBy" in lease) return lease;
      this.#lease = lease;
    }
    const release = async () => {
      await this.#touched.catch(() => {});
      await this.#lease?.release();
      this.#lease = null;
    };
    try {
      this.#mayHaveLeft = (await this.#bucket.head(toObjectKey(files.journal))) !== null;
    } catch (error) {
      await release();
      throw error;
    }
    return { release };
  }

  /** Throws a CatError, with the hint, if the store cannot keep machines apart. */
  async #checkConditions(hint: string): Promise<void> {
    if (this.#options.isUnlocked) return;
    await requireConditions(this.#bucket, hint);
    this.#isChecked = true;
  }

  #conditionFor(isIndex: boolean, exclusive: boolean): Condition | undefined {
    if (!isIndex) return exclusive ? "absent" : undefined;
    return this.#indexEtag == null ? "absent" : { etag: this.#indexEtag };
  }

  #changedIndex(path: string): CatError {
    return new CatError(`another machine has written ${this.#bucket.shown}/${path} meanwhile`, {
      type: "conflict",
      code: "mirror_in_use",
      hint: "Run the same command again (nothing is uploaded twice).",
    });
  }

  /** Other machines are locked out: a look is enough where stores check no condition. */
  async #putParts(
    key: string,
    content: ObjectContent,
    options: { type: string; condition: Condition | undefined },
  ): Promise<string | null> {
    const file = new BucketFile(this.#bucket, key, options);
    try {
      for await (const chunk of content.open()) await file.write(chunk as Uint8Array);
      this.#lease?.check();
      if (await file.place()) return (await this.#bucket.head(key))?.etag ?? null;
      await file.discard();
      return null;
    } catch (error) {
      await file.discard();
      throw error;
    }
  }
}

/** The metadata field of an empty object that takes a name before a copy: the shard that has put it. */
const reservedField = "reserved-by";

/** The key of a path, which has no component that leads out of the mirror. */
function toObjectKey(path: string): string {
  const [first = "", ...rest] = pathComponents(path);
  return [first === hiddenFolder ? folderInBucket : first, ...rest].join("/");
}

const objectPath = (key: string): string =>
  key.startsWith(`${folderInBucket}/`) ? `${hiddenFolder}${key.slice(folderInBucket.length)}` : key;

const versionDigest = (fields: ListedAsset["fields"]): string =>
  shortDigest(toVersion(fields), 12).toString("hex");

/** The metadata of an object: its image, and how the next run recognizes it. Values are ASCII. */
const toMetadata = (entry: MirrorEntry): Record<string, string> => ({
  "asset-id": entry.asset_id,
  "product-id": entry.product_id,
  "ai-generated": String(entry.ai_generated ?? "unknown"),
  watermarked: String(entry.watermarked),
  sha256: entry.sha256,
  type: entry.mime_type,
  version: versionDigest(entry),
  ...(entry.sent_sha256 !== undefined && { "sent-sha256": entry.sent_sha256 }),
});
