import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { startMock } from "../../src/mock/index.ts";
import { secretKeys } from "../../src/mock/rules/api-keys.ts";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const action = readFileSync(join(root, "action.yml"), "utf8");

/** The commands of the action's steps, as the runner starts them. */
const commands = [...action.matchAll(/^ {4}(?:- | {2})run: (.*)$/gm)].map((match) => match[1]!);

/** Runs the steps of the action as a runner on a clean machine, and gives what later steps get. */
async function runAction(inputs: { flags: string; port?: string }) {
  needsBuild();
  const folder = temporaryFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  // Installing and building are not what is tested, and would need a registry.
  writeFileSync(join(bin, "npm"), '#!/bin/sh\necho "$@" > installed\n', { mode: 0o755 });
  mkdirSync(join(folder, "scripts"));
  const build = 'require("node:fs").writeFileSync("built", "")';
  writeFileSync(join(folder, "scripts/build.js"), build);
  symlinkSync(process.execPath, join(bin, "node"));
  const files = { GITHUB_OUTPUT: join(folder, "output"), GITHUB_ENV: join(folder, "env") };
  for (const file of Object.values(files)) writeFileSync(file, "");
  const env = {
    ...files,
    PATH: `${bin}:/usr/bin:/bin`,
    RUNNER_TEMP: folder,
    GITHUB_ACTION_PATH: root,
    MOCK_FLAGS: inputs.flags,
    MOCK_PORT: inputs.port ?? "0",
  };
  let printed = "";
  let exit = 0;
  for (const command of commands) {
    const ran = await execa("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", command], {
      ...{ cwd: folder, extendEnv: false, env, reject: false, all: true, timeout: 60_000 },
    });
    printed += ran.all;
    exit = ran.exitCode ?? 1;
    if (exit !== 0) break;
  }
  const values = (name: keyof typeof files) =>
    Object.fromEntries(
      readFileSync(files[name], "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
    );
  return { exit, printed, folder, output: values("GITHUB_OUTPUT"), env: values("GITHUB_ENV") };
}

/** Ends the mock that a job left, as the runner does, by the address that it listens on. */
function endAfterTest(folder: string): void {
  onTestFinished(async () => {
    const { stdout } = await execa("ps", ["-eo", "pid,args"]);
    const [, pid] = new RegExp(`^ *(\\d+) .*--save ${folder}/`, "m").exec(stdout) ?? [];
    if (pid !== undefined) process.kill(Number(pid));
  });
}

longTest("the action installs the package and starts the mock for the steps that follow", async () => {
  const place = temporaryFolder();
  endAfterTest(place);
  const ran = await runAction({ flags: `--demo 3  --seed 1\n--save ${place}/a.json\n` });
  expect(ran).toMatchObject({ exit: 0, env: { CAT_API_KEY: "ak_mock" } });
  const url = ran.env.CAT_BASE_URL!;
  expect(ran.printed).toBe(`Mock service running at ${url}`);
  expect(ran.output).toEqual({ "base-url": url, "api-key": "ak_mock" });
  const headers = { authorization: `Bearer ${ran.env.CAT_API_KEY}` };
  const installed = readFileSync(join(ran.folder, "installed"), "utf8");
  expect([installed, existsSync(join(ran.folder, "built"))]).toEqual([
    "ci --ignore-scripts --include=dev --no-audit --no-fund\n",
    true,
  ]);
  const { data } = (await (await fetch(`${url}/v1/products`, { headers })).json()) as { data: unknown[] };
  expect(data).toHaveLength(3);
});

longTest("the random key of a copy goes to the steps that follow, and stays out of the log", async () => {
  const place = temporaryFolder();
  endAfterTest(place);
  const key = `ak_${"7".repeat(32)}`;
  await using mock = await startMock({ demo: 1 });
  const state = { ...mock.state(), real_data: true, keys: secretKeys(() => key).slice(0, 1) };
  writeFileSync(join(place, "copy.json"), JSON.stringify(state));
  const ran = await runAction({ flags: `--load ${place}/copy.json --save ${place}/b.json` });
  expect(ran).toMatchObject({ exit: 0, env: { CAT_API_KEY: key }, output: { "api-key": key } });
  expect(ran.printed.split("\n")).toEqual([
    `::add-mask::${key}`,
    `Mock service running at ${ran.env.CAT_BASE_URL}`,
  ]);
});

longTest("flags are neither expanded nor run, and a mock that does not start fails the step", async () => {
  const ran = await runAction({ flags: "--demo * ; touch injected; $(touch injected)" });
  expect(ran.exit).toBe(1);
  expect(ran.printed).toContain("use a whole number from 0 to 1000000");
  expect([ran.output, ran.env]).toEqual([{}, {}]);
  await expect(async () => readFileSync(join(ran.folder, "injected"))).rejects.toThrow("ENOENT");
});

/** Runs the start of the mock alone, which needs neither an installation nor a build to reject its flags. */
async function start(flags: string) {
  const folder = temporaryFolder();
  const ran = await execa("bash", [join(root, "scripts/start-mock.sh")], {
    ...{ cwd: folder, reject: false, extendEnv: false },
    env: { PATH: "/usr/bin:/bin", RUNNER_TEMP: folder, MOCK_FLAGS: flags, MOCK_PORT: "0" },
  });
  return { exit: ran.exitCode, stderr: ran.stderr, files: readdirSync(folder) };
}

test.each([
  "-- touch ran",
  "--demo 2 -- touch ran",
  "--demo 2\n--\ntouch ran",
  "--",
  " -- ",
  "--load -- touch ran",
])("flags with a bare -- are rejected before anything runs: %j", async (flags) => {
  expect(await start(flags)).toEqual({
    exit: 2,
    stderr:
      "flags must not contain --, after which a command would run\n" +
      "Remove it. To run a command against the mock, add a step after this one.",
    files: [],
  });
});

longTest("no input is part of a command, where it could run another", () => {
  expect(commands).toHaveLength(2);
  for (const command of commands) expect(command).not.toContain("${{");
  expect(action).toMatch(/^runs:\n {2}using: composite\n/m);
});
