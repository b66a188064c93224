import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { packCopy } from "../../scripts/pack-copy.js";
import { startMock } from "../../src/mock/index.ts";
import { secretKeys } from "../../src/mock/rules/api-keys.ts";
import { noNetwork } from "../package/no-network.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const action = readFileSync(join(root, "action.yml"), "utf8");

/** The commands of the action's steps, as the runner starts them. */
const commands = [...action.matchAll(/^ {4}(?:- | {2})run: (.*)$/gm)].map((match) => match[1]!);

/** The inputs of the action, as the runner gives them to its scripts, and what a job has set. */
interface Job {
  readonly flags?: string;
  readonly version?: string;
  readonly tarball?: string;
  readonly env?: Record<string, string>;
  /** The clone that has the action (default: as GitHub downloads it, which is not built). */
  readonly clone?: string;
  /** The real npm and curl; without, others record their arguments, and give a package that starts the built clone. */
  readonly npm?: "real";
  /** The version in that package (default: that of the clone). */
  readonly packed?: string;
}

/** A program that records how it was called, a line each time. */
const recording = (name: string, then = "") =>
  `#!/bin/sh\necho "${name}" "$@" >> "$RUNNER_TEMP/called"\n${then}\n`;

/** Packs a package that starts the built clone. */
async function smallPackage(folder: string, version: string): Promise<string> {
  const content = join(folder, version, "package");
  mkdirSync(join(content, "bin"), { recursive: true });
  writeFileSync(join(content, "package.json"), JSON.stringify({ name: manifest.name, version }));
  writeFileSync(
    join(content, "bin/catalogue.js"),
    `require(${JSON.stringify(join(root, "bin/catalogue.js"))});\n`,
  );
  mkdirSync(join(content, "dist/program"), { recursive: true });
  writeFileSync(join(content, "dist/program/hand-over.js"), "");
  const path = join(folder, `${version}.tgz`);
  await execa("tar", ["-czf", path, "-C", join(folder, version), "package"]);
  return path;
}

/** Runs the steps of the action, or the first of them, as a runner on a clean machine; gives what later steps get. */
async function runAction(job: Job, steps = commands) {
  const folder = temporaryFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  if (job.npm === "real") {
    const npm = `#!/bin/sh\nPATH=${process.env.PATH} exec npm "$@"\n`;
    writeFileSync(join(bin, "npm"), npm, { mode: 0o755 });
  } else {
    const packed = await smallPackage(folder, job.packed ?? manifest.version);
    writeFileSync(join(bin, "npm"), recording("npm"), { mode: 0o755 });
    // Its arguments end with -o FILE URL.
    writeFileSync(join(bin, "curl"), recording("curl", `cp ${packed} "$5"`), { mode: 0o755 });
  }
  symlinkSync(process.execPath, join(bin, "node"));
  const clone = join(folder, "clone");
  for (const path of [
    "scripts/install-release.sh",
    "scripts/start-mock.sh",
    "package.json",
    "package-lock.json",
  ])
    cpSync(join(root, path), join(clone, path));
  const files = { GITHUB_OUTPUT: join(folder, "output"), GITHUB_ENV: join(folder, "env") };
  const values = (name: keyof typeof files) =>
    Object.fromEntries(
      readFileSync(files[name], "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
    );
  const env = {
    ...files,
    PATH: `${bin}:/usr/bin:/bin`,
    RUNNER_TEMP: folder,
    GITHUB_ACTION_PATH: job.clone ?? clone,
    GITHUB_SERVER_URL: "https://github.com",
    REPOSITORY: "shop/catalogue",
    TARBALL: job.tarball ?? "",
    VERSION: job.version ?? "",
    MOCK_FLAGS: job.flags ?? "",
    MOCK_PORT: "0",
    ...job.env,
  };
  let printed = "";
  let exit = 0;
  let program: string | undefined;
  for (const command of steps) {
    for (const file of Object.values(files)) writeFileSync(file, "");
    const ran = await execa("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", command], {
      ...{ cwd: folder, extendEnv: false, reject: false, all: true, timeout: 120_000 },
      env: { ...env, ...(program !== undefined && { MOCK_PROGRAM: program }) },
    });
    printed += ran.all;
    exit = ran.exitCode ?? 1;
    if (exit !== 0) break;
    program = values("GITHUB_OUTPUT").program;
  }
  const record = join(folder, "called");
  const called = existsSync(record) ? readFileSync(record, "utf8").replaceAll(/ -o \S+/g, "") : "";
  return { exit, printed, folder, called, output: values("GITHUB_OUTPUT"), env: values("GITHUB_ENV") };
}

/** A server with one release of the package. */
async function releases(tarball: string) {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.end(readFileSync(tarball));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, [Symbol.asyncDispose]: async () => void server.close() };
}

