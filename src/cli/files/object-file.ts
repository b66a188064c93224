import type { Condition } from "../../flows/bucket/bucket.ts";
import { BucketFile } from "../../flows/bucket/bucket-file.ts";
import type { App } from "../app/app.ts";
import type { BucketFlags } from "../flags/bucket-flags.ts";
import { agreeToReplace } from "./confirm-replace.ts";
import { openObject } from "./open-bucket.ts";

/** An object of `--out`: an existing one is replaced only if the user agrees. */
interface CheckedObject {
  readonly bucket: ReturnType<typeof openObject>["bucket"];
  readonly name: string;
  readonly condition: Condition | undefined;
}

/** Checks before any request to the service that objects can be read and asks before existing ones are replaced. Throws a CatError. */
export async function checkObjects(
  app: App,
  addresses: readonly string[],
  flags: BucketFlags,
): Promise<readonly CheckedObject[]> {
  const objects = addresses.map((address) => ({ address, ...openObject(app, address, flags) }));
  const existing: string[] = [];
  for (const { address, bucket, name } of objects) if (await bucket.has(name)) existing.push(address);
  const { yes } = app.globals;
  if (!yes && existing.length > 0)
    await agreeToReplace(app, { flag: "--out", left: "nothing was exported", names: existing });
  return objects.map(({ address, bucket, name }) => ({
    bucket,
    name,
    condition: yes || existing.includes(address) ? undefined : "absent",
  }));
}

/** The object of `--out`, after the same check. */
export async function objectFile(
  app: App,
  address: string,
  { flags, type }: { flags: BucketFlags; type: string },
): Promise<BucketFile> {
  const [object] = await checkObjects(app, [address], flags);
  return new BucketFile(object!.bucket, object!.name, { type, condition: object!.condition });
}
