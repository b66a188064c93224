import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startMock } from "../../../src/mock/index.ts";
import { lockTemporaryFile } from "../../../src/state/file-lock.ts";
import { longTest } from "../../support/long-test.ts";
import { startReceiver } from "../../support/receiver.ts";
import { sampled } from "../../support/repetitions.ts";
import { needsBuild, spawnCat } from "../../support/spawn-cat.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const csv = "reference,name,image_front\nA-1,Dress,https://cdn.example.com/1.jpg\n";
const failing = `${csv}B-2,Hat,https://cdn.example.com/fail-timeout.jpg\n`;
const ridPattern = /rid=[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function importWorld(options: Parameters<typeof createWorld>[0] = {}) {
  const world = await createWorld(options);
  world.write("a.csv", csv);
  world.write("failing.csv", failing);
  return world;
}

test("--notify posts the summary with command, outcome, host and run", async () => {
  const world = await importWorld();
  const { origin, notices } = await startReceiver();
  const plain = await world.cat(`import failing.csv --json --notify ${origin}/hook`);
  expect(plain.exit).toBe(8);
  const summary = JSON.parse(plain.stdout);
  expect(notices).toEqual([
    {
      path: "/hook",
      authorization: undefined,
      body: {
        ...{ command: "import", host: "shop", profile: "default", outcome: "partial", exit: 8 },
        started_at: "2026-01-05T09:00:00.000Z",
        error: {
          type: "partial",
          code: "rows_failed",
          message:
            "1 of 2 rows of failing.csv was not imported in full (1 failed); these rows are in failing.failed.csv, with the reasons",
        },
        ...summary,
      },
    },
  ]);
  expect(notices[0]!.body.run_id).toMatch(/^run_/);
});

test("a URL that ends in a slash gets start, and then the success at the URL itself", async () => {
  const world = await importWorld();
  const { origin, notices } = await startReceiver();
  const ran = await world.cat(`import a.csv --notify ${origin}/ping/secret-id/`);
  expect(ran).toMatchObject({ exit: 0, stdout: "" });
  expect(notices.map(({ path }) => path.replace(ridPattern, "rid=ID"))).toEqual([
    "/ping/secret-id/start?rid=ID",
    "/ping/secret-id?rid=ID",
  ]);
  const [start, end] = notices as [(typeof notices)[0], (typeof notices)[0]];
  expect(start.path.slice(-36)).toBe(end.path.slice(-36));
  expect(start.body).toEqual({
    ...{ command: "import", host: "shop", profile: "default" },
    ...{ outcome: "started", started_at: "2026-01-05T09:00:00.000Z" },
  });
  expect(end.body).toMatchObject({ outcome: "success", exit: 0, total: 1, created: 1 });
  expect(end.body).not.toHaveProperty("error");
});

longTest("a mirror with a template for its files reports like any other", async () => {
  const world = await importWorld({ mock: { demo: 1 } });
  const { origin, notices } = await startReceiver();
  const line = ["export", "sync", "mirror", "--template", "{reference}/{id}{ext}", "--metrics", "m.prom"];
  expect((await world.cat([...line, "--notify", `${origin}/secret-token`])).exit).toBe(0);
  expect(notices.map(({ body }) => [body.command, body.outcome])).toEqual([["export sync", "success"]]);
  expect(world.read("m.prom")).toContain('command="export sync"');
  expect((await world.cat("runs list --json")).stdout).not.toContain("secret-token");
});

test.each(
  sampled(
    [
      ["import failing.csv", 8, "partial"],
      ["import missing.csv", 2, "failed"],
      ["import a.csv --max-changes 0", 3, "failed"],
      ["import a.csv --images-root nowhere", 2, "failed"],
      ["tryon a.csv --yes", 3, "failed"],
      ["beautify --product X --subtype shoes --background white --angle side --yes", 3, "failed"],
      ["export --out folder/all.ndjson", 2, "failed"],
      ["export --manifest --out m.jsonl --product NONE", 5, "failed"],
      ["export sync a.csv", 2, "failed"],
    ],
    3,
  ),
)("a run that does not succeed is reported at URL/fail: %s", async (line, exit, outcome) => {
  const world = await importWorld();
  const { origin, notices } = await startReceiver();
  const ran = await world.cat(`${line} --notify ${origin}/p/`);
  const last = notices.at(-1)!;
  expect([last.path.replace(/\?.*/, ""), last.body.outcome, last.body.exit]).toEqual([
    "/p/fail",
    outcome,
    ran.exit,
  ]);
  expect(ran.exit).toBe(exit);
  expect(last.body.error).toMatchObject({ message: expect.any(String) });
});

longTest("the other commands report their summaries too", async () => {
  const world = await importWorld({ mock: { demo: 2 } });
  const { origin, notices } = await startReceiver();
  const { reference } = world.products()[0]!;
  const lines = [
    `beautify --product ${reference} --subtype clothing --background white --angle front --yes`,
    "export --out all.ndjson",
    "export --manifest --out all.jsonl",
    "export sync mirror",
  ];
  for (const line of lines) {
    const ran = await world.cat(`${line} --json --notify ${origin}/p`);
    expect(ran.exit, ran.stderr).toBe(0);
    expect(notices.at(-1)!.body).toMatchObject(JSON.parse(ran.stdout));
  }
  expect(notices.map(({ body }) => body.command)).toEqual(["beautify", "export", "export", "export sync"]);
});

longTest("several files have one notice with the sums, and the summary of each", async () => {
  const world = await importWorld();
  const { origin, notices } = await startReceiver();
  world.write("b.csv", csv.replace("A-1", "C-3"));
  const { stdout } = await world.cat(`import a.csv b.csv --json --notify ${origin}/p`);
  expect(notices).toHaveLength(1);
  expect(notices[0]!.body).toMatchObject(JSON.parse(stdout));
  expect(notices[0]!.body.files).toHaveLength(2);
});

longTest("a rejected file is reported with its counts, its name and the ID of its run", async () => {
  const world = await importWorld();
  const { origin, notices } = await startReceiver();
  world.write("bad.csv", `${csv}B-2,,\n`);
  world.write("looks.csv", "product_reference,subtype,background,angle_shot\nA-1,boots,white,front\n");
  await world.cat(`import bad.csv --notify ${origin}/p`);
  await world.cat(`beautify looks.csv --yes --notify ${origin}/p`);
  await world.cat(`import gone.csv --notify ${origin}/p`);
  const { stdout } = await world.cat("runs list --json");
  const ids = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).run_id);
  expect(
    notices.map(({ body: { exit, run_id, file, total, valid, invalid } }) => [
      ...[exit, run_id, file, total, valid, invalid],
    ]),
  ).toEqual([
    [3, ids[2], "bad.csv", 2, 1, 1],
    [3, ids[1], "looks.csv", 1, 0, 1],
    [2, ids[0], "gone.csv", undefined, undefined, undefined],
  ]);
  await world.cat(`import gone.csv --mock --notify ${origin}/p`);
  expect(notices.at(-1)!.body).toMatchObject({ run_id: null });
});

