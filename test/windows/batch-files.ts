import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { node, type Windows } from "./wine.ts";

/** Arguments that cmd reads otherwise, or runs, unless they are escaped. wine replaces %PATH% in any batch file; cmd does not. */
const kept = [
  ["A & B", "a&b", "a|b", "<a>", "^", "a^^b", "!x!", "(a)", "*.csv", "a b\\"],
  ["", "ü", 'a"b', 'a "b" c', '{"a":1,"b":"c d"}', "a;b,c=d", "--", "last"],
] as const;

const command = "echo injected>C:\\shop\\injected.txt";

/** Programs that are batch files, as all programs of packages are on Windows. */
export function batchFilesOnWindows(windows: () => Windows): void {
  describe("the arguments of a batch file that serve starts", () => {
    const path = (name: string) => join(windows().shop, name);
    const start = async (...args: string[]) => {
      for (const name of ["shown.json", "injected.txt"]) rmSync(path(name), { force: true });
      const { exit, stderr } = await windows().cat(["serve", "--mock", "--", ...args]);
      const shown = existsSync(path("shown.json"))
        ? JSON.parse(readFileSync(path("shown.json"), "utf8"))
        : null;
      return { exit, stderr, shown, isInjected: existsSync(path("injected.txt")) };
    };

    beforeAll(() => {
      const shown = String.raw`C:\\shop\\shown.json`;
      const text = `require("fs").writeFileSync("${shown}", JSON.stringify(process.argv.slice(2)));`;
      // As npm makes them for the programs of packages.
      writeFileSync(path("show.cmd"), `@"${node}" "${windows().script("show.cjs", text)}" %*\r\n`);
    });

    test.for(kept)("arrive as they are: %j", async (args) => {
      expect(await start("show.cmd", ...args)).toEqual({
        exit: 0,
        stderr: "",
        shown: args,
        isInjected: false,
      });
    });

    test.for([
      [`a"&${command}&"b`],
      [`a"|${command}`],
      // The quote of one argument ends those of another.
      ['a"b', `c&${command}`],
      [`a\r\n${command}`],
      ["a\nb"],
    ])("are rejected if cmd would run a part of them, or lose what follows: %#", async (args) => {
      const stderr =
        'error: cannot pass arguments with a line break, or with " and one of & | < >, to the batch file "show.cmd"\n' +
        "Start the program that it starts, such as: -- node FILE\n";
      const rejected = { exit: 2, stderr, shown: null, isInjected: false };
      expect(await start("show.cmd", ...args, "last")).toEqual(rejected);
    });

    test("are rejected likewise where its name has no ending", async () => {
      const rejected = { exit: 2, shown: null, isInjected: false };
      expect(await start("show", `a"&${command}&"b`)).toMatchObject(rejected);
    });

    test("may have all of that for other programs", async () => {
      const args = [`a"&${command}&"b`, "a\nb", "%PATH%"];
      const script = String.raw`C:\npm\show.cjs`;
      expect(await start("node", script, ...args)).toEqual({
        ...{ exit: 0, stderr: "", shown: args, isInjected: false },
      });
    });
  });
}
