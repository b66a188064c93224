import { createHash } from "node:crypto";
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import type { MirrorEntry } from "../../src/flows/export/sync/mirror-entry.ts";
import type { StoreProxy } from "./store-proxy.ts";

export interface Fault {
  readonly kind: "images" | "objects" | "leases" | "overlaps" | "statuses";
  readonly what: string;
}

/** Compares the bucket with the catalogue: every image once, and no object that the index does not name. */
export async function checkObjects(
  s3: S3Client,
  prefix: string,
  assets: ReadonlySet<string>,
): Promise<Fault[]> {
  const read = async (key: string) => {
    const found = await s3
      .send(new GetObjectCommand({ Bucket: "shop", Key: prefix + key }))
      .catch(() => null);
    return found === null ? null : Buffer.from(await found.Body!.transformToByteArray());
  };
  const index = await read("catalogue.ndjson");
  if (index === null) return [{ kind: "images", what: "no catalogue.ndjson" }];
  const entries = String(index)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as MirrorEntry);
  const faults: Fault[] = [];
  const listed = entries.map(({ product_id, asset_id }) => `${product_id} ${asset_id}`);
  if (new Set(listed).size !== listed.length) faults.push({ kind: "images", what: "an image twice" });
  const lost = [...assets].filter((asset) => !listed.includes(asset));
  if (lost.length > 0 || listed.length !== assets.size)
    faults.push({ kind: "images", what: `${listed.length} of ${assets.size} images` });
  for (const { path, sha256 } of entries) {
    const body = await read(path);
    const digest = createHash("sha256").update(body ?? "");
    if (body === null || digest.digest("hex") !== sha256)
      faults.push({ kind: "images", what: `wrong: ${path}` });
  }
  const named = new Set(entries.map(({ path }) => path));
  for (const key of await keysOf(s3, prefix)) {
    const isOwn = key.startsWith(".catalogue/") || /^catalogue\.(?:\d+-of-\d+\.)?ndjson$/.test(key);
    if (!isOwn && !named.has(key)) faults.push({ kind: "objects", what: `no index has ${key}` });
  }
  return faults;
}

async function keysOf(s3: S3Client, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for (let after: string | undefined; ; ) {
    const list = { Bucket: "shop", Prefix: prefix, ContinuationToken: after };
    const page = await s3.send(new ListObjectsV2Command(list));
    keys.push(...(page.Contents ?? []).map(({ Key = "" }) => Key.slice(prefix.length)));
    after = page.NextContinuationToken;
    if (after === undefined) return keys;
  }
}

/** The store's `Date` has whole seconds. */
const dateMs = 1_000;

/** Leases that were taken while another process held them, by the time of the store. */
export function checkLeases({ leases }: StoreProxy, prefix: string): Fault[] {
  const faults: Fault[] = [];
  const held = new Map<string, StoreProxy["leases"][number]>();
  for (const write of leases.filter(({ key }) => key.startsWith(prefix))) {
    const before = held.get(write.key);
    if (before !== undefined && before.process !== write.process && write.storeTime + dateMs < before.until)
      faults.push({ kind: "leases", what: `${write.key}: ${before.process}, then ${write.process}` });
    held.set(write.key, write);
  }
  return faults;
}

/** Processes of one shard that wrote at the same time: each writes from its first to its last write. */
export function checkOverlaps(
  { writes }: StoreProxy,
  prefix: string,
  shardOf: (process: string) => string,
): Fault[] {
  const windows = new Map<string, { first: number; last: number }>();
  for (const { process, key, at } of writes) {
    if (!key.startsWith(prefix)) continue;
    const { first } = windows.get(process) ?? { first: at };
    windows.set(process, { first, last: at });
  }
  const all = [...windows].sort(([, one], [, other]) => one.first - other.first);
  return all.flatMap(([process, { last }], at) =>
    all
      .slice(at + 1)
      .filter(([other, { first }]) => shardOf(other) === shardOf(process) && first < last)
      .map(([other]): Fault => ({ kind: "overlaps", what: `${process} and ${other} wrote at once` })),
  );
}
