import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { createWorld, type Running } from "../support/world.ts";

/** The first line that a running `serve` prints. */
async function firstLine(running: Running, stream: "stdout" | "stderr"): Promise<string> {
  while (!running[stream].includes("\n")) await new Promise((resolve) => setImmediate(resolve));
  return running[stream].split("\n")[0]!;
}

test("with --json the first line says where it is and by which key; then nothing more on stdout", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0 --demo 3 --json");
  const line = await firstLine(running, "stdout");
  const served = JSON.parse(line);
  expect(served).toEqual({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    api_key: "ak_mock",
  });
  const env = { CAT_BASE_URL: served.base_url, CAT_API_KEY: served.api_key };
  const listed = await world.cat("products list --json", { env });
  expect(listed.stdout.trimEnd().split("\n")).toHaveLength(3);
  running.interrupt();
  expect(await running).toEqual({ exit: 130, stdout: `${line}\n`, stderr: "" });
});

test("for people it says on stderr how to use it", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0");
  await firstLine(running, "stderr");
  running.interrupt("SIGTERM");
  const ran = await running;
  expect(ran).toMatchObject({ exit: 143, stdout: "" });
  const [, url] = /runs at (http:\S+) with the key ak_mock/.exec(ran.stderr)!;
  expect(ran.stderr).toContain(`export CAT_BASE_URL=${url} CAT_API_KEY=ak_mock\n`);
  expect(ran.stderr).toContain(`curl -H "Authorization: Bearer ak_mock" ${url}/v1/products\n`);
});

test("the service ends with the command", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0 --json");
  const { base_url } = JSON.parse(await firstLine(running, "stdout"));
  running.interrupt();
  await running;
  await expect(fetch(`${base_url}/v1/products`)).rejects.toThrow("fetch failed");
});

test("the same seed gives the same service", async () => {
  const world = await createWorld();
  const listOf = async (seed: number) => {
    const running = world.cat(`serve --mock --port 0 --demo 5 --json --seed ${seed}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    const { stdout } = await world.cat("products list --json", { env: { CAT_BASE_URL: base_url } });
    running.interrupt();
    await running;
    return stdout;
  };
  expect(await listOf(7)).toBe(await listOf(7));
  expect(await listOf(8)).not.toBe(await listOf(7));
});

describe("limits", () => {
  const statuses = async (flags: string, count: number) => {
    const world = await createWorld();
    const running = world.cat(`serve --mock --port 0 --json ${flags}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    const headers = { authorization: "Bearer ak_mock" };
    const answers = [];
    for (let n = 0; n < count; n++) answers.push(await fetch(`${base_url}/v1/products`, { headers }));
    running.interrupt();
    await running;
    return answers.map((answer) => answer.status);
  };

  test("--rate-limit sets them", async () => {
    expect(await statuses("--rate-limit 2,1", 3)).toEqual([200, 200, 429]);
  });

  test("--no-rate-limit takes them away", async () => {
    expect(new Set(await statuses("--no-rate-limit", 620))).toEqual(new Set([200]));
  });
});

test.for([
  ["without --mock", "serve", "serve needs --mock"],
  ["a port that is none", "serve --mock --port 65536", "It must be a whole number from 0 to 65535"],
  ["a port in words", "serve --mock --port http", "It must be a whole number from 0 to 65535"],
  ["a speed of nothing", "serve --mock --speed 0", "It must be a number above 0"],
  ["one limit", "serve --mock --rate-limit 5", "It must be two whole numbers above 0"],
  ["a limit of nothing", "serve --mock --rate-limit 5,0", "It must be two whole numbers above 0"],
  ["a latency below nothing", "serve --mock --latency=-1", "It must be a whole number from 0 to 600000"],
  ["a fraction of a product", "serve --mock --demo 1.5", "It must be a whole number from 0 to 100000"],
  ["a command, which is not served yet", "serve --mock -- npm test", "too many arguments for 'serve'"],
  [
    "another machine's address",
    "serve --mock --port 0 --host 192.0.2.1",
    "is not an address of this machine",
  ],
] as const)("refused: %s", async ([, line, why]) => {
  const world = await createWorld();
  const ran = await world.cat(line);
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  expect(ran.stderr).toContain(why);
  expect(ran.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
});

test("a port in use: a sentence and what to do", async () => {
  const world = await createWorld();
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  const ran = await world.cat(`serve --mock --port ${port}`);
  other.close();
  expect(ran).toEqual({
    exit: 2,
    stdout: "",
    stderr: `error: port ${port} on 127.0.0.1 is in use\nChoose another with --port, or --port 0 for a free one.\n`,
  });
});