longTest("an interrupted run is reported with its status", async () => {
  const world = await importWorld();
  const { origin, notices } = await startReceiver();
  // The import stays in progress.
  world.clock.isIdle = () => false;
  const running = world.cat(`import a.csv --notify ${origin}/p/`);
  await until(() => world.clock.slept.length > 0);
  running.interrupt();
  expect((await running).exit).toBe(130);
  expect(notices.at(-1)!.body).toMatchObject({ outcome: "interrupted", exit: 130 });
});

describe("a notice that does not arrive", () => {
  const sent = async (respond: Parameters<typeof startReceiver>[0], more = "") => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver(respond);
    const { exit, stdout, stderr } = await world.cat(`import a.csv --quiet --notify ${origin}/p ${more}`);
    const { slept } = world.clock;
    return { exit, stdout, stderr: stderr.replaceAll(origin, "ORIGIN"), tries: notices.length, slept };
  };

  test.each(
    sampled([
      [500, 3, "it responds with 500 (3 attempts)"],
      [429, 3, "it responds with 429 (3 attempts)"],
      [408, 3, "it responds with 408 (3 attempts)"],
      [404, 1, "it responds with 404"],
      [410, 1, "it responds with 410"],
      [302, 1, "it responds with 302; redirects are not followed"],
    ]),
  )("is one line on stderr: %i", async (status, tries, why) => {
    expect(await sent(() => status)).toMatchObject({
      ...{ exit: 0, stdout: "", tries },
      stderr: `warning: cannot send the notice of the result to ORIGIN: ${why}\n`,
    });
  });

  longTest("names no code of OpenSSL or of a library", async () => {
    const server = createServer((_, response) =>
      response.writeHead(200, { "x-long": "x".repeat(100_000) }).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const world = await importWorld();
    const to = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const [origin, why] of [
      [`https://${to}`, "it does not use TLS; try http:// instead of https://"],
      [`http://${to}`, "the headers of its response are too long"],
    ])
      expect((await world.cat(`import a.csv --quiet --notify ${origin}/p`)).stderr).toBe(
        `warning: cannot send the notice of the result to ${origin}: ${why} (3 attempts)\n`,
      );
  });

  test("is sent again after 1 and 3 seconds, until it arrives", async () => {
    const { slept, ...rest } = await sent((_, count) => (count < 3 ? 503 : 204));
    expect(rest).toEqual({ exit: 0, stdout: "", stderr: "", tries: 3 });
    expect(slept.slice(-2)).toEqual([1_000, 3_000]);
  });

  longTest("is an object on stderr with --json", async () => {
    const { stderr } = await sent(() => 404, "--json");
    expect(JSON.parse(stderr)).toEqual({
      warning: { message: "cannot send the notice of the result to ORIGIN: it responds with 404" },
    });
  });

  test("holds the command for 10 seconds at most, if nothing responds", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver(() => null);
    const running = world.cat(`import a.csv --quiet --notify ${origin}/p`);
    await until(() => notices.length === 1);
    world.clock.advance(9_999);
    expect(running.stderr).toBe("");
    world.clock.advance(1);
    expect({ ...(await running), stderr: running.stderr.replaceAll(origin, "ORIGIN") }).toEqual({
      ...{ exit: 0, stdout: "" },
      stderr: "warning: cannot send the notice of the result to ORIGIN: no response within 10 s\n",
    });
  });

  test("does not hold the run at its start", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver(({ path }) => (path.startsWith("/p/start") ? null : 200));
    const running = world.cat(`import missing.csv --quiet --notify ${origin}/p/`);
    await until(() => running.stderr.startsWith("error: missing.csv does not exist"));
    world.clock.advance(4_999);
    expect(notices.map(({ path }) => path.replace(/\?.*/, ""))).toEqual(["/p/start"]);
    world.clock.advance(1);
    expect((await running).exit).toBe(2);
    expect(running.stderr.split("\n").slice(2)).toEqual([
      `warning: cannot send the notice of the start to ${origin}: no response before the end of the run`,
      "",
    ]);
    expect(notices.at(-1)).toMatchObject({ path: expect.stringMatching(/^\/p\/fail/), body: { exit: 2 } });
  });

  longTest("has what the wait for the metrics file leaves of the 10 seconds", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver(() => null);
    const unlock = await lockTemporaryFile(join(world.folder, "m.prom.lock"));
    const running = world.cat(`import missing.csv --quiet --metrics m.prom --notify ${origin}/p`);
    await until(() => notices.length === 1);
    const waited = world.clock.slept.reduce((sum, one) => sum + one, 0);
    expect([waited >= 5_000, running.stderr.split("\n")[2]]).toEqual([
      true,
      "warning: cannot write --metrics m.prom: another command is writing it",
    ]);
    world.clock.advance(10_000 - waited);
    expect((await running).stderr.split("\n").slice(3)).toEqual([
      `warning: cannot send the notice of the result to ${origin}: no response within 5 s`,
      "",
    ]);
    unlock!();
  });

  test("is skipped by an interrupt while the notice of the start is awaited", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver(() => null);
    const running = world.cat(`import missing.csv --quiet --notify ${origin}/p/`);
    await until(() => running.stderr.startsWith("error: missing.csv does not exist") && notices.length === 1);
    running.interrupt();
    const { exit, stderr } = await running;
    expect([exit, ...stderr.split("\n").slice(2)]).toEqual([
      2,
      `warning: cannot send the notice of the start to ${origin}: interrupted`,
      `warning: cannot send the notice of the result to ${origin}: interrupted`,
      "",
    ]);
    expect(notices).toHaveLength(1);
  });

  test("is skipped by an interrupt while the metrics file is locked", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver();
    const unlock = await lockTemporaryFile(join(world.folder, "m.prom.lock"));
    world.clock.isIdle = () => false;
    const running = world.cat(`import missing.csv --quiet --metrics m.prom --notify ${origin}/p`);
    await until(() => world.clock.slept.length > 0);
    running.interrupt();
    const { exit, stderr } = await running;
    expect([exit, ...stderr.split("\n").slice(2)]).toEqual([
      2,
      "warning: cannot write --metrics m.prom: interrupted",
      `warning: cannot send the notice of the result to ${origin}: interrupted`,
      "",
    ]);
    expect(notices).toEqual([]);
    unlock!();
  });

  test("does not hold the command after an interrupt", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver(() => null);
    const running = world.cat(`import a.csv --quiet --notify ${origin}/p`);
    await until(() => notices.length === 1);
    running.interrupt();
    expect(await running).toMatchObject({
      exit: 0,
      stdout: "",
      stderr: expect.stringMatching(/: interrupted\n$/),
    });
  });
});

