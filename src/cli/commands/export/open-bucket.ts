import { readBucketAddress } from "../../../flows/bucket/address.ts";
import { BucketMirror } from "../../../flows/export/sync/bucket-mirror.ts";
import type { MirrorFiles } from "../../../flows/export/sync/mirror-state.ts";
import type { App } from "../../app/app.ts";
import { openBucket } from "../../files/open-bucket.ts";
import type { BucketFlags } from "../../flags/bucket-flags.ts";

export interface MirrorBucketFlags extends BucketFlags {
  /** Whether no lease is taken, because no other machine works on the mirror. */
  readonly unlocked: boolean;
}

/** Opens a mirror in a bucket; everything that this machine has of it is removed when the command ends. */
export function openBucketMirror(
  app: App,
  address: string,
  { flags, files }: { flags: MirrorBucketFlags; files: MirrorFiles },
): BucketMirror {
  const bucket = openBucket(app, readBucketAddress(address), flags);
  const mirror = new BucketMirror(bucket, {
    files,
    clock: app.context.clock,
    isUnlocked: flags.unlocked,
  });
  app.onClose(async () => mirror.close());
  return mirror;
}
