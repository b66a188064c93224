import { describe, expect, test } from "vitest";
import { bytes, cutInHalf, json, refusal, reset } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { batchesOf } from "./batch-rows.ts";
import { type ImportWorld, importWorld } from "./run-import.ts";
import { type Script, scriptedService } from "./scripted-service.ts";

// One row more than a page per batch, so that the results have two pages.
batchesOf(101);

const cdn = "https://cdn.example.com";

/** Imports the rows of five batches through a scripted service. */
async function five(script: (world: ImportWorld) => Script) {
  const world = await importWorld();
  const rows = Array.from({ length: 405 }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`);
  await world.write("a.csv", `reference,name,images\n${rows.join("")}`);
  const service = scriptedService(world, script(world));
  const begun = world.clock.now();
  const ran = await world.import("a.csv", { concurrency: 1 }, service.by);
  return { ...ran, service, ms: world.clock.now() - begun };
}

const failing = bytes(500, "<h1>", { "content-type": "text/html" });
const forbidden = bytes(403, "", {});
/** A 404 for the list, which is not retried. */
const noList = refusal(404, "import_not_found");

test("retries unavailable results of the first import, reports it, and lists those of the others", async () => {
  const { service, stopped, summary, ms } = await five(() => ({
    results: () => failing,
    rows: () => noList,
  }));
  expect(stopped).toMatchObject({ type: "bad_response", code: "download_refused" });
  expect(summary).toMatchObject({ submitted: 405, succeeded: 0 });
  expect(service.downloads()).toBe(6);
  expect(service.lists()).toHaveLength(5);
  expect(ms).toBeLessThan(30_000);
});

describe("an import reads results from the service's list if the links fail", () => {
  const half = cutInHalf(`${JSON.stringify({ line: 1 })}\n`.repeat(100));

  test.each(
    sampled(
      [
        ["rejected", forbidden, 1],
        ["failing with a storage error", failing, 6],
        ["disconnected before the response", reset, 6],
        ["cut off within the response", half, 1],
        ["replaced with HTML", bytes(200, "<h1>\n", { "content-type": "text/html" }), 5],
        ["redirected", bytes(302, "", { location: "https://login.example.com" }), 1],
      ],
      1,
    ),
  )("if links are %s", async (_, step, patience) => {
    const { service, stopped, summary, ms } = await five(() => ({ results: () => step }));
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ submitted: 405, succeeded: 405, created: 405 });
    expect(summary?.unread).toBeUndefined();
    expect(service.downloads()).toBe(patience);
    const ofAll = [1, 2, 3, 4].map((job) => pagesOf(service.idOf(job), 101));
    expect(service.lists()).toEqual([...ofAll.flat(), ...pagesOf(service.idOf(5), 1)]);
    expect(ms).toBeLessThan(30_000);
  });

  /** The pages of an import's rows, a hundred each. */
  const pagesOf = (id: string, rows: number): string[] =>
    Array.from({ length: Math.ceil(rows / 100) }, (_, page) => {
      const cursor = page === 0 ? "" : `&cursor=${page * 100}`;
      return `/v1/imports/${id}/rows?limit=100${cursor}`;
    });

  longTest("if the import has no link", async () => {
    const { service, stopped, summary } = await five(() => ({
      job: (_, asJob) => json(200, { ...asJob("completed"), results_url: null }),
    }));
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ submitted: 405, succeeded: 405 });
    expect(service.downloads()).toBe(0);
  });

  longTest("and then reads the lists of the other imports", async () => {
    const { service, summary } = await five(() => ({ results: (job) => (job === 1 ? forbidden : null) }));
    expect(summary).toMatchObject({ succeeded: 405 });
    expect(service.downloads()).toBe(1);
    expect(service.lists()).toHaveLength(4 * 2 + 1);
  });

  test("retries a failing list once, and reports the error of the link", async () => {
    const { service, stopped } = await five(() => ({
      results: () => forbidden,
      rows: () => refusal(503, "unavailable"),
    }));
    expect(stopped).toMatchObject({ type: "signed_url" });
    expect(service.lists()).toHaveLength(6);
    expect(service.downloads()).toBe(1);
  });

  longTest("requests nothing more if the key cannot read the list", async () => {
    const { service, stopped, summary } = await five(() => ({
      results: () => failing,
      rows: () => refusal(401, "invalid_api_key"),
    }));
    expect(stopped).toMatchObject({ status: 401, code: "invalid_api_key" });
    expect(service.lists()).toHaveLength(1);
    expect(service.downloads()).toBe(6);
    expect(summary?.unread).toHaveLength(5);
  });

  longTest("stops reading a list that is longer than the batch", async () => {
    let page = 0;
    const result = { reference: "R", status: "succeeded", action: "created", product_id: null };
    const data = Array.from({ length: 100 }, (_, at) => ({
      ...{ ...result, line: at + 1, images: [], error: null },
    }));
    const { service, stopped } = await five(() => ({
      results: () => forbidden,
      rows: () => json(200, { data, has_more: true, next_cursor: `${++page}` }),
    }));
    expect(stopped).toMatchObject({ type: "signed_url" });
    expect(service.lists()).toHaveLength(4 * 2 + 1);
  });

  longTest("stops reading a list after an interrupt", async () => {
    const { service, stopped } = await five(({ interrupt }) => ({
      results: () => forbidden,
      rows: () => (response) => {
        interrupt();
        response.destroy();
      },
    }));
    expect(stopped).toMatchObject({ type: "interrupted" });
    expect(service.lists()).toHaveLength(1);
    expect(service.downloads()).toBe(1);
  });
});

test("an import does not request other results after the API key was rejected", async () => {
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

test("an import does not request the results of every import in turn if the service is unreachable", async () => {
  const looks = new Map<number, number>();
  const { service, stopped, summary } = await five(() => ({
    job: (job) => {
      looks.set(job, (looks.get(job) ?? 0) + 1);
      return looks.get(job)! > 1 ? refusal(503, "unavailable") : null;
    },
    rows: () => refusal(503, "unavailable"),
  }));
  expect(stopped).toMatchObject({ status: 503 });
  expect([...looks.values()]).toEqual([7, 1, 1, 1, 1]);
  expect(service.lists()).toHaveLength(6);
  expect(summary?.unread).toHaveLength(5);
});

test("an import reports which imports have unread results", async () => {
  const { service, summary } = await five(() => ({
    results: (job) => (job === 5 ? forbidden : null),
    rows: () => noList,
  }));
  expect(summary?.unread).toEqual([service.idOf(5)]);
});
