import { execFileSync, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { isLong, sampled } from "../../support/repetitions.ts";
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

const bash = async (folder: string, script: string) =>
  ended(
    spawn("/bin/bash", ["--norc", "-c", script], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", NODE: process.execPath, CAT: catProgram },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );

describe("an input pipe without a writer", () => {
  test.runIf(isLong && process.platform === "linux")("waits for a writer, and exits on Ctrl-C", async () => {
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
  test("is read as the input", async () => {
    const folder = place();
    const ran = await bash(folder, `"$NODE" "$CAT" import <(cat a.csv) --dry-run`);
    expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining("2 rows, all valid") });
  });
});

describe("an output that is not a regular file is rejected before anything is sent", () => {
  const descriptor = "it is a descriptor; use the path of a file";

  test.each(
    sampled(
      [
        ["--results pipe", "it is a pipe"],
        ["--failed pipe", "it is a pipe"],
        ["--failed /dev/null", "it is a device"],
        ["--results /dev/fd/30 30>>old.txt", descriptor],
        ["--results >(cat)", "it is a pipe"],
        ["--failed /dev/stdin <old.txt", descriptor],
        ["--failed /dev/fd/99", descriptor],
      ] as const,
      1,
    ),
  )("%s", async (output, why) => {
    const folder = place();
    writeFileSync(join(folder, "old.txt"), "old");
    const flag = output.split(" ")[0]!;
    const ran = await bash(folder, `"$NODE" "$CAT" import a.csv --mock --no-progress ${output}`);
    expect(ran.exit).toBe(2);
    const [first, hint] = ran.stderr.split("\n");
    expect(first).toMatch(new RegExp(`^error: cannot write ${flag} [^ ]+: ${why}$`));
    expect(hint).toBe(`Choose another file, for example ${flag} ${flag.slice(2)}.csv.`);
    expect(readFileSync(join(folder, "old.txt"), "utf8")).toBe("old");
    expect(readdirSync(folder).sort()).toEqual(["a.csv", "old.txt", "pipe"]);
  });
});

test.each(sampled([1, 2], 1))(
  "the file that descriptor %i is redirected to is not replaced",
  async (descriptor) => {
    const folder = place();
    const open = openSync(join(folder, "out.txt"), "w");
    const stdio: StdioOptions = ["ignore", "ignore", "ignore"];
    stdio[descriptor] = open;
    const args = ["import", "a.csv", "--mock", "--results", "out.txt", "--no-progress"];
    const [exit] = await once(
      spawn(process.execPath, [catProgram, ...args], { cwd: folder, stdio }),
      "close",
    );
    closeSync(open);
    expect(exit).toBe(2);
    expect(readdirSync(folder).sort()).toEqual(["a.csv", "out.txt", "pipe"]);
  },
);
