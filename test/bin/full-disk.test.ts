import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect, test } from "vitest";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: string;
beforeEach(() => {
  needsBuild();
  folder = temporaryFolder();
  const rows = Array.from(
    { length: 300 },
    (_, row) => `R-${row},Dress,https://cdn.example.com/fail-timeout.jpg\n`,
  );
  writeFileSync(join(folder, "a.csv"), `reference,name,images\n${rows.join("")}`);
});

/** Runs a line of shell, in which `cat` is ours. */
const shell = async (line: string) => {
  // Node's compile cache would be in the folder too.
  const env = {
    NODE_DISABLE_COMPILE_CACHE: "1",
    CAT_HOME: join(folder, "home"),
    TMPDIR: folder,
    CAT_API_KEY: undefined,
    CAT_BASE_URL: undefined,
  };
  const script = `cat() { "${process.execPath}" "${catProgram}" "$@"; }; ${line}`;
  const ran = await execa("/bin/sh", ["-c", script], { reject: false, cwd: folder, env, stdin: "ignore" });
  const { exitCode: exit, stdout, stderr } = ran;
  return { exit, stdout, stderr: stderr.replaceAll(folder, "FOLDER").split("\n") };
};

const space = "Free some space, or choose a place on another disk, and run the command again.";

describe.skipIf(process.platform !== "linux")(
  "a full disk is exit 2, with the file, the reason and what to do:",
  () => {
    test.each(["products list --mock", "products list --mock --format csv", "--version", "--help"])(
      "stdout of %s",
      async (line) => {
        expect(await shell(`cat ${line} > /dev/full`)).toEqual({
          exit: 2,
          stdout: "",
          stderr: ["error: cannot write to stdout: no space left on device", space],
        });
      },
    );

    test("stdout with --json", async () => {
      const { exit, stderr } = await shell("cat import a.csv --dry-run --json > /dev/full");
      expect([exit, JSON.parse(stderr.join(""))]).toEqual([
        2,
        {
          error: {
            type: "output",
            code: "ENOSPC",
            message: `cannot write to stdout: no space left on device. ${space}`,
            exit: 2,
          },
        },
      ]);
    });

    test("stderr: the exit status stays that of the work", async () => {
      expect(await shell("cat products list --nope 2> /dev/full")).toMatchObject({ exit: 2, stdout: "" });
      const listed = await shell("cat products list --mock --q nothing --verbose 2> /dev/full");
      expect(listed).toMatchObject({ exit: 0, stdout: "" });
    });

    test.each([
      ["the results file", "--results /dev/full --failed f.csv", "/dev/full"],
      ["the failed file", "--failed /dev/full", "/dev/full"],
    ])("%s", async (_, flags, path) => {
      const { exit, stderr } = await shell(`cat import a.csv --mock --quiet --no-progress ${flags}`);
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: [`error: cannot write ${path}: no space left on device`, space],
      });
    });

    // A disk cannot be filled for a test, but the system stops a file that grows beyond a limit with an error of the same kind.
    const limited = (line: string) => shell(`trap '' XFSZ; ulimit -f 8; ${line}`);
    const large = "the file is too large for its disk";

    test.each([
      ["the failed file of no name", "cat import a.csv --mock --quiet --no-progress", "a.failed.csv"],
      ["a results file", "cat import a.csv --mock --quiet --results r.csv --failed /dev/null", "r.csv"],
      ["the state that serve saves", "cat serve --mock --port 0 --demo 100 --save s.json -- true", "s.json"],
    ])("%s, of which nothing is left behind", async (_, line, name) => {
      const { exit, stderr } = await limited(line);
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: [`error: cannot write FOLDER/${name}: ${large}`, space],
      });
      expect(readdirSync(folder)).toEqual(["a.csv"]);
    });

    test("stdout that is a file, also where the disk takes a part of the last write", async () => {
      const { exit, stderr } = await limited("cat products list --mock --format ndjson > list.ndjson");
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: [`error: cannot write to stdout: ${large}`, space],
      });
      rmSync(join(folder, "list.ndjson"));
    });

    test("the private copy of stdin, of which nothing is left behind", async () => {
      const { exit, stderr } = await limited("cat import - --format csv --dry-run < a.csv");
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: [
          `error: cannot copy stdin to the temporary folder FOLDER: ${large}`,
          "Set TMPDIR to another folder with more room, or save the rows in a file and use that.",
        ],
      });
      expect(readdirSync(folder)).toEqual(["a.csv"]);
    });

    test("the state of this machine", async () => {
      const env = "CAT_BASE_URL=http://127.0.0.1:9 CAT_API_KEY=ak_mock";
      const { exit, stderr } = await limited(`export ${env}; cat imports list`);
      expect(exit).toBe(2);
      expect(stderr[0]).toMatch(
        /^error: the state file FOLDER\/home\/state\/default\.db\S* could not be read or written/,
      );
      expect(stderr[1]).toMatch(/^Look whether its disk is full/);
      expect(stderr).toHaveLength(2);
    });
  },
);
