import { describe, expect, onTestFinished, test } from "vitest";
import { json, scriptedServer, stopServers } from "../../http/scripted-server.ts";
import { importsWorld, mixed, sentImport, tidy, unknownId } from "./imports-world.ts";

describe("an import", () => {
  test("is shown with one field per line", async () => {
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

  test("is printed as the service returns it with --json", async () => {
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

  test("is listed with its current status afterwards", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", mixed, "--no-wait");
    expect(await world.listed()).toMatchObject([{ id, status: "validating" }]);
    world.clock.advance(60_000);
    await world.cat(`imports get ${id}`);
    expect(await world.listed()).toMatchObject([{ id, status: "completed_with_errors", file: "autumn.csv" }]);
  });

  test("does not update an import with the same ID at another service", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", mixed, "--no-wait");
    await world.remember([sentImport(1, { id })]);
    world.clock.advance(60_000);
    expect((await world.cat(`imports get ${id}`)).exit).toBe(0);
    expect(await world.listed("--base-url https://api.example.com")).toMatchObject([
      { id, status: "validating" },
    ]);
  });

  test("sent from another machine is shown, but not listed", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1));
    expect((await world.cat(`imports get ${id} --profile other`)).stdout).toContain("completed");
    expect(await world.listed("--profile other")).toEqual([]);
  });

  test("is shown even if the state is damaged", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1));
    const path = world.write(".home/state/default.db", "no database".repeat(100));
    const ran = await world.cat(`imports get ${id}`);
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toContain("status          completed\n");
    expect(ran.stderr).toBe(
      `cat imports list will not show this status: the state file ${path} is damaged, or was not written by this program (file is not a database).\n`,
    );
    expect(await world.cat(`imports get ${id} --json`)).toMatchObject({ exit: 0, stderr: "" });
  });
});

describe("an ID", () => {
  test.for(["get", "watch", "rows"])(
    "makes %s exit with 5 and print one line if no import has it",
    async (verb) => {
      const world = await importsWorld();
      const ran = await world.cat(`imports ${verb} ${unknownId}`);
      const [request] = world.requests();
      expect(ran).toEqual({
        exit: 5,
        stdout: "",
        stderr: `error: import not found (GET ${request!.path.replace(/\?.*/, "")}: 404 import_not_found, request ${request!.request_id})\nCheck the ID. To list your imports: cat imports list\n`,
      });
    },
  );

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
  ] as const)("is rejected without a request if it cannot be one: %s", async ([id, shown]) => {
    const world = await importsWorld();
    for (const verb of ["get", "watch", "rows"]) {
      const ran = await world.cat(["imports", verb, id]);
      expect(ran).toMatchObject({ exit: 5, stdout: "" });
      expect(ran.stderr.replace("\\u001b", "\\x1b")).toBe(
        `error: no import has the ID ${shown}\nCheck the ID: it has 26 capital letters and digits.\n`,
      );
    }
    expect(world.requests()).toEqual([]);
  });

  test.for(["", "  "])("makes the command exit with 2 if it is empty: %j", async (id) => {
    const world = await importsWorld();
    for (const verb of ["get", "watch", "rows"]) {
      const ran = await world.cat(["imports", verb, id]);
      expect(ran).toEqual({
        exit: 2,
        stdout: "",
        stderr: "error: the import ID is empty\nUse the complete ID.\n",
      });
    }
  });

  test("can have spaces around it", async () => {
    const world = await importsWorld();
    const id = await world.send("autumn.csv", tidy(1));
    expect((await world.cat(["imports", "get", ` ${id}\n`])).exit).toBe(0);
  });
});

test("a key without the scope exits with 4", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(1));
  for (const verb of ["get", "watch", "rows"]) {
    const bound = await world.cat(`imports ${verb} ${id}`, { env: { CAT_API_KEY: "ak_mock_user" } });
    expect(bound).toMatchObject({ exit: 4, stdout: "" });
    expect(bound.stderr).toMatch(
      /^error: this API key belongs to a user; [^\n]+: 403 user_key_not_allowed, [^\n]+\)\nCreate a key of your organization [^\n]+\n$/,
    );
    const reader = await world.cat(`imports ${verb} ${id}`, { env: { CAT_API_KEY: "ak_mock_readonly" } });
    expect(reader.exit).toBe(0);
    const none = await world.cat(`imports ${verb} ${id}`, { env: { CAT_API_KEY: undefined } });
    expect(none).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining("error: no API key\n"),
    });
  }
});

test.each(["", null, undefined])("an import is shown if its results_url is %j", async (results_url) => {
  onTestFinished(stopServers);
  const counts = { total: 1, pending: 0, succeeded: 1, partial: 0, failed: 0 };
  const server = await scriptedServer(json(200, { id: unknownId, status: "completed", counts, results_url }));
  const world = await importsWorld();
  const ran = await world.cat(`imports get ${unknownId} --json`, { env: { CAT_BASE_URL: server.origin } });
  expect([ran.exit, JSON.parse(ran.stdout).status]).toEqual([0, "completed"]);
});
