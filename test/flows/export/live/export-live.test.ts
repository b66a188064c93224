import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../../../../src/client/client.ts";
import { CatError } from "../../../../src/errors.ts";
import { exportLive, type RowSink } from "../../../../src/flows/export/live/export-live.ts";
import { rowFormat } from "../../../../src/flows/export/live/row-format.ts";
import { TestClock } from "../../../support/test-clock.ts";
import { until } from "../../../support/until.ts";
import { type CatalogueServerOptions, catalogueServer, rowOf } from "./catalogue-server.ts";

/** A service with five products on pages of two, and an export of them. */
async function liveWorld(options: CatalogueServerOptions = {}) {
  const rows = [5, 4, 3, 2, 1].map((number) => rowOf(number));
  const service = await catalogueServer(rows, { pageSize: 2, ...options });
  const clock = new TestClock();
  const client = createClient({ baseUrl: service.baseUrl, apiKey: "ak_test", clock, random: () => 0.5 });
  onTestFinished(() => client.close());
  const done: string[] = [];
  const run = (write: RowSink["write"], { signal } = new AbortController()) =>
    exportLive(
      { roles: null, since: null },
      rowFormat("ndjson", { json: (line) => line, cell: (cell) => cell }),
      {
        ...{ client, clock, signal },
        sink: {
          write,
          commit: async () => void done.push("commit"),
          discard: async () => void done.push("discard"),
        },
        onProgress: ({ done: products }) => void done.push(String(products)),
      },
    );
  return { service, clock, done, run };
}

test("the next page is requested while one is written, and not the one after it", async () => {
  const { service, run, done } = await liveWorld();
  const requested: number[] = [];
  const write = async () => {
    const expected = Math.min(3, requested.length + 2);
    await until(() => service.requests.length === expected);
    // Time for one request too many.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    requested.push(service.requests.length);
  };
  expect(await run(write)).toMatchObject({ products: 5, assets: 0, deleted: 0 });
  expect(requested).toEqual([2, 3, 3]);
  expect(done).toEqual(["0", "2", "4", "5", "commit"]);
});

test("a failed write ends the export at once, although the next page hangs", async () => {
  const { run, done } = await liveWorld({
    respond: ({ searchParams }) => (searchParams.has("cursor") ? { hangs: true } : undefined),
  });
  const full = new CatError("no space left on device", { type: "output", code: "ENOSPC" });
  const write = async () => {
    throw full;
  };
  await expect(run(write)).rejects.toBe(full);
  expect(done).toEqual(["0", "discard"]);
});

test("an interrupt ends the export while a page hangs, and after the last page", async () => {
  const hung = await liveWorld({ respond: () => ({ hangs: true }) });
  const stop = new AbortController();
  const stopped = hung.run(async () => {}, stop);
  await until(() => hung.service.requests.length === 1);
  stop.abort(new CatError("interrupted", { type: "interrupted", code: "SIGINT" }));
  await expect(stopped).rejects.toThrow("interrupted");
  expect(hung.done).toEqual(["0", "discard"]);

  const ended = await liveWorld();
  const late = new AbortController();
  let pages = 0;
  const write = async () => {
    if (++pages === 3) late.abort(new CatError("interrupted", { type: "interrupted", code: "SIGINT" }));
  };
  await expect(ended.run(write, late)).rejects.toThrow("interrupted");
  expect(ended.done.at(-1)).toBe("discard");
});

test("an export of changes starts by the local clock if the service sends no time", async () => {
  const { run, clock } = await liveWorld({ hasDate: false });
  const { startedAt } = await run(async () => clock.advance(60_000));
  expect(new Date(startedAt).toISOString()).toBe("2026-01-05T09:00:00.000Z");
});
