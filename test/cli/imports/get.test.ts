import { describe, expect, test } from "vitest";
import { importsWorld, mixed, sentImport, tidy, unknownId } from "./imports-world.ts";

describe("one import", () => {
  test("is shown a field a line", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", mixed);
    const ran = await world.cat(`imports get ${id}`);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(ran.stdout.replace(/http:\S+/, "URL")).toBe(
      `id              ${id}\n` +
        "status          completed_with_errors\n" +
        "mode            upsert\n" +
        "on_image_error  skip\n" +
        "counts          total 4\n" +
        "                pending 0\n" +
        "                succeeded 2\n" +
        "                partial 1\n" +
        "                failed 1\n" +
        "results_url     URL\n" +
        "created_at      2026-01-05T09:00:00.000Z\n" +
        "started_at      2026-01-05T09:00:01.000Z\n" +
        "finished_at     2026-01-05T09:00:01.040Z\n",
    );
  });

  test("is the service's own object with --json, whatever its reader does", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1), "--no-wait");
    const ran = await world.cat(`imports get ${id} --json`);
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
      exit: 0,
      stderr: "",
      stdout: {
        id,
        status: "validating",
        mode: "upsert",
        on_image_error: "skip",
        counts: { total: null, pending: 0, succeeded: 0, partial: 0, failed: 0 },
        results_url: null,
        created_at: "2026-01-05T09:00:00.000Z",
        started_at: null,
        finished_at: null,
      },
    });
    const gone = await world.cat(`imports get ${id} --json`, { stdoutReads: 0 });
    expect(gone).toEqual({ exit: 0, stdout: "", stderr: "" });
  });

  test("is listed from then on with the status it has", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", mixed, "--no-wait");
    expect(await world.listed()).toMatchObject([{ id, status: "validating" }]);
    world.clock.advance(60_000);
    await world.cat(`imports get ${id}`);
    expect(await world.listed()).toMatchObject([{ id, status: "completed_with_errors", file: "autumn.csv" }]);
  });

  test("changes nothing about one of the same id that was sent to another service", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", mixed, "--no-wait");
    await world.remember([sentImport(1, { id })]);
    world.clock.advance(60_000);
    expect((await world.cat(`imports get ${id}`)).exit).toBe(0);
    expect(await world.listed("--base-url https://api.example.com")).toMatchObject([
      { id, status: "validating" },
    ]);
  });

  test("that another machine sent is shown, and not listed", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1));
    expect((await world.cat(`imports get ${id} --profile other`)).stdout).toContain("completed");
    expect(await world.listed("--profile other")).toEqual([]);
  });

  test("is shown even when the state is damaged", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1));
    const path = world.write(".home/state/default.db", "no database".repeat(100));
    const ran = await world.cat(`imports get ${id}`);
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toContain("status          completed\n");
    expect(ran.stderr).toBe(
      `The status could not be kept for cat imports list: the state file ${path} is damaged, or was not written by this program (file is not a database).\n`,
    );
    expect(await world.cat(`imports get ${id} --json`)).toMatchObject({ exit: 0, stderr: "" });
  });
});

describe("an id", () => {
  test.for(["get", "watch", "rows"])("that no import has ends %s in 5, with one line", async (verb) => {
    const world = await importsWorld();
    const ran = await world.cat(`imports ${verb} ${unknownId}`);
    const [request] = world.requests();
    expect(ran).toEqual({
      exit: 5,
      stdout: "",
      stderr: `error: there is no such import (GET ${request!.path.replace(/\?.*/, "")}: 404 import_not_found) (request ${request!.request_id})\n`,
    });
  });

  test("of another organization is not found", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1));
    const env = { CAT_API_KEY: "ak_mock_other" };
    for (const verb of ["get", "watch", "rows"]) {
      const ran = await world.cat(`imports ${verb} ${id} --json`, { env });
      expect({ ...ran, stderr: JSON.parse(ran.stderr) }).toMatchObject({
        exit: 5,
        stdout: "",
        stderr: { error: { type: "not_found", code: "import_not_found", exit: 5 } },
      });
    }
  });

  test.for([
    ["nope", '"nope"'],
    ["../products", '"../products"'],
    [".", '"."'],
    ["a\u001b[2J", '"a\\x1b[2J"'],
    [`${unknownId}0`, `"${unknownId}0"`],
    ["8ZZZZZZZZZZZZZZZZZZZZZZZZZ", `"8ZZZZZZZZZZZZZZZZZZZZZZZZZ"`],
    ["x".repeat(9000), `"${"x".repeat(60)}…"`],
  ] as const)("that cannot be one is not asked for: %s", async ([id, shown]) => {
    const world = await importsWorld();
    for (const verb of ["get", "watch", "rows"]) {
      const ran = await world.cat(["imports", verb, id]);
      expect(ran).toMatchObject({ exit: 5, stdout: "" });
      expect(ran.stderr).toMatch(/^[^\n]+\n$/);
      expect(ran.stderr.replace("\\u001b", "\\x1b")).toBe(
        `error: there is no import ${shown}: an import's id has 26 capital letters and digits\n`,
      );
    }
    expect(world.requests()).toEqual([]);
  });

  test.for(["", "  "])("that is empty is a wrong command line: %j", async (id) => {
    const world = await importsWorld();
    for (const verb of ["get", "watch", "rows"]) {
      const ran = await world.cat(["imports", verb, id]);
      expect(ran).toEqual({ exit: 2, stdout: "", stderr: "error: the import's id is empty\n" });
    }
  });

  test("may have space around it", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1));
    expect((await world.cat(["imports", "get", ` ${id}\n`])).exit).toBe(0);
  });
});

test("a key that may not ask ends in 4", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(1));
  for (const verb of ["get", "watch", "rows"]) {
    const bound = await world.cat(`imports ${verb} ${id}`, { env: { CAT_API_KEY: "ak_mock_user" } });
    expect(bound).toMatchObject({ exit: 4, stdout: "" });
    expect(bound.stderr).toMatch(
      /^error: the key is bound to a user, [^\n]+: 403 user_key_not_allowed\) [^\n]+\n$/,
    );
    const reader = await world.cat(`imports ${verb} ${id}`, { env: { CAT_API_KEY: "ak_mock_readonly" } });
    expect(reader.exit).toBe(0);
    const none = await world.cat(`imports ${verb} ${id}`, { env: { CAT_API_KEY: undefined } });
    expect(none).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining("error: there is no key for the service\n"),
    });
  }
});
