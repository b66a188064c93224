import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { importsWorld, mixed, tidy } from "./imports-world.ts";

type World = Awaited<ReturnType<typeof importsWorld>>;

/** Starts to watch and stops the clock after the first response, until `goOn` is called. */
async function watching(world: World, line: string, call = {}) {
  const { clock } = world;
  const slept = clock.slept.length;
  clock.isIdle = () => false;
  const running = world.cat(line, call);
  await until(() => clock.slept.length > slept);
  return {
    running,
    goOn: () => {
      clock.isIdle = () => true;
    },
  };
}

describe("watching an import", () => {
  test("polls as Retry-After says, reports the progress and shows the import at the end", async () => {
    const world = await importsWorld();
    const id = await world.send("big.csv", tidy(2000), "--no-wait");
    const before = world.requests().length;
    const ran = await world.cat(`imports watch ${id}`);
    expect(ran).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("status          completed\n"),
      stderr: "importing rows: 400 of 2,000\nimporting rows: 1,400 of 2,000, 67/s, 9 s left\n",
    });
    expect(world.clock.slept).toEqual([5000, 5000, 5000, 5000, 5000]);
    expect(world.requests()).toHaveLength(before + 6);
    expect(await world.listed()).toMatchObject([{ id, status: "completed" }]);
  });

  test("exits at once for a finished import, without a note", async () => {
    const world = await importsWorld();
    const id = await world.send("a.csv", tidy(2));
    const before = world.requests().length;
    const ran = await world.cat(`imports watch ${id} --json`, { tty: { stderr: true } });
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toMatchObject({ id, status: "completed", counts: { succeeded: 2 } });
    expect(world.requests()).toHaveLength(before + 1);
  });

  test("exits with 8 for failed rows, and prints the command that lists them", async () => {
    const world = await importsWorld();
    const id = await world.send("a.csv", mixed, "--no-wait");
    const ran = await world.cat(["imports", "watch", id, "--base-url", world.mock.baseUrl]);
    expect(ran).toMatchObject({
      exit: 8,
      stdout: expect.stringContaining("status          completed_with_errors\n"),
      stderr:
        `1 row failed: cat imports rows ${id} --status failed --base-url ${world.mock.baseUrl}\n` +
        "1 row imported without some of its photos: " +
        `cat imports rows ${id} --status partial --base-url ${world.mock.baseUrl}\n`,
    });
    const again = await world.cat(`imports watch ${id} --json`);
    expect(again.exit).toBe(8);
    expect(JSON.parse(again.stderr).error).toEqual({
      type: "partial",
      code: "part_failed",
      message:
        `2 of 4 rows of ${id} were not imported in full (1 failed, 1 partial). To list them: ` +
        `cat imports rows ${id} --status failed and cat imports rows ${id} --status partial`,
      exit: 8,
    });
    expect(JSON.parse(again.stdout).status).toBe("completed_with_errors");
  });

  test("exits with 8 if the service could not run it", async () => {
    const world = await importsWorld();
    await world.fault({ match: { job: "import" }, fail: { code: "upstream_unavailable", message: "no" } });
    const id = await world.send("a.csv", tidy(2), "--no-wait");
    expect(await world.cat(`imports watch ${id}`)).toMatchObject({
      exit: 8,
      stdout: expect.stringContaining("status          failed\n"),
      stderr: "The service could not run this import; no row was processed.\n",
    });
    expect(await world.listed()).toMatchObject([{ id, status: "failed" }]);
  });

  test("survives an outage of a few minutes", async () => {
    const world = await importsWorld();
    const id = await world.send("a.csv", tidy(2), "--no-wait");
    const { running, goOn } = await watching(world, `imports watch ${id}`);
    await world.fault({ match: { method: "GET", path: "/v1/imports" }, times: 15, status: 503 });
    goOn();
    const ran = await running;
    expect(ran).toMatchObject({ exit: 0, stdout: expect.stringContaining("status          completed\n") });
    expect(world.requests().filter(({ status }) => status === 503)).toHaveLength(15);
  });
});

