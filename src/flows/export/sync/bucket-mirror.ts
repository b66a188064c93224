import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, existsSync, rmSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Clock } from "../../../clock.ts";
import { CatError } from "../../../errors.ts";
import { type Database, loadConnect } from "../../../state/sqlite.ts";
import { type Bucket, type Condition, contentOf, type ObjectContent } from "../../bucket/bucket.ts";
import { BucketFile } from "../../bucket/bucket-file.ts";
import { type Lease, probeConditions, takeLease } from "../../bucket/lease.ts";
import { temporaryFolder } from "../../files/temporary-folder.ts";
import { shortDigest } from "../../short-digest.ts";
import { type ListedAsset, type MirrorEntry, versionOf } from "./mirror-entry.ts";
import { pathComponents } from "./mirror-folders.ts";
import { folderInBucket, hiddenFolder, type MirrorFiles, parseState } from "./mirror-state.ts";
import type { Binding, Content, Holder, Left, MirrorStore } from "./mirror-store.ts";

/**
 * Bytes of content in memory, and in one request. More goes through a file: the index of a large mirror must not be in memory. Still
 * more is sent in parts: stores accept 5 GB in one request.
 */
const defaultLimits = { memory: 12 * 1024 ** 2, request: 4 * 1024 ** 3 };

interface BucketMirrorOptions {
  readonly files: MirrorFiles;
  readonly clock: Clock;
  /** A new text, unlike any other. */
  readonly newId: () => string;
  /** Whether the user states that no other machine works on the mirror, whatever the store can check. */
  readonly isUnlocked: boolean;
  readonly limits?: typeof defaultLimits;
}

/**
 * A mirror in a bucket. A lease excludes other machines, the index is replaced only if it is the one that was read, and images
 * never replace an object of another one. The table of assets is on this machine while a run lasts. Call `close` at the end.
 */
export class BucketMirror implements MirrorStore {
  readonly waitHint = "Wait for it to finish. If it was killed, run the command again in a minute.";
  readonly #bucket: Bucket;
  readonly #options: BucketMirrorOptions;
  readonly #limits: typeof defaultLimits;
  #folder: string | null = null;
  #lease: Lease | null = null;
  /** Whether the store checks conditions: otherwise a look comes before each write that must not replace anything. */
  #isChecked = false;
  /** Whether a run was stopped, which may have left objects that no index names. */
  #mayHaveLeft = false;
  /** The ETag of the index as it was read; null without one, undefined before a look. */
  #indexEtag: string | null | undefined;
  /** What `touch` began. */
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

  /** Removes what this machine had of the mirror. */
  close(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }

  async database(path: string, { isCopy = false } = {}): Promise<Database> {
    const connect = await loadConnect();
    const file = join(this.scratch, keyOf(path).replaceAll("/", "-"));
    if (!isCopy) return connect(file);
    const copy = join(this.scratch, `copy-${this.#options.newId()}`);
    if (existsSync(file)) copyFileSync(file, copy);
    return connect(copy);
  }

  async read(path: string): Promise<Buffer | null> {
    const found = await this.#bucket.get(keyOf(path));
    if (found === null) return null;
    return buffer(found.body);
  }

