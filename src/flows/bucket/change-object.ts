import { buffer } from "node:stream/consumers";
import type { Bucket, PutOptions } from "./bucket.ts";
import { toContent } from "./content.ts";

/** Machines that change an object between a look at it and the write. */
const mostTries = 20;

/**
 * Changes a small object by the content that it has, so that no change of another machine gets lost: `change`
 * is called again with what that one has written. It resolves to null where the object stays as it is. False
 * if others were always faster.
 */
export async function changeObject(
  bucket: Bucket,
  key: string,
  change: (content: Buffer | null) => Promise<Buffer | null>,
  isChecked: boolean,
): Promise<boolean> {
  for (let attempt = 1; attempt <= mostTries; attempt++) {
    const object = await bucket.get(key);
    const content = await change(object === null ? null : await buffer(object.body));
    if (content === null) return true;
    const type = "text/csv; charset=utf-8";
    const condition = object === null ? "absent" : { etag: object.etag };
    const options: PutOptions = isChecked ? { type, condition } : { type };
    if ((await bucket.put(key, toContent(content), options)) !== null) return true;
  }
  return false;
}
