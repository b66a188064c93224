import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { blocksOf } from "./pages/blocks.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/containers.md", import.meta.url)), "utf8");
const files = new Map(blocksOf(page).map(({ label, lines }) => [label, `${lines.join("\n")}\n`] as const));

/** Runs a file of the page as the page says: against a mock for it alone. */
async function run(program: string, file: string, text: string = files.get(file)!) {
  needsBuild();
  const folder = temporaryFolder();
  writeFileSync(join(folder, file), text);
  const args = [catProgram, "serve", "--mock", "--", program, file];
  const { PATH = "", HOME = "" } = process.env;
  const ran = await execa(process.execPath, args, {
    ...{ cwd: folder, extendEnv: false, reject: false, all: true },
    env: { PATH, HOME, no_proxy: "*" },
  });
  return { exit: ran.exitCode, printed: ran.all };
}

const has = async (program: string) =>
  (await execa(program, ["--version"], { reject: false })).exitCode === 0;

longTest("the tests in Python pass, and fail with another expectation", async ({ skip }) => {
  if (!(await has("python3"))) skip("python3 is not on this machine");
  const ran = await run("python3", "test_import.py");
  expect(ran).toEqual({ exit: 0, printed: expect.stringMatching(/^\.\.\n-+\nRan 2 tests in .*\n\nOK$/) });
  const wrong = files.get("test_import.py")!.replace('["A dress"]', '["A skirt"]');
  expect((await run("python3", "test_import.py", wrong)).printed).toContain("['A dress'] != ['A skirt']");
});

longTest("the test in Java passes, and fails with another expectation", async ({ skip }) => {
  if (!(await has("java"))) skip("java is not on this machine");
  expect(await run("java", "ImportTest.java")).toEqual({ exit: 0, printed: "OK" });
  const wrong = files.get("ImportTest.java")!.replace('name\\":\\"A dress\\""', 'name\\":\\"A skirt\\""');
  const ran = await run("java", "ImportTest.java", wrong);
  expect(ran.exit).toBe(1);
  expect(ran.printed).toContain("AssertionError: the product exists");
});

longTest("the compose file starts the mock with flags that it has, for the hosts of the file", () => {
  const compose = files.get("compose.yaml")!;
  const [, list = ""] = /^ {4}command: \[(.*)\]$/m.exec(compose)!;
  const words = list.split(", ").map((word) => word.replaceAll('"', ""));
  const services = [...compose.matchAll(/^ {2}(\w+):$/gm)].map((match) => match[1]);
  const allowed = words.filter((_word, at) => words[at - 1] === "--allow-host");
  expect(allowed).toEqual(services);
  expect(words[words.indexOf("--base-url") + 1]).toBe("http://mock:4010");
  expect(compose).toContain("CAT_BASE_URL: http://mock:4010\n");
  expect(compose).toContain("CAT_INSECURE_HTTP_HOSTS: mock\n");
  // Published to this machine alone.
  expect(compose).toContain('ports: ["127.0.0.1:4010:4010"]\n');
});

longTest("the workflow uses inputs that the action has", () => {
  const action = readFileSync(fileURLToPath(new URL("../../action.yml", import.meta.url)), "utf8");
  const workflow = files.get(".github/workflows/test.yml")!;
  const used = [...workflow.matchAll(/^ {10}([\w-]+): /gm)].map((match) => match[1]);
  expect(used).toEqual(["flags"]);
  for (const input of used) expect(action).toContain(`\n  ${input}:\n    description:`);
});
