import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { spawnCat } from "../../support/spawn-cat.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createWorld } from "../../support/world.ts";

const none = { CAT_BASE_URL: undefined, CAT_API_KEY: undefined };
const quiet = (stderr: string) => ({ exit: 0, stdout: "", stderr });

test("cat config set, get, list and unset change one profile", async () => {
  const world = await createWorld({ env: none });
  const set = await world.cat("config set baseUrl https://shop.example.com/ --profile live");
  expect(set).toEqual(quiet("Set baseUrl of profile live.\n"));
  await world.cat("config set label production --profile live");
  await world.cat("config set color red --profile live");
  expect(await world.cat("config set active live")).toEqual(quiet("The active profile is live.\n"));
  expect((await world.cat("config get baseUrl")).stdout).toBe("https://shop.example.com\n");
  expect((await world.cat("config get active")).stdout).toBe("live\n");
  expect((await world.cat("config list")).stdout).toBe(
    "profile  active  setting  value\n" +
      "live     yes     baseUrl  https://shop.example.com\n" +
      "live     yes     label    production\n" +
      "live     yes     color    red\n",
  );
  expect(await world.cat("config unset label")).toEqual(quiet("Removed label of profile live.\n"));
  expect(await world.cat("config unset label")).toEqual(quiet("Removed label of profile live.\n"));
  expect(await world.cat("config get label")).toEqual({
    exit: 5,
    stdout: "",
    stderr: "error: profile live has no label\nTo set it: cat config set label VALUE\n",
  });
  expect((await world.cat("config list --json")).stdout.split("\n")[0]).toBe(
    '{"profile":"live","active":true,"setting":"baseUrl","value":"https://shop.example.com"}',
  );
  await world.cat("config unset active");
  expect((await world.cat("config get active")).stdout).toBe("default\n");
});

test("cat config set and unset print the change with --json", async () => {
  const world = await createWorld({ env: none });
  const changes = [
    ["set label shop --profile live", { profile: "live", setting: "label", value: "shop" }],
    ["set excel true --profile live", { profile: "live", setting: "excel", value: true }],
    ["set active live", { profile: null, setting: "active", value: "live" }],
    ["unset label", { profile: "live", setting: "label", value: null }],
    ["unset active", { profile: null, setting: "active", value: null }],
  ] as const;
  for (const [line, change] of changes)
    expect(await world.cat(`config ${line} --json`)).toEqual({
      exit: 0,
      stdout: `${JSON.stringify(change)}\n`,
      stderr: "",
    });
});

test("cat config path names the file, and reading creates nothing", async () => {
  const world = await createWorld({ env: none });
  expect((await world.cat("config path")).stdout).toBe(`${world.folder}/.home/config.json\n`);
  expect((await world.cat("config path --json")).stdout).toBe(
    `${JSON.stringify({ path: `${world.folder}/.home/config.json` })}\n`,
  );
  expect(await world.cat("config list")).toMatchObject(quiet(expect.stringContaining("cat login") as never));
  await world.cat("config unset active");
  await world.cat("config unset label");
  expect(existsSync(`${world.folder}/.home`)).toBe(false);
});

describe("a setting that is not valid is rejected, and the file is unchanged", () => {
  test.for([
    ["config set baseUrl http://shop.example.com", "invalid_base_url"],
    ["config set signatureHeader 'a b'", "invalid_config"],
    ["config set color pink", "invalid_setting"],
    ["config set label ''", "invalid_setting"],
    ["config set label ak_secret_value", "invalid_setting"],
    ["config set active nope", "unknown_profile"],
    ["config set apiKey ak_secret_value", "unknown_setting"],
    ["config set keyOrigin https://evil.example.com", "unknown_setting"],
    ["config get nope", "unknown_setting"],
    ["config get label --profile nope", "unknown_profile"],
    ["config set label x --profile __proto__", "invalid_profile_name"],
  ] as const)("%s", async ([line, code]) => {
    const world = await createWorld({ env: none });
    const ran = await world.cat(`${line} --json`);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(JSON.parse(ran.stderr).error).toMatchObject({ code });
    expect(ran.stderr).not.toContain("ak_secret");
    expect(existsSync(`${world.folder}/.home`)).toBe(false);
  });
});

test("a settings folder that cannot be created names CAT_HOME", async () => {
  const world = await createWorld({ env: none });
  const ran = await world.cat("config set color red", { env: { CAT_HOME: "/proc/x" } });
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  expect(ran.stderr.split("\n")[1]).toBe("Set CAT_HOME to a folder that you can write to.");
});

