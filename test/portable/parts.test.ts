import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { billOfArchive } from "../../scripts/portable/bill-of-archive.js";
import { platforms, platformsNamed } from "../../scripts/portable/platforms.js";
import { removeSymbols } from "../../scripts/portable/remove-symbols.js";
import { sumsOf, writeArchive } from "../../scripts/portable/write-archive.js";
import { firstSection, leftToDo } from "../../scripts/release/left-to-do.js";
import { noNetwork } from "../package/no-network.ts";
import { longTest } from "../support/long-test.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");

test("five platforms have archives, with one release of Node whose packages are known by their integrity", () => {
  expect(platforms.map(({ name, archive }) => name + archive)).toEqual([
    ...["linux-x64.tar.gz", "linux-arm64.tar.gz", "macos-x64.tar.gz", "macos-arm64.tar.gz"],
    "windows-x64.zip",
  ]);
  const [version, ...others] = new Set(platforms.map(({ node }) => node.replace(/^.*@/, "")));
  expect([version, others]).toEqual([expect.stringMatching(/^2[2-9]\.\d+\.\d+$/), []]);
  const sums = new Set(platforms.map(({ integrity }) => integrity));
  expect([...sums].filter((sum) => /^sha512-[\w+/]{86}==$/.test(sum))).toHaveLength(5);
});

test("an unknown platform is named, with the known ones", () => {
  expect(platformsNamed([])).toBe(platforms);
  expect(platformsNamed(["windows-x64"]).map(({ os }) => os)).toEqual(["win32"]);
  expect(() => platformsNamed(["linux-x64", "linux-x86"])).toThrow(
    "unknown platform linux-x86\nUse linux-x64, linux-arm64, macos-x64, macos-arm64, windows-x64.",
  );
});

test("the launchers say that they are this program, so that it does not take them for the system's cat", () => {
  const [mark = "none"] = /catalogue:[\w-]+/.exec(read("bin/cat.js")) ?? [];
  expect(read("scripts/portable/launcher.sh")).toContain(mark);
});

test("the bill of an archive has Node and what is in the archive, and nothing for other systems", () => {
  const component = (name: string, properties?: { name: string; value: string }[]) => ({
    ...{ "bom-ref": `pkg:${name}`, name, version: "1.0.0", ...(properties && { properties }) },
  });
  const bundled = [{ name: "cdx:npm:package:bundled", value: "true" }];
  const bill = {
    serialNumber: "urn:uuid:1",
    metadata: { component: component("own") },
    components: [component("undici", bundled), component("linux"), component("windows")],
    dependencies: [
      { ref: "pkg:own", dependsOn: ["pkg:linux", "pkg:undici", "pkg:windows"] },
      { ref: "pkg:linux", dependsOn: ["pkg:windows"] },
      { ref: "pkg:windows", dependsOn: [] },
    ],
  };
  const made = JSON.parse(
    billOfArchive(JSON.stringify(bill), new Set(["linux@1.0.0", "windows@2.0.0"]), "22.1.0"),
  );
  expect(made).not.toHaveProperty("serialNumber");
  expect(made.components.map((one: { "bom-ref": string }) => one["bom-ref"])).toEqual([
    ...["pkg:generic/node@22.1.0", "pkg:undici", "pkg:linux"],
  ]);
  expect(made.dependencies).toEqual([
    { ref: "pkg:own", dependsOn: ["pkg:linux", "pkg:undici", "pkg:generic/node@22.1.0"] },
    { ref: "pkg:linux", dependsOn: [] },
    { ref: "pkg:generic/node@22.1.0", dependsOn: [] },
  ]);
});

longTest("a program for Linux works without what is behind its segments; other files are rejected", () => {
  const path = join(temporaryFolder(), "sh");
  cpSync(realpathSync("/bin/sh"), path);
  const before = statSync(path).size;
  removeSymbols(path);
  const after = statSync(path).size;
  expect(after).toBeLessThan(before);
  expect(execFileSync(path, ["-c", "echo works"], { encoding: "utf8" })).toBe("works\n");
  removeSymbols(path);
  expect(statSync(path).size).toBe(after);
  truncateSync(path, after - 1);
  expect(() => removeSymbols(path)).toThrow(`${path} is cut`);
  writeFileSync(path, `#!/bin/sh\n${"#".repeat(200)}`);
  expect(() => removeSymbols(path)).toThrow(`${path} is not a program for Linux`);
});

