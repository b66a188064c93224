import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished } from "vitest";
import { createClient } from "../../src/client/library.ts";
import { startMock } from "../../src/mock/index.ts";
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

longTest("the health check of the compose file finds a mock, and that it has stopped", async () => {
  const [, command = ""] = /^ {6}test:\n(?: {8}- (?:CMD|\/nodejs\/bin\/node|-e)\n)+ {8}- (.*)$/m.exec(
    files.get("compose.yaml")!,
  )!;
  await using mock = await startMock();
  const check = async () =>
    (
      await execa(process.execPath, ["-e", command.replace("http://127.0.0.1:4010", mock.baseUrl)], {
        reject: false,
      })
    ).exitCode;
  expect(await check()).toBe(0);
  expect(mock.requests()).toEqual([]);
  await mock.stop();
  expect(await check()).toBe(1);
});

longTest("behind the proxy of the page, each fault is what its table says", async () => {
  await using mock = await startMock();
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, "proxy.mjs"),
    files
      .get("proxy.mjs")!
      .replace(
        'listen(Number(PORT), "127.0.0.1")',
        'listen(0, "127.0.0.1", function () { console.log(this.address().port); })',
      ),
  );
  const proxy = execa(process.execPath, ["proxy.mjs"], {
    ...{ cwd: folder, reject: false, extendEnv: false, env: { CAT_BASE_URL: mock.baseUrl } },
  });
  onTestFinished(() => void proxy.kill("SIGKILL"));
  const port = String((await createInterface(proxy.stdout)[Symbol.asyncIterator]().next()).value);
  const got: unknown[] = [];
  const faults = [
    { drop: "before" },
    { drop: "after" },
    { drop: "crash" },
    { status: 503 },
    { truncate: 9 },
  ] as const;
  for (const [at, fault] of faults.entries()) {
    mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, times: 1, ...fault });
    const body = JSON.stringify({
      rows: [{ reference: `A-${at}`, name: "A", images: [{ url: "https://cdn.example.com/a.jpg" }] }],
    });
    const headers = {
      Authorization: "Bearer ak_mock",
      "Content-Type": "application/json",
      "Idempotency-Key": `${at}`,
    };
    const send = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/imports`, { method: "POST", headers, body });
      const text = await response.text().catch(() => "cut");
      return [
        response.status,
        text.startsWith("{") ? "JSON" : text,
        response.headers.get("idempotent-replayed"),
      ];
    };
    got.push([...(await send()), ...(await send())]);
  }
  const page = "<h1>502 Bad Gateway</h1>";
  expect(got).toEqual([
    [502, page, null, 202, "JSON", null],
    [502, page, null, 202, "JSON", "true"],
    [502, page, null, 409, "JSON", null],
    [503, "JSON", null, 202, "JSON", null],
    [202, "cut", null, 202, "JSON", "true"],
  ]);

  mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, times: 1, drop: "after" });
  await using client = createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: mock.apiKey,
    random: () => 0,
  });
  const before = Object.keys(mock.state().organizations.main.imports).length;
  const rows = [{ reference: "B-1", name: "B", images: [{ url: "https://cdn.example.com/b.jpg" }] }];
  await client.imports.create({ body: { rows } });
  expect(mock.faults.list().at(-1)).toMatchObject({ acted: 1 });
  expect(Object.keys(mock.state().organizations.main.imports)).toHaveLength(before + 1);
});

longTest("the workflow uses inputs that the action has", () => {
  const action = readFileSync(fileURLToPath(new URL("../../action.yml", import.meta.url)), "utf8");
  const workflow = files.get(".github/workflows/test.yml")!;
  const used = [...workflow.matchAll(/^ {10}([\w-]+): /gm)].map((match) => match[1]);
  expect(used).toEqual(["flags"]);
  for (const input of used) expect(action).toContain(`\n  ${input}:\n    description:`);
});
