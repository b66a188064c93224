import { expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { NetworkError } from "../../../src/http/errors.ts";
import { openState } from "../../../src/state/state.ts";
import { importWorld } from "./run-import.ts";

const hosts = ["https://cdn.example.com", "https://other.example.com"];

/** A client in whose network no host of photos is found; the fetches are recorded. */
const withoutHosts = (client: Client, fetched: string[]): Client => ({
  ...client,
  async *download(url, options) {
    if (!hosts.some((host) => url.startsWith(host))) return yield* client.download(url, options);
    fetched.push(new URL(url).host);
    throw new NetworkError("cannot find the host", { code: "host_not_found", transient: true });
  },
});

test("photos of a host that is not found are not fetched one by one: their rows are conflicts", async () => {
  const world = await importWorld();
  const rows = Array.from({ length: 60 }, (_, row) => `R-${row},Dress,${hosts[row % 2]}/${row}.jpg\n`);
  await world.write("a.csv", `reference,name,images\n${rows.join("")}`);
  await world.import("a.csv");
  const fetched: string[] = [];
  const state = await openState(null, { clock: world.clock });
  const { summary } = await world.import("a.csv", { machine: { state } }, (client) =>
    withoutHosts(client, fetched),
  );
  state.close();
  expect(summary).toMatchObject({ conflicts: 60, submitted: 0 });
  expect(await world.read("failed")).toContain(",photo_unknown,");
  // Those that were fetched at once, before the first had failed.
  expect(new Set(fetched).size).toBe(2);
  expect(fetched.length).toBeLessThanOrEqual(8);
});
