import { onTestFinished } from "vitest";
import { Bucket, type BucketOptions } from "../../src/flows/bucket/bucket.ts";
import { openConnections } from "../../src/http/connections.ts";
import { outsideExchange } from "../../src/http/outside-exchange.ts";
import { TestClock } from "./test-clock.ts";

/** An object store: its address and credentials, and a prefix of its bucket `shop`. */
export type Place = Pick<BucketOptions, "endpoint" | "env" | "prefix">;

/** A prefix of a bucket, until the test ends. */
export function openBucket(
  place: Place,
  {
    clock = new TestClock(),
    signal = never,
    onSend = () => {},
  }: { clock?: TestClock; signal?: AbortSignal; onSend?: (headers: object) => void } = {},
): Bucket {
  const connections = openConnections({ env: {}, isDirect: () => true });
  onTestFinished(() => connections.close());
  const send = outsideExchange({ connections, clock, silenceMs: 60_000 });
  return new Bucket({
    bucket: "shop",
    region: "us-east-1",
    pathStyle: true,
    ...place,
    send(request) {
      onSend(request.headers);
      return send(request);
    },
    clock,
    random: () => 0,
    signal,
  });
}

const { signal: never } = new AbortController();
