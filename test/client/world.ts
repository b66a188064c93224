import { type Client, createClient } from "../../src/client/client.ts";
import type { ClientOptions } from "../../src/client/options.ts";
import { type Step, scriptedServer, stopServers } from "../http/scripted-server.ts";
import { TestClock } from "../support/test-clock.ts";

const open: Client[] = [];

/** A client in front of a scripted server, on a clock that jumps over sleeps. */
export async function clientAgainst(steps: Step[], options: Partial<ClientOptions> = {}) {
  const server = await scriptedServer(...steps);
  const clock = new TestClock();
  const client = createClient({
    ...{ baseUrl: server.origin, apiKey: "ak_test_key_0123456789", clock, random: () => 0.5 },
    ...options,
  });
  open.push(client);
  return { server, client, clock };
}

/** Closes everything a test opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((client) => client.close()));
  await stopServers();
}

const at = "2026-01-05T09:00:00Z";

/** A product as the service returns it. */
export const product = (more: object = {}) => ({
  id: "01JGZZ0000000000000000000A",
  name: "Linen shirt",
  reference: "SHIRT-1",
  description: null,
  sex: "female",
  images: [],
  created_at: at,
  updated_at: at,
  ...more,
});

/** An import job as the service returns it. */
export const importJob = (status: string) => ({
  id: "01JGZZ0000000000000000000B",
  status,
  mode: "upsert",
  on_image_error: "skip",
  counts: { total: 1, pending: 0, succeeded: 1, partial: 0, failed: 0 },
  results_url: null,
  created_at: at,
  started_at: null,
  finished_at: null,
});
