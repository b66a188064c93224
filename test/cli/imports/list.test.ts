import { describe, expect, test } from "vitest";
import { importsWorld, mixed, noSettings, sentImport, tidy } from "./imports-world.ts";

describe("the list of imports", () => {
  test("lists sent imports, newest first, with the last status seen", async () => {
    const world = await importsWorld();
    const done = await world.send("autumn.csv", mixed);
    const open = await world.send("winter.csv", tidy(3), "--mode create --no-wait");
    const asked = world.requests().length;
    expect(await world.cat("imports list")).toEqual({
      exit: 0,
      stderr: "",
      stdout:
        "file        rows  mode    status                 at                 id\n" +
        `winter.csv  3     create  validating             2026-01-05T09:00Z  ${open}\n` +
        `autumn.csv  4     upsert  completed_with_errors  2026-01-05T09:00Z  ${done}\n`,
    });
    expect(world.requests()).toHaveLength(asked);
  });

  test.each([
    ["--fresh", "autumn.csv", mixed, "--fresh"],
    ["another file with its rows", "winter.csv", mixed.replace("Dress", "Gown"), ""],
  ])("has the last status of imports of a run that ended for %s", async (_, file, content, flag) => {
    const world = await importsWorld();
    const first = await world.send("autumn.csv", mixed, "--no-wait");
    const second = await world.send(file, content, `${flag} --no-wait`);
    expect(await world.listed()).toMatchObject([
      { id: second, status: "validating" },
      { id: first, status: "completed_with_errors" },
    ]);
  });

  test("prints one object per line with --json", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", mixed);
    expect(await world.listed()).toEqual([
      {
        id,
        file: "autumn.csv",
        rows: 4,
        mode: "upsert",
        status: "completed_with_errors",
        at: "2026-01-05T09:00:00.000Z",
        base_url: world.mock.baseUrl,
        run_id: expect.stringMatching(/^run_[0-9a-z]+$/),
      },
    ]);
    const array = await world.cat("imports list --format json");
    expect(JSON.parse(array.stdout)).toEqual(await world.listed());
  });

  test("has the same fields as CSV", async () => {
    const world = await importsWorld();
    await world.remember([sentImport(7, { baseUrl: world.mock.baseUrl, file: "a,b\x1b.csv" })]);
    expect((await world.cat("imports list --format csv")).stdout).toBe(
      "id,file,rows,mode,status,at,base_url,run_id\n" +
        `01KE6W9ZJ8Q3V5X7B2D4F60007,"a,b\\x1b.csv",7,upsert,validating,2026-01-04T12:07:00.000Z,${world.mock.baseUrl},run_7\n`,
    );
  });

  test("includes imports with a --ledger", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1), "--ledger photos.db");
    expect(await world.listed()).toMatchObject([{ id, status: "completed" }]);
  });

  test("needs no API key and no service", async () => {
    const world = await importsWorld({ env: noSettings });
    await world.remember([
      sentImport(1),
      sentImport(2, { baseUrl: "https://dev.example.com", variant: "skip_existing", status: "failed" }),
    ]);
    expect(await world.cat("imports list")).toEqual({
      exit: 0,
      stderr: "",
      stdout:
        "file   rows  mode           status      at                 base_url                 id\n" +
        "2.csv  2     skip_existing  failed      2026-01-04T12:02Z  https://dev.example.com  01KE6W9ZJ8Q3V5X7B2D4F60002\n" +
        "1.csv  1     upsert         validating  2026-01-04T12:01Z  https://api.example.com  01KE6W9ZJ8Q3V5X7B2D4F60001\n",
    });
  });

  test("shows only the current base URL, if there is one", async () => {
    const world = await importsWorld({ env: noSettings });
    await world.remember([sentImport(1), sentImport(2, { baseUrl: "https://dev.example.com" })]);
    expect(await world.listed("--base-url https://dev.example.com/")).toMatchObject([{ file: "2.csv" }]);
    const env = { CAT_BASE_URL: "https://api.example.com" };
    expect((await world.cat("imports list --json", { env })).stdout).toContain("1.csv");
    expect(await world.cat("imports list --base-url https://none.example.com")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "No imports were sent from this machine to https://none.example.com yet.\n",
    });
  });

  test("has 25 imports by default, and notes that there are more", async () => {
    const world = await importsWorld({ env: noSettings });
    await world.remember(Array.from({ length: 30 }, (_, index) => sentImport(index)));
    const ran = await world.cat("imports list --format csv");
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(26);
    expect(ran.stdout).toContain(",29.csv,");
    expect(ran.stderr).toBe("Showing the newest 25. To see more, add --limit N or --all.\n");
    expect(await world.listed("--limit 2")).toMatchObject([{ rows: 29 }, { rows: 28 }]);
    const all = await world.cat("imports list --all");
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(31);
    expect(all.stderr).toBe("");
    expect((await world.cat("imports list --limit 30")).stderr).toBe("");
  });

  test("notes that nothing was sent yet", async () => {
    const world = await importsWorld({ env: noSettings });
    expect(await world.cat("imports list")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "No imports were sent from this machine yet.\n",
    });
    expect(await world.cat("imports list --json")).toEqual({ exit: 0, stdout: "", stderr: "" });
    expect((await world.cat("imports list --format json")).stdout).toBe("[]\n");
    expect((await world.cat("imports list --mock")).stderr).toBe(
      "No imports: --mock loses its data after each command.\n",
    );
  });

  test("never cuts IDs on a terminal, and shortens other columns", async () => {
    const world = await importsWorld({ env: noSettings, tty: true, columns: 30 });
    await world.remember([sentImport(1, { file: "autumn-and-winter.csv", status: "completed_with_errors" })]);
    const { stdout, stderr } = await world.cat("imports list --no-color");
    expect(stdout.split("\n")[1]).toBe("01KE6W9ZJ8Q3V5X7B2D4F60001");
    expect(stderr).toBe(
      "The terminal is too narrow\nfor: file, rows, mode, status,\nat, base_url. To see all\n" +
        "columns, add --format csv.\n",
    );
  });

  test.each([
    [120, "upsert  completed_with_errors  2026-01-04T12:01Z", undefined],
    [80, "completed_with_errors", "mode, at"],
  ])("shows statuses and times in full on a terminal of %i columns", async (columns, end, dropped) => {
    const world = await importsWorld({ columns, tty: true });
    await world.remember([
      sentImport(1, {
        file: "autumn-and-winter.csv",
        status: "completed_with_errors",
        baseUrl: world.mock.baseUrl,
      }),
    ]);
    const { stdout, stderr } = await world.cat("imports list --no-color");
    expect(stdout.split("\n")[1]).toMatch(new RegExp(`${end}  01KE6W9ZJ8Q3V5X7B2D4F60001$`));
    expect(stderr).toBe(
      dropped === undefined
        ? ""
        : `The terminal is too narrow for: ${dropped}. To see all columns, add --format csv.\n`,
    );
  });

  test("shows only the current profile", async () => {
    const world = await importsWorld();
    await world.send("autumn.csv", tidy(1));
    expect(await world.listed("--profile other")).toEqual([]);
    expect(await world.listed()).toHaveLength(1);
  });

  test("ends quietly when the reader closes the pipe", async () => {
    const world = await importsWorld({ env: noSettings });
    await world.remember([sentImport(1)]);
    const ran = await world.cat("imports list", { stdoutReads: 0 });
    expect(ran).toEqual({ exit: 0, stdout: "", stderr: "" });
  });

  test("fails with one sentence if the state is damaged", async () => {
    const world = await importsWorld({ env: noSettings });
    const path = world.write(".home/state/default.db", "no database".repeat(100));
    const ran = await world.cat("imports list");
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toMatch(/^error: the state file [^\n]+\n[^\n]+\n$/);
    expect(ran.stderr).toContain(`${path} is damaged, or was not written by this program`);
  });
});

test("`cat imports` alone lists its commands", async () => {
  const world = await importsWorld();
  expect(await world.cat("imports")).toEqual({
    exit: 2,
    stdout: "",
    stderr: "error: cat imports needs a command: list, get, watch, rows, undo\nSee: cat imports --help\n",
  });
});
