import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorld } from "../support/world.ts";

const key = "ak_live_0123456789abcdefWXYZ";
const signing = "whsec_0123456789abcdef";

/** A service that repeats the API key in all its responses. */
async function echoingService(status: number, body: (key: string) => unknown): Promise<string> {
  const server = createServer((request, response) => {
    const echoed = request.headers.authorization!.replace("Bearer ", "");
    response.writeHead(status, { "content-type": "application/json", "x-request-id": `req-${echoed}` });
    response.end(JSON.stringify(body(echoed)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const denial = (echoed: string) => ({
  error: {
    type: "forbidden",
    code: "insufficient_scope",
    message: `the key ${echoed} has no scope`,
    request_id: `req-${echoed}`,
  },
});

describe("a key that the service echoes", () => {
  test("is not repeated in an error for people, nor with --verbose", async () => {
    const CAT_BASE_URL = await echoingService(403, denial);
    const world = await createWorld({ env: { CAT_BASE_URL, CAT_API_KEY: key } });
    const ran = await world.cat("products list");
    expect(ran).toMatchObject({ exit: 4, stdout: "" });
    expect(ran.stderr.split("\n")[0]).toBe(
      "error: the key ak_…WXYZ has no scope (GET /v1/products: 403 insufficient_scope, request req-ak_…WXYZ)",
    );
    const verbose = await world.cat("products list --verbose");
    expect(verbose.stderr).toContain(" 403 in 0 ms (request req-ak_…WXYZ, as ak_…WXYZ)\n");
    expect(verbose.stderr).toMatch(/ApiError: the key ak_…WXYZ has no scope \(GET .*\)\n +at /);
    expect(ran.stderr + verbose.stderr).not.toContain(key.slice(8, 20));
  });

  test("is not repeated in an error as JSON", async () => {
    const CAT_BASE_URL = await echoingService(403, denial);
    const world = await createWorld({ env: { CAT_BASE_URL, CAT_API_KEY: key } });
    const { stderr } = await world.cat("products list --json");
    expect(JSON.parse(stderr).error).toMatchObject({
      message: expect.stringContaining("the key ak_…WXYZ has no scope"),
      request_id: "req-ak_…WXYZ",
      exit: 4,
    });
    expect(stderr).not.toContain(key.slice(8, 20));
  });

  test.each([
    ["", 200],
    ["", 60],
    ["--json", 80],
    ["--format csv", 80],
  ])("is not repeated in a list: %s, %i columns", async (flags, columns) => {
    const CAT_BASE_URL = await echoingService(200, (echoed) => ({
      data: [
        {
          id: "01KE6W9ZJ8Q3V5X7B2D4F6H8JK",
          reference: `R ${echoed}`,
          name: `N ${signing} is what a webhook has`,
          description: null,
          sex: null,
          images: [],
          created_at: "2026-01-05T09:00:00Z",
          updated_at: "2026-01-05T09:00:00Z",
        },
      ],
      has_more: false,
      next_cursor: null,
    }));
    const world = await createWorld({ env: { CAT_BASE_URL, CAT_API_KEY: key }, columns });
    const ran = await world.cat(`products list ${flags}`, { tty: { stdout: columns !== 80 } });
    expect(ran.exit).toBe(0);
    expect(ran.stderr).not.toMatch(/ak_|whsec/);
    expect(ran.stdout).toContain("R ak_…WXYZ");
    expect(ran.stdout).toMatch(/N whse(?:c_)?…/);
    expect(ran.stdout).not.toMatch(/ak_live|whsec_0/);
  });
});

describe("an API key that was typed into the wrong place is not shown", () => {
  test.each([
    `config set active ${key}`,
    `config get ${key}`,
    `config set ${key} x`,
    `config set label ${key}`,
    `config unset ${key}`,
    `completion ${key}`,
    `products list --format ${key}`,
    `products ${key}`,
    `help ${key}`,
    `import a.csv --photos ${key}`,
    `products list --limit ${key}-0123456789`,
  ])("%s", async (line) => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined } });
    for (const more of ["", " --json", " --verbose"]) {
      const ran = await world.cat(line + more);
      expect(ran).toMatchObject({ exit: 2, stdout: "" });
      expect(ran.stderr).not.toContain(key.slice(8, 20));
    }
    const { exit, stderr } = await world.cat(line, { env: { CAT_API_KEY: `${key}-0123456789` } });
    expect([exit, stderr]).toEqual([2, expect.not.stringContaining(key.slice(8, 20))]);
  });

  test("the rest of the message stays, with the last four characters of the key", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined } });
    expect((await world.cat(`config get ${key}`)).stderr.split("\n")[0]).toBe(
      'error: unknown setting "ak_…WXYZ"',
    );
    expect((await world.cat("products break_something weak_reference_1")).stderr).toContain(
      "break_something",
    );
  });

  test("as the active profile of the config file, which is rejected", async () => {
    const world = await createWorld();
    world.write(".home/config.json", JSON.stringify({ active: key, profiles: {} }));
    const ran = await world.cat("config set color red");
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toContain("active is not the name of a profile");
    expect(ran.stderr).not.toContain("ak_");
  });
});