/** Ends the mock that a job left, before it saves to the folder that is removed, by the file that it saves to. */
function endAfterTest(folder: string): void {
  onTestFinished(async () => {
    const { stdout } = await execa("ps", ["-eo", "pid,args"]);
    const [, pid] = new RegExp(`^ *(\\d+) .*--save ${folder}/`, "m").exec(stdout) ?? [];
    if (pid !== undefined) process.kill(Number(pid), "SIGKILL");
  });
}

const options = "--include=optional --ignore-scripts --engine-strict --no-audit --no-fund";
/** With the versions of the lockfile. */
const ci = `npm ci --omit=dev ${options}\n`;
const get = (url: string) => `curl -fsSL --retry 3 ${url}\n`;
const release = (version: string) =>
  get(
    `https://github.com/shop/catalogue/releases/download/v${version}/catalogue-imaging-catalogue-${version}.tgz`,
  );

test.each(
  sampled(
    [
      ["its own release by default", {}, release(manifest.version)],
      ["a release", { version: manifest.version }, release(manifest.version)],
      ["a release named by its tag", { version: "v1.20.3" }, release("1.20.3")],
      ["a release before another", { version: "2.0.0-beta.1" }, release("2.0.0-beta.1")],
      ["a packed file of an address", { tarball: "https://x.example/a.tgz" }, get("https://x.example/a.tgz")],
      [
        "a release where NODE_ENV is production",
        { env: { NODE_ENV: "production" } },
        release(manifest.version),
      ],
    ] as const,
    1,
  ),
)("installs %s, without scripts of packages and without a build", async (_, job, from) => {
  const ran = await runAction(job, commands.slice(0, 1));
  expect([ran.exit, ran.printed, ran.called]).toEqual([0, "", from + ci]);
});

test("installs what another release needs without the lockfile of this one", async () => {
  const ran = await runAction({ version: "1.20.3", packed: "1.20.3" }, commands.slice(0, 1));
  const install = `npm install --omit=dev --no-package-lock ${options}\n`;
  expect([ran.exit, ran.printed, ran.called]).toEqual([0, "", release("1.20.3") + install]);
});

longTest("installs a packed file by its path, from the folder of the job or from the root", async () => {
  const folder = temporaryFolder();
  cpSync(await smallPackage(folder, manifest.version), join(folder, "a b.tgz"));
  for (const tarball of [join(folder, "a b.tgz"), `${manifest.version}.tgz`]) {
    const ran = await runAction({ tarball }, commands.slice(0, 1));
    expect([ran.exit, ran.printed, ran.called]).toEqual([0, "", ci]);
  }
});

const notARelease = (version: string) =>
  `version must be a release such as 0.1.0, not ${version}\nTo install a packed file, use tarball.`;
test.each(
  sampled([
    [{ version: "latest" }, notARelease("latest")],
    [{ version: "1" }, notARelease("1")],
    [{ version: "1.2.3/../../x" }, notARelease("1.2.3/../../x")],
    [{ version: "1.2.3 --global" }, notARelease("1.2.3 --global")],
    [{ version: "$(touch ran)" }, notARelease("$(touch ran)")],
    [
      { tarball: "a.tgz" },
      "cannot find the file a.tgz of tarball\nUse the path of a packed file (npm pack makes it), or an https:// URL.",
    ],
    [{ version: "1.2.3", tarball: "a.tgz" }, "version and tarball exclude each other\nRemove one of them."],
    [
      { version: "1.2.3", clone: root, env: { REPOSITORY: "" } },
      "version cannot be used: this clone belongs to no repository with releases\n" +
        "Remove version to use this clone, or use tarball.",
    ],
    [
      { env: { REPOSITORY: "", NODE_ENV: "production" } },
      "this clone is not built, and belongs to no repository with releases\n" +
        "Run: npm ci --include=dev (in a step before this one), or use tarball.",
    ],
  ] as const),
)("fails with a next step, before anything is installed: %j", async (job, message) => {
  const ran = await runAction(job);
  expect([ran.exit, ran.printed, ran.called]).toEqual([2, message, ""]);
});

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

test.runIf(hasCurl)(
  "a release that cannot be read, and a file that is not a package, fail the step",
  async () => {
    // Port 1 accepts no connection.
    const unread = await runAction({ npm: "real", env: { GITHUB_SERVER_URL: "http://127.0.0.1:1" } });
    expect(unread).toMatchObject({ exit: 2, output: {}, env: {} });
    expect(unread.printed).toMatch(
      /^curl: \(7\) .*\ncannot get http:\/\/127\.0\.0\.1:1\/shop\/catalogue\/releases\/\S+\.tgz\nCheck that the file exists, /,
    );
    const other = await runAction({ tarball: "bin/npm" });
    expect(other).toMatchObject({ exit: 2, output: {}, env: {}, called: "" });
    expect(other.printed).toMatch(/\/bin\/npm is not a packed package\nMake one with: npm pack$/);
  },
);

