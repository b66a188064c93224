import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";

const none = { CAT_BASE_URL: undefined, CAT_API_KEY: undefined };

test("a missing base URL exits with 2 and a next step", async () => {
  const world = await createWorld({ env: none });
  expect(await world.cat("products list")).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: no service URL\n" +
      "Run: cat login (or add --base-url URL, or set CAT_BASE_URL). To try it without an account, add --mock.\n",
  });
});

describe("the API key", () => {
  test("exits with 4 if CAT_API_KEY is not set", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined } });
    const ran = await world.cat("products list");
    expect(ran).toMatchObject({ exit: 4, stdout: "" });
    expect(ran.stderr).toBe(
      "error: no API key\n" +
        "Run: cat login (or set CAT_API_KEY). To try it without an account, add --mock.\n",
    );
  });

  test("is trimmed", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: " ak_mock\n" } });
    expect((await world.cat("products list")).exit).toBe(0);
  });

  test("is rejected, and never shown, if it cannot be a header", async () => {
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
    ["ftp://127.0.0.1", "does not start with https://"],
    ["shop.example.com", "does not start with https://"],
    ["https://user:secret@shop.example.com", "user name or password"],
    ["https://shop.example.com/?a=1", "query"],
    ["https://shop.example.com/v1", "version"],
    ["http://127.0.0.1.example.com", "not encrypted"],
  ] as const)("rejects %s and names its source", async ([url, why]) => {
    const world = await createWorld();
    const byFlag = await world.cat(["products", "list", "--base-url", url]);
    expect(byFlag.exit).toBe(2);
    expect(byFlag.stderr).toContain(why);
    expect(byFlag.stderr).toContain("(from --base-url)");
    expect(byFlag.stderr).not.toContain("secret");
    const byEnv = await world.cat("products list", { env: { CAT_BASE_URL: url } });
    expect(byEnv.stderr).toContain("(from CAT_BASE_URL)");
  });

  test("comes from the flag before the environment, and may end with a slash", async () => {
    const world = await createWorld();
    const env = { CAT_BASE_URL: "https://shop.invalid" };
    expect((await world.cat(`products list --base-url ${world.mock.baseUrl}/`, { env })).exit).toBe(0);
  });

  test("cannot be used with --mock", async () => {
    const world = await createWorld();
    const ran = await world.cat("products list --mock --base-url https://shop.example.com");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain("--mock cannot be used with --base-url\nRemove one of them.");
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

  test("the active profile is used without a flag or a variable", async () => {
    const world = await withProfiles(profiles);
    expect((await world.cat("products list --json")).exit).toBe(0);
  });

  test("the flag overrides the environment", async () => {
    const world = await withProfiles(profiles);
    expect((await world.cat("products list", { env: { CAT_PROFILE: "dev" } })).exit).toBe(0);
    const bad = await world.cat("--profile bad products list", { env: { CAT_PROFILE: "dev" } });
    expect(bad.exit).toBe(2);
    expect(bad.stderr).toContain("(from profile bad in ");
  });

  test("an unknown profile exits with 2", async () => {
    const world = await withProfiles(profiles);
    const ran = await world.cat("products list --profile constructor");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain(
      'unknown profile "constructor" (from --profile)\nCheck the name (cat config list), or add',
    );
  });

  test.for([
    ["half a document", '{"active":'],
    ["no content", ""],
    ["another shape", '{"profiles":[1,2]}'],
    ["a list", "[1]"],
  ] as const)("a config file with %s gives a plain error", async ([, text]) => {
    const world = await withProfiles(() => text);
    const ran = await world.cat("products list");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(/^error: .*(config\.json|no service URL)/);
    expect(ran.stderr).not.toContain("    at ");
  });

  test("reading creates no file and no folder", async () => {
    const world = await createWorld({ env: none });
    const ran = await world.cat("products list");
    expect(ran.stderr).toContain("no service URL");
    expect(existsSync(`${world.folder}/.home`)).toBe(false);
  });

  test.for(["products list", "config list", "config set label x", "login", "doctor"])(
    "a CAT_HOME that is a file is named: %s",
    async (line) => {
      const world = await createWorld({ env: none });
      world.write(".home", "a file");
      const ran = await world.cat(line);
      expect(ran.exit).toBe(2);
      expect(ran.stdout + ran.stderr).toMatch(
        /cannot use the settings folder \/.*\.home: part of its path is a file\n *Set CAT_HOME to a folder, or move the file\.\n/,
      );
      expect(ran.stdout + ran.stderr).not.toMatch(/denied|exists/);
    },
  );

  test("a config file that is a link to itself cannot be read", async () => {
    const world = await createWorld({ env: none });
    symlinkSync("config.json", `${world.folder}/config.json`);
    const ran = await world.cat("products list", { env: { CAT_HOME: world.folder } });
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(
        /^error: cannot read the config file .*config\.json: too many symbolic links\nFix the file or/,
      ),
    });
  });

  // In /proc, creating a folder recursively never ends.
  test.runIf(process.platform === "linux")(
    "a CAT_HOME that cannot be created gives a plain error",
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
