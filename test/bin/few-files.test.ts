import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Windows has no such limits. */
const limited = longTest.skipIf(process.platform === "win32");

/** Runs the program with so many open files at most, of which some are taken. */
async function run(limit: number, taken: number, args: readonly string[], cwd: string) {
  needsBuild();
  const take = `i=0; while [ $i -lt ${taken} ]; do exec {fd}</dev/null; i=$((i+1)); done`;
  const script = `${take}; ulimit -n ${limit}; exec "$0" "$@"`;
  const { exitCode, signal, stderr } = await execa(
    "bash",
    ["-c", script, process.execPath, catProgram, ...args],
    { cwd, reject: false, env: { CAT_HOME: join(cwd, "home") }, input: "" },
  );
  return { exitCode, signal, stderr };
}

limited.each(["export sync mirror", "import rows.csv", "products list", "config list"])(
  "%s with 22 open files at most is exit 2, and says how many it needs",
  async (command) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "rows.csv"), "reference,name\nA,One\n");
    expect(await run(22, 0, [...command.split(" "), "--mock"], cwd)).toEqual({
      exitCode: 2,
      signal: undefined,
      stderr:
        "error: the limit of open files is 22, but this command needs 64\nRaise it, for example: ulimit -n 1024",
    });
  },
);

limited.each([28, 32, 36, 37, 38, 40, 41, 42, 43])(
  "%i of 64 open files taken by another program: done, or exit 2 with the limit, and nothing else",
  async (taken) => {
    const cwd = temporaryFolder();
    const photo = Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex");
    const lines = Array.from({ length: 100 }, (_, row) => `R${row},Name,${row}.jpg`);
    for (const row of lines.keys()) writeFileSync(join(cwd, `${row}.jpg`), photo);
    writeFileSync(join(cwd, "rows.csv"), ["reference,name,images", ...lines, ""].join("\n"));
    for (const command of ["import rows.csv --results all.ndjson", "export sync mirror"]) {
      const { exitCode, stderr } = await run(64, taken, [...command.split(" "), "--mock"], cwd);
      expect([stderr, [0, 2, 8].includes(exitCode ?? -1)]).toEqual([stderr, true]);
      expect(stderr).not.toMatch(/invalid row|changed|internal error|photo_not_readable/);
      if (exitCode === 2) expect(stderr).toMatch(/too many open files[\s\S]*may open 64 files/);
    }
    expect(readFileSync(join(cwd, "rows.csv"), "utf8").split("\n")).toHaveLength(102);
  },
);