longTest(
  "an archive of something else fails the step: a portable program, a clone that is not built",
  async () => {
    const folder = temporaryFolder();
    for (const file of ["lib/bin/catalogue.js", "bin/catalogue.js"]) {
      const name = `${dirname(file).replaceAll("/", "-")}.tgz`;
      mkdirSync(join(folder, name, "package", dirname(file)), { recursive: true });
      for (const path of ["package.json", file]) writeFileSync(join(folder, name, "package", path), "{}");
      const tarball = join(folder, `packed-${name}`);
      await execa("tar", ["-czf", tarball, "-C", join(folder, name), "package"]);
      const ran = await runAction({ tarball });
      expect([ran.exit, ran.printed, ran.called]).toEqual([
        2,
        `${tarball} is not a packed package\nMake one with: npm pack`,
        "",
      ]);
    }
  },
);

longTest("the action starts the mock of the installed package for the steps that follow", async () => {
  needsBuild();
  const place = temporaryFolder();
  endAfterTest(place);
  const ran = await runAction({ flags: `--demo 3  --seed 1\n--save ${place}/a.json\n` });
  expect(ran).toMatchObject({ exit: 0, env: { CAT_API_KEY: "ak_mock" } });
  const url = ran.env.CAT_BASE_URL!;
  expect(ran.printed).toBe(`Mock service running at ${url}`);
  expect(ran.output).toEqual({ "base-url": url, "api-key": "ak_mock" });
  const headers = { authorization: `Bearer ${ran.env.CAT_API_KEY}` };
  const { data } = (await (await fetch(`${url}/v1/products`, { headers })).json()) as { data: unknown[] };
  expect(data).toHaveLength(3);
});

longTest("a built clone is used as it is, and nothing is installed", async () => {
  needsBuild();
  const place = temporaryFolder();
  endAfterTest(place);
  const ran = await runAction({ clone: root, flags: `--save ${place}/a.json` });
  expect([ran.exit, ran.called]).toEqual([0, ""]);
  expect(ran.printed).toMatch(/^Using the built clone in \S+Mock service running at http/);
});

longTest(
  "a release is installed from the repository and the registry, and imports a file and undoes that",
  async ({ skip }) => {
    if (!hasCurl) skip("curl is not on this machine");
    const place = temporaryFolder();
    endAfterTest(place);
    const { tarball } = await packCopy(place);
    await using server = await releases(tarball);
    const env = { GITHUB_SERVER_URL: server.url, NODE_ENV: "production", HOME: process.env.HOME ?? "" };
    const ran = await runAction({ npm: "real", env, flags: `--save ${place}/a.json` });
    if (ran.exit !== 0 && noNetwork.test(ran.printed)) skip(`cannot reach the registry: ${ran.printed}`);
    expect(server.asked).toEqual([
      `/shop/catalogue/releases/download/v${manifest.version}/catalogue-imaging-catalogue-${manifest.version}.tgz`,
    ]);
    expect(ran).toMatchObject({ exit: 0, env: { CAT_API_KEY: "ak_mock" } });
    const unpacked = readdirSync(ran.folder).find((name) => /^catalogue-\w{6}$/.test(name))!;
    const packages = join(ran.folder, unpacked, "node_modules");
    // Neither what the build needs nor what was built here.
    expect(readdirSync(packages).filter((name) => /esbuild|typescript|vitest/.test(name))).toEqual([]);
    writeFileSync(join(place, "a.csv"), "reference,name,images\nA-1,Dress,https://cdn.example.com/a.jpg\n");
    const cat = async (...args: string[]) => {
      const program = join(packages, "../bin/catalogue.js");
      const options = { cwd: place, env: { ...ran.env, CAT_HOME: join(place, "home") } };
      return (await execa(process.execPath, [program, ...args], options)).stdout;
    };
    await cat("import", "a.csv", "--no-progress");
    expect((await cat("products", "list", "--json")).split("\n")).toHaveLength(1);
    await cat("imports", "undo", "last", "--yes", "--no-progress");
    expect(await cat("products", "list", "--json")).toBe("");
  },
);

longTest("the random key of a copy goes to the steps that follow, and stays out of the log", async () => {
  const place = temporaryFolder();
  endAfterTest(place);
  const key = `ak_${"7".repeat(32)}`;
  needsBuild();
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
  needsBuild();
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

test.each(
  sampled([
    "-- touch ran",
    "--demo 2 -- touch ran",
    "--demo 2\n--\ntouch ran",
    "--",
    " -- ",
    "--load -- touch ran",
  ]),
)("flags with a bare -- are rejected before anything runs: %j", async (flags) => {
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
