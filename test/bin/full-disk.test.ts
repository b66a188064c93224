import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: string;
beforeEach(() => {
  needsBuild();
  folder = temporaryFolder();
  const rows = Array.from(
    { length: 100 },
    (_, row) => `R-${row},Dress,https://cdn.example.com/fail-timeout.jpg\n`,
  );
  writeFileSync(join(folder, "a.csv"), `reference,name,images\n${rows.join("")}`);
});

/** Runs a shell script, with `cat` as this program. */
const shell = async (line: string) => {
  const env = {
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

const space = "Free some space or choose another disk, and run the command again.";

describe.skipIf(process.platform !== "linux")(
  "a full disk exits with 2, and the error names the file, the reason and a next step:",
  () => {
    const commands = [
      "products list --mock",
      "--help",
      "products list --mock --format csv",
      "export --mock",
      "--version",
    ];
    longTest.each(commands)("stdout of %s", async (line) => {
      expect(await shell(`cat ${line} > /dev/full`)).toEqual({
        exit: 2,
        stdout: "",
        stderr: ["error: cannot write to stdout: no space left on device", space],
      });
    });

    longTest("stdout with --json", async () => {
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

    longTest("stderr, with the same exit status", async () => {
      expect(await shell("cat products list --nope 2> /dev/full")).toMatchObject({ exit: 2, stdout: "" });
      const listed = await shell("cat products list --mock --q nothing --verbose 2> /dev/full");
      expect(listed).toMatchObject({ exit: 0, stdout: "" });
    });

    // Simulates a full disk: the system fails writes beyond a size limit in the same way.
    const limited = (line: string) => shell(`trap '' XFSZ; ulimit -f 8; ${line}`);
    const large = "the file is too large for its disk";

    const limitedCommands = [
      ["the default failed file", "cat import a.csv --mock --quiet --no-progress", "a.failed.csv"],
      ["a results file", "cat import a.csv --mock --quiet --results r.csv", "r.csv"],
      ["the state that serve saves", "cat serve --mock --port 0 --demo 100 --save s.json -- true", "s.json"],
    ] as const;
    longTest.each(limitedCommands)("%s, without a temporary file left", async (_, line, name) => {
      const { exit, stderr } = await limited(line);
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: [`error: cannot write FOLDER/${name}: ${large}`, space],
      });
      // The folder for temporary files is this one; a sandbox keeps the lock of its file there.
      expect(readdirSync(folder).filter((one) => !one.startsWith("catalogue-sandboxes-"))).toEqual(["a.csv"]);
    });

    longTest("stdout to a file, even if the disk accepts part of the last write", async () => {
      const { exit, stderr } = await limited("cat products list --mock --format ndjson > list.ndjson");
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: [`error: cannot write to stdout: ${large}`, space],
      });
      rmSync(join(folder, "list.ndjson"));
    });

    longTest("the temporary copy of stdin, without a file left", async () => {
      const { exit, stderr } = await limited("cat import - --format csv --dry-run < a.csv");
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: [
          "state in FOLDER/home: new, empty",
          `error: cannot copy stdin to the temporary folder FOLDER: ${large}`,
          "Set TMPDIR to a folder with enough space, in which you may write.",
        ],
      });
      expect(readdirSync(folder)).toEqual(["a.csv"]);
    });

    longTest("the state file", async () => {
      const env = "CAT_BASE_URL=http://127.0.0.1:9 CAT_API_KEY=ak_mock";
      const { exit, stderr } = await limited(`export ${env}; cat imports list`);
      expect(exit).toBe(2);
      expect(stderr[0]).toBe("state in FOLDER/home: new, empty");
      expect(stderr[1]).toMatch(
        /^error: the state file FOLDER\/home\/state\/default\.db\S* could not be read or written/,
      );
      expect(stderr[2]).toMatch(/^Check the disk and run/);
      expect(stderr).toHaveLength(3);
    });
  },
);

longTest.runIf(process.platform === "linux")(
  "a command without output exits with 0 if stdout is full",
  async () => {
    const row = "reference,name,images\\nA,Dress,https://cdn.example.com/1.jpg\\n";
    const ran = await shell(`printf "${row}" | cat import - --mock > /dev/full`);
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
  },
);
