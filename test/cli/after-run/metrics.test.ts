import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addNumbers, type CommandNumbers } from "../../../src/cli/after-run/metrics.ts";
import { metricsText, parseMetrics } from "../../../src/cli/after-run/prometheus-text.ts";
import { longTest } from "../../support/long-test.ts";
import { parsePrometheus, valuesOf } from "../../support/parse-prometheus.ts";
import { startReceiver } from "../../support/receiver.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const csv = "reference,name,image_front\nA-1,Dress,https://cdn.example.com/1.jpg\n";
const failing = `${csv}B-2,Hat,https://cdn.example.com/fail-timeout.jpg\n`;

async function importWorld(options: Parameters<typeof createWorld>[0] = {}) {
  const world = await createWorld(options);
  world.write("a.csv", csv);
  world.write("failing.csv", failing);
  return world;
}

test("--metrics writes the numbers of a run for Prometheus", async () => {
  const world = await importWorld();
  const { exit, stdout, stderr } = await world.cat("import failing.csv --quiet --metrics m.prom");
  expect([exit, stdout]).toEqual([8, ""]);
  expect(stderr).not.toContain("warning");
  const text = world.read("m.prom");
  expect(parsePrometheus(text).every(({ labels }) => labels.profile === "default")).toBe(true);
  const ended = Math.max(...Object.values(valuesOf(text, "catalogue_last_run_timestamp_seconds")));
  expect(ended).toBe(world.clock.now() / 1000);
  expect(valuesOf(text, "catalogue_last_run_exit_status")).toEqual({ "": 8 });
  expect(valuesOf(text, "catalogue_last_success_timestamp_seconds")).toEqual({});
  expect(valuesOf(text, "catalogue_runs_total")).toEqual({
    success: 0,
    partial: 1,
    failed: 0,
    interrupted: 0,
  });
  expect(valuesOf(text, "catalogue_rows_total")).toMatchObject({
    succeeded: 1,
    failed: 1,
    partial: 0,
    unchanged: 0,
  });
  expect(valuesOf(text, "catalogue_products_total")).toEqual({ created: 1, updated: 0, skipped: 0 });
  expect(valuesOf(text, "catalogue_photos_total")).toMatchObject({ added: 1, removed: 0 });
  const requests = Object.values(valuesOf(text, "catalogue_requests_total")).reduce((sum, one) => sum + one);
  expect(requests).toBe(world.requests().length);
  expect(readdirSync(world.folder).filter((name) => name.includes("m.prom"))).toEqual(["m.prom"]);
});

test("counters are kept over runs, gauges are those of the last one", async () => {
  const world = await importWorld();
  await world.cat("import a.csv --metrics m.prom");
  const success = world.clock.now() / 1000;
  world.clock.advance(3_600_000);
  await world.cat("import a.csv --metrics m.prom");
  await world.cat("import failing.csv --metrics m.prom");
  world.clock.advance(3_600_000);
  expect((await world.cat("import missing.csv --metrics m.prom")).exit).toBe(2);
  const text = world.read("m.prom");
  expect(valuesOf(text, "catalogue_runs_total")).toEqual({
    success: 2,
    partial: 1,
    failed: 1,
    interrupted: 0,
  });
  expect(valuesOf(text, "catalogue_rows_total")).toMatchObject({ succeeded: 1, unchanged: 2, failed: 1 });
  expect(valuesOf(text, "catalogue_last_run_exit_status")).toEqual({ "": 2 });
  const last = valuesOf(text, "catalogue_last_success_timestamp_seconds")[""]!;
  expect([last > success, last < world.clock.now() / 1000]).toEqual([true, true]);
});

test("a resumed run counts only what its earlier attempts have not", async () => {
  const world = await importWorld({ mock: { rateLimit: false } });
  world.write("two.csv", `${csv}B-2,Hat,https://cdn.example.com/2.jpg\n`);
  world.clock.isIdle = () => false;
  const running = world.cat("import two.csv --batch 1 --metrics m.prom");
  await until(() => world.clock.slept.length > 0);
  running.interrupt();
  expect((await running).exit).toBe(130);
  world.clock.isIdle = () => true;
  const first = valuesOf(world.read("m.prom"), "catalogue_runs_total");
  expect(first).toMatchObject({ interrupted: 1 });
  expect((await world.cat("import two.csv --batch 1 --metrics m.prom")).exit).toBe(0);
  expect(valuesOf(world.read("m.prom"), "catalogue_rows_total")).toMatchObject({ succeeded: 2 });
  expect(valuesOf(world.read("m.prom"), "catalogue_photos_total")).toMatchObject({ added: 2 });
});

