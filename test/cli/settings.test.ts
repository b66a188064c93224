import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";

const none = { CAT_BASE_URL: undefined, CAT_API_KEY: undefined };

test("no base URL: exit 2, and what to give", async () => {
  const world = await createWorld({ env: none });
  expect(await world.cat("products list")).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: the address of the service is not known\n" +
      "Give --base-url URL or set CAT_BASE_URL; or add --mock to try it out without a service.\n",
  });
});

describe("the key", () => {
  test("none: exit 4, naming CAT_API_KEY", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined } });
    const ran = await world.cat("products list");
    expect(ran).toMatchObject({ exit: 4, stdout: "" });
    expect(ran.stderr).toContain("there is no key");
    expect(ran.stderr).toContain("CAT_API_KEY");
  });

  test("white space around it does not matter", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: " ak_mock\n" } });
    expect((await world.cat("products list")).exit).toBe(0);
  });

  test("one that cannot be a header is refused and never shown", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: "ak_se\ncret" } });
    const ran = await world.cat("products list --verbose");
    expect(ran.exit).toBe(4);
    expect(ran.stderr).not.toMatch(/se\n?.*cret/);
    expect(world.requests()).toEqual([]);
  });
});

describe("the base URL", () => {
  test.for([
    ["http://shop.example.com", "not encrypted"],
    ["ftp://127.0.0.1", "not a URL that begins with https://"],
    ["shop.example.com", "not a URL"],
    ["https://user:secret@shop.example.com", "user name or password"],
    ["https://shop.example.com/?a=1", "query"],
    ["https://shop.example.com/v1", "version"],
    ["http://127.0.0.1.example.com", "not encrypted"],
  ] as const)("%s is refused, naming where it came from", async ([url, why]) => {
    const world = await createWorld();
    const byFlag = await world.cat(["products", "list", "--base-url", url]);
    expect(byFlag.exit).toBe(2);
    expect(byFlag.stderr).toContain(why);
    expect(byFlag.stderr).toContain("(from --base-url)");
    expect(byFlag.stderr).not.toContain("secret");
    const byEnv = await world.cat("products list", { env: { CAT_BASE_URL: url } });
    expect(byEnv.stderr).toContain("(from CAT_BASE_URL)");
  });

  test("the flag goes before the environment, and a slash at the end does not matter", async () => {
    const world = await createWorld();
    const env = { CAT_BASE_URL: "https://shop.invalid" };
    expect((await world.cat(`products list --base-url ${world.mock.baseUrl}/`, { env })).exit).toBe(0);
  });

  test("--mock and --base-url exclude each other", async () => {
    const world = await createWorld();
    const ran = await world.cat("products list --mock --base-url https://shop.example.com");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain("--mock and --base-url exclude each other");
  });
});

describe("profiles", () => {
  const withProfiles = async (text: (baseUrl: string) => string) => {
    const world = await createWorld({ env: { CAT_BASE_URL: undefined }, mock: { demo: 1 } });
    mkdirSync(`${world.folder}/.home`);
    world.write(".home/config.json", text(world.mock.baseUrl));
    return world;
  };
  const profiles = (baseUrl: string) =>
    JSON.stringify({ active: "dev", profiles: { dev: { baseUrl }, bad: { baseUrl: "http://x.example" } } });

  test("the active one answers when flag and environment do not", async () => {
    const world = await withProfiles(profiles);
    expect((await world.cat("products list --json")).exit).toBe(0);
  });

  test("one is named by flag, before the environment", async () => {
    const world = await withProfiles(profiles);
    expect((await world.cat("products list", { env: { CAT_PROFILE: "dev" } })).exit).toBe(0);
    const bad = await world.cat("--profile bad products list", { env: { CAT_PROFILE: "dev" } });
    expect(bad.exit).toBe(2);
    expect(bad.stderr).toContain("(from profile bad in ");
  });

  test("one that does not exist", async () => {
    const world = await withProfiles(profiles);
    const ran = await world.cat("products list --profile constructor");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain('there is no profile "constructor" (from --profile)');
  });

  test.for([
    ["half a document", '{"active":'],
    ["nothing at all", ""],
    ["another shape", '{"profiles":[1,2]}'],
    ["no object", "[1]"],
  ] as const)("a config file with %s gives a sentence", async ([, text]) => {
    const world = await withProfiles(() => text);
    const ran = await world.cat("products list");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(/^error: .*(config\.json|address of the service)/);
    expect(ran.stderr).not.toContain("    at ");
  });

  test("looking makes no file, and no folder", async () => {
    const world = await createWorld({ env: none });
    const ran = await world.cat("products list");
    expect(ran.stderr).toContain("the address of the service is not known");
    expect(existsSync(`${world.folder}/.home`)).toBe(false);
  });

  test("a home that is a file has no profiles", async () => {
    const world = await createWorld({ env: none });
    world.write(".home", "a file");
    const ran = await world.cat("products list");
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/^error: the address of the service is not known\n/),
    });
  });

  test("a config file that cannot be reached is told as one that cannot be read", async () => {
    const world = await createWorld({ env: none });
    symlinkSync("config.json", `${world.folder}/config.json`);
    const ran = await world.cat("products list", { env: { CAT_HOME: world.folder } });
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(
        /^error: the config file .*config\.json cannot be read: ELOOP.*\nMend it or/,
      ),
    });
  });

  // There, making a folder with all that it is in never ends.
  test.runIf(process.platform === "linux")(
    "a home that cannot be made is refused in a sentence",
    async () => {
      const world = await createWorld({ env: { CAT_HOME: "/proc/1/x" } });
      world.write("a.csv", "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n");
      const ran = await world.cat("import a.csv");
      expect(ran).toMatchObject({ exit: 2, stdout: "" });
      expect(ran.stderr).toMatch(
        /^error: the state file \/proc\/1\/x\/state\/default\.db cannot be written \(.+\)\n.+\n$/,
      );
      expect(world.requests()).toEqual([]);
    },
  );
});