longTest(
  "archives of the same files have the same bytes, whoever made them, when, and in what order",
  async () => {
    const made = async (names: string[], mode: number, seconds: number) => {
      const parent = temporaryFolder();
      mkdirSync(join(parent, "top/lib"), { recursive: true });
      for (const name of names) {
        writeFileSync(join(parent, "top", name), name);
        chmodSync(join(parent, "top", name), mode);
        utimesSync(join(parent, "top", name), seconds, seconds);
      }
      for (const ending of ["tar.gz", "zip"]) await writeArchive(parent, "top", join(parent, `a.${ending}`));
      return sumsOf(parent, ["a.tar.gz", "a.zip"]);
    };
    const sums = await made(["a", "b", "lib/c"], 0o600, 1);
    expect(sums).toMatch(/^[0-9a-f]{64} {2}a\.tar\.gz\n[0-9a-f]{64} {2}a\.zip\n$/);
    expect(await made(["lib/c", "b", "a"], 0o664, 2_000_000_000)).toBe(sums);
    expect(await made(["a", "b"], 0o600, 1)).not.toBe(sums);
    expect(await made(["a", "b", "lib/c"], 0o700, 1)).not.toBe(sums);
  },
);

test("CHANGELOG begins with the version of package.json and its date", () => {
  const { version, date, lines } = firstSection(read("CHANGELOG.md"));
  expect([version, date]).toEqual([manifest.version, expect.stringMatching(/^20\d\d-\d\d-\d\d$/)]);
  expect(lines.length).toBeGreaterThan(1000);
});

test("the notes of a release are the first section of CHANGELOG alone", () => {
  const text =
    "# Changes\n\n## 1.1.0, 2027-01-02\n\nImport\n\n- It reads\n  ## all.\n\n## 1.0.0, 2026-01-01\n\n- It is.\n";
  expect(firstSection(text)).toEqual({
    ...{ version: "1.1.0", date: "2027-01-02", lines: "Import\n\n- It reads\n  ## all.\n" },
  });
});

longTest("names all that is left to do before a release, and nothing for one that is ready", () => {
  const folder = temporaryFolder();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=anna", "-c", "user.email=anna@example.com", ...args], {
      cwd: folder,
    });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const files = ["package.json", "install.sh", "install.ps1"];
  const fill = (owner: string) => {
    for (const name of files)
      write(name, JSON.stringify({ version: "1.2.0", homepage: `https://example.com/${owner}/catalogue` }));
  };
  fill("OWNER");
  write("CHANGELOG.md", "# Changes\n\n## 0.0.9, unreleased\n");
  expect(leftToDo(folder)).toContain("work in a clone: only there changes and tags are known");
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message=first");
  git("tag", "v1.2.0");
  git("commit", "--quiet", "--allow-empty", "--message=second");
  expect(leftToDo(folder)).toEqual([
    "fill in OWNER in package.json, install.sh, install.ps1",
    `begin CHANGELOG.md with "## 1.2.0, DATE": it begins with 0.0.9`,
    "write the date of 0.0.9 in CHANGELOG.md, for example 2026-11-29",
    "commit all changes",
    `choose another version: the tag v1.2.0 exists`,
  ]);
  fill("shop");
  write("CHANGELOG.md", `# Changes\n\n## 1.2.0, 2027-01-02\n`);
  git("add", ".");
  git("commit", "--quiet", "--message=third");
  git("tag", "--delete", "v1.2.0");
  expect(leftToDo(folder)).toEqual([]);
  // In the workflow that the tag of this version starts.
  git("tag", "v1.2.0");
  expect(leftToDo(folder)).toEqual([]);
  git("tag", "v1.3.0");
  expect(leftToDo(folder)).toEqual(["remove the tag v1.3.0 from this commit: package.json has 1.2.0"]);
});