describe("the error for an unknown flag does not show its value", () => {
  test.each([
    [["products", "list", "--api-key=ak_live_of_somebody"], "--api-key"],
    [["products", "list", "--api-key=it's\nak_live_of_somebody"], "--api-key"],
    [["products", "list", "-kak_live_of_somebody"], "-k"],
    [["import", "a.csv", "--key=ak_live_of_somebody"], "--key"],
    [["products", "list", "--api-key"], "--api-key"],
  ])("%j", async (argv, flag) => {
    const world = await createWorld();
    for (const more of [[], ["--json"], ["--verbose"]]) {
      const ran = await world.cat([...argv, ...more]);
      expect(ran).toMatchObject({ exit: 2, stdout: "" });
      expect(ran.stderr).toMatch(new RegExp(`unknown flag ${flag}[.\\n]`));
      expect(ran.stderr).not.toContain("somebody");
    }
  });

  test("the error still suggests a flag with a similar name", async () => {
    const world = await createWorld();
    expect(await world.cat("products list --formt")).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: unknown flag --formt\nDid you mean --format? See: cat products list --help\n",
    });
  });
});

test("an import masks the key in problems, files and the summary, but leaves rows unchanged", async () => {
  const world = await createWorld({ env: { CAT_API_KEY: "ak_mock_other" } });
  const url = "https://cdn.example.com/fail-timeout.jpg?key=ak_mock_other";
  world.write("a.csv", `reference,name,images\nBAD,Coat,${url}\n`);
  for (const results of ["r.ndjson", "r.csv"]) {
    const ran = await world.cat(`import a.csv --no-progress --fresh --photos all --results ${results}`);
    expect(ran.exit).toBe(8);
    expect(world.read(results)).toContain("fail-timeout.jpg?key=ak_…");
    expect(world.read(results) + ran.stderr).not.toContain("ak_mock_other");
  }
  const [, row] = world.read("a.failed.csv").split("\n");
  expect(row!.slice(0, row!.indexOf(url) + url.length)).toBe(`BAD,Coat,${url}`);
  expect(row!.slice(row!.indexOf(url) + url.length)).toContain("fail-timeout.jpg?key=ak_…");
  expect(row!.split("ak_mock_other")).toHaveLength(2);

  world.write("b.csv", "reference,name,images\nA,Coat,ak_mock_other\n");
  const refused = await world.cat("import b.csv --dry-run");
  expect(refused.exit).toBe(3);
  expect(refused.stderr.split("\n")[0]).toMatch(/^b\.csv:2 {2}images {2}\w+ {2}"ak_…" /);
  expect(refused.stderr).not.toContain("ak_mock_other");
});