test("unknown keys in the file are kept", async () => {
  const world = await createWorld({ env: none });
  mkdirSync(`${world.folder}/.home`);
  world.write(".home/config.json", '{"later":1,"profiles":{"a":{"more":true}}}');
  await world.cat("config set label x --profile a");
  expect(JSON.parse(world.read(".home/config.json"))).toEqual({
    later: 1,
    profiles: { a: { more: true, label: "x" } },
  });
});

const badFiles = [
  ["an active profile that no profile can be", '{"active":"../x"}', "active is not the name of a profile"],
  ["half a document", '{"active":', "it is not valid JSON"],
  ["no content", "", "it is not valid JSON"],
  ["null", "null", "it is not a JSON object"],
  ["a text", '"str"', "it is not a JSON object"],
  ["a list", "[]", "it is not a JSON object"],
  ["a number", "42", "it is not a JSON object"],
  ["an active profile that is a number", '{"active":1}', "active is not a string"],
  ["profiles that are a list", '{"profiles":[1,2]}', "profiles is not a JSON object"],
  ["profiles that are null", '{"profiles":null}', "profiles is not a JSON object"],
  ["a profile that is a text", '{"profiles":{"a":"b"}}', 'profiles["a"] is not a JSON object'],
  [
    "a base URL that is a number",
    '{"profiles":{"default":{"baseUrl":7}}}',
    'baseUrl in profiles["default"] is not a string',
  ],
  [
    "columns that are a list",
    '{"profiles":{"default":{"columns":[]}}}',
    'columns in profiles["default"] is not a JSON object',
  ],
] as const;

test("a config file of another shape is named with a way out, and is not replaced", async () => {
  const world = await createWorld({ env: none });
  const path = `${world.folder}/.home/config.json`;
  const lines = [
    "config set label x",
    "config unset label",
    "config list",
    "config get label",
    "products list",
  ];
  const logins = ["login --with-key", "login --with-key --store file", "logout", "whoami"];
  for (const [, text, why] of badFiles) {
    world.write(".home/config.json", text);
    for (const line of [...lines, ...logins]) {
      const env = { CAT_BASE_URL: line.startsWith("login") ? world.mock.baseUrl : undefined };
      expect([line, await world.cat(line, { env, stdin: "ak_mock" })]).toEqual([
        line,
        {
          exit: 2,
          stdout: "",
          stderr: `error: cannot read the config file ${path}: ${why}\nFix the file or move it to another place: mv ${path} ${path}.old\n`,
        },
      ]);
      expect(world.read(".home/config.json")).toBe(text);
    }
  }
  expect(readdirSync(`${world.folder}/.home`)).toEqual(["config.json"]);
  expect(world.keychain.requests).toBe(0);
});

test("the next change removes the file that a killed one left", async () => {
  const world = await createWorld({ env: none });
  world.write(`.home/.config-new_${"0".repeat(32)}.part`, "{");
  await world.cat("config set label x");
  expect(readdirSync(`${world.folder}/.home`).sort()).toEqual(["config.json", "config.json.lock"]);
});

test.for([
  ["keyStore", "To store an API key: cat login"],
  ["columns", "Choices are in catalogue.map.json: cat config mapping"],
] as const)("cat config get %s names the command that sets it", async ([name, hint]) => {
  const world = await createWorld();
  const stderr = `error: profile default has no ${name}\n${hint}\n`;
  expect(await world.cat(`config get ${name}`)).toEqual({ exit: 5, stdout: "", stderr });
});

test.each(["utf8", "utf16le"] as const)(
  "a config file in %s may have a byte order mark",
  async (encoding) => {
    const world = await createWorld({ env: none });
    const text = '\ufeff{"profiles":{"default":{"label":"x"}}}';
    world.write(".home/config.json", Buffer.from(text, encoding));
    expect(await world.cat("config get label")).toEqual({ exit: 0, stdout: "x\n", stderr: "" });
  },
);

longTest("programs that write at once lose no setting", async () => {
  const home = temporaryFolder();
  const names = Array.from({ length: 5 }, (_, index) => `p${index}`);
  const ran = await Promise.all(
    names.map((name) =>
      spawnCat(["config", "set", "label", name, "--profile", name], { env: { CAT_HOME: home } }),
    ),
  );
  // Several may start before the first one writes.
  const note = `state in ${home}: new, empty\n`;
  expect(ran.map(({ exitCode, stderr }) => [exitCode, stderr.replace(note, "")])).toEqual(
    names.map((name) => [0, `Set label of profile ${name}.\n`]),
  );
  const { profiles } = JSON.parse(readFileSync(`${home}/config.json`, "utf8"));
  expect(Object.keys(profiles).sort()).toEqual([...names].sort());
});