  async *readParts(path: string): AsyncIterable<Uint8Array> {
    const found = await this.#bucket.get(keyOf(path));
    if (found === null)
      throw new CatError(`${this.#bucket.shown}/${path} does not exist`, {
        type: "not_found",
        code: "object_missing",
        hint: "Run the command again.",
      });
    if (path === this.#options.files.index) this.#indexEtag = found.etag;
    yield* found.body;
  }

  async stat(path: string): Promise<{ readonly bytes: number } | null> {
    await this.#touched;
    const found = await this.#bucket.head(keyOf(path));
    if (path === this.#options.files.index) this.#indexEtag = found?.etag ?? null;
    return found === null ? null : { bytes: found.bytes };
  }

  async put(
    path: string,
    content: Content,
    { exclusive = false, entry }: { exclusive?: boolean; entry?: MirrorEntry } = {},
  ): Promise<boolean> {
    const key = keyOf(path);
    await this.#touched;
    const isIndex = path === this.#options.files.index;
    const spooled = await this.#spool(content);
    try {
      this.#lease?.check();
      if (!this.#isChecked && exclusive && (await this.#bucket.head(key)) !== null) return false;
      if (isIndex && this.#indexEtag === undefined) await this.stat(path);
      const condition = isIndex ? this.#indexCondition : exclusive ? "absent" : undefined;
      const type = entry?.mime_type ?? (isIndex ? "application/x-ndjson" : "application/json");
      const isLarge = spooled.content.bytes > this.#limits.request;
      const etag = isLarge
        ? await this.#putParts(key, spooled.content, { type, condition })
        : await this.#bucket.put(key, spooled.content, {
            type,
            ...(entry !== undefined && { metadata: metadataOf(entry) }),
            ...(this.#isChecked && condition !== undefined && { condition }),
          });
      if (etag === null && isIndex) throw this.#changedIndex(path);
      if (isIndex) this.#indexEtag = etag;
      return etag !== null;
    } finally {
      await spooled.release();
    }
  }

  touch(path: string): void {
    const key = keyOf(path);
    const touch = async () => {
      if ((await this.#bucket.head(key)) === null) await this.#bucket.put(key, contentOf(Buffer.alloc(0)));
    };
    this.#touched = this.#touched.then(touch);
    // The next write reports it.
    this.#touched.catch(() => {});
  }

  /** Copies, and removes the old object; a kill between them leaves both. */
  async rename(from: string, to: string): Promise<boolean> {
    await this.#touched;
    const target = keyOf(to);
    this.#lease?.check();
    if (!(await this.#takesName(target))) return false;
    try {
      await this.#bucket.copy(keyOf(from), target);
    } catch (error) {
      if (this.#isChecked) await this.#bucket.remove(target).catch(() => {});
      throw error;
    }
    await this.#bucket.remove(keyOf(from));
    return true;
  }

  /** A copy replaces what has its name, also what another shard has just written: an empty object takes the name first. */
  async #takesName(key: string): Promise<boolean> {
    if (!this.#isChecked) return (await this.#bucket.head(key)) === null;
    return (await this.#bucket.put(key, contentOf(Buffer.alloc(0)), { condition: "absent" })) !== null;
  }

  /** Keys differ by case. */
  async isSame(path: string, other: string): Promise<boolean> {
    return path === other;
  }

  async remove(path: string): Promise<void> {
    await this.#touched;
    this.#lease?.check();
    await this.#bucket.remove(keyOf(path));
  }

  async *list(folder = ""): AsyncIterable<string> {
    await this.#touched;
    const start = folder === "" ? "" : `${keyOf(folder)}/`;
    for await (const { key } of this.#bucket.list(start)) if (!key.endsWith("/")) yield pathOf(key);
  }

  async settle(): Promise<void> {
    await this.#touched;
  }

  /** By the size and the digest that the object was written with: nothing is downloaded. */
  async holds({ path, bytes, sha256 }: Pick<MirrorEntry, "path" | "bytes" | "sha256">): Promise<boolean> {
    const found = await this.#bucket.head(keyOf(path));
    return found?.bytes === bytes && found.metadata.sha256 === sha256;
  }

  async leftAt(path: string, fields: ListedAsset["fields"]): Promise<Left | null> {
    if (!this.#mayHaveLeft) return null;
    const found = await this.#bucket.head(keyOf(path));
    const { "asset-id": asset, "product-id": product, version, sha256, type } = found?.metadata ?? {};
    const fits =
      asset === fields.asset_id &&
      product === fields.product_id &&
      version === versionDigest(fields) &&
      sha256 &&
      type;
    if (found === null || !fits) return null;
    return { bytes: found.bytes, sha256, mime_type: type, sent_sha256: found.metadata["sent-sha256"] };
  }

  async bind(selection: Binding): Promise<Binding> {
    const path = `${hiddenFolder}/mirror.json`;
    const text = `${JSON.stringify({ version: 1, ...selection }, null, 2)}\n`;
    const found = await this.read(path);
    if (found === null && (await this.put(path, [Buffer.from(text)], { exclusive: true }))) return selection;
    return parseState(found ?? (await this.read(path)), this.#bucket.shown);
  }

  async lock(holder: Holder): Promise<{ release(): Promise<void> } | { readonly heldBy: Holder | null }> {
    const { files, clock, newId, isUnlocked } = this.#options;
    const form = isUnlocked
      ? null
      : await probeConditions(this.#bucket, `${folderInBucket}/probe-${newId()}`);
    this.#isChecked = form !== null;
    if (!isUnlocked && form === null) throw unconditional(this.#bucket.shown);
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
      this.#mayHaveLeft = (await this.#bucket.head(keyOf(files.journal))) !== null;
    } catch (error) {
      await release();
      throw error;
    }
    return { release };
  }

  get #indexCondition(): Condition {
    return this.#indexEtag == null ? "absent" : { etag: this.#indexEtag };
  }

  #changedIndex(path: string): CatError {
    return new CatError(`another machine has written ${this.#bucket.shown}/${path} meanwhile`, {
      type: "conflict",
      code: "mirror_in_use",
      hint: "Run the same command again (nothing is uploaded twice).",
    });
  }

  /** The lease excludes other machines: a look is enough for a condition that stores do not check at the end of an upload. */
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

  /** The content as something that can be sent again: in memory, or in a file that `release` removes. */
  async #spool(content: Content): Promise<{ content: ObjectContent; release(): Promise<void> }> {
    const md5 = createHash("md5");
    let parts: Uint8Array[] = [];
    let bytes = 0;
    let file: FileHandle | null = null;
    const path = join(this.scratch, `spool-${this.#options.newId()}`);
    const release = async () => {
      if (file !== null) await rm(path, { force: true });
    };
    try {
      for await (const part of content) {
        md5.update(part);
        bytes += part.length;
        parts.push(part);
        if (bytes <= this.#limits.memory) continue;
        file ??= await open(path, "wx", 0o600);
        await file.writeFile(Buffer.concat(parts));
        parts = [];
      }
    } catch (error) {
      await file?.close();
      await release();
      throw error;
    }
    await file?.close();
    const memory = file === null ? Buffer.concat(parts) : null;
    const digest = md5.digest("base64");
    return { content: { bytes, md5: digest, open: () => memory ?? createReadStream(path) }, release };
  }
}

/** The key of a path, which has no component that leads out of the mirror. */
function keyOf(path: string): string {
  const [first = "", ...rest] = pathComponents(path);
  return [first === hiddenFolder ? folderInBucket : first, ...rest].join("/");
}

/** The path of a key. */
const pathOf = (key: string): string =>
  key.startsWith(`${folderInBucket}/`) ? `${hiddenFolder}${key.slice(folderInBucket.length)}` : key;

const versionDigest = (fields: ListedAsset["fields"]): string =>
  shortDigest(versionOf(fields), 12).toString("hex");

/** What an object says of its image, and what the next run recognizes it by. Values are ASCII. */
const metadataOf = (entry: MirrorEntry): Record<string, string> => ({
  "asset-id": entry.asset_id,
  "product-id": entry.product_id,
  "ai-generated": String(entry.ai_generated ?? "unknown"),
  watermarked: String(entry.watermarked),
  sha256: entry.sha256,
  type: entry.mime_type,
  version: versionDigest(entry),
  ...(entry.sent_sha256 !== undefined && { "sent-sha256": entry.sent_sha256 }),
});

const unconditional = (shown: string): CatError =>
  new CatError(
    `the store of ${shown} does not check conditions of writes, so two machines could not be kept apart`,
    {
      type: "usage",
      code: "no_conditional_writes",
      hint: "Use one machine only, and add --unlocked, without --shard.",
    },
  );
