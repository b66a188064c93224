import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Context } from "../../src/cli/context/context.ts";
import { KeychainError } from "../../src/cli/context/os-keychain.ts";
import {
  json,
  type ScriptedServer,
  type Step,
  scriptedServer,
  silence,
  stopServers,
} from "../http/scripted-server.ts";
import { forwardProxy } from "../support/forward-proxy.ts";
import { until } from "../support/until.ts";
import { createWorld, type Ran, type TestWorld } from "../support/world.ts";

interface Report {
  checks: { name: string; status: string; message: string; hint?: string; code?: string }[];
  exit: number;
}

/** The error of the last line on stderr. */
const errorIn = (ran: Ran): object => JSON.parse(ran.stderr.trim().split("\n").at(-1)!).error;

/** The report of `cat doctor --json`, and the checks that are not ok, by name. */
function reportOf(ran: Ran): Report & { notOk: Record<string, string> } {
  const report = JSON.parse(ran.stdout) as Report;
  expect(report.exit).toBe(ran.exit);
  const failed = report.checks.find(({ status }) => status === "error");
  if (failed === undefined) expect(ran.stderr).not.toContain('{"error"');
  else expect(errorIn(ran)).toMatchObject({ code: failed.code, exit: ran.exit });
  expect(report.checks.map(({ name }) => name)).toEqual(
    "node,settings,keychain,key,network,proxy,tls,clock,rate limit,state,terminal,cat".split(","),
  );
  const notOk = report.checks.filter(({ status }) => status !== "ok");
  return { ...report, notOk: Object.fromEntries(notOk.map(({ name, status }) => [name, status])) };
}

const doctor = async (world: TestWorld, env: Record<string, string | undefined> = {}) =>
  reportOf(await world.cat("doctor --json", { env }));

/** A service with one step for each response. */
async function service(...steps: Step[]): Promise<string> {
  return (await server(...steps)).origin;
}

async function server(...steps: Step[]): Promise<ScriptedServer> {
  onTestFinished(stopServers);
  return scriptedServer(...steps);
}

const skippedWithoutResponse = {
  tls: "skipped",
  clock: "skipped",
  "rate limit": "skipped",
} as const;

test("cat doctor prints one line per check, sends two reads and exits with 0", async () => {
  const world = await createWorld({ env: { CAT_API_KEY: "ak_mock" } });
  expect(await world.cat("doctor")).toEqual({
    exit: 0,
    stderr: "",
    stdout:
      "ok       node        Node 20.19.0\n" +
      `ok       settings    ${world.mock.baseUrl} from CAT_BASE_URL; profile default; no config file yet (${world.folder}/.home/config.json)\n` +
      "ok       keychain    it responds; it has no key in use\n" +
      "ok       key         ak_… from CAT_API_KEY, with products:read and exports:read (other scopes were not checked)\n" +
      `ok       network     ${world.mock.baseUrl} responded in 0 ms\n` +
      "ok       proxy       none set\n" +
      "ok       tls         not used for addresses on this machine\n" +
      "ok       clock       within 1 s of the service\n" +
      "ok       rate limit  598 of 600 reads left in this minute\n" +
      `ok       state       none yet; the first command that needs it creates ${world.folder}/.home/state/default.db\n` +
      "ok       terminal    stdout is not a terminal: tables are not cut\n" +
      "ok       cat         the first on PATH is /bin/cat\n",
  });
  expect(world.requests().map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1/products?limit=1",
    "GET /v1/exports?limit=1",
  ]);
  expect((await doctor(world)).notOk).toEqual({});
});

test("cat doctor wraps messages and next steps below their text on a terminal", async () => {
  const world = await createWorld({ tty: true, columns: 60, env: { CAT_API_KEY: undefined, NO_COLOR: "1" } });
  const { stdout, exit } = await world.cat("doctor");
  expect(exit).toBe(4);
  expect(stdout).toContain("\nerror    key         no API key\n                     Run:");
  for (const line of stdout.split("\n").filter((line) => !/[/:]\S{20,}|cat login/.test(line)))
    expect(line.length).toBeLessThanOrEqual(60);
  expect(stdout).toContain("ok       terminal    60 columns, no colors, prompts\n");
});

