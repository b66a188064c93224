import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { blocksOf } from "./pages/blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const blocks = blocksOf(readFileSync(join(root, "docs/testing.md"), "utf8"));

/** The command of the page for a runner, and what it prints about the tests that passed and failed. */
const runners = [
  { runner: "node", printed: (output: string) => counted(output, /^# pass (\d+)$/m, /^# fail (\d+)$/m) },
  { runner: "vitest", printed: (output: string) => counted(output, /(\d+) passed.* \(/g, /(\d+) failed/g) },
  {
    runner: "jest",
    printed: (output: string) => counted(output, /^Tests:.* (\d+) passed/m, /^Tests: +(\d+) failed/m),
  },
];

/** The last number that each expression finds, or 0. */
const counted = (output: string, ...expressions: RegExp[]): number[] =>
  expressions.map((expression) =>
    Number([...output.matchAll(new RegExp(expression, "gm"))].at(-1)?.[1] ?? 0),
  );

/** Runs the page's tests for a runner in a project of their own: a file for each change of their text. */
async function run(runner: string, changes: Record<string, (text: string) => string>, flags = "") {
  needsBuild();
  const folder = temporaryFolder();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const { label, lines } of blocks.filter(({ label }) => label !== "")) {
    const text = `${lines.join("\n")}\n`;
    if (!label.startsWith(`${runner}/`)) write(label, text);
    else
      for (const [name, change] of Object.entries(changes)) write(label.replace("stock", name), change(text));
  }
  mkdirSync(join(folder, "node_modules/@catalogue-imaging"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules/@catalogue-imaging/catalogue"));
  for (const name of ["vitest", "jest"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  const command = blocks.find(
    ({ language, lines }) => language === "sh" && lines[0]!.includes(` ${runner}`),
  )!;
  const { exitCode, all } = await execa("sh", ["-c", `${command.lines[0]} ${flags}`], {
    ...{ cwd: folder, reject: false, all: true, extendEnv: false },
    env: { PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`, NO_COLOR: "1" },
  });
  return { exitCode, output: all };
}

longTest.for(runners)(
  "$runner runs files of the page at the same time; those without the reset or the mock's time fail",
  async ({ runner, printed }) => {
    const { exitCode, output } = await run(runner, {
      stock: (text) => text,
      "no-reset": (text) => text.replace(/^beforeEach.*\n/m, ""),
      "real-time": (text) => text.replace(", now: () => mock.clock.now()", ""),
    });
    expect({ exitCode, printed: printed(output) }, output).toEqual({ exitCode: 1, printed: [7, 2] });
    for (const failed of ["no-reset", "real-time"]) expect(output).toMatch(new RegExp(`${failed}\\.test`));
  },
);

longTest("jest: with a mocked queueMicrotask, the client does not close", async () => {
  const stock = (text: string) =>
    text.replace('"queueMicrotask", ', "").replace("jest.useRealTimers()", "{}");
  const { exitCode, output } = await run("jest", { stock }, "--testTimeout=1000 --forceExit");
  expect(exitCode).toBe(1);
  expect(output).toMatch(/Exceeded timeout of 1000 ms for a hook[\s\S]*client\.close/);
});
