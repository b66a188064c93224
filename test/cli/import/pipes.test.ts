import { execFileSync, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { catProgram, needsBuild } from "../../support/spawn-cat.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const cdn = "https://cdn.example.com";
const half = `reference,name,images\nOK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

beforeEach(needsBuild);

/** A folder with `a.csv` and a pipe, and the real program in it, since a thread of a test cannot be interrupted. */
function place() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.csv"), half);
  execFileSync("mkfifo", [join(folder, "pipe")]);
  return folder;
}

const start = (folder: string, args: string[]) =>
  spawn(process.execPath, [catProgram, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });

async function ended(child: ReturnType<typeof start>) {
  let stderr = "";
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const [exit] = await once(child, "close");
  return { exit, stderr };
}

/** Waits until a process has a file open, as /proc tells. */
async function opened(pid: number, path: string): Promise<void> {
  const descriptors = `/proc/${pid}/fd`;
  const has = (descriptor: string) => {
    try {
      return readlinkSync(join(descriptors, descriptor)) === path;
    } catch {
      return false;
    }
  };
  while (!readdirSync(descriptors).some(has)) await new Promise((resolve) => setImmediate(resolve));
}

describe("a pipe without its other end", () => {
  test.each(["--failed", "--results"])("as %s refuses the command, and nothing is sent", async (flag) => {
    const folder = place();
    const ran = await ended(start(folder, ["import", "a.csv", "--mock", "--no-progress", flag, "pipe"]));
    expect(ran).toEqual({
      exit: 2,
      stderr: `error: ${flag} pipe, which is a pipe that nobody reads\nName another file with ${flag}.\n`,
    });
  });

  test.runIf(process.platform === "linux")(
    "as the input waits for its writer, and ends at Ctrl-C",
    async () => {
      const folder = place();
      const child = start(folder, ["import", "pipe", "--dry-run"]);
      const ran = ended(child);
      await opened(child.pid!, join(folder, "pipe"));
      child.kill("SIGINT");
      expect(await ran).toMatchObject({ exit: 130 });
    },
  );

  test("as the input is read once the writer comes", async () => {
    const folder = place();
    const child = start(folder, ["import", "pipe", "--format", "csv", "--dry-run"]);
    const ran = ended(child);
    execFileSync("/bin/sh", ["-c", "cat a.csv > pipe"], { cwd: folder });
    expect(await ran).toEqual({
      exit: 0,
      stderr: "pipe: 2 rows, all valid. Nothing was sent (--dry-run).\n",
    });
  });
});

describe("a process substitution", () => {
  const bash = async (folder: string, script: string) =>
    ended(
      spawn("/bin/bash", ["--norc", "-c", script], {
        cwd: folder,
        env: { PATH: process.env.PATH ?? "", NODE: process.execPath, CAT: catProgram },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );

  test("takes results and failed rows, and is not named as a file to import", async () => {
    const folder = place();
    const ran = await bash(
      folder,
      `"$NODE" "$CAT" import a.csv --mock --no-progress --results >(wc -l > results) --failed >(wc -l > failed); e=$?; wait; sleep 0.2; exit $e`,
    );
    expect(ran.exit).toBe(8);
    expect(ran.stderr).toMatch(/^What did not make it went to \/dev\/fd\/\d+, with the reason\.$/m);
    expect(ran.stderr).not.toContain("cat import");
    const count = (name: string) => readFileSync(join(folder, name), "utf8").trim();
    expect([count("results"), count("failed")]).toEqual(["2", "2"]);
  });

  test("is read as the input", async () => {
    const folder = place();
    const ran = await bash(folder, `"$NODE" "$CAT" import <(cat a.csv) --dry-run`);
    expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining("2 rows, all valid") });
  });
});

// Which descriptors are whose is asked of /proc.
describe.runIf(process.platform === "linux")("a descriptor", () => {
  /** Runs the program with a file and a pipe open, and says what it was told. */
  async function ranWith(folder: string, output: string, redirection = "") {
    const script = `"$NODE" "$CAT" import a.csv --mock --no-progress ${output} ${redirection}`;
    const env = { PATH: process.env.PATH ?? "", NODE: process.execPath, CAT: catProgram };
    const args = { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] as StdioOptions };
    return ended(spawn("/bin/bash", ["--norc", "-c", script], args) as ReturnType<typeof start>);
  }

  const notGiven = "is no descriptor that this program was given";
  const opened = "is a file that is open already: name the file itself";

  test.each([
    ["--results /dev/fd/7", "", notGiven],
    ["--failed /proc/self/fd/7", "", notGiven],
    ["--results /proc/thread-self/fd/3", "", notGiven],
    ["--failed /dev/fd/99", "", notGiven],
    ["--results link", "", notGiven],
    ["--results /dev/fd/30", "30>>old.txt", opened],
    ["--results /dev/fd/30", "30<old.txt", opened],
    ["--failed /dev/stdin", "<old.txt", opened],
    ["--failed /dev/stdin", "< <(sleep 0)", "is open for reading only"],
    ["--results /dev/stdin", "</dev/null", "is open for reading only"],
    ["--results /dev/stdout", ">>old.txt", "is read or written already"],
  ])("is no place for %s %s", async (output, redirection, why) => {
    const folder = place();
    writeFileSync(join(folder, "old.txt"), "old");
    symlinkSync("/dev/fd/7", join(folder, "link"));
    const flag = output.split(" ")[0];
    expect(await ranWith(folder, output, redirection)).toEqual({
      exit: 2,
      stderr: `error: ${output}, which ${why}\nName another file with ${flag}.\n`,
    });
    expect(readFileSync(join(folder, "old.txt"), "utf8")).toBe("old");
  });

  test.each(["30>/dev/null", "30<>pipe", "30> >(cat >/dev/null)"])(
    "that is open for writing is written into: %s",
    async (redirection) => {
      const ran = await ranWith(place(), "--results /dev/fd/30", redirection);
      expect(ran.exit).toBe(8);
      expect(ran.stderr).toContain("Results of every row: /dev/fd/30\n");
    },
  );
});

test.each([1, 2])("the file that descriptor %i goes to is not one to be replaced", async (descriptor) => {
  const folder = place();
  const open = openSync(join(folder, "out.txt"), "w");
  const stdio: StdioOptions = ["ignore", "ignore", "ignore"];
  stdio[descriptor] = open;
  const args = ["import", "a.csv", "--mock", "--results", "out.txt", "--no-progress"];
  const [exit] = await once(spawn(process.execPath, [catProgram, ...args], { cwd: folder, stdio }), "close");
  closeSync(open);
  expect(exit).toBe(2);
  expect(readdirSync(folder).sort()).toEqual(["a.csv", "out.txt", "pipe"]);
});