describe("a watch that stops before the import", () => {
  longTest("exits with 7 at --timeout, with the progress and the next command", async () => {
    const world = await importsWorld();
    const id = await world.send("big.csv", tidy(2000), "--no-wait");
    expect(await world.cat(`imports watch ${id} --timeout 12s --no-progress`)).toEqual({
      exit: 7,
      stdout: "",
      stderr:
        `error: timed out after 12 s: import ${id} is still in progress (processing, 900 of 2,000 rows done)\n` +
        `It keeps running on the service. To watch it again: cat imports watch ${id}\n`,
    });
    expect(await world.listed()).toMatchObject([{ id, status: "processing" }]);
  });

  longTest("prints the last state with --json at --timeout", async () => {
    const world = await importsWorld();
    const id = await world.send("big.csv", tidy(2000), "--no-wait");
    const ran = await world.cat(`imports watch ${id} --timeout 2s --json`);
    expect(ran.exit).toBe(7);
    expect(JSON.parse(ran.stdout)).toMatchObject({ id, status: "validating" });
    expect(JSON.parse(ran.stderr)).toEqual({
      error: {
        type: "timeout",
        code: "wait_timeout",
        message: `timed out after 2 s: import ${id} is still in progress (validating). It keeps running on the service. To watch it again: cat imports watch ${id}`,
        exit: 7,
      },
    });
  });

  test("reports at --timeout why the service did not respond", async () => {
    const world = await importsWorld();
    const id = await world.send("a.csv", tidy(2), "--no-wait");
    const ran = await world.cat(`imports watch ${id} --timeout 2s --base-url http://127.0.0.1:9 --quiet`);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
      7,
      `error: timed out after 2 s: import ${id} is still in progress: http://127.0.0.1:9 cannot be reached`,
    ]);
  });

  test.for(
    sampled(
      [
        ["SIGINT", 130],
        ["SIGTERM", 143],
      ] as const,
      1,
    ),
  )("reports on %s that the import keeps running", async ([signal, exit]) => {
    const world = await importsWorld();
    const id = await world.send("a.csv", tidy(2), "--no-wait");
    const { running, goOn } = await watching(world, `--profile default imports watch ${id}`);
    running.interrupt(signal);
    expect(await running).toEqual({
      exit,
      stdout: "",
      stderr: `interrupted; import ${id} keeps running on the service\nTo watch it again: cat imports watch ${id} --profile default\n`,
    });
    goOn();
    expect((await world.cat(`imports watch ${id} --quiet`)).exit).toBe(0);
  });

  longTest("prints the last state with --json when it is interrupted", async () => {
    const world = await importsWorld();
    const id = await world.send("a.csv", tidy(2), "--no-wait");
    const { running } = await watching(world, `imports watch ${id} --json`);
    running.interrupt();
    const ran = await running;
    expect(ran.exit).toBe(130);
    expect(JSON.parse(ran.stdout)).toMatchObject({ id, status: "validating" });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { type: "interrupted", exit: 130 } });
  });

  test("claims nothing about an import that was never seen", async () => {
    const world = await importsWorld();
    await world.fault({ match: { method: "GET", path: "/v1/imports" }, delay_ms: 60_000 });
    const running = world.cat("imports watch 01KE6W9ZJ8Q3V5X7B2D4F6H8JK");
    await until(() => world.requests().length > 0);
    running.interrupt();
    expect(await running).toEqual({ exit: 130, stdout: "", stderr: "interrupted\n" });
  });

  test.for(["0s", "-1s", "soon", ""])("does not start with an invalid --timeout (%j)", async (timeout) => {
    const world = await importsWorld();
    const ran = await world.cat(["imports", "watch", "01KE6W9ZJ8Q3V5X7B2D4F6H8JK", `--timeout=${timeout}`]);
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("use a duration such as 90s, 30m or 2h"),
    });
    expect(world.requests()).toEqual([]);
  });
});