describe("the URL", () => {
  test("of the flag comes before CAT_NOTIFY, and that before the profile", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver();
    await world.cat(`config set notify ${origin}/profile`);
    await world.cat("import a.csv");
    await world.cat("import a.csv", { env: { CAT_NOTIFY: `${origin}/env` } });
    await world.cat(`import a.csv --notify ${origin}/flag`, { env: { CAT_NOTIFY: `${origin}/env` } });
    expect(notices.map(({ path }) => path)).toEqual(["/profile", "/env", "/flag"]);
    await world.cat("import a.csv --notify none", { env: { CAT_NOTIFY: `${origin}/env` } });
    await world.cat("import a.csv", { env: { CAT_NOTIFY: "none" } });
    expect(notices).toHaveLength(3);
  });

  test.each([
    "import a.csv --dry-run",
    "import a.csv --plan",
    "export sync mirror --dry-run",
    "import --template t.csv",
  ])("gets nothing from a command that runs nothing: %s", async (line) => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver();
    expect((await world.cat(`${line} --notify ${origin}/p/ --metrics m.prom`)).exit).toBe(0);
    expect(notices).toEqual([]);
    expect(() => world.read("m.prom")).toThrow("ENOENT");
  });

  longTest("gets nothing from other commands, and from a demo only by the flag", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver();
    const env = { CAT_NOTIFY: `${origin}/env` };
    await world.cat("products list", { env });
    await world.cat("import a.csv --mock", { env });
    expect(notices).toEqual([]);
    await world.cat(`import a.csv --mock --notify ${origin}/flag`, { env });
    expect(notices.map(({ path, body }) => [path, body.profile])).toEqual([["/flag", "mock"]]);
  });

  test.each([
    "import a.csv --map x=URL --dry-run",
    "import a.csv --map x=URL --plan",
    "tryon --product URL --model M --background b --angle full-front --dry-run",
  ])("is masked where nothing is run: %s", async (line) => {
    const world = await importWorld();
    const url = "http://127.0.0.1:9/secret-token";
    const { stderr } = await world.cat(`${line.replace("URL", url)} --notify ${url}`);
    expect([stderr.includes('"http://127.0.0.1:9/…"'), stderr.includes("secret-token")]).toEqual([
      true,
      false,
    ]);
  });

  longTest("can be none in a profile", async () => {
    const world = await importWorld();
    expect((await world.cat("config set notify none")).exit).toBe(0);
    expect((await world.cat("config get notify")).stdout).toBe("none\n");
    expect(await world.cat("import a.csv --quiet")).toEqual({ exit: 0, stdout: "", stderr: "" });
  });

  test.each([
    "http://us%ZZer:secret-token@example.com/",
    "ftp://example.com/secret-token",
    "example.com/secret-token",
    "file:///etc/secret-token",
  ])("is an http:// or https:// URL, else nothing is sent, and it is not repeated: %s", async (url) => {
    const world = await importWorld();
    const ran = await world.cat(["import", "a.csv", "--notify", url]);
    expect(ran).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: invalid --notify: it is not an http:// or https:// URL\nUse the URL of your monitoring, for example https://hc-ping.com/ID/. To send nothing: none.\n",
    });
    const inProfile = await world.cat(["config", "set", "notify", url]);
    expect([inProfile.exit, inProfile.stderr.includes("secret-token")]).toEqual([2, false]);
    const inEnv = await world.cat("import a.csv", { env: { CAT_NOTIFY: url } });
    expect(inEnv.stderr).toMatch(/^error: invalid CAT_NOTIFY: /);
    expect(world.requests()).toEqual([]);
  });

  test("with a user name and a password sends them as a header", async () => {
    const world = await importWorld();
    const { origin, notices } = await startReceiver();
    await world.cat(`import a.csv --notify ${origin.replace("//", "//ann:p%20w@")}/p?a=1#part`);
    expect(notices[0]).toMatchObject({ path: "/p?a=1", authorization: `Basic ${btoa("ann:p w")}` });
  });

  test("is masked in messages, in the list of settings, and in the list of runs", async () => {
    const world = await importWorld();
    const { origin } = await startReceiver(() => 404);
    const url = `${origin.replace("//", "//ann:password@")}/secret-token/?key=secret-key`;
    const all = [
      await world.cat(["import", "failing.csv", "--verbose", "--notify", url]),
      await world.cat(["config", "set", "notify", url, "--json"]),
      await world.cat("config list"),
      await world.cat("import failing.csv --verbose"),
      await world.cat("runs list --json"),
    ];
    const text = all.map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(text).toContain(`${origin}/…`);
    expect(text).not.toMatch(/secret-|password/);
    const [{ id }] = (await world.cat("runs list --json")).stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect((await world.cat(`runs get ${id}`)).stdout).not.toMatch(/secret-|password/);
    // The user asks for it.
    expect((await world.cat("config get notify")).stdout).toBe(`${url}\n`);
  });
});

