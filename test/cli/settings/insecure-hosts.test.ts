import dns, { type LookupAddress } from "node:dns";
import { createServer } from "node:net";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { startMock } from "../../../src/mock/index.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const key = "ak_mock";
const note = (url: string) =>
  `The API key is sent unencrypted to ${url}, because CAT_INSECURE_HTTP_HOSTS names this host.\n`;

/** The names that were looked up; all lead to this machine. */
let asked: string[] = [];
beforeEach(() => {
  asked = [];
  const lookup = (name: string, ...rest: readonly unknown[]) => {
    const callback = rest.at(-1) as (error: null, found: string | LookupAddress[], family?: number) => void;
    const { all = false } = rest.length > 1 ? (rest[0] as { all?: boolean }) : {};
    if (name !== "127.0.0.1") asked.push(name);
    const found = { address: "127.0.0.1", family: 4 };
    setImmediate(() => (all ? callback(null, [found]) : callback(null, found.address, found.family)));
  };
  const spy = vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
  onTestFinished(() => spy.mockRestore());
});

/** A mock that clients reach as http://mock:PORT, as in another container. */
async function elsewhere(): Promise<{ world: TestWorld; url: string; env: Record<string, string> }> {
  const free = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => free.once("listening", resolve));
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const url = `http://mock:${port}`;
  const world = await createWorld();
  const mock = await startMock({ port, baseUrl: url, demo: 1, seed: 1, clock: world.clock });
  onTestFinished(() => mock.stop());
  return { world, url, env: { CAT_BASE_URL: url, CAT_INSECURE_HTTP_HOSTS: "other, Mock" } };
}

test("a named host gets the key over http, as one note says, and its signed URLs are followed", async () => {
  const { world, url, env } = await elsewhere();
  const listed = await world.cat("products list --format csv --fields images.0.id", { env });
  expect(listed).toMatchObject({ exit: 0, stderr: note(url) });
  const id = listed.stdout.trimEnd().split("\n")[1]!;
  const saved = await world.cat(`images get ${id} --save photo.jpg --json`, { env });
  expect(saved).toMatchObject({ exit: 0, stderr: "" });
  expect(JSON.parse(saved.stdout).url.startsWith(`${url}/_signed/`)).toBe(true);
  expect(world.read("photo.jpg").length).toBeGreaterThan(1_000);
  expect(new Set(asked)).toEqual(new Set(["mock"]));
});

test("a named host is reached without the proxy, which would see the key", async () => {
  const { world, env } = await elsewhere();
  const proxies = { HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" };
  expect(await world.cat("products list --json", { env: { ...env, ...proxies } })).toMatchObject({ exit: 0 });
});

test("an import works at a named host", async () => {
  const { world, url, env } = await elsewhere();
  world.write("a.csv", "reference,name,images\nA-1,Dress,https://cdn.example.com/a.jpg\n");
  const ran = await world.cat("import a.csv", { env });
  expect(ran).toMatchObject({ exit: 0 });
  expect(ran.stderr.split(note(url))).toHaveLength(2);
});

describe("without its exact name", () => {
  test.each([undefined, "", " , ", "mock.example.com", "mock2", "localhost"])(
    "a host over http is rejected, and nothing is sent: %j",
    async (hosts) => {
      const { world, url } = await elsewhere();
      const ran = await world.cat("products list", {
        env: { CAT_BASE_URL: url, CAT_INSECURE_HTTP_HOSTS: hosts },
      });
      expect(ran).toEqual({
        exit: 2,
        stdout: "",
        stderr:
          `error: the base URL is not encrypted: ${url} (from CAT_BASE_URL)\n` +
          "Use https://. Only local addresses, such as 127.0.0.1, and hosts in CAT_INSECURE_HTTP_HOSTS may use http://.\n",
      });
      expect(asked).toEqual([]);
    },
  );

  test.each(["*", "*.example.com", "mock:4010", "http://mock", "mock,*", "mock other"])(
    "a list is rejected, not used in part: %j",
    async (hosts) => {
      const { world, env } = await elsewhere();
      const entry = hosts.split(",").at(-1)!;
      expect(await world.cat("products list", { env: { ...env, CAT_INSECURE_HTTP_HOSTS: hosts } })).toEqual({
        exit: 2,
        stdout: "",
        stderr:
          `error: invalid CAT_INSECURE_HTTP_HOSTS: "${entry}" is not an exact host name\n` +
          "List host names without http://, ports and wildcards, separated by commas: mock,10.0.0.7\n",
      });
      expect(asked).toEqual([]);
    },
  );
});

test("a stored key goes to the named host that it was stored for, and to no other named host", async () => {
  const { world, url, env } = await elsewhere();
  const none = { CAT_API_KEY: undefined, CAT_BASE_URL: undefined };
  const login = await world.cat(["login", "--with-key", "--base-url", url], {
    env: { ...env, ...none },
    stdin: `${key}\n`,
  });
  expect(login.exit).toBe(0);
  const used = { ...env, ...none };
  expect((await world.cat("products list --json", { env: used })).exit).toBe(0);
  const other = await world.cat(["products", "list", "--base-url", url.replace("mock", "other")], {
    env: used,
  });
  expect(other.exit).toBe(4);
  expect(other.stderr).toContain(`the key of profile default is for ${url} and is not sent to`);
  expect(asked).not.toContain("other");
  // Without the variable, the address of the profile is not used.
  expect((await world.cat("products list", { env: none })).exit).toBe(2);
});

test("the address of a profile can be set to a named host", async () => {
  const { world, url, env } = await elsewhere();
  const set = ["config", "set", "baseUrl", url];
  expect((await world.cat(set, { env: { CAT_INSECURE_HTTP_HOSTS: undefined } })).exit).toBe(2);
  expect((await world.cat(set, { env })).exit).toBe(0);
});

test("doctor warns about the host, and shows that no proxy is used", async () => {
  const { world, url, env } = await elsewhere();
  const { exit, stdout } = await world.cat("doctor --json", {
    env: { ...env, HTTP_PROXY: "http://127.0.0.1:9" },
  });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] };
  expect(exit).toBe(0);
  expect(checks.find(({ name }) => name === "tls")).toEqual({
    name: "tls",
    status: "warning",
    message: note(url).replace(/\.\n$/, ""),
    hint: "Do this only with a key of a mock. For any other service, use https://.",
  });
  expect(checks.find(({ name }) => name === "proxy")).toEqual({
    name: "proxy",
    status: "ok",
    message: "not used for hosts of CAT_INSECURE_HTTP_HOSTS",
  });
  expect(checks.find(({ name }) => name === "network")).toMatchObject({ status: "ok" });
});
