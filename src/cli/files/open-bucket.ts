import { isLoopbackHost } from "../../contract/url-policy.ts";
import { type BucketAddress, readBucketAddress } from "../../flows/bucket/address.ts";
import { Bucket, type Condition } from "../../flows/bucket/bucket.ts";
import { BucketFile } from "../../flows/bucket/bucket-file.ts";
import { openConnections } from "../../http/connections.ts";
import { outsideExchange } from "../../http/outside-exchange.ts";
import { parseUrl } from "../../http/send.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import type { BucketFlags } from "../flags/bucket-flags.ts";
import { showRequest } from "../output/io.ts";
import { agreeToReplace } from "./confirm-replace.ts";

/** The silence after which a store counts as gone, in milliseconds. */
const silenceMs = 60_000;

/** The region of stores other than Amazon's, which ignore it. */
const anyRegion = "us-east-1";

/** Opens a prefix of a bucket until the command ends. */
export function openBucket(app: App, address: BucketAddress, flags: BucketFlags): Bucket {
  const { clock, env, random, interrupt } = app.context;
  const connections = openConnections({ env, isDirect: ({ hostname }) => isLoopbackHost(hostname) });
  app.onClose(() => connections.close());
  const endpoint = flags.endpoint ?? readEndpoint(env);
  const region = flags.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined);
  if (region !== undefined && !/^[a-z0-9-]+$/i.test(region))
    throw new UsageError("the region of the bucket has other characters than letters, digits and hyphens", {
      hint: "Set AWS_REGION or use --region, for example eu-west-3.",
    });
  return new Bucket({
    ...address,
    endpoint,
    region: region ?? (endpoint === undefined ? undefined : anyRegion),
    pathStyle: flags.pathStyle,
    env,
    send: outsideExchange({
      connections,
      clock,
      silenceMs,
      onExchange: app.globals.verbose ? (exchange) => void showRequest(app.io, exchange) : undefined,
    }),
    clock,
    random,
    signal: interrupt,
  });
}

/** The address that the environment names; throws UsageError for one that no request can be sent to. */
function readEndpoint(env: App["context"]["env"]): string | undefined {
  const name = (["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] as const).find((name) => env[name]);
  if (name === undefined) return undefined;
  if (/^https?:$/.test(parseUrl(env[name]!)?.protocol ?? "")) return env[name];
  throw new UsageError(`${name} is not the address of a store`, {
    hint: "Use http://HOST:PORT or https://HOST.",
  });
}

/** The folder of an object as a bucket with a prefix, and its name. Throws UsageError without a name. */
function openObject(
  app: App,
  address: string,
  flags: BucketFlags,
): { readonly bucket: Bucket; readonly name: string } {
  const { bucket, prefix } = readBucketAddress(address);
  if (prefix === "" || address.trim().endsWith("/"))
    throw new UsageError("--out is a bucket without the name of an object", {
      param: "--out",
      hint: "Add the name, for example --out s3://shop/catalogue.csv.",
    });
  const parts = prefix.slice(0, -1).split("/");
  const name = parts.pop()!;
  const folder = parts.map((part) => `${part}/`).join("");
  return { bucket: openBucket(app, { bucket, prefix: folder }, flags), name };
}

/** An object of `--out`: an existing one is replaced only if the user agrees. */
interface CheckedObject {
  readonly bucket: Bucket;
  readonly name: string;
  readonly condition: Condition | undefined;
}

/** Checks before other requests that objects can be read; asks before replacing any. Throws a CatError. */
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
