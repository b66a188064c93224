import { join } from "node:path";
import { CatError } from "../../errors.ts";
import { withoutEnd } from "../../text.ts";

export interface BucketAddress {
  readonly bucket: string;
  /** The start of all keys: empty, or with a final `/`. */
  readonly prefix: string;
}

export const isBucketAddress = (text: string): boolean => /^\s*s3:/i.test(text);

/** The name of a file in a folder or a bucket, for messages. */
export const nameIn = (place: string, name: string): string =>
  isBucketAddress(place) ? `${withoutEnd(place.trim(), /\//)}/${name}` : join(place, name);

/** Reads `s3://BUCKET/PREFIX`, as written. Its CatError (usage) shows no part that may hold credentials. */
export function readBucketAddress(text: string): BucketAddress {
  const [, bucket = "", given = ""] = /^s3:\/\/([^/]*)(?:\/(.*))?$/i.exec(text.trim()) ?? [];
  const path = given.endsWith("/") ? given.slice(0, -1) : given;
  if (/[@:]/.test(bucket))
    throw invalid("has more than a bucket and a prefix", "Give credentials by the environment or a profile.");
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw invalid(
      "has no valid bucket name",
      "Use s3://BUCKET/PREFIX. A bucket has 3 to 63 lower-case letters, digits, dots and hyphens.",
    );
  const parts = path === "" ? [] : path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..") || /[\0-\x1f\\]/.test(path))
    throw invalid(
      "has a prefix with an empty part, a dot part or a control character",
      "Choose another prefix.",
    );
  return { bucket, prefix: path === "" ? "" : `${path}/` };
}

const invalid = (what: string, hint: string): CatError =>
  new CatError(`the address of the bucket ${what}`, { type: "usage", code: "invalid_bucket", hint });