describe("a check that fails hides no other", () => {
  test("without a base URL", async () => {
    const world = await createWorld();
    const report = await doctor(world, { CAT_BASE_URL: undefined });
    expect(report.exit).toBe(2);
    expect(report.notOk).toEqual({
      ...{ settings: "error", key: "skipped", network: "skipped", ...skippedWithoutResponse },
    });
  });

  test("without a key, which one request still shows the network for", async () => {
    const world = await createWorld();
    const report = await doctor(world, { CAT_API_KEY: undefined });
    expect(report.exit).toBe(4);
    expect(report.notOk).toEqual({ key: "error" });
    expect(report.checks[3]).toMatchObject({ code: "missing_api_key", message: "no API key" });
    expect(world.requests()).toHaveLength(1);
  });

  test("with a rejected key, or one of a user", async () => {
    const world = await createWorld();
    for (const [key, code] of [
      ["ak_mock_revoked", "invalid_api_key"],
      ["ak_mock_user", "user_key_not_allowed"],
    ]) {
      const report = await doctor(world, { CAT_API_KEY: key });
      expect(report).toMatchObject({ exit: 4, notOk: { key: "error" } });
      expect(report.checks[3]).toMatchObject({ code, hint: expect.stringMatching(/cat login$/) });
    }
    expect(world.requests()).toHaveLength(2);
  });

  test("with a damaged config file", async () => {
    const world = await createWorld();
    mkdirSync(join(world.folder, ".home"));
    writeFileSync(join(world.folder, ".home/config.json"), "{");
    const report = await doctor(world);
    expect(report).toMatchObject({ exit: 2, notOk: { settings: "error", state: "error" } });
    expect(report.checks[0]!.status).toBe("ok");
  });

  test("with a damaged state", async () => {
    const world = await createWorld();
    mkdirSync(join(world.folder, ".home/state"), { recursive: true });
    writeFileSync(join(world.folder, ".home/state/default.db"), "not a database");
    const report = await doctor(world);
    expect(report).toMatchObject({ exit: 2, notOk: { state: "error" } });
  });

  test("without a keychain, which only matters if it has the key in use", async () => {
    const world = await createWorld();
    world.keychain.read = async () => {
      throw new KeychainError("no response within 3 s; it may be locked");
    };
    const report = await doctor(world);
    expect(report).toMatchObject({ exit: 0, notOk: { keychain: "warning" } });
    expect(report.checks[2]!.hint).toContain("cat login --store file");
    mkdirSync(join(world.folder, ".home"));
    const profile = { baseUrl: world.mock.baseUrl, keyStore: "keychain", keyOrigin: world.mock.baseUrl };
    writeFileSync(
      join(world.folder, ".home/config.json"),
      JSON.stringify({ profiles: { default: profile } }),
      { mode: 0o600 },
    );
    expect(await doctor(world, { CAT_API_KEY: undefined })).toMatchObject({
      ...{ exit: 4, notOk: { keychain: "error", key: "error" } },
    });
  });

  test("with a service that is not reachable", async () => {
    const world = await createWorld();
    const report = await doctor(world, { CAT_BASE_URL: "http://127.0.0.1:9" });
    expect(report).toMatchObject({
      ...{ exit: 7, notOk: { key: "skipped", network: "error", clock: "skipped", "rate limit": "skipped" } },
    });
    expect(report.checks[4]).toMatchObject({
      message: "cannot connect to http://127.0.0.1:9: connection refused (GET /v1/products)",
      hint: "Check the address of the service (base URL) and your network.",
    });
  });

  test("with a service that fails, which gets one request and no retry", async () => {
    const world = await createWorld();
    await fetch(`${world.mock.baseUrl}/_mock/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ match: {}, status: 503 }),
    });
    const report = await doctor(world);
    expect(report).toMatchObject({ exit: 7, notOk: { key: "skipped", network: "error" } });
    expect(world.requests().filter(({ path }) => path.startsWith("/v1"))).toHaveLength(1);
  });

  test("with a service that never responds, after five seconds", async () => {
    const world = await createWorld();
    const { origin, requests } = await server(silence);
    const running = world.cat("doctor --json", { env: { CAT_BASE_URL: origin } });
    await until(() => requests.length === 1);
    world.clock.advance(5_000);
    expect(reportOf(await running)).toMatchObject({ exit: 7, notOk: { network: "error", key: "skipped" } });
  });

  test("with a page of another program", async () => {
    const world = await createWorld();
    const base = await service((response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    );
    const report = await doctor(world, { CAT_BASE_URL: base });
    expect(report).toMatchObject({ exit: 7, notOk: { key: "skipped", network: "error" } });
    expect(report.checks[4]!.hint).toBe(`Check that ${base} is the base URL of the service.`);
  });

  test("with a wrong proxy variable, or a proxy that fails", async () => {
    const world = await createWorld();
    const away = { CAT_BASE_URL: "https://api.shop.test" };
    const wrong = await doctor(world, { ...away, https_proxy: "socks5://user:wrong-password@host" });
    expect(wrong.notOk).toEqual({
      key: "skipped",
      network: "skipped",
      proxy: "error",
      ...skippedWithoutResponse,
    });
    expect(wrong.exit).toBe(2);
    const proxy = await forwardProxy({ route: () => 0, credentials: "user:secret" });
    const HTTPS_PROXY = `http://user:wrong-password@${proxy.host}`;
    const rejected = await doctor(world, { ...away, HTTPS_PROXY });
    expect(rejected).toMatchObject({ exit: 7, notOk: wrong.notOk });
    expect(rejected.checks[5]!.message).toContain(
      `the proxy ${proxy.url} rejected the user name and password`,
    );
    expect(JSON.stringify([wrong, rejected])).not.toContain("wrong-password");
    expect(proxy.seen).toHaveLength(1);
    expect((await doctor(world, { HTTPS_PROXY })).checks[5]!.message).toBe(
      "not used for addresses on this machine",
    );
  });
});

describe("cat doctor warns and exits with 0", () => {
  const list = { data: [], next_cursor: null, has_more: false };

  test("about a key without a scope", async () => {
    const world = await createWorld();
    const denied = { error: { type: "forbidden", code: "insufficient_scope", message: "no" } };
    const base = await service(json(200, list), json(403, denied));
    const report = await doctor(world, { CAT_BASE_URL: base, CAT_API_KEY: "ak_live_1234567890abcdef" });
    expect(report).toMatchObject({ exit: 0 });
    expect(report.checks[3]).toMatchObject({
      status: "warning",
      message: "ak_…cdef from CAT_API_KEY is valid, but lacks exports:read",
    });
  });

  test.for([
    ["2026-01-05T09:01:00Z", "warning", "this machine is 60 s behind the service"],
    ["2026-01-05T08:59:00Z", "warning", "this machine is 60 s ahead of the service"],
    ["2026-01-05T09:00:30Z", "ok", "within 30 s of the service"],
  ] as const)("about a clock that differs: %s is %s", async ([date, status, message]) => {
    const world = await createWorld();
    const base = await service(json(200, list, { date: new Date(date).toUTCString() }));
    expect((await doctor(world, { CAT_BASE_URL: base })).checks[7]).toMatchObject({ status, message });
  });

  test("about a rate limit that is nearly used up", async () => {
    const world = await createWorld();
    const headers = {
      "x-ratelimit-limit": 600,
      "x-ratelimit-remaining": 12,
      "x-ratelimit-reset": 1_767_603_660,
    };
    const base = await service(json(200, list, headers));
    expect((await doctor(world, { CAT_BASE_URL: base })).checks[8]).toMatchObject({
      status: "warning",
      message: "12 of 600 reads left in this minute",
    });
  });

  test("about a missing file in NODE_EXTRA_CA_CERTS and a narrow terminal", async () => {
    const world = await createWorld({ columns: 40 });
    const ran = await world.cat("doctor --json", { env: { NODE_EXTRA_CA_CERTS: "/no/ca.pem" }, tty: true });
    expect(reportOf(ran)).toMatchObject({ exit: 0, notOk: { tls: "warning", terminal: "warning" } });
  });
});

test("an interrupt exits with 130 and prints no report", async () => {
  const world = await createWorld();
  const { origin, requests } = await server(silence);
  const running = world.cat("doctor", { env: { CAT_BASE_URL: origin } });
  await until(() => requests.length === 1);
  running.interrupt();
  expect(await running).toEqual({ exit: 130, stdout: "", stderr: "interrupted\n" });
});

test("an unknown key in the config file is a warning that names it, without its value", async () => {
  const world = await createWorld();
  world.write(
    ".home/config.json",
    JSON.stringify({ profiles: { default: { apiKey: "ak_live_0123456789abcdef" } } }),
  );
  const ran = await world.cat("doctor --json");
  expect(reportOf(ran).checks.find(({ name }) => name === "settings")).toMatchObject({
    status: "warning",
    message: expect.stringMatching(/^unknown keys in profile default of .*config\.json: apiKey$/),
  });
  expect(ran.stdout).not.toContain("0123456789");
});

describe("the check of cat", () => {
  const program = fileURLToPath(new URL("../../bin/cat.js", import.meta.url));
  const hint =
    "Write catalogue in scripts. To keep the system's cat, use the portable archive with --no-cat instead.";

  /** An executable file of the test environment. */
  function executable(path: string, text: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  }

  const checkOf = async (world: TestWorld, context: Partial<Context>, env = {}) => {
    const ran = await world.cat("doctor --json", { env: { PATH: "/usr/bin:/bin", ...env }, context });
    const { name: _, ...check } = reportOf(ran).checks.at(-1)!;
    return [ran.exit, check];
  };
  const asIn = (world: TestWorld, path: string) =>
    [
      0,
      {
        status: "warning",
        message: `scripts of this project find this program as cat: ${join(world.folder, path)}; cat FILE goes to /usr/bin/cat`,
        hint,
      },
    ] as const;

  test("warns in a project that has this program as a dependency, and in the folders below it", async () => {
    const world = await createWorld();
    const { folder } = world;
    mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
    symlinkSync(program, join(folder, "node_modules/.bin/cat"));
    mkdirSync(join(folder, "sheets/autumn"), { recursive: true });
    for (const cwd of [folder, join(folder, "sheets"), join(folder, "sheets/autumn")])
      expect(await checkOf(world, { cwd })).toEqual(asIn(world, "node_modules/.bin/cat"));
    // As a script runs, and by its other name.
    const PATH = `${folder}/node_modules/.bin:/usr/bin:/bin`;
    expect(await checkOf(world, { program: "catalogue" }, { PATH })).toEqual(
      asIn(world, "node_modules/.bin/cat"),
    );
  });

  test.each([
    ["pnpm", 'basedir=$(dirname "$0")\nexec node  "$basedir/../catalogue/bin/cat.js" "$@"'],
    [
      "npm on Windows",
      'basedir=$(dirname "$(echo "$0")")\nexec "$basedir/node"  "$basedir/../catalogue/bin/cat.js" "$@"',
    ],
  ])("warns about the script that %s writes for it", async (_, script) => {
    const world = await createWorld();
    mkdirSync(join(world.folder, "node_modules/catalogue/bin"), { recursive: true });
    cpSync(program, join(world.folder, "node_modules/catalogue/bin/cat.js"));
    executable(join(world.folder, "node_modules/.bin/cat"), `#!/bin/sh\n${script}\n`);
    expect(await checkOf(world, {})).toEqual(asIn(world, "node_modules/.bin/cat"));
  });

  test("warns in a project with Plug'n'Play about the script that yarn puts on PATH", async () => {
    const world = await createWorld();
    writeFileSync(join(world.folder, ".pnp.cjs"), "");
    const script = executable(join(world.folder, "xfs-1/cat"), `#!/bin/sh\nexec node "${program}" "$@"\n`);
    expect(await checkOf(world, {}, { PATH: `${dirname(script)}:/usr/bin` })).toEqual(
      asIn(world, "xfs-1/cat"),
    );
  });

  test("says which cat is the first on PATH elsewhere, also where the project has another program of this name", async () => {
    const world = await createWorld();
    executable(join(world.folder, "node_modules/.bin/cat"), "#!/bin/sh\nexec node other/cat.js\n");
    const system = { status: "ok", message: "the first on PATH is /usr/bin/cat" };
    expect(await checkOf(world, {})).toEqual([0, system]);
    mkdirSync(join(world.folder, "own"));
    symlinkSync(program, join(world.folder, "own/cat"));
    const own = `the first on PATH is this program, ${world.folder}/own/cat; cat FILE goes to /usr/bin/cat`;
    const PATH = `${world.folder}/own:/usr/bin`;
    expect(await checkOf(world, {}, { PATH })).toEqual([0, { status: "ok", message: own }]);
    // The system's comes first.
    expect(await checkOf(world, {}, { PATH: `/usr/bin:${world.folder}/own` })).toEqual([0, system]);
  });

  test("says that there is no other cat, as on Windows", async () => {
    const world = await createWorld();
    const host = { platform: "win32", userHome: () => null };
    const homeFolder = async () => join(world.folder, ".home");
    // A path without a drive, as of this test, is no home on Windows.
    expect(await checkOf(world, { host, homeFolder }, { CAT_HOME: undefined })).toEqual([
      0,
      { status: "ok", message: "no other cat is on PATH" },
    ]);
  });
});