test("neither the API key nor a signature of a URL is in a notice", async () => {
  const world = await importWorld();
  const { origin, notices } = await startReceiver();
  const file = `ak_mock_other_${"x".repeat(20)}.csv`;
  const named = "a.csv?Signature=abcdef";
  for (const name of [file, named]) await world.cat(["import", name, "--notify", `${origin}/p`]);
  const text = JSON.stringify(notices);
  expect(text).not.toMatch(/ak_mock_other_x|abcdef/);
  expect(notices).toHaveLength(2);
});

longTest("a long list is cut, and named", async () => {
  const world = await createWorld({ mock: { rateLimit: false } });
  const { origin, notices } = await startReceiver();
  const rows = Array.from({ length: 130 }, (_, at) => `R-${at},Dress,https://cdn.example.com/${at}.jpg\n`);
  world.write("many.csv", `reference,name,image_front\n${rows.join("")}`);
  const { stdout } = await world.cat(`import many.csv --batch 1 --json --notify ${origin}/p`);
  expect(JSON.parse(stdout).imports).toHaveLength(130);
  const [{ body }] = notices as [(typeof notices)[0]];
  expect([(body.imports as unknown[]).length, body.cut, body.total]).toEqual([100, ["imports"], 130]);
});

longTest("without a URL and a file, an import loads no code of notices and metrics", async () => {
  needsBuild();
  const mock = await startMock({ speed: 1000, rateLimit: false });
  onTestFinished(() => mock.stop());
  const { origin } = await startReceiver();
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.csv"), csv);
  const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, CAT_HOME: join(folder, "home") };
  const loaded = async (...flags: string[]) => {
    const coverage = temporaryFolder();
    const args = ["import", join(folder, "a.csv"), "--quiet", ...flags];
    const ran = await spawnCat(args, { env: { ...env, NODE_V8_COVERAGE: coverage } });
    expect(ran).toMatchObject({ exitCode: 0, stderr: "" });
    const report = readFileSync(join(coverage, readdirSync(coverage)[0]!), "utf8");
    const urls = (JSON.parse(report) as { result: { url: string }[] }).result.map(({ url }) => url);
    return urls.filter((url) => /\/(?:monitoring|metrics-file)-/.test(url)).length;
  };
  expect(await loaded()).toBe(0);
  expect(await loaded("--notify", "none")).toBe(0);
  expect(await loaded("--notify", `${origin}/p`, "--metrics", join(folder, "m.prom"))).toBe(2);
});