longTest(
  "npm run release makes nothing while something is left to do, or where files are",
  async ({ skip }) => {
    const left = leftToDo(root);
    skip(left.length === 0, "this version can be released");
    const folder = temporaryFolder();
    const out = join(folder, "release");
    const release = (...args: string[]) =>
      execa(process.execPath, [join(root, "scripts/release.js"), "--out", out, ...args], { reject: false });
    const stopped = await release();
    const list = left.map((line) => `- ${line}\n`).join("");
    expect(stopped.stderr).toBe(
      `error: this version cannot be released yet\n${list}To try it, add --dry-run.`,
    );
    expect([stopped.exitCode, stopped.stdout, existsSync(out)]).toEqual([1, "", false]);
    mkdirSync(out);
    writeFileSync(join(out, "mine"), "");
    const { exitCode, stderr } = await release("--dry-run");
    expect([exitCode, stderr]).toEqual([
      1,
      `error: ${out} is not empty\nRemove it, or choose another folder with --out.`,
    ]);
    expect(readdirSync(out)).toEqual(["mine"]);
    const other = join(folder, "catalogue-imaging-catalogue-0.0.9.tgz");
    writeFileSync(other, "");
    const name = `catalogue-imaging-catalogue-${manifest.version}.tgz`;
    for (const packed of [other, join(folder, name)])
      expect((await release("--dry-run", "--package", packed, "--out", join(folder, "new"))).stderr).toBe(
        `error: ${packed} is not the packed package of this version, ${name}\nMake it with: npm pack`,
      );
    expect(readdirSync(folder).sort()).toEqual(["catalogue-imaging-catalogue-0.0.9.tgz", "release"]);
  },
);

longTest("the scripts name npm ci in a clone without its packages, and write nothing", async () => {
  const folder = temporaryFolder();
  for (const name of ["scripts", "package.json", "CHANGELOG.md", "install.sh", "install.ps1"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const command of ["portable.js", "release.js --dry-run"]) {
    const args = `scripts/${command} --out out`.split(" ");
    const { exitCode, all } = await execa(process.execPath, args, { cwd: folder, reject: false, all: true });
    const error = "error: the packages of this clone are not installed\nRun: npm ci --include=dev";
    expect([exitCode, all, existsSync(join(folder, "out"))]).toEqual([1, error, false]);
  }
});

longTest(
  "says what npm says where the registry cannot be reached, which the other tests are skipped for",
  async () => {
    const folder = temporaryFolder();
    const name = `catalogue-imaging-catalogue-${manifest.version}.tgz`;
    mkdirSync(join(folder, "package"));
    writeFileSync(join(folder, "package/package.json"), "{}");
    await execa("tar", ["-czf", name, "package"], { cwd: folder });
    // Port 1 accepts no connection.
    const env = {
      npm_config_registry: "http://127.0.0.1:1",
      npm_config_cache: join(folder, "cache"),
      npm_config_fetch_retries: "0",
    };
    const args = ["linux-x64", "--package", join(folder, name), "--out", join(folder, "out")];
    const { exitCode, stderr } = await execa(process.execPath, [join(root, "scripts/portable.js"), ...args], {
      env,
      reject: false,
    });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: npm pack failed: npm error code ECONNREFUSED\n/),
    ]);
    expect(stderr).toMatch(noNetwork);
  },
);

longTest("the scripts show how they are used, and name a platform that they do not know", async () => {
  const run = (name: string, ...args: string[]) =>
    execa(process.execPath, [join(root, `scripts/${name}.js`), ...args], { reject: false });
  for (const name of ["portable", "release"])
    expect((await run(name, "--help")).stdout).toMatch(new RegExp(`^usage: npm run ${name} -- `));
  const { exitCode, stderr } = await run("portable", "linux-x86", "--out", join(temporaryFolder(), "out"));
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: unknown platform linux-x86\nUse linux-x64, /),
  ]);
});
