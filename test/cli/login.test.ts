import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../support/at-terminal.ts";
import { longTest } from "../support/long-test.ts";
import { sampled } from "../support/repetitions.ts";
import { until } from "../support/until.ts";
import { createWorld } from "../support/world.ts";

const none = { CAT_BASE_URL: undefined, CAT_API_KEY: undefined };

/** A test environment without settings, and the sign-in of a script. */
async function signedOut() {
  const world = await createWorld({ env: none, mock: { demo: 1 } });
  const { baseUrl } = world.mock;
  return {
    ...world,
    baseUrl,
    login: (flags = "", stdin = "ak_mock\n") =>
      world.cat(`login --base-url ${baseUrl} --with-key ${flags}`, { stdin }),
    config: () => JSON.parse(world.read(".home/config.json")),
  };
}

describe("cat login --with-key", () => {
  test("stores a checked key in the keychain, and the address in the profile", async () => {
    const world = await signedOut();
    expect(await world.login()).toEqual({
      exit: 0,
      stdout: "",
      stderr: `Signed in to ${world.baseUrl} with profile default. The key ak_… is in the keychain.\n`,
    });
    expect([...world.keychain.keys]).toEqual([
      [`default at ${world.baseUrl} in ${world.folder}/.home/config.json`, "ak_mock"],
    ]);
    expect(world.config()).toEqual({
      profiles: { default: { baseUrl: world.baseUrl, keyStore: "keychain", keyOrigin: world.baseUrl } },
      active: "default",
    });
    expect((await world.cat("products list --json")).exit).toBe(0);
  });

  test.each(sampled(["utf8", "utf16le"] as const, 1))(
    "reads a key in %s that has a byte order mark",
    async (encoding) => {
      const world = await signedOut();
      const stdin = Buffer.from("\ufeffak_mock\r\n", encoding);
      const ran = await world.cat(`login --base-url ${world.baseUrl} --with-key`, { stdin });
      expect(ran).toMatchObject({ exit: 0 });
      expect([...world.keychain.keys.values()]).toEqual(["ak_mock"]);
    },
  );

  test("keeps the settings private, whatever the permissions of an older file", async () => {
    const world = await signedOut();
    await world.login();
    const file = `${world.folder}/.home/config.json`;
    const modes = () =>
      [file, `${file}.lock`, `${world.folder}/.home`].map((path) =>
        (statSync(path).mode & 0o777).toString(8),
      );
    expect(modes()).toEqual(["600", "600", "700"]);
    chmodSync(file, 0o644);
    await world.cat("config set label staging");
    expect(modes()).toEqual(["600", "600", "700"]);
  });

  test.for([
    ["unknown", "ak_mock_revoked", 4, "invalid_api_key"],
    ["of a user", "ak_mock_user", 4, "user_key_not_allowed"],
    ["empty", "", 4, "invalid_api_key"],
    ["with a line break", "ak_se\ncret", 4, "invalid_api_key"],
    ["with a space", "ak_se cret", 4, "invalid_api_key"],
  ] as const)("stores nothing for a key that is %s, and does not show it", async ([, key, exit, code]) => {
    const world = await signedOut();
    const ran = await world.login("--json", key);
    expect(ran).toMatchObject({ exit, stdout: "" });
    expect(JSON.parse(ran.stderr).error).toMatchObject({ code, exit });
    expect(ran.stderr).not.toContain("cret");
    expect(world.keychain.requests).toBe(0);
    expect(existsSync(`${world.folder}/.home`)).toBe(false);
  });

  test("stores nothing if the service cannot be reached", async () => {
    const world = await signedOut();
    await world.mock.stop();
    expect((await world.login()).exit).toBe(7);
    expect([world.keychain.requests, existsSync(`${world.folder}/.home`)]).toEqual([0, false]);
  });

  test("accepts a key that lacks products:write", async () => {
    const world = await signedOut();
    const ran = await world.login("--json --profile ci", "ak_mock_readonly");
    expect(JSON.parse(ran.stdout)).toEqual({
      profile: "ci",
      base_url: world.baseUrl,
      key: "ak_…",
      key_source: "the keychain",
      products_read: true,
    });
  });

  test("leaves the active profile, and says how to change it", async () => {
    const world = await signedOut();
    await world.login("--profile dev");
    const { stderr } = await world.login("--profile live");
    expect(stderr).toContain("To use this profile by default: cat config set active live\n");
    expect(world.config().active).toBe("dev");
    expect(world.keychain.keys.size).toBe(2);
  });

  test("without a keychain nothing is stored, and the choices are named", async () => {
    const world = await signedOut();
    world.keychain.problem = "no response within 3 s; it may be locked";
    expect(await world.login()).toEqual({
      exit: 4,
      stdout: "",
      stderr:
        "error: cannot use the keychain: no response within 3 s; it may be locked\n" +
        "Unlock the keychain and run the command again. Without a keychain, set CAT_API_KEY, or run: cat login --store file\n",
    });
    expect(existsSync(`${world.folder}/.home`)).toBe(false);
  });

  test("--store file writes a private file, and asks no keychain", async () => {
    const world = await signedOut();
    world.keychain.problem = "none";
    const path = `${world.folder}/.home/keys/default.json`;
    expect((await world.login("--store file")).stderr).toBe(
      `Signed in to ${world.baseUrl} with profile default. The key ak_… is in ${path}.\n` +
        "The file is not encrypted. Only your user can read it.\n",
    );
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ origin: world.baseUrl, key: "ak_mock" });
    expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
    expect((statSync(`${world.folder}/.home/keys`).mode & 0o777).toString(8)).toBe("700");
    expect((await world.cat("products list --json")).exit).toBe(0);
    chmodSync(path, 0o644);
    expect(await world.cat("products list")).toMatchObject({
      exit: 4,
      stderr: `error: the key file ${path} can be read by other users\nRun: chmod 600 ${path}\n`,
    });
  });

  test("a change of the store removes the key from the other one", async () => {
    const world = await signedOut();
    await world.login();
    await world.login("--store file");
    expect(world.keychain.keys.size).toBe(0);
    await world.login();
    expect(existsSync(`${world.folder}/.home/keys/default.json`)).toBe(false);
  });
});

