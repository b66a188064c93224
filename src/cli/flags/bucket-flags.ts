import { Argument, type Command, Option } from "commander";
import { isBucketAddress, readBucketAddress } from "../../flows/bucket/address.ts";
import { parseUrl } from "../../http/send.ts";
import { UsageError } from "../context/errors.ts";
import { flagName } from "../output/command-words.ts";
import { takeBuckets } from "./local-path.ts";

export interface BucketFlags {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly pathStyle: boolean;
}

export const bucketArgument = (name: string, description: string): Argument =>
  takeBuckets(new Argument(name, description));

export const bucketOption = (flags: string, description: string): Option =>
  takeBuckets(new Option(flags, description));

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
