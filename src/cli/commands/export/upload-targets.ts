import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BucketFile } from "../../../flows/bucket/bucket-file.ts";
import type { FrozenTarget } from "../../../flows/export/frozen/frozen-run.ts";
import { shortDigest } from "../../../flows/short-digest.ts";
import type { App } from "../../app/app.ts";
import { ownPlaces } from "../../app/profile-state.ts";
import { checkObjects } from "../../files/open-bucket.ts";
import type { BucketFlags } from "../../flags/bucket-flags.ts";
import type { FrozenFlags } from "./flags.ts";

const types = { manifest: "application/x-ndjson", zip: "application/zip" } as const;

const chunkBytes = 1024 * 1024;

/**
 * The objects of an export. The files that the service prepares are checked on this machine, in the folder of
 * the program's state, and uploaded from there: a file that is incomplete is never in the bucket, and a
 * stopped export is resumed.
 */
export async function uploadTargets(
  app: App,
  addresses: readonly string[],
  {
    format,
    flags,
    isDelivered,
  }: {
    format: FrozenFlags["format"];
    flags: BucketFlags;
    isDelivered: (path: string) => Promise<boolean>;
  },
): Promise<FrozenTarget[]> {
  const folder = join((await ownPlaces(app)).states, "uploads");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const toPath = (address: string) => join(folder, shortDigest(address, 16).toString("hex"));
  const open: string[] = [];
  for (const address of addresses) if (!(await isDelivered(toPath(address)))) open.push(address);
  const objects = await checkObjects(app, open, flags);
  return addresses.map((address) => {
    const object = objects[open.indexOf(address)];
    return {
      name: address,
      path: toPath(address),
      replaces: object?.condition !== "absent",
      upload: async (from) => {
        const file = new BucketFile(object!.bucket, object!.name, {
          type: types[format],
          condition: object!.condition,
        });
        try {
          for await (const chunk of createReadStream(from, { highWaterMark: chunkBytes }))
            await file.write(chunk);
          await file.commit();
          return file.bytes;
        } catch (error) {
          await file.discard();
          throw error;
        }
      },
    };
  });
}
