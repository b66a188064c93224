import { beforeEach, describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { catProgram, needsBuild } from "../../support/spawn-cat.ts";
import { until } from "../../support/until.ts";
import { listenWorld, startHandler } from "./listen-world.ts";

/** A world with a product, and a task per call of `generate`. */
async function pollWorld() {
  const world = await listenWorld();
  expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
  return {
    ...world,
    async generate(flags = "") {
      const ran = await world.cat(
        `beautify --product A1 --subtype clothing --background white --angle front --yes --json --fresh ${flags}`,
      );
      expect(ran).toMatchObject({ exit: 0 });
      return (JSON.parse(ran.stdout) as { tasks: { id: string }[] }).tasks[0]!.id;
    },
  };
}

describe("cat webhooks listen --poll", () => {
  test("reports each task and import that ends from now on, once, and needs no port and no webhook", async () => {
    const world = await pollWorld();
    await world.generate();
    const listener = await world.listen("--poll --count 2");
    expect(listener.first).toEqual({ listening: null, webhook_id: null });
    const task = await world.generate("--no-wait");
    await world.cat("import a.csv --quiet --photos all --fresh");
    expect(await listener.running).toMatchObject({ exit: 0, stderr: "" });
    expect(listener.events().map(({ type, data }) => [type, data])).toEqual(
      expect.arrayContaining([
        ["task.succeeded", { task: { id: task, status: "succeeded" } }],
        ["import.completed", { import: { id: expect.any(String), status: "completed" } }],
      ]),
    );
    for (const line of world.logLines()) {
      expect(line).toMatchObject({ synthetic: true, id: expect.stringMatching(/^evt_[0-9a-f]{26}$/) });
    }
    expect(world.requests().filter(({ path }) => path.startsWith("/v1/webhooks"))).toEqual([]);
  });

  test("reports what ended while it was not running, and nothing twice over restarts", async () => {
    const world = await pollWorld();
    const first = await world.listen("--poll");
    await first.stop();
    const ended = [await world.generate(), await world.generate()];
    const pending = await world.generate("--no-wait");
    await world.cat("import a.csv --quiet --photos all --fresh");
    const second = await world.listen("--poll --count 4");
    expect(await second.running).toMatchObject({ exit: 0 });
    const tasks = second.events().flatMap(({ data }) => data.task?.id ?? []);
    expect(tasks.sort()).toEqual([...ended, pending].sort());
    const third = await world.listen("--poll --timeout 60s");
    expect(await third.running).toMatchObject({ exit: 7 });
    expect(third.events()).toEqual([]);
  });

  test("reports an import whose end this machine has not seen, even with a new log", async () => {
    const world = await listenWorld();
    expect(await world.cat("import a.csv --quiet --no-wait")).toMatchObject({ exit: 0 });
    world.clock.advance(60_000);
    const listener = await world.listen("--poll --wait import.completed --timeout 60s");
    expect(await listener.running).toMatchObject({ exit: 0 });
    expect(listener.events().map(({ type }) => type)).toEqual(["import.completed"]);
  });

  longTest("a failed handler gets the event again as the service would, and after a restart", async () => {
    const world = await pollWorld();
    let isUp = false;
    const handler = await startHandler(() => [isUp ? 200 : 500]);
    const first = await world.listen(`--poll --forward-to ${handler.url}`, {
      env: { CAT_WEBHOOK_SECRET: "whsec_of_test" },
    });
    await world.generate("--no-wait");
    const at = () => world.logLines().flatMap((line) => (line.result_of ? [Date.parse(line.at)] : []));
    await until(() => handler.received.length >= 3);
    await first.stop();
    const failed = handler.received.length;
    isUp = true;
    const [one = 0, two = 0, three = 0] = at();
    // 1 minute and 5 minutes, up to the next poll.
    expect([Math.floor((two - one) / 10_000), Math.floor((three - two) / 10_000)]).toEqual([6, 30]);
    const second = await world.listen(`--poll --forward-to ${handler.url}`);
    await until(() => handler.received.length > failed);
    await second.stop();
    expect([first.events().length, second.events().length, at().length]).toEqual([1, 0, failed + 1]);
    expect(new Set(handler.received.map(({ body }) => body)).size).toBe(1);
  });

  longTest("an outage of the service is waited out", async () => {
    const world = await pollWorld();
    const listener = await world.listen("--poll --count 1");
    const fault = { match: { path: "/v1/tasks" }, status: 503, times: 40 };
    await fetch(`${world.mock.baseUrl}/_mock/faults`, {
      method: "POST",
      body: JSON.stringify(fault),
      headers: { "content-type": "application/json" },
    });
    await until(() => listener.running.stderr.includes("cannot poll the service"));
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    await world.generate("--no-wait");
    expect(await listener.running).toMatchObject({ exit: 0 });
  });

  test("a rejected key ends it", async () => {
    const world = await listenWorld();
    expect(
      await world.cat("webhooks listen --poll", { env: { CAT_API_KEY: "ak_mock_revoked" } }),
    ).toMatchObject({ exit: 4 });
  });

  describe("with --wait and a COMMAND that has exited with 0", () => {
    beforeEach(needsBuild);

    const importing = [process.execPath, catProgram, "import", "a.csv", "--no-wait", "--quiet"];
    const flags = "webhooks listen --poll --wait import.completed --events import.completed --".split(" ");

    longTest(
      "ends with 0 after the event, and the second time with a note, because nothing is in progress",
      async () => {
        const world = await listenWorld();
        const first = await world.cat([...flags, ...importing]);
        expect([first.exit, first.stderr.split("\n").at(-2)]).toEqual([
          0,
          expect.stringContaining("import.completed"),
        ]);
        const second = await world.cat([...flags, ...importing]);
        expect([second.exit, second.stderr.split("\n").at(-2)]).toEqual([
          0,
          "No import.completed came, because nothing was in progress.",
        ]);
      },
    );

    longTest("ends with 7 if an import failed instead", async () => {
      const world = await listenWorld();
      await fetch(`${world.mock.baseUrl}/_mock/faults`, {
        method: "POST",
        body: JSON.stringify({ match: { job: "import" }, fail: { code: "internal", message: "broken" } }),
        headers: { "content-type": "application/json" },
      });
      const ran = await world.cat([...flags, ...importing]);
      expect([ran.exit, ran.stderr.split("\n").slice(-3)]).toEqual([
        7,
        ["error: nothing is in progress: 0 events of 1 came", "Check the events that came instead.", ""],
      ]);
      expect(world.logLines().map(({ type }) => type)).toEqual(["import.failed"]);
    });

    test("waits for what is in progress", async () => {
      const world = await pollWorld();
      const task = await world.generate("--no-wait");
      const ran = await world.cat("webhooks listen --poll --count 1 -- true", {
        env: { PATH: process.env.PATH },
      });
      expect(ran).toMatchObject({ exit: 0 });
      expect(world.logLines().map(({ data }) => data)).toEqual([{ task: { id: task, status: "succeeded" } }]);
    });
  });
});
