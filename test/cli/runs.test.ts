import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { openState } from "../../src/state/state.ts";
import { FakeOutput } from "../support/fake-output.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { until } from "../support/until.ts";
import { createWorld } from "../support/world.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const row = (reference: string, name: string, photo = reference) =>
  `${reference},${name},${cdn}/${photo}.jpg\n`;

async function shop(options: Parameters<typeof createWorld>[0] = {}) {
  const world = await createWorld(options);
  const runs = async (flags = "") => {
    const ran = await world.cat(`runs list --json ${flags}`);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    return ran.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  };
  const summary = async (line: string) =>
    JSON.parse((await world.cat(`${line} --json --no-progress`)).stdout);
  return { world, runs, summary };
}

describe("cat runs list", () => {
  test("has an import that only changed fields, which is undone by the ID that it shows", async () => {
    const { world, runs, summary } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    await summary("import a.csv");
    world.write("a.csv", head + row("A", "Jacket"));
    const changed = await summary("import a.csv");
    expect(changed).toMatchObject({ updated: 1, imports: [] });
    const [last, first] = await runs();
    expect(last).toEqual({
      run_id: changed.run_id,
      kind: "import",
      file: "a.csv",
      status: "ended",
      exit: 0,
      counts: {
        ...{
          total: 1,
          invalid: 0,
          submitted: 1,
          succeeded: 1,
          partial: 0,
          failed: 0,
          created: 0,
          updated: 1,
        },
        ...{ skipped: 0, unchanged: 0, kept: 0, conflicts: 0, deleted: 0, known_failures: 0 },
      },
      started_at: expect.stringMatching(/^2026-01-05T09:/),
      ended_at: expect.stringMatching(/^2026-01-05T09:/),
      duration_ms: 0,
      who: "ann@shop",
      folder: world.folder,
      command: "cat import a.csv --json --no-progress",
      undone: "no",
      base_url: world.mock.baseUrl,
      ledger: null,
    });
    expect(first).toMatchObject({ undone: "no", counts: { created: 1 } });
    expect(await summary(`imports undo ${last.run_id} --yes`)).toMatchObject({ undone: 1, set_back: 1 });
    expect(world.products().map(({ name }) => name)).toEqual(["Coat"]);
    expect((await runs()).map(({ kind, exit, undone }) => [kind, exit, undone])).toEqual([
      ["undo", 0, null],
      ["import", 0, "yes"],
      ["import", 0, "no"],
    ]);
  });

  longTest("shows a run that was undone except what others have changed as partly undone", async () => {
    const { world, runs, summary } = await shop();
    world.write("a.csv", head + row("A", "Coat") + row("B", "Hat"));
    await summary("import a.csv");
    await world.cat("products update A --name Mine");
    const ran = await world.cat("imports undo last --yes --json --no-progress");
    expect(ran.exit).toBe(8);
    expect((await runs()).map(({ kind, exit, undone }) => [kind, exit, undone])).toEqual([
      ["undo", 8, null],
      ["import", 0, "partly"],
    ]);
  });

  longTest("has each night of a file that failed before it sent anything as a run of its own", async () => {
    const { world, runs } = await shop({ now: "2026-01-01T02:00:00Z" });
    world.write("a.csv", head + row("A", "Coat"));
    expect((await world.cat("import a.csv --no-progress")).exit).toBe(0);
    world.write("a.csv", head + row("A", "Gown"));
    const night = async (flags: string) => {
      world.clock.advance(86_400_000);
      return (await world.cat(`import a.csv --no-progress ${flags}`)).exit;
    };
    expect(await night("--max-changes 0")).toBe(3);
    world.mock.faults.add({ match: { path: "/v1/" }, status: 503, times: 1_000 });
    expect(await night("--max-changes 1")).toBe(7);
    world.mock.faults.clear();
    expect(await night("--max-changes 0")).toBe(3);
    expect(await night("--max-changes 1")).toBe(0);
    const listed = await runs("--since 7d");
    expect(new Set(listed.map(({ run_id }) => run_id)).size).toBe(5);
    expect(
      listed.map(({ exit, status, started_at }) => `${started_at.slice(0, 10)} ${exit} ${status}`),
    ).toEqual([
      "2026-01-04 3 ended",
      "2026-01-03 7 ended",
      "2026-01-02 3 ended",
      "2026-01-05 0 ended",
      "2026-01-01 0 ended",
    ]);
  });

  test("has runs of every kind, but no plan, dry run or run of --mock", async () => {
    const { world, runs } = await shop({ mock: { demo: 3 } });
    world.write("a.csv", head + row("A", "Coat"));
    world.write("gone.txt", "A\n");
    world.write("looks.csv", "product_reference,subtype,background,angle_shot\nA,clothing,white,front\n");
    for (const line of ["import a.csv --plan", "import a.csv --dry-run", "import a.csv --mock"])
      await world.cat(`${line} --no-progress`);
    await world.cat("export sync mirror --dry-run --no-progress");
    expect(await runs()).toEqual([]);
    const kept = [];
    for (const [line, run, counts] of sampled([
      ["import a.csv", ["import", "a.csv"], { created: 1 }],
      ["beautify looks.csv --yes", ["beautify", "looks.csv"], { queued: 1, succeeded: 1 }],
      ["export --out rows.ndjson", ["export", "rows.ndjson"], { products: 4 }],
      ["export --manifest --out frozen.jsonl", ["export", "frozen.jsonl"], { products: 4 }],
      ["export sync mirror", ["mirror", "mirror"], { total: 7, added: 7 }],
      ["imports undo last --plan", null, null],
      ["products delete --from gone.txt --dry-run", null, null],
      [
        "products delete --from gone.txt --yes --max-delete 1",
        ["deletion", "gone.txt"],
        { total: 1, deleted: 1 },
      ],
    ] as const)) {
      expect([line, (await world.cat(`${line} --no-progress`)).exit]).toEqual([line, 0]);
      if (run !== null) kept.unshift([...run, "ended", 0, expect.objectContaining(counts)]);
    }
    const found = await runs();
    expect(found.map(({ kind, file, status, exit, counts }) => [kind, file, status, exit, counts])).toEqual(
      kept,
    );
  });

  test("lists a stopped run as unfinished, with the command that resumes it, until that has ended", async () => {
    const { world, runs } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    const ran = await world.cat("import a.csv --no-wait --fresh --no-progress");
    expect(ran.exit).toBe(0);
    const [open] = await runs();
    expect(open).toMatchObject({ status: "unfinished", exit: 0, ended_at: null });
    const got = await world.cat(`runs get ${open.run_id}`);
    expect(got).toMatchObject({
      exit: 0,
      stderr: `To resume it, run in ${world.folder}:\n  cat import a.csv --no-progress\n`,
    });
    // The newest run.
    expect(await world.cat("runs get last")).toEqual(got);
    await world.cat("import a.csv --no-progress");
    expect(await runs()).toMatchObject([
      { run_id: open.run_id, status: "ended", exit: 0, counts: { created: 1 } },
    ]);
  });

  test("lists a run as running while another process works on it, and as unfinished after an interrupt", async () => {
    const { world, runs } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    world.clock.isIdle = () => false;
    const running = world.cat("import a.csv --no-progress");
    await until(() => world.requests().some(({ method }) => method === "POST"));
    const [open] = await runs();
    expect(open).toMatchObject({ status: "running", exit: null, ended_at: null });
    running.interrupt("SIGTERM");
    world.clock.isIdle = () => true;
    expect((await running).exit).toBe(143);
    expect(await runs()).toMatchObject([{ run_id: open.run_id, status: "unfinished", exit: 143 }]);
  });

  longTest("lists a command that was rejected before it sent anything as ended", async () => {
    const { world, runs } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    expect((await world.cat("import a.csv --max-changes 0 --no-progress")).exit).toBe(3);
    expect((await world.cat("imports undo last --yes")).exit).toBe(5);
    expect((await runs()).map(({ kind, status, exit }) => [kind, status, exit])).toEqual([
      ["undo", "ended", 5],
      ["import", "ended", 3],
    ]);
  });

  longTest("has the exit status of each file of a command", async () => {
    const { world, runs } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    world.write("b.csv", head + row("B", "Coat", "fail-timeout"));
    expect((await world.cat("import a.csv b.csv --no-progress")).exit).toBe(8);
    expect((await runs()).map(({ file, exit }) => [file, exit])).toEqual([
      ["b.csv", 8],
      ["a.csv", 0],
    ]);
  });

  longTest("has the runs of a ledger on this machine, and with --ledger those of all machines", async () => {
    const { world, runs, summary } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    const own = await summary("import a.csv --ledger l.db");
    expect(await runs()).toMatchObject([
      {
        run_id: own.run_id,
        status: "ended",
        exit: 0,
        ledger: join(world.folder, "l.db"),
        counts: { created: 1 },
      },
    ]);
    const elsewhere = { env: { CAT_HOME: join(world.folder, "other") }, context: { who: () => "bob@ci" } };
    world.write("a.csv", head + row("A", "Jacket"));
    const other = JSON.parse((await world.cat("import a.csv --ledger l.db --json", elsewhere)).stdout);
    expect((await runs("--ledger l.db")).map(({ run_id, who }) => [run_id, who])).toEqual([
      [other.run_id, "bob@ci"],
      [own.run_id, "ann@shop"],
    ]);
    expect((await runs()).map(({ run_id }) => run_id)).toEqual([own.run_id]);
    const listed = await world.cat("imports list --ledger l.db --json");
    expect(listed.stdout.split("\n").filter((line) => line !== "")).toHaveLength(1);
    expect((await world.cat("imports list --ledger none.db")).stderr).toBe(
      "error: cannot read --ledger none.db: it does not exist\nChoose the file that the import had.\n",
    );
    await summary(`imports undo ${other.run_id} --ledger l.db --yes`);
    expect((await runs("--ledger l.db")).map(({ undone }) => undone)).toEqual([null, "yes", "no"]);
  });

  test("is a table on a terminal, and takes the flags of other lists", async () => {
    const { world } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    await world.cat("import a.csv --no-progress");
    world.write("a.csv", head + row("A", "Jacket"));
    await world.cat("import a.csv --no-progress");
    const ran = await world.cat("runs list --limit 1", { tty: true });
    const table = stripVTControlCharacters(ran.stdout).replace(/run_\w{8}\w+/, "run_1");
    expect(table.replace(/T09:\d\dZ/, "T09:00Z").split("\n")).toEqual([
      "file   kind    status  exit  counts     started_at         run_id",
      "a.csv  import  ended   0     1 updated  2026-01-05T09:00Z  run_1",
      "",
    ]);
    expect(ran.stderr).toContain("\nShowing the newest 1. To see more, add --limit N or --all.\n");
    const csv = await world.cat("runs list --format csv --fields kind,file,exit --all");
    expect(csv.stdout).toBe("kind,file,exit\nimport,a.csv,0\nimport,a.csv,0\n");
    const failed = await world.cat("runs list --limit 1 --json --fields run_id,counts.updated");
    expect(JSON.parse(failed.stdout)).toEqual({ run_id: expect.any(String), "counts.updated": 1 });
    expect((await world.cat("runs list --fields nope")).exit).toBe(2);
  });
});