describe("a command line of cat login that cannot work", () => {
  test.for([
    ["login", "no terminal to ask for the API key", "--with-key"],
    ["login --with-key", "no service URL", "base_url"],
    ["login --with-key --mock", "login cannot be used with --mock", undefined],
    ["login --with-key --base-url http://shop.example.com", "the base URL is not encrypted", "base_url"],
  ] as const)("cat %s", async ([line, message, param]) => {
    const world = await createWorld({ env: none });
    const ran = await world.cat(`${line} --json`, { stdin: "ak_mock" });
    expect(ran.exit).toBe(2);
    expect(JSON.parse(ran.stderr).error.param).toBe(param);
    expect(ran.stderr).toContain(message);
  });

  test("--with-key on a terminal, which would show the key", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined } });
    const ran = await world.cat("login --with-key", { tty: true });
    expect(ran).toMatchObject({ exit: 2 });
    expect(ran.stderr).toContain("--with-key reads a file or a pipe, not the terminal");
  });
});

test("cat login asks for address, profile and key, and the screen shows nothing of the key", async () => {
  const world = await signedOut();
  const { ran, screen, type } = atTerminal(world, "login");
  const keys = (text: string) => [...text, "\n"];
  await type("Address of the service:", ...keys(world.baseUrl));
  await type("Profile:", ...keys("live"));
  // Ctrl-T, which the prompt library would take as a request to show the key.
  await type("API key (not shown):", ..."ak_mock", "\u0014", ...keys("_readonly"));
  expect((await ran).stderr).toContain(`Signed in to ${world.baseUrl} with profile live.`);
  expect(ran.stderr.replaceAll("(not shown)", "")).not.toMatch(/ak_m|readonly/);
  expect(screen()).not.toContain("toggle");
  expect([...world.keychain.keys.values()]).toEqual(["ak_mock_readonly"]);
});

test("the profile that has the address is proposed", async () => {
  const world = await signedOut();
  await world.login("--profile live");
  const { baseUrl } = world;
  await world.cat("config set baseUrl https://shop.example.com --profile dev");
  await world.cat("config set active dev");
  const { ran, type } = atTerminal(world, "login");
  await type("Address of the service:", `${baseUrl}\n`);
  await type("Profile: (live)", "\n");
  await type("API key (not shown):", "ak_mock\n");
  expect((await ran).stderr).toContain(`Signed in to ${baseUrl} with profile live.`);
});

