import { isLoopbackHost } from "../../../contract/url-policy.ts";
import { readBucketAddress } from "../../../flows/bucket/address.ts";
import { Bucket } from "../../../flows/bucket/bucket.ts";
import { BucketMirror } from "../../../flows/export/sync/bucket-mirror.ts";
import type { MirrorFiles } from "../../../flows/export/sync/mirror-state.ts";
import { openConnections } from "../../../http/http-core.ts";
import { outsideExchange } from "../../../http/outside-exchange.ts";
import type { App } from "../../app/app.ts";
import { showRequest } from "../../output/stderr-lines.ts";

/** How a store is reached. */
export interface BucketFlags {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly pathStyle: boolean;
  /** Whether no lease is taken, because no other machine works on the mirror. */
  readonly unlocked: boolean;
}

/** The silence after which a store counts as gone, in milliseconds. */
const silenceMs = 60_000;

/** The region of stores other than Amazon's, which ignore it. */
const anyRegion = "us-east-1";

/** Opens a mirror in a bucket; everything that this machine has of it is removed when the command ends. */
export function openBucketMirror(
  app: App,
  address: string,
  { flags, files }: { flags: BucketFlags; files: MirrorFiles },
): BucketMirror {
  const { clock, env, random, interrupt } = app.context;
  const connections = openConnections({ env, isDirect: ({ hostname }) => isLoopbackHost(hostname) });
  app.onClose(() => connections.close());
  const endpoint = flags.endpoint ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
  const region = flags.region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  const newId = () => crypto.randomUUID();
  const bucket = new Bucket({
    ...readBucketAddress(address),
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
    newId,
    signal: interrupt,
  });
  const mirror = new BucketMirror(bucket, { files, clock, newId, isUnlocked: flags.unlocked });
  app.onClose(async () => mirror.close());
  return mirror;
}
