import { expect, test } from "vitest";
import { bytes, refusal } from "../../http/scripted-server.ts";
import { importWorld } from "./run-import.ts";
import { type Script, scriptedService } from "./scripted-service.ts";

const cdn = "https://cdn.example.com";

/** Imports five calls' rows through a service that follows the script. */
async function five(script: (world: Awaited<ReturnType<typeof importWorld>>) => Script) {
  const world = await importWorld();
  const rows = Array.from({ length: 8001 }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`);
  await world.write("a.csv", `reference,name,images\n${rows.join("")}`);
  const service = await scriptedService(world, script(world));
  const begun = world.clock.now();
  const ran = await world.import("a.csv", { concurrency: 1 }, () => service.client);
  return { ...ran, service, ms: world.clock.now() - begun };
}

const failing = bytes(500, "<h1>", { "content-type": "text/html" });
const forbidden = bytes(403, "", {});

test("results that cannot be had are waited for once, and it is told; those of the rest are tried once each", async () => {
  const { service, stopped, summary, ms } = await five(() => ({ results: () => failing }));
  expect(stopped).toMatchObject({ type: "bad_answer", code: "download_refused", status: 500 });
  expect(summary).toMatchObject({ submitted: 8001, succeeded: 0 });
  expect(service.downloads()).toBe(6 + 4);
  expect(service.waits.map(({ reason }) => reason)).toEqual(Array.from({ length: 5 }, () => "server_error"));
  expect(service.waits.every(({ path }) => path.startsWith("/results/"))).toBe(true);
  expect(ms).toBeLessThan(30_000);
});

test("once results are had again, those of the others are waited for as usual", async () => {
  let tries = 0;
  const { service, summary } = await five(() => ({
    results: (job) => (job === 1 || (job === 3 && ++tries < 4) ? failing : null),
  }));
  expect(summary).toMatchObject({ submitted: 8001, succeeded: 6001 });
  expect(service.downloads()).toBe(6 + 1 + 4 + 2);
});

test("links that are not honoured are asked for afresh, for the first import of which that is so", async () => {
  const { service, stopped } = await five(() => ({ results: () => forbidden }));
  expect(stopped).toMatchObject({ type: "signed_url" });
  expect(service.downloads()).toBe(3 + 4);
});

test("nobody who is not let in any more asks for the other results", async () => {
  const looks = new Map<number, number>();
  const { service, stopped } = await five(() => ({
    job: (job) => {
      looks.set(job, (looks.get(job) ?? 0) + 1);
      return looks.get(job)! > 1 ? refusal(401, "invalid_api_key") : null;
    },
  }));
  expect(stopped).toMatchObject({ status: 401 });
  expect(service.downloads()).toBe(0);
  expect([...looks.values()]).toEqual([2, 1, 1, 1, 1]);
});

test("a service that is gone is not asked for the results of every import in turn", async () => {
  const looks = new Map<number, number>();
  const { stopped } = await five(() => ({
    job: (job) => {
      looks.set(job, (looks.get(job) ?? 0) + 1);
      return looks.get(job)! > 1 ? refusal(503, "unavailable") : null;
    },
  }));
  expect(stopped).toMatchObject({ status: 503 });
  expect([...looks.values()]).toEqual([7, 7, 1, 1, 1]);
});

test("the imports whose results were not read are told apart from the others", async () => {
  const { service, unread, summary } = await five(() => ({
    results: (job) => (job === 2 ? forbidden : null),
  }));
  expect([...unread!]).toEqual([service.idOf(2)]);
  expect(summary?.unread).toEqual([service.idOf(2)]);
});
