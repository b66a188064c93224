import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";

test("the ledger forgets a product that an undo deleted, and keeps one that it kept", async () => {
  const world = await createWorld();
  world.write("a.csv", `reference,name,images\nA-1,Dress,${cdn}/1.jpg\nA-2,Coat,${cdn}/2.jpg\n`);
  await world.cat("import a.csv");
  const [a] = world.products();
  await world.cat(`products update ${a!.id} --name Gown`);
  expect((await world.cat("imports undo last --yes")).exit).toBe(8);
  expect(world.products().map(({ reference }) => reference)).toEqual(["A-1"]);
  const again = await world.cat("import a.csv --json");
  expect(again.exit).toBe(0);
  // The photo of the kept product is known: the row is not sent with it a second time.
  expect(world.products().map(({ reference, images }) => `${reference} ${images.length}`)).toEqual([
    "A-1 1",
    "A-2 1",
  ]);
});

test("the last import is the one that began last, also after one that ran with a clock ahead", async () => {
  const world = await createWorld();
  world.write("a.csv", `reference,name,images\nA-1,Dress,${cdn}/1.jpg\n`);
  world.write("b.csv", `reference,name,images\nB-1,Coat,${cdn}/2.jpg\n`);
  const clock = new TestClock({ frozenAt: world.clock.now() + 86_400_000 });
  clock.sleep = (ms, signal) => world.clock.sleep(ms, signal);
  expect(await world.cat("import a.csv", { context: { clock } })).toMatchObject({ exit: 0 });
  expect(await world.cat("import b.csv")).toMatchObject({ exit: 0 });
  expect((await world.cat("imports undo last --yes")).exit).toBe(0);
  expect(world.products().map(({ reference }) => reference)).toEqual(["A-1"]);
});

test("an import with a clock that is a year ahead forgets no undo of earlier ones", async () => {
  const world = await createWorld();
  world.write("a.csv", `reference,name,images\nA-1,Dress,${cdn}/1.jpg\n`);
  const { run_id } = JSON.parse((await world.cat("import a.csv --json")).stdout);
  world.write("b.csv", `reference,name,images\nB-1,Coat,${cdn}/2.jpg\n`);
  const clock = new TestClock({ frozenAt: world.clock.now() + 366 * 86_400_000 });
  clock.sleep = (ms, signal) => world.clock.sleep(ms, signal);
  expect(await world.cat("import b.csv", { context: { clock } })).toMatchObject({ exit: 0 });
  expect(await world.cat(`imports undo ${run_id} --yes`)).toMatchObject({ exit: 0 });
  expect(world.products().map(({ reference }) => reference)).toEqual(["B-1"]);
});

test("an undo without RUN names the last import, and asks about it on a terminal", async () => {
  const world = await createWorld({ columns: 200 });
  const see =
    "error: missing argument: RUN\nNo import can be undone from here. For all runs: cat runs list\n";
  expect(await world.cat("imports undo")).toEqual({ exit: 2, stdout: "", stderr: see });
  world.write("a.csv", `reference,name,images\nA-1,Dress,${cdn}/1.jpg\n`);
  const { run_id } = JSON.parse((await world.cat("import a.csv --json")).stdout);
  const last = `The last import is of a.csv, started at 2026-01-05T09:00:00Z (${run_id}).`;
  for (const line of ["imports undo", "imports undo --yes", "imports undo --plan"])
    expect(await world.cat(line)).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: missing argument: RUN\n" +
        "To see what undoing the last import (a.csv, 2026-01-05T09:00:00Z) would do: cat imports undo last --plan. For other runs: cat runs list\n",
    });
  // --yes agrees to what was named, which is nothing here.
  expect((await world.cat("imports undo --yes", { tty: true })).exit).toBe(2);
  expect(world.products()).toHaveLength(1);
  const stdin = new PassThrough();
  const running = world.cat("imports undo", { tty: { stdin: true, stderr: true }, stdin });
  await until(() => running.stderr.includes("Undo the import of a.csv?"));
  expect(running.stderr).toContain(`${last}\n`);
  setImmediate(() => stdin.write("y\n"));
  expect((await running).exit).toBe(0);
  expect(world.products()).toEqual([]);
});
