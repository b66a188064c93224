import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import { importWorld } from "./run-import.ts";

const hosts = ["cdn.example.com", "other.example.com"];

/** The URLs of photos that are requested from now on. */
function requested(): Set<string> {
  const urls = new Set<string>();
  const channel = "undici:request:create";
  const record = (message: unknown) => {
    const { origin, path } = (message as { request: { origin: string; path: string } }).request;
    if (hosts.some((host) => origin.includes(host))) urls.add(`${origin}${path}`);
  };
  subscribe(channel, record);
  onTestFinished(() => void unsubscribe(channel, record));
  return urls;
}

test("photos of a host that is not found are not fetched one by one: their rows are conflicts", async () => {
  const world = await importWorld();
  const rows = Array.from(
    { length: 60 },
    (_, row) => `R-${row},Dress,https://${hosts[row % 2]}/${row}.jpg\n`,
  );
  await world.write("a.csv", `reference,name,images\n${rows.join("")}`);
  await world.import("a.csv");
  const fetched = requested();
  const { summary } = await world.import("a.csv", {}, { machine: "other" });
  expect(summary).toMatchObject({ conflicts: 60, submitted: 0 });
  expect(await world.failed()).toContain(",photo_unknown,");
  // Eight at a time, until one of each host has failed.
  expect(fetched.size).toBeGreaterThanOrEqual(2);
  expect(fetched.size).toBeLessThan(20);
});