describe("cat login on a terminal without a keychain", () => {
  const withoutKeychain = async (line = "login") => {
    const world = await signedOut();
    world.keychain.problem = "no response within 3 s; it may be locked";
    const asked = atTerminal(world, line);
    await asked.type("Address of the service:", `${world.baseUrl}\n`);
    await asked.type("Profile:", "\n");
    return { ...world, ...asked };
  };
  const question =
    "Cannot use the keychain: no response within 3 s; it may be locked. Keep the key in a file";

  test("offers a file before it asks for the key", async () => {
    const world = await withoutKeychain();
    await world.type("instead, not encrypted, that only your user can read?", "\n");
    expect(world.screen().replace(/\s+/g, " ")).toContain(question);
    expect(world.screen()).not.toContain("API key");
    await world.type("API key (not shown):", "ak_mock\n");
    const { exit, stderr } = await world.ran;
    const path = `${world.folder}/.home/keys/default.json`;
    expect(stderr.replace(/\s+/g, " ")).toContain(`The key ak_… is in ${path}.`);
    expect([exit, statSync(path).mode & 0o777, world.config().profiles.default.keyStore]).toEqual([
      0,
      0o600,
      "file",
    ]);
  });

  test("ends without asking for the key after a no, and stores nothing", async () => {
    const world = await withoutKeychain();
    await world.type("instead, not encrypted", "n\n");
    const { exit, stderr } = await world.ran;
    expect([exit, existsSync(`${world.folder}/.home`)]).toEqual([4, false]);
    expect(stderr).not.toContain("API key (not shown)");
    expect(stderr).toContain("or run: cat login --store file");
  });

  longTest(
    "asks nothing about it with --store file, and never offers a file with --store keychain",
    async () => {
      const world = await withoutKeychain("login --store file");
      await world.type("API key (not shown):", "ak_mock\n");
      expect([(await world.ran).exit, world.keychain.requests]).toEqual([0, 0]);
      const other = await withoutKeychain("login --store keychain");
      expect((await other.ran).exit).toBe(4);
      expect(other.screen()).not.toMatch(/file instead|API key \(not/);
    },
  );
});

test("an API key that is pasted as the profile is rejected, and no longer shown", async () => {
  const world = await signedOut();
  const { ran, shows, type } = atTerminal(world, "login");
  await type("Address of the service:", `${world.baseUrl}\n`);
  await type("Profile:", "ak_mock_secret\n");
  await shows("the profile name looks like an API key. Use up to 32 letters");
  const rejected = ran.stderr.slice(ran.stderr.lastIndexOf("Profile:"));
  expect(rejected).not.toContain("secret");
  await type("Profile:", "\u0004");
  expect((await ran).exit).toBe(130);
});

test.for(
  sampled(
    [
      ["ak_mock_secret", "the profile name looks like an API key"],
      ["../secret", "invalid profile name"],
      ["my secret", "invalid profile name"],
      [".secret", "invalid profile name"],
      ["__proto__", "invalid profile name"],
      [`secret${"x".repeat(27)}`, "invalid profile name"],
    ] as const,
    3,
  ),
)("the profile name %s is rejected without being shown", async ([name, message]) => {
  const world = await createWorld();
  const failed = (source: string) => ({
    exit: 2,
    stdout: "",
    stderr:
      `error: ${message} (from ${source})\n` +
      "Use up to 32 letters, digits, hyphens, underscores and periods, starting with a letter or digit: staging.\n",
  });
  for (const words of [
    ["login", "--with-key"],
    ["config", "list"],
    ["config", "set", "label", "x"],
  ]) {
    expect(await world.cat([...words, "--profile", name])).toEqual(failed("--profile"));
    expect(await world.cat(words, { env: { CAT_PROFILE: name } })).toEqual(failed("CAT_PROFILE"));
  }
  expect(existsSync(`${world.folder}/.home`)).toBe(false);
});

test.for(["keychain", "file"])(
  "--store %s: a failed write of the settings leaves no key behind",
  async (store) => {
    const world = await signedOut();
    // A folder in the place of the lock file: the settings can be read, but not written.
    mkdirSync(`${world.folder}/.home/config.json.lock`, { recursive: true });
    expect((await world.login(`--store ${store}`)).exit).not.toBe(0);
    expect(world.keychain.keys.size).toBe(0);
    expect(existsSync(`${world.folder}/.home/keys/default.json`)).toBe(false);
  },
);

describe("a stored key", () => {
  test("is sent to no other origin", async () => {
    const world = await signedOut();
    await world.login();
    const ran = await world.cat("products list --base-url https://shop.example.com");
    expect(ran).toEqual({
      exit: 4,
      stdout: "",
      stderr:
        `error: the key of profile default is for ${world.baseUrl} and is not sent to https://shop.example.com\n` +
        "Set CAT_API_KEY, or sign in there: cat login --profile NAME --base-url https://shop.example.com\n",
    });
    await world.cat("config set baseUrl https://shop.example.com");
    expect((await world.cat("products list")).stderr).toContain("is not sent to https://shop.example.com");
  });

  test("is not read if CAT_API_KEY is set", async () => {
    const world = await signedOut();
    await world.login();
    const { requests } = world.keychain;
    const env = { CAT_API_KEY: "ak_mock_other" };
    expect(JSON.parse((await world.cat("whoami --json", { env })).stdout).key_source).toBe("CAT_API_KEY");
    expect((await world.cat("products list", { env })).exit).toBe(0);
    expect(world.keychain.requests).toBe(requests);
  });

  test("that the keychain does not return means locked or empty", async () => {
    const world = await signedOut();
    await world.login();
    world.keychain.keys.clear();
    expect(await world.cat("products list")).toEqual({
      exit: 4,
      stdout: "",
      stderr:
        "error: no API key in the keychain: it is locked or empty\n" +
        "Unlock it and run the command again, or sign in again: cat login\n",
    });
  });
});

describe("cat logout", () => {
  test("removes the key, keeps the other settings, and can be repeated", async () => {
    const world = await signedOut();
    await world.login();
    expect((await world.cat("logout")).stderr).toBe("Removed the key of profile default.\n");
    expect(world.keychain.keys.size).toBe(0);
    expect(world.config().profiles).toEqual({ default: { baseUrl: world.baseUrl } });
    expect(await world.cat("logout")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "Profile default has no stored key.\n",
    });
    expect((await world.cat("products list")).exit).toBe(4);
  });

  test("keeps the settings if the keychain fails", async () => {
    const world = await signedOut();
    await world.login();
    world.keychain.problem = "locked";
    expect((await world.cat("logout")).exit).toBe(4);
    expect(world.config().profiles.default.keyStore).toBe("keychain");
  });

  test("exits with 2 for an unknown profile, and with 0 without settings", async () => {
    const world = await signedOut();
    expect((await world.cat("logout --profile nope")).exit).toBe(2);
    expect((await world.cat("logout --json")).stdout).toBe('{"profile":"default","removed":false}\n');
  });
});