longTest("a generation that is finished is not counted again by the same command", async () => {
  const world = await importWorld({ mock: { demo: 2 } });
  const { reference } = world.products()[0]!;
  world.write(
    "shots.csv",
    `product_reference,subtype,background,angle_shot\n${reference},clothing,white,front\n`,
  );
  for (const _ of [1, 2]) expect((await world.cat("beautify shots.csv --yes --metrics m.prom")).exit).toBe(0);
  const text = world.read("m.prom");
  expect(valuesOf(text, "catalogue_generations_total", "beautify")).toMatchObject({
    queued: 1,
    succeeded: 1,
  });
  expect(valuesOf(text, "catalogue_runs_total", "beautify")).toMatchObject({ success: 2 });
});

longTest("all commands share a file, by command and profile", async () => {
  const world = await importWorld({ mock: { demo: 3 } });
  await world.cat("import a.csv --metrics m.prom");
  await world.cat("export --out all.ndjson --metrics m.prom");
  await world.cat("export sync mirror --metrics m.prom");
  await world.cat("export sync mirror --metrics m.prom --profile other");
  const text = world.read("m.prom");
  expect(valuesOf(text, "catalogue_exported_total", "export")).toMatchObject({ products: 4 });
  const mirror = valuesOf(text, "catalogue_mirror_total", "export sync");
  expect(mirror).toMatchObject({ failed: 0, removed: 0 });
  const images = parsePrometheus(text).filter(({ name }) => name === "catalogue_mirror_images");
  expect(images.map(({ labels }) => labels.profile)).toEqual(["default", "other"]);
  expect(valuesOf(text, "catalogue_runs_total", "export")).toMatchObject({ success: 1 });
});

