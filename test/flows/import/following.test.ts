import { expect, test } from "vitest";
import { json, refusal, type Step } from "../../http/scripted-server.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { batchesOf } from "./batch-rows.ts";
import { importWorld } from "./run-import.ts";
import { type Script, scriptedService } from "./scripted-service.ts";

batchesOf(2);

const cdn = "https://cdn.example.com";

/** Imports the rows of `count` batches; `script` is the service's response to a poll. */
async function jobs(count: number, script: NonNullable<Script["job"]>) {
  const world = await importWorld();
  const rows = Array.from({ length: (count - 1) * 2 + 1 }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`);
  await world.write("a.csv", `reference,name,images\n${rows.join("")}`);
  const service = scriptedService(world, { job: script });
  const ran = await world.import("a.csv", { concurrency: 1 }, service.by);
  return { ...ran, service };
}

const halfJson: Step = (response) =>
  response.writeHead(200, { "content-type": "application/json" }).end('{"id":');

test.each<[string, Step, object]>(
  sampled(
    [
      ["is not found", refusal(404, "import_not_found"), { status: 404 }],
      ["gets truncated responses", halfJson, { code: "incomplete_response" }],
      ["fails through all retries", refusal(503, "unavailable"), { status: 503 }],
    ],
    1,
  ),
)("an import follows the other imports until they end if one %s", async (_, step, error) => {
  const { summary, stopped } = await jobs(4, (job) => (job === 2 ? step : null));
  expect(stopped).toMatchObject(error);
  expect(summary).toMatchObject({ submitted: 7, succeeded: 5 });
  expect(summary?.imports.map(({ status }) => status)).toEqual([
    "completed",
    "validating",
    "completed",
    "completed",
  ]);
});

test("an import does not poll the other imports after the API key was rejected", async () => {
  const { summary, stopped, service } = await jobs(30, () => refusal(401, "invalid_api_key"));
  expect(stopped).toMatchObject({ status: 401 });
  expect(summary).toMatchObject({ submitted: 59, succeeded: 0 });
  const asked = Array.from({ length: 30 }, (_, index) => service.reads(index + 1));
  expect(asked.slice(20)).toEqual(Array.from({ length: 10 }, () => 0));
});

longTest("an import does not poll every import in turn after the service became unreachable", async () => {
  const { stopped, service } = await jobs(30, () => refusal(503, "unavailable"));
  expect(stopped).toMatchObject({ status: 503 });
  const asked = Array.from({ length: 30 }, (_, index) => service.reads(index + 1));
  expect(asked.at(-1)).toBe(0);
});

test.each<[string, number, number, Step]>(
  sampled(
    [
      ["a rejected API key", 3, 401, refusal(401, "invalid_api_key")],
      ["an unreachable service", 8, 503, refusal(503, "unavailable")],
    ],
    1,
  ),
)("an import reports %s, not the import that was skipped before", async (_, count, status, step) => {
  let gone = false;
  const { stopped, summary } = await jobs(count, (job, asJob) => {
    if (job === 1) {
      gone = true;
      return refusal(404, "import_not_found");
    }
    return gone ? step : json(200, asJob("processing"), { "retry-after": 1 });
  });
  expect(stopped).toMatchObject({ status });
  expect(summary).toMatchObject({ succeeded: 0 });
});

test("an import reports an API key rejected while reading results, not the import that was skipped before", async () => {
  const looks = new Map<number, number>();
  const { stopped } = await jobs(2, (job) => {
    if (job === 1) return refusal(404, "import_not_found");
    looks.set(job, (looks.get(job) ?? 0) + 1);
    return looks.get(job)! > 1 ? refusal(401, "invalid_api_key") : null;
  });
  expect(stopped).toMatchObject({ status: 401 });
});

longTest("polls at most 20 imports at once", async () => {
  const looks = new Map<number, number>();
  let atFirstEnd: number | null = null;
  const { summary } = await jobs(25, (job, asJob) => {
    const looked = (looks.get(job) ?? 0) + 1;
    looks.set(job, looked);
    // All batches were sent long before.
    if (looked < 100) return json(200, asJob("processing"), { "retry-after": 5 });
    atFirstEnd ??= looks.size;
    return null;
  });
  expect(summary?.succeeded).toBe(49);
  expect(atFirstEnd).toBe(20);
});
