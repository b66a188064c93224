import { describe, expect, test } from "vitest";
import { refusal, type Step } from "../../http/scripted-server.ts";
import { until } from "../../support/until.ts";
import { batchesOf } from "./batch-rows.ts";
import { importWorld } from "./run-import.ts";
import { type Script, scriptedService } from "./scripted-service.ts";

batchesOf(2);

const cdn = "https://cdn.example.com";
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => `R-${index},Dress,${cdn}/${index}.jpg\n`).join("");

/** An event of the scenario; everything passed to `after` waits for it. */
function happening() {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  const after =
    (step: Step): Step =>
    (response, seen) =>
      void happened.then(() => setImmediate(() => step(response, seen)));
  return { happen, after };
}

/** Imports four batches, sent at once, through a scripted service; `begun` waits until all four are recorded. */
async function four(script: (begun: (step: Step) => Step) => Script, piped = true) {
  const world = await importWorld();
  await world.write("a.csv", `reference,name,images\n${rows(7)}`);
  const begun =
    (step: Step): Step =>
    async (response, seen) => {
      const { runs, batches } = await world.stateOf();
      const [run] = runs.ofKind("import");
      await until(() => batches.of(run!.id).length === 4);
      step(response, seen);
    };
  const service = scriptedService(world, script(begun));
  const ran = await world.import("a.csv", {}, { piped, ...service.by });
  return {
    ...ran,
    service,
    world,
    unsent: (await world.failed().catch(() => "")).match(/,not_sent,/g)?.length ?? 0,
  };
}

const window = (remaining: number) => ({
  "x-ratelimit-limit": "60",
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(Date.parse("2026-01-05T09:01:00Z") / 1000),
});
const noCredits = refusal(402, "insufficient_credits");

describe("an import does not send waiting batches after another one was not accepted", () => {
  test.each<[string, Step]>([
    ["a 402 with room in the rate limit window", refusal(402, "insufficient_credits", window(50))],
    ["a 402 without rate limit headers", noCredits],
    ["a 429 with a long Retry-After", refusal(429, "rate_limit_exceeded", { "retry-after": 3600 })],
    ["a 501", refusal(501, "not_implemented")],
  ])("when the first one gets %s", async (_, step) => {
    const { service, summary, unsent } = await four((begun) => ({ post: () => begun(step) }));
    expect(service.posts()).toHaveLength(1);
    expect(summary).toMatchObject({ submitted: 0, failed_file: "stdin.failed.csv" });
    expect(unsent).toBe(5);
  });

  test("when the rate limit window is used up", async () => {
    const { service, summary, unsent } = await four((begun) => ({
      post: (nth) => (nth === 2 ? begun(noCredits) : null),
      postHeaders: () => window(1),
    }));
    expect(service.posts()).toHaveLength(2);
    expect(summary).toMatchObject({ submitted: 2, refused: [{ rows: 2 }] });
    expect(unsent).toBe(3);
  });

  test("when they wait after a 429: nothing was done", async () => {
    const limited = happening();
    const { service, summary, unsent } = await four((begun) => ({
      post: (nth) => {
        if (nth === 2) {
          return begun((response, seen) => {
            refusal(429, "rate_limit_exceeded", { "retry-after": 60 })(response, seen);
            response.on("close", limited.happen);
          });
        }
        return nth === 3 ? limited.after(noCredits) : null;
      },
      postHeaders: () => window(2),
    }));
    expect(service.posts()).toHaveLength(3);
    expect(summary!.submitted + summary!.refused![0]!.rows + unsent).toBe(7);
    expect(summary).toMatchObject({ imports: [{ rows: 2 }], refused: [{ rows: expect.any(Number) }] });
  });
});

test("an import waits for the response to a request that may have been sent when another batch is rejected", async () => {
  const [allOut, refused] = [happening(), happening()];
  const { service, summary } = await four(() => ({
    post: (nth, usual) => {
      if (nth === 4) allOut.happen();
      if (nth === 1) return null;
      if (nth > 2) return refused.after(usual);
      return allOut.after((response, seen) => {
        noCredits(response, seen);
        response.on("close", refused.happen);
      });
    },
    postHeaders: () => window(3),
  }));
  expect(service.posts()).toHaveLength(4);
  expect(summary!.imports).toHaveLength(3);
  expect(summary!.refused).toHaveLength(1);
  expect(summary!.unknown).toBeUndefined();
});

test.each<[number, number, string[]]>([
  [401, 1, ["a.csv"]],
  [403, 1, ["a.csv"]],
  [401, 2, ["a.csv"]],
])(
  "after a %i that rejects the API key of batch %i, the files are %j",
  async (status, refusedCall, files) => {
    const { world, stopped, summary } = await four(
      () => ({
        post: (nth) => (nth === refusedCall ? refusal(status, "no") : null),
        postHeaders: () => window(1),
      }),
      false,
    );
    expect(stopped).toMatchObject({ status });
    expect(summary?.failed_file).toBe(files[1] ?? null);
    expect(await world.files()).toEqual(files);
  },
);