describe("a file that cannot take the numbers", () => {
  const good = async () => {
    const world = await importWorld();
    await world.cat("import a.csv --metrics m.prom");
    return { world, text: world.read("m.prom") };
  };
  const edits: [what: string, edit: (text: string) => string, why: string][] = [
    ["of another program", () => "# HELP up Up.\n# TYPE up gauge\nup 1\n", "another program wrote it"],
    ["that is cut", (text) => text.slice(0, -20), "its end is missing"],
    [
      "that is cut at the end of a line",
      (text) => text.split("\n").slice(0, 9).join("\n"),
      "its end is missing",
    ],
    ["with a negative counter", (text) => text.replace(/(success"\}) 1/, "$1 -1"), "line 16 is damaged"],
    [
      "with a value that is no number",
      (text) => text.replace(/(status\{.*\}) 0/, "$1 x"),
      "line 10 is damaged",
    ],
    [
      "with a repeated sample",
      (text) => text.replace(/^(catalogue_runs_total.*)$/m, "$1\n$1"),
      "line 17 is damaged",
    ],
    ["with damaged numbers of a run", (text) => text.replace(/(# counted \S+ \{)/, "$1x"), "is damaged"],
  ];

  test.each(sampled(edits))("is rejected before the run, and stays: %s", async (_, edit, why) => {
    const { world, text } = await good();
    const { origin, notices } = await startReceiver();
    const damaged = edit(text);
    expect(damaged).not.toBe(text);
    world.write("m.prom", damaged);
    const before = world.requests().length;
    const ran = await world.cat(`import failing.csv --metrics m.prom --notify ${origin}/p`);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toMatch(/^error: cannot write --metrics m\.prom: /);
    expect(ran.stderr).toContain(why);
    expect(ran.stderr).toMatch(/mv m\.prom m\.prom\.old\n$/);
    expect([world.read("m.prom"), world.requests().length]).toEqual([damaged, before]);
    expect(notices.map(({ body }) => body.error)).toEqual([
      { type: "usage", code: "invalid_metrics_file", message: expect.stringContaining("m.prom") },
    ]);
  });

  test.each(
    sampled(
      [
        ["m.txt", "its name does not end in .prom"],
        ["", 'cannot write --metrics "": its name does not end in .prom'],
        ["m.PROM", "its name does not end in .prom"],
        ["locked.prom", "it cannot be locked"],
        ["byte.prom", "(a lock is an empty file)"],
        ["huge.prom", "it is larger than 4.0 MB"],
        ["foreign.prom", "another program wrote it"],
        ["nowhere/m.prom", "its folder does not exist"],
        ["folder.prom", "it is a folder"],
        ["https://example.com/m.prom", "must be a path on this computer"],
      ],
      3,
    ),
  )("is rejected before the run: %s", async (name, why) => {
    const world = await importWorld();
    world.write("folder.prom/x", "");
    world.write("locked.prom.lock", "of another program, and longer than the header of a database".repeat(9));
    world.write("byte.prom.lock", "x");
    const huge = metricsText(parseMetrics("")).replace("# EOF", "\n".repeat(5_000_000));
    world.write("huge.prom", huge);
    world.write("foreign.prom", huge.slice(1));
    const ran = await world.cat(["import", "a.csv", "--metrics", name]);
    expect(ran).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringContaining(why) });
    expect(world.requests()).toEqual([]);
    expect(world.read("byte.prom.lock")).toBe("x");
  });

  test("after the run is one warning, and the exit status stays", async () => {
    const world = await importWorld();
    world.clock.isIdle = () => false;
    const running = world.cat("import a.csv --quiet --metrics m.prom");
    await until(() => world.clock.slept.length > 0);
    world.write("m.prom", "of another program\n");
    world.clock.isIdle = () => true;
    expect(await running).toEqual({
      ...{ exit: 0, stdout: "" },
      stderr: "warning: cannot write --metrics m.prom: another program wrote it\n",
    });
    expect(world.read("m.prom")).toBe("of another program\n");
  });
});

longTest("a folder that is removed during the run is one short warning", async () => {
  const world = await importWorld();
  world.write("out/other", "");
  world.clock.isIdle = () => false;
  const running = world.cat("import a.csv --quiet --metrics out/m.prom");
  await until(() => world.clock.slept.length > 0);
  rmSync(join(world.folder, "out"), { recursive: true });
  world.clock.isIdle = () => true;
  expect(await running).toEqual({
    ...{ exit: 0, stdout: "" },
    stderr: "warning: cannot write --metrics out/m.prom: no such file or folder\n",
  });
});

test("an empty file is a new one, a link stays, and permissions stay", async () => {
  const world = await importWorld();
  world.write("real.prom", "");
  chmodSync(join(world.folder, "real.prom"), 0o640);
  symlinkSync("real.prom", join(world.folder, "m.prom"));
  expect((await world.cat("import a.csv --metrics m.prom")).exit).toBe(0);
  expect(valuesOf(world.read("real.prom"), "catalogue_runs_total")).toMatchObject({ success: 1 });
  expect(statSync(join(world.folder, "real.prom")).mode & 0o777).toBe(0o640);
});

const numbers = (more: Partial<CommandNumbers> = {}): CommandNumbers => ({
  ...{ command: "import", profile: "default", outcome: "success", exit: 0, startedAt: 0, endedAt: 1_500 },
  ...{ summaries: [], requests: new Map() },
  ...more,
});

test("any sequence of runs gives a file that both readers accept, and counters that never fall", () => {
  const run = fc.record({
    command: fc.constantFrom("import", "tryon", "export", "export sync"),
    profile: fc.constantFrom("default", "a.b-c"),
    outcome: fc.constantFrom("success" as const, "partial" as const),
    exit: fc.nat(143),
    endedAt: fc.nat(),
    summaries: fc.array(
      fc.record({
        run_id: fc.constantFrom(null, "run_1", "run_2"),
        ...{
          succeeded: fc.nat(),
          queued: fc.nat(),
          bytes: fc.constantFrom(null, 0, 1e15),
          products: fc.nat(),
        },
        photos: fc.record({ added: fc.nat() }),
      }),
      { maxLength: 2 },
    ),
    requests: fc.constantFrom(new Map<string, number>(), new Map([["200", 3]])),
  });
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), (runs) => {
      let text = "";
      const before = new Map<string, number>();
      for (const one of runs) {
        const file = parseMetrics(text);
        addNumbers(file, numbers(one));
        text = metricsText(file);
        expect(metricsText(parseMetrics(text))).toBe(text);
        for (const { name, labels, value } of parsePrometheus(text)) {
          const id = JSON.stringify([name, labels]);
          if (name.endsWith("_total")) expect(value).toBeGreaterThanOrEqual(before.get(id) ?? 0);
          before.set(id, value);
        }
      }
    }),
    { numRuns: repetitions(15, 500) },
  );
});

test("the counters add what a run has more than in its earlier attempts", () => {
  const file = parseMetrics("");
  for (const succeeded of [1, 3, 3, 2])
    addNumbers(
      file,
      numbers({ summaries: [{ run_id: "run_1", ...{ succeeded, photos: { added: succeeded } } }] }),
    );
  expect(valuesOf(metricsText(file), "catalogue_rows_total")).toMatchObject({ succeeded: 3 });
  expect(valuesOf(metricsText(file), "catalogue_photos_total")).toMatchObject({ added: 3 });
});

test("the numbers of 1,000 runs are kept", () => {
  const file = parseMetrics("");
  for (let at = 1; at <= 1_010; at++) addNumbers(file, numbers({ summaries: [{ run_id: `run_${at}` }] }));
  expect([...file.counted.keys()]).toEqual(Array.from({ length: 1_000 }, (_, at) => `run_${at + 11}`));
});

const generationsOf = (file: ReturnType<typeof parseMetrics>) =>
  valuesOf(metricsText(file), "catalogue_generations_total", "tryon");
/** An attempt of a run with what the run has generated, and what the attempt itself has queued and found. */
const attempt = (
  file: ReturnType<typeof parseMetrics>,
  id: string,
  [queued, unchanged, succeeded, failed, not_queued]: readonly number[],
) => {
  const summary = { run_id: id, queued, unchanged, succeeded, failed, not_queued };
  addNumbers(file, numbers({ command: "tryon", summaries: [summary] }));
};

test("the images of a run that is resumed twice are counted once, as queued and as succeeded", () => {
  const file = parseMetrics("");
  attempt(file, "run_1", [2, 0, 2, 0, 4]);
  attempt(file, "run_1", [2, 2, 4, 0, 2]);
  attempt(file, "run_1", [2, 4, 5, 1, 0]);
  const all = { queued: 6, succeeded: 5, failed: 1, unchanged: 0, not_queued: 4 };
  expect(generationsOf(file)).toMatchObject(all);
  attempt(file, "run_1", [0, 6, 5, 1, 0]);
  expect(generationsOf(file)).toMatchObject(all);
});

test("a finished run whose numbers are no longer kept generates nothing again", () => {
  const file = parseMetrics("");
  attempt(file, "run_1", [2, 0, 1, 1, 0]);
  for (let round = 0; round < 3; round++) {
    file.counted.clear();
    attempt(file, "run_1", [0, 2, 1, 1, 0]);
  }
  expect(generationsOf(file)).toMatchObject({ queued: 2, succeeded: 1, failed: 1 });
});

test("a gauge is there at 0, and absent without a value", () => {
  const file = parseMetrics("");
  const credits = (left: number, short: number) => ({ run_id: "run_1", credits: { left, short } });
  addNumbers(file, numbers({ command: "tryon", summaries: [credits(0, 2)] }));
  addNumbers(file, numbers({ command: "export sync", summaries: [{ run_id: "run_2", ...{ total: 0 } }] }));
  const gauge = (name: string, command = "tryon") =>
    valuesOf(metricsText(file), `catalogue_${name}`, command)[""];
  expect([gauge("credits_left"), gauge("credits_short"), gauge("mirror_images", "export sync")]).toEqual([
    0, 2, 0,
  ]);
  addNumbers(file, numbers({ command: "tryon", summaries: [{ run_id: "run_3" }] }));
  expect(gauge("credits_left")).toBeUndefined();
});

/** A process that adds runs to a file without end, and prints a line after each. */
const writer = (path: string) =>
  spawn(process.execPath, ["--import", "tsx", fileURLToPath(new URL("add-runs.ts", import.meta.url)), path], {
    stdio: ["ignore", "pipe", "inherit"],
  });

longTest("writers at the same time lose no run, and a kill leaves the old file or the new one", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "m.prom");
  let printed = 0;
  let kills = 0;
  for (let round = 0; round < repetitions(8, 8); round++) {
    const writers = [writer(path), writer(path)];
    for (const { stdout } of writers) stdout.on("data", (chunk: Buffer) => (printed += chunk.length / 2));
    const start = printed;
    await until(() => printed >= start + 20 + round);
    for (const one of writers) one.kill("SIGKILL");
    kills += writers.length;
    await Promise.all(writers.map((one) => once(one, "close")));
    const { success } = valuesOf(readFileSync(path, "utf8"), "catalogue_runs_total") as { success: number };
    // A killed writer may have written a run that it has not printed.
    expect(success).toBeGreaterThanOrEqual(printed);
    expect(success).toBeLessThanOrEqual(printed + kills);
    parseMetrics(readFileSync(path, "utf8"));
  }
  // The next writer removes what the killed ones left.
  const last = writer(path);
  await once(last.stdout, "data");
  last.kill("SIGTERM");
  await once(last, "close");
  expect(readdirSync(folder).filter((name) => name.endsWith(".part")).length).toBeLessThanOrEqual(1);
});

test("the check finds a counter that is lost", () => {
  const folder = temporaryFolder();
  const path = join(folder, "m.prom");
  const file = parseMetrics("");
  addNumbers(file, numbers());
  writeFileSync(path, metricsText(file));
  const lost = readFileSync(path, "utf8").replace(/^catalogue_runs_total.*success.*\n/m, "");
  expect(valuesOf(lost, "catalogue_runs_total").success).toBeUndefined();
  expect(() => parsePrometheus(lost.replace(/^# TYPE catalogue_runs_total.*\n/m, ""))).toThrow(
    "no HELP or TYPE",
  );
  expect(existsSync(`${path}.lock`)).toBe(false);
});
