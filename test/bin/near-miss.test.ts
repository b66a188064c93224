import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild, spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

beforeEach(needsBuild);

/** Runs a line of the shell in a pseudo-terminal (util-linux), with this program as `cat`. */
async function onTerminal(line: string) {
  const cwd = temporaryFolder();
  symlinkSync(process.execPath, join(cwd, "node"));
  symlinkSync(catProgram, join(cwd, "cat"));
  writeFileSync(join(cwd, "produkts"), "text\n");
  const env = { PATH: `${cwd}:/usr/bin:/bin`, LC_ALL: "C" };
  const options = { cwd, env, extendEnv: false, reject: false, stdin: "ignore" } as const;
  const ran = await execa("script", ["-qec", line, "/dev/null"], options);
  return { exit: ran.exitCode, text: ran.stdout.replaceAll("\r", "").trim() };
}

const missing = (name: string) => `cat: ${name}: No such file or directory`;

longTest.runIf(existsSync("/usr/bin/script")).for([
  ["cat improt x.csv", `${missing("improt")}\n${missing("x.csv")}`, "import"],
  ["cat product list", `${missing("product")}\n${missing("list")}`, "products"],
  ["cat --json exprot", "", "export"],
] as const)(
  "names the command that was probably meant, after the system's message: %s",
  async ([line, text, near]) => {
    const ran = await onTerminal(line);
    expect(ran.exit).toBe(1);
    expect(ran.text.startsWith(text)).toBe(true);
    const hint = `Did you mean the command \`cat ${near}\` of catalogue? See: cat help ${near}`;
    expect(ran.text.split("\n").at(-1)).toBe(hint);
  },
);

longTest.runIf(existsSync("/usr/bin/script"))("names the commands for a word of other programs", async () => {
  const hint = "Did you mean `cat whoami` or `cat runs list` of catalogue? See: cat --help";
  expect(await onTerminal("cat status")).toEqual({ exit: 1, text: `${missing("status")}\n${hint}` });
});

longTest.runIf(existsSync("/usr/bin/script")).for([
  ["a name that is near no command", "cat notes", missing("notes")],
  ["a path", "cat ./improt", missing("./improt")],
  ["a name with a dot", "cat import.csv", missing("import.csv")],
  ["a file whose name is a word of other programs", "cp produkts status; cat status", "text"],
  ["a file that exists, next to one that does not", "cat produkts gone", `text\n${missing("gone")}`],
  ["stderr in a pipe", "cat improt 2>&1 | head", missing("improt")],
] as const)("adds nothing for %s", async ([, line, text]) => {
  expect((await onTerminal(line)).text).toBe(text);
});

longTest("adds nothing without a terminal", async () => {
  const ran = await spawnCat(["improt"], { env: { LC_ALL: "C" } });
  expect(ran).toMatchObject({ exitCode: 1, stdout: "", stderr: `${missing("improt")}\n` });
});