describe("cat whoami", () => {
  test("shows each setting and its source, with the key masked", async () => {
    const world = await signedOut();
    await world.login("--profile dev");
    await world.cat("config set label staging");
    expect(await world.cat("whoami")).toEqual({
      exit: 0,
      stdout:
        "profile          dev\n" +
        "label            staging\n" +
        `base_url         ${world.baseUrl}\n` +
        `base_url_source  profile dev in ${world.folder}/.home/config.json\n` +
        "key              ak_…\n" +
        "key_source       the keychain\n" +
        "products_read    true\n",
      stderr: "",
    });
    expect(world.requests().at(-1)).toMatchObject({ method: "GET", path: "/v1/products?limit=1" });
  });

  test("exits with 4 when signed out, and for a key that the service rejects", async () => {
    const world = await signedOut();
    const env = { CAT_BASE_URL: world.baseUrl };
    expect((await world.cat("whoami", { env })).exit).toBe(4);
    const ran = await world.cat("whoami", { env: { ...env, CAT_API_KEY: "ak_mock_revoked" } });
    expect(ran.exit).toBe(4);
    expect(ran.stderr).toContain("set CAT_API_KEY, or run: cat login\n");
  });

  test("works with --mock", async () => {
    const world = await signedOut();
    expect(JSON.parse((await world.cat("whoami --mock --json")).stdout)).toMatchObject({
      profile: null,
      key_source: "--mock",
      products_read: true,
    });
  });
});

describe("the label of a profile", () => {
  const labeled = async () => {
    const world = await signedOut();
    await world.login();
    await world.cat("config set label production");
    await world.cat("config set color red");
    world.write("a.csv", "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n");
    return world;
  };

  test("is shown by a summary, in its color", async () => {
    const world = await labeled();
    const ran = await world.cat("import a.csv", { env: { FORCE_COLOR: "1" } });
    expect(ran.stderr).toMatch(/^\u001b\[31m\[production\]\u001b\[39m Imported 1 row from a\.csv in /m);
  });

  test("is shown by a question", async () => {
    const world = await labeled();
    const stdin = new PassThrough();
    const running = world.cat(`products delete ${world.products()[0]!.id}`, { tty: true, stdin });
    await until(() => running.stderr.includes("Delete 1 product?"));
    setImmediate(() => stdin.write("n\n"));
    await running;
    expect(stripVTControlCharacters(running.stderr)).toContain("[production] Delete 1 product?");
  });

  longTest("is not shown for another address, nor where the settings cannot be read", async () => {
    const world = await labeled();
    const env = { CAT_BASE_URL: world.baseUrl.replace("127.0.0.1", "localhost"), CAT_API_KEY: "ak_mock" };
    expect((await world.cat("import a.csv", { env })).stderr).toMatch(/^Imported 1 row/m);
    world.write(".home/config.json", "{");
    const again = await world.cat("import a.csv --profile default", { env });
    expect(again).toMatchObject({ exit: 0, stderr: expect.stringMatching(/^Nothing to do/m) });
  });
});