/** Commands of each kind, none of which is a check. */
const nights = [
  ["import", "a.csv", "import a.csv"],
  ["tryon", "looks.csv", "tryon looks.csv --yes"],
  ["beautify", "shots.csv", "beautify shots.csv --yes"],
  ["export", "z.zip", "export --zip --out z.zip"],
  ["export", "z.jsonl", "export --manifest --out z.jsonl"],
  ["export", "rows.ndjson", "export --out rows.ndjson"],
  ["mirror", "mirror", "export sync mirror"],
  ["deletion", "gone.txt", "products delete --from gone.txt --yes"],
  ["detachment", "photos.csv", "products detach --from photos.csv --yes"],
  ["undo", "last", "imports undo last --yes"],
] as const;

function writeInputs({ write }: Awaited<ReturnType<typeof createWorld>>): void {
  write("a.csv", head + row("A", "Coat"));
  write("looks.csv", "product_reference,model_id,background,angle_shot\nA,Amara,studio,full-front\n");
  write("shots.csv", "product_reference,subtype,background,angle_shot\nA,clothing,white,front\n");
  write("gone.txt", "A\n");
}

const fault = ({ mock }: Awaited<ReturnType<typeof createWorld>>, body: object) =>
  fetch(`${mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(body) });

describe("a command that fails before its first change", () => {
  test.each(
    sampled(
      [
        ["a revoked key", { CAT_API_KEY: "ak_mock_revoked" }, true],
        ["no key", { CAT_API_KEY: undefined }, false],
      ],
      1,
    ),
  )("is in the list with its exit status: %s", async (_, env, hasUrl) => {
    const { world, runs } = await shop();
    writeInputs(world);
    // A key of another time: the state and the imports of the file are known.
    await world.cat("import a.csv --no-progress");
    world.write("photos.csv", `reference,image_id\nA,${world.products()[0]!.images[0]!.id}\n`);
    for (const [, , line] of nights)
      expect([line, (await world.cat(`${line} --no-progress`, { env })).exit]).toEqual([
        line,
        line.includes("undo") && hasUrl ? expect.any(Number) : 4,
      ]);
    const found = await runs("--since 1d");
    const expected = [...nights].reverse().map(([kind, file]) => [kind, file, "ended"]);
    expect(found.slice(0, nights.length).map(({ kind, file, status }) => [kind, file, status])).toEqual(
      expected,
    );
    expect(found).toHaveLength(nights.length + 1);
    expect(found[1]).toMatchObject({ base_url: hasUrl ? world.mock.baseUrl : null, counts: null });
  });

  test("is in the list with its file: missing, with an invalid row, and each of several", async () => {
    const { world, runs } = await shop();
    world.write("bad.csv", `${head},Coat,\n`);
    for (const [line, exit] of [
      ["import gone.csv", 2],
      ["import bad.csv", 3],
      ["import bad.csv gone.csv", 2],
      ["tryon gone.csv --yes", 2],
      ["export sync gone.csv/mirror --profile none --decisions none.csv", 2],
    ] as const)
      expect([line, (await world.cat(`${line} --no-progress`)).exit]).toEqual([line, exit]);
    expect((await runs()).map(({ file, exit, status }) => [file, exit, status])).toEqual([
      ["gone.csv", 2, "ended"],
      ["bad.csv, gone.csv", 2, "ended"],
      ["bad.csv", 3, "ended"],
      ["gone.csv", 2, "ended"],
    ]);
    expect((await runs("--profile none")).map(({ kind, exit }) => [kind, exit])).toEqual([["mirror", 2]]);
    expect((await world.cat("import a.csv --nope")).exit).toBe(2);
    expect(await runs()).toHaveLength(4);
  });

  longTest("is in the list where its run has ended before, whose duration stays", async () => {
    const { world, runs } = await shop();
    writeInputs(world);
    await world.cat("import a.csv --no-progress");
    await world.cat("tryon looks.csv --yes --no-progress");
    const [first] = await runs("--limit 1");
    world.clock.advance(86_400_000);
    expect((await world.cat("tryon looks.csv --yes --no-progress")).exit).toBe(0);
    await fault(world, { match: {}, status: 503 });
    expect((await world.cat("tryon looks.csv --yes --no-progress --timeout 5s")).exit).toBe(7);
    const [failed, second, same] = await runs("--limit 3");
    expect(failed).toMatchObject({ kind: "tryon", file: "looks.csv", status: "ended", exit: 7 });
    expect(second).toMatchObject({ kind: "tryon", file: "looks.csv", status: "ended", exit: 0 });
    expect(same).toEqual(first);
    expect((await world.cat("runs list --since 1h")).stderr).toContain(": 1 failed, 1 succeeded.\n");
  });
});

describe("a run that no state keeps", () => {
  test.each(
    sampled(
      [
        ["export", "rows.ndjson", "export --out rows.ndjson", "GET"],
        ["mirror", "mirror", "export sync mirror", "GET"],
        ["deletion", "gone.txt", "products delete --from gone.txt --yes --max-delete 1", "DELETE"],
      ],
      1,
    ),
  )("is running while it runs: %s %s", async (kind, file, line, method) => {
    const { world, runs } = await shop();
    writeInputs(world);
    await world.cat("import a.csv --no-progress");
    await fault(world, { match: { method }, times: 1, delay_ms: 5_000 });
    world.clock.isIdle = () => false;
    const before = world.requests().length;
    const running = world.cat(`${line} --no-progress`);
    await until(() =>
      world
        .requests()
        .slice(before)
        .some((request) => request.method === method),
    );
    expect((await runs())[0]).toMatchObject({ kind, file, status: "running", exit: null, ended_at: null });
    world.clock.isIdle = () => true;
    world.clock.advance(5_000);
    expect((await running).exit).toBe(0);
    expect((await runs())[0]).toMatchObject({ kind, file, status: "ended", exit: 0 });
  });

  test("is unfinished after a kill, until a later run of the same file has replaced it", async () => {
    const { world, runs } = await shop();
    writeInputs(world);
    await world.cat("export sync mirror --no-progress");
    const state = await openState(join(world.folder, ".home/state/default.db"), { clock: world.clock });
    const [run] = state.runList.all();
    state.runList.add({ ...run!, id: "run_killed", endedAt: null, exit: null, isUnfinished: true });
    const hold = state.runList.hold("run_killed", { pid: 1, since: 0 });
    const killed = async () => (await runs()).find(({ run_id }) => run_id === "run_killed");
    expect(await killed()).toMatchObject({ status: "running", exit: null });
    // Also one that began before the time of the list.
    world.clock.advance(3_600_000);
    expect(await runs("--since 30m")).toMatchObject([{ run_id: "run_killed", status: "running" }]);
    hold!.release();
    state.close();
    expect(await killed()).toMatchObject({ status: "unfinished", exit: null });
    await world.cat("export sync other --no-progress");
    expect(await killed()).toMatchObject({ status: "unfinished" });
    await world.cat("export sync mirror --no-progress");
    expect(await killed()).toMatchObject({ status: "ended", exit: null, ended_at: null });
    expect((await world.cat("runs list --since 1d")).stderr).toContain(": 1 unknown, 3 succeeded.\n");
    expect((await world.cat("runs get run_killed")).stderr).toBe("");
  });

  longTest("is unfinished after its sheet has changed, until that was imported", async () => {
    const { world, runs } = await shop();
    writeInputs(world);
    await world.cat("import a.csv --no-wait --no-progress");
    world.write("a.csv", head + row("A", "Jacket"));
    expect(await runs()).toMatchObject([{ status: "unfinished" }]);
    await world.cat("import a.csv --no-progress");
    expect((await runs()).map(({ status }) => status)).toEqual(["ended", "ended"]);
  });
});

/** A week of nights, of each kind of job; the last one is today. */
async function week() {
  const { world, runs } = await shop({ now: "2026-01-01T02:00:00Z", columns: 160 });
  const day = 86_400_000;
  world.write("old.csv", head + row("OLD", "Coat"));
  await world.cat("import old.csv --no-wait --no-progress");
  world.clock.advance(day);
  world.write("a.csv", head + row("A", "Coat") + row("B", "Hat"));
  world.write("looks.csv", "product_reference,model_id,background,angle_shot\nA,Amara,studio,full-front\n");
  world.write("shots.csv", "product_reference,subtype,background,angle_shot\nA,clothing,white,front\n");
  world.write("bad.csv", head + row("C", "Cap", "fail-timeout"));
  world.write("gone.txt", "B\n");
  for (const [line, exit] of [
    ["import a.csv", 0],
    ["import bad.csv", 8],
    ["tryon looks.csv --yes", 0],
    ["beautify shots.csv --yes", 0],
    ["export sync mirror", 0],
    ["export --out rows.ndjson", 0],
    ["products delete --from gone.txt --yes --max-delete 1", 0],
  ] as const)
    expect([line, (await world.cat(`${line} --no-progress`)).exit]).toEqual([line, exit]);
  const product = world.products().find(({ reference }) => reference === "A");
  world.write("photos.csv", `reference,image_id\nA,${product!.images[0]!.id}\n`);
  world.clock.advance(day);
  expect((await world.cat("imports undo last --yes --no-progress")).exit).toBe(5);
  expect((await world.cat("products detach --from photos.csv --yes --no-progress")).exit).toBe(8);
  world.write("c.csv", head + row("D", "Coat"));
  expect((await world.cat("import c.csv --no-wait --no-progress")).exit).toBe(0);
  world.clock.advance(3_600_000);
  const kinds = async (flags: string) =>
    (await runs(flags)).map(({ kind, file, status, exit }) => `${kind} ${file} ${status} ${exit}`);
  const noteOf = async (flags: string) => (await world.cat(`runs list ${flags}`)).stderr;
  return { world, kinds, noteOf };
}

describe("cat runs list --since", () => {
  longTest(
    "has all runs of the time, failed ones first, then unfinished ones, with the number of each",
    async () => {
      const { world, kinds, noteOf } = await week();
      const nights = [
        "detachment photos.csv ended 8",
        "undo bad.csv ended 5",
        "import bad.csv ended 8",
        "import c.csv unfinished 0",
        "import old.csv unfinished 0",
        "deletion gone.txt ended 0",
        "export rows.ndjson ended 0",
        "mirror mirror ended 0",
        "beautify shots.csv ended 0",
        "tryon looks.csv ended 0",
        "import a.csv ended 0",
      ];
      expect(await kinds("--since 7d")).toEqual(nights);
      expect(await noteOf("--since 7d")).toBe(
        "11 runs since 2025-12-27T03:00Z: 3 failed, 2 unfinished, 6 succeeded.\n",
      );
      const older = "1 older run is unfinished. To see all runs: cat runs list --all\n";
      // The midnight in UTC, and the same with an offset.
      for (const time of ["2026-01-03", "2026-01-03T01:00:00+01:00"]) {
        expect(await kinds(`--since ${time}`)).toEqual([nights[0], nights[1], nights[3]]);
        expect(await noteOf(`--since ${time}`)).toBe(
          `3 runs since 2026-01-03T00:00Z: 2 failed, 1 unfinished.\n${older}`,
        );
      }
      expect(await kinds("--since 7d --limit 2")).toEqual(nights.slice(0, 2));
      expect(await noteOf("--since 7d --limit 2")).toBe(
        "Showing the first 2. To see more, remove --limit.\n" +
          "11 runs since 2025-12-27T03:00Z: 3 failed, 2 unfinished, 6 succeeded.\n",
      );
      expect(await world.cat("runs list --since 30m")).toEqual({
        exit: 0,
        stdout: "",
        stderr:
          "No runs since 2026-01-03T02:30Z.\n2 older runs are unfinished. To see all runs: cat runs list --all\n",
      });
      expect((await world.cat("runs list --since 7d --quiet")).stderr).toBe("");
      expect((await world.cat("runs list --since 7d --mock")).stderr).toBe(
        "No runs: --mock loses its data after each command.\n",
      );
    },
  );

  longTest("shows the exit status, the counts and the duration", async () => {
    const { world } = await week();
    const ran = await world.cat("runs list --since 7d --limit 7", { tty: true });
    const table = stripVTControlCharacters(ran.stdout).replaceAll(/run_\w{10,}/g, "RUN");
    expect(table.split("\n")).toEqual([
      "file         exit  started_at         status      kind        counts                duration  who       undone  run_id",
      "photos.csv   8     2026-01-03T02:00Z  ended       detachment  1 kept                0.0 s     ann@shop          RUN",
      "bad.csv      5     2026-01-03T02:00Z  ended       undo                                        ann@shop          RUN",
      "bad.csv      8     2026-01-02T02:00Z  ended       import      1 failed              5.0 s     ann@shop          RUN",
      "c.csv        0     2026-01-03T02:00Z  unfinished  import                                      ann@shop          RUN",
      "old.csv      0     2026-01-01T02:00Z  unfinished  import                                      ann@shop  no      RUN",
      "gone.txt     0     2026-01-02T02:00Z  ended       deletion    1 deleted             0.0 s     ann@shop          RUN",
      "rows.ndjson  0     2026-01-02T02:00Z  ended       export      3 products, 5 assets  0.0 s     ann@shop          RUN",
      "",
    ]);
    const stdout = new FakeOutput({ isTTY: true, columns: 80 });
    const { stderr } = await world.cat("runs list --since 7d --limit 1", { context: { stdout } });
    expect(stripVTControlCharacters(stdout.text).split("\n")[0]).toMatch(
      /^file +exit +started_at +status +kind +run_id$/,
    );
    expect(stderr).toContain("The terminal is too narrow for: counts, duration, who, undone. ");
    for (const [columns, header] of [
      [50, ["file", "exit", "started_at", "status"]],
      [40, ["file", "exit", "started_at"]],
    ] as const) {
      const narrow = new FakeOutput({ isTTY: true, columns });
      await world.cat("runs list --since 7d --limit 1", { context: { stdout: narrow } });
      expect(stripVTControlCharacters(narrow.text).split("\n")[0]!.split(/ +/)).toEqual(header);
    }
    const csv = await world.cat("runs list --since 7d --limit 3 --format csv --fields kind,exit,duration_ms");
    expect(csv.stdout).toBe("kind,exit,duration_ms\ndetachment,8,0\nundo,5,\nimport,8,5000\n");
  });

  longTest("has a run that started before and ended since then, or is still running", async () => {
    const { world, runs } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    await world.cat("import a.csv --no-wait --no-progress");
    world.clock.advance(3_600_000);
    world.write("b.csv", head + row("B", "Coat"));
    world.clock.isIdle = () => false;
    const running = world.cat("import b.csv --no-progress");
    await until(() => world.requests().filter(({ method }) => method === "POST").length === 2);
    const names = async () => (await runs("--since 30m")).map(({ file, status }) => `${file} ${status}`);
    expect(await names()).toEqual(["b.csv running"]);
    world.clock.isIdle = () => true;
    await running;
    await world.cat("import a.csv --no-progress");
    // The last import resumes the first one, and then begins its own.
    expect(await names()).toEqual(["a.csv ended", "b.csv ended", "a.csv ended"]);
    world.clock.advance(1_800_001);
    expect(await names()).toEqual([]);
  });

  test("counts a run without an exit status as unknown, before those that succeeded", async () => {
    const { world, runs, summary } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    const { run_id: id } = await summary("import a.csv");
    const state = await openState(join(world.folder, ".home/state/default.db"), { clock: world.clock });
    const [run] = state.runList.all();
    state.runList.add({ ...run!, id: "run_old", startedAt: run!.startedAt - 1_000, exit: null });
    state.close();
    expect((await runs("--since 1d")).map(({ run_id }) => run_id)).toEqual(["run_old", id]);
    expect((await world.cat("runs list --since 1d")).stderr).toBe(
      "2 runs since 2026-01-04T09:00Z: 1 unknown, 1 succeeded.\n",
    );
  });

  test.each(sampled(["7", "7w", "yesterday", "2026-02-30", "2026-01-05T09:00", "-1d", "''", "0d"]))(
    "exits with 2 for --since %s",
    async (text) => {
      const { world } = await shop();
      const value = JSON.stringify(text === "''" ? "" : text);
      expect(await world.cat(`runs list --since=${text}`)).toEqual({
        exit: 2,
        stdout: "",
        stderr: `error: invalid --since ${value}: use a duration such as 7d, or a date such as 2026-01-05\nSee: cat runs list --help\n`,
      });
    },
  );

  longTest("takes any time, however long ago", async () => {
    const { world, runs } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    await world.cat("import a.csv --no-progress");
    for (const time of ["999999999d", "0000-01-01", "0001-01-01T00:00:00Z"])
      expect(await runs(`--since ${time}`)).toHaveLength(1);
    expect((await world.cat("runs list --since 999999999d")).stderr).toBe(
      "1 run since 0000-01-01T00:00Z: 1 succeeded.\n",
    );
    expect(await runs("--since 9999-12-31")).toEqual([]);
  });
});

describe("cat runs get", () => {
  test("finds a run by its ID and by that of its import, and names the command that undoes it", async () => {
    const { world, summary } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    const { run_id, imports } = await summary("import a.csv");
    for (const id of [run_id, imports[0].id]) {
      const ran = await world.cat(`runs get ${id} --json`);
      expect(JSON.parse(ran.stdout)).toMatchObject({ run_id, kind: "import", exit: 0 });
    }
    expect((await world.cat(`runs get ${run_id}`)).stderr).toBe(
      `To undo it, run:\n  cat imports undo ${run_id}\n`,
    );
  });

  test("exits with 5 for an unknown run", async () => {
    const { world } = await shop();
    expect(await world.cat("runs get run_x")).toEqual({
      exit: 5,
      stdout: "",
      stderr:
        'error: no run "run_x" on this machine\nTo see the runs: cat runs list. For a ledger of its own, add --ledger FILE.\n',
    });
  });
});

describe("the summary of an import", () => {
  test("names the command that undoes it where it changed existing products, and not with --mock", async () => {
    const { world, summary } = await shop();
    world.write("a.csv", head + row("A", "Coat"));
    const undo = async (flags = "") =>
      /^To undo it: .*$/m.exec((await world.cat(`import a.csv --no-progress ${flags}`)).stderr)?.[0];
    expect(await undo("--ledger l.db")).toBeUndefined();
    expect(await undo("--ledger l.db")).toBeUndefined();
    world.write("a.csv", head + row("A", "Jacket"));
    expect(await undo("--mock")).toBeUndefined();
    const line = await undo("--ledger l.db");
    expect(line).toMatch(/^To undo it: cat imports undo run_\w+ --ledger l\.db$/);
    expect(await summary(`${line!.slice("To undo it: cat ".length)} --yes`)).toMatchObject({ set_back: 1 });
    expect(world.products().map(({ name }) => name)).toEqual(["Coat"]);
  });
});

describe("cat imports undo without RUN", () => {
  test("proposes the last import", async () => {
    const { world } = await shop();
    expect((await world.cat("imports undo")).stderr).toBe(
      "error: missing argument: RUN\nNo import can be undone from here. For all runs: cat runs list\n",
    );
    world.write("a.csv", head + row("A", "Coat"));
    await world.cat("import a.csv --no-progress");
    expect(await world.cat("imports undo")).toEqual({
      exit: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^error: missing argument: RUN\nTo see what undoing the last import \(a\.csv, .+\) would do: cat imports undo last --plan\. For other runs: cat runs list\n$/,
      ),
    });
  });
});
