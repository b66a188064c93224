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
import { until } from "../../support/until.ts";

const cdn = "https://cdn.example.com";
const half = `reference,name,images\nOK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

beforeEach(needsBuild);

/** A folder with `a.csv` and a pipe. The tests run the real program, because a thread cannot be interrupted. */
function place() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.csv"), half);
  execFileSync("mkfifo", [join(folder, "pipe")]);
  return folder;
}

const start = (folder: string, args: string[]) =>
  spawn(process.execPath, [catProgram, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });

/** Waits until no process holds the output: the program and the programs that it pipes to. */
async function ended(child: ReturnType<typeof start>) {
  let stderr = "";
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const [exit] = await once(child, "close");
  return { exit, stderr };
}

/** Waits until a process has a file open, according to /proc. */
async function opened(pid: number, path: string): Promise<void> {
  const descriptors = `/proc/${pid}/fd`;
  const has = (descriptor: string) => {
    try {
      return readlinkSync(join(descriptors, descriptor)) === path;
    } catch {
      return false;
    }
  };
  await until(() => readdirSync(descriptors).some(has), { pauseMs: 2 });
}

describe("an input pipe without a writer", () => {
  test.runIf(process.platform === "linux")("waits for a writer, and exits on Ctrl-C", async () => {
    const folder = place();
    const child = start(folder, ["import", "pipe", "--dry-run"]);
    const ran = ended(child);
    await opened(child.pid!, join(folder, "pipe"));
    child.kill("SIGINT");
    expect(await ran).toMatchObject({ exit: 130 });
  });

  test("is read once a writer opens it", async () => {
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

  test("receives results and failed rows, and is not suggested as a file to import", async () => {
    const folder = place();
    const ran = await bash(
      folder,
      `"$NODE" "$CAT" import a.csv --mock --no-progress --results >(wc -l > results) --failed >(wc -l > failed)`,
    );
    expect(ran.exit).toBe(8);
    expect(ran.stderr).toMatch(/^Failed rows were written to \/dev\/fd\/\d+, with the reasons\.$/m);
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

// The owners of descriptors are read from /proc.
describe.runIf(process.platform === "linux")("a descriptor", () => {
  /** Runs the program with an output, and returns its exit status and stderr. */
  async function ranWith(folder: string, output: string, redirection = "") {
    const script = `"$NODE" "$CAT" import a.csv --mock --no-progress ${output} ${redirection}`;
    const env = { PATH: process.env.PATH ?? "", NODE: process.execPath, CAT: catProgram };
    const args = { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] as StdioOptions };
    return ended(spawn("/bin/bash", ["--norc", "-c", script], args) as ReturnType<typeof start>);
  }

  const notGiven = "it is not an open file descriptor of this command";
  const opened = "it is a descriptor of an open file; use the path of the file";

  test.each([
    ["--results /dev/fd/7", "", notGiven],
    ["--failed /proc/self/fd/7", "", notGiven],
    ["--results /proc/thread-self/fd/3", "", notGiven],
    ["--failed /dev/fd/99", "", notGiven],
    ["--results link", "", notGiven],
    ["--results /dev/fd/30", "30>>old.txt", opened],
    ["--results /dev/fd/30", "30<old.txt", opened],
    ["--failed /dev/stdin", "<old.txt", opened],
    ["--failed /dev/stdin", "< <(sleep 0)", "it is open for reading only"],
    ["--results /dev/stdin", "</dev/null", "it is open for reading only"],
    ["--results /dev/stdout", ">>old.txt", "the command already reads or writes it"],
  ])("is rejected for %s %s", async (output, redirection, why) => {
    const folder = place();
    writeFileSync(join(folder, "old.txt"), "old");
    symlinkSync("/dev/fd/7", join(folder, "link"));
    const flag = output.split(" ")[0]!;
    expect(await ranWith(folder, output, redirection)).toEqual({
      exit: 2,
      stderr: `error: cannot write ${output}: ${why}\nChoose another file, for example ${flag} ${flag.slice(2)}.csv.\n`,
    });
    expect(readFileSync(join(folder, "old.txt"), "utf8")).toBe("old");
  });

  test.each(["30>/dev/null", "30<>pipe", "30> >(cat >/dev/null)"])(
    "that is open for writing is written to: %s",
    async (redirection) => {
      const ran = await ranWith(place(), "--results /dev/fd/30", redirection);
      expect(ran.exit).toBe(8);
      expect(ran.stderr).toContain("Results of all rows: /dev/fd/30\n");
    },
  );
});

test.each([1, 2])("the file that descriptor %i is redirected to is not replaced", async (descriptor) => {
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
