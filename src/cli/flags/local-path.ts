import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Argument, type Command, Option } from "commander";
import { isBucketAddress, readBucketAddress } from "../../flows/bucket/address.ts";
import { parseUrl } from "../../http/send.ts";
import { UsageError } from "../context/errors.ts";
import { flagName, shellWord } from "../output/command-words.ts";

/** The placeholders of values that are paths. */
export const pathPlaceholder = /\b(?:FILE|FOLDER|DIR|PHOTO|DECISIONS|PLAN)\b/;

/** The arguments and options that take `s3://` as well as a path. */
const takingBuckets = new WeakSet<Argument | Option>();

/** Has an argument or an option take `s3://` as well as a path. */
export function takeBuckets<Place extends Argument | Option>(place: Place): Place {
  takingBuckets.add(place);
  return place;
}

/** A drive letter such as `C:` is not a scheme. */
const scheme = /^\s*([a-z][a-z0-9+.-]+:\/\/?)/i;

/**
 * Throws UsageError for an address such as `s3://bucket/x`: as a path it would name a folder `s3:` of this computer.
 * `./s3://x` is a path. The error has no other part of the address, which may hold credentials.
 */
export function rejectAddress(text: string, param: string): void {
  const found = scheme.exec(text)?.[1]?.toLowerCase();
  if (found === undefined) return;
  throw new UsageError(`${param} must be a path on this computer, not an address (${found})`, {
    code: "not_a_path",
    param,
    hint: `Use a path, for example ${shellWord(pathIn(text.trim()))}.`,
  });
}

/** The path that the user may have meant. */
function pathIn(address: string): string {
  try {
    if (/^file:/i.test(address)) return fileURLToPath(address);
    const { host, pathname } = new URL(address);
    return `./${basename(decodeURIComponent(pathname)) || host}`;
  } catch {
    return "./images";
  }
}

/** Has a command reject addresses in its flags that take a path, and no bucket. */
export function settlePaths(one: Command): void {
  for (const option of one.options) {
    if (!pathPlaceholder.test(option.flags)) continue;
    one.on(`option:${option.name()}`, (value) => {
      if (typeof value !== "string" || (takingBuckets.has(option) && isBucketAddress(value))) return;
      rejectAddress(value, option.long ?? option.flags);
    });
  }
}

/** Rejects addresses in the arguments of a command that are paths. */
export function rejectAddressArguments({ registeredArguments, args }: Command): void {
  args.forEach((value, at) => {
    const argument = registeredArguments[at] ?? registeredArguments.at(-1);
    if (argument !== undefined && takingBuckets.has(argument) && isBucketAddress(value)) return;
    const name = argument?.name() ?? "";
    if (pathPlaceholder.test(name)) rejectAddress(value, name);
  });
}

/** How the store of a bucket is reached. */
export interface BucketFlags {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly pathStyle: boolean;
}

/** An argument that is a path or a bucket. */
export const bucketArgument = (name: string, description: string): Argument =>
  takeBuckets(new Argument(name, description));

/** An option that takes a path or a bucket. */
export const bucketOption = (flags: string, description: string): Option =>
  takeBuckets(new Option(flags, description));

/** Adds the flags of stores, in a group of their own. */
export const withBucketFlags = (made: Command): Command =>
  made
    .optionsGroup("Buckets (s3://):")
    .option("--endpoint <URL>", "address of the store (or AWS_ENDPOINT_URL_S3; default: Amazon S3)")
    .option("--region <R>", "region of the bucket (or AWS_REGION)")
    .option("--path-style", "the bucket is part of the path, as stores of your own expect", false);

/** Checks the flags of stores, and the address if the target is a bucket. Throws UsageError. */
export function checkBucketFlags(target: string | null | undefined, flags: BucketFlags): void {
  if (target != null && isBucketAddress(target)) {
    readBucketAddress(target);
    if (flags.endpoint === undefined || isEndpoint(flags.endpoint)) return;
    throw new UsageError("--endpoint is not the address of a store", {
      param: "--endpoint",
      hint: "Use http://HOST:PORT or https://HOST, without a user name, a path or a query.",
    });
  }
  const given = (["endpoint", "region", "pathStyle"] as const).find((name) => flags[name]);
  if (given !== undefined) throw forBuckets(given);
}

/** The error of a flag that has no effect on paths. */
export const forBuckets = (flag: string): UsageError =>
  new UsageError(`${flagName(flag)} is for buckets, such as s3://shop/images`, {
    param: flagName(flag),
    hint: `Remove ${flagName(flag)}, or use the address of a bucket.`,
  });

const isEndpoint = (text: string): boolean => {
  const url = parseUrl(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
};
