import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Host } from "../../../src/cli/context/context.ts";
import { findHomeFolder } from "../../../src/cli/settings/home-folder.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { spawnCat } from "../../support/spawn-cat.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const host = (platform: string, home: string | null = "/home/ann"): Host => ({
  platform,
  userHome: () => home,
});

const noHome = expect.objectContaining({
  code: "no_home",
  message: "no folder for settings and state: the user has no home folder",
  hint: "Set CAT_HOME to the full path of a folder, for example /var/lib/catalogue.",
});

describe("the folder of settings and state", () => {
  test.for<[env: Record<string, string>, folder: string, platform?: string, home?: string]>([
    [{}, "/home/ann/.config/catalogue"],
    [{ CAT_HOME: "/srv/cat/" }, "/srv/cat"],
    [{ CAT_HOME: "/srv/./a/../cat" }, "/srv/cat"],
    [{ CAT_HOME: "/" }, "/"],
    [{ CAT_HOME: "" }, "/home/ann/.config/catalogue"],
    [{ CAT_HOME: " " }, "/home/ann/.config/catalogue"],
    [{ HOME: "/home/bob" }, "/home/bob/.config/catalogue"],
    [{ HOME: "" }, "/home/ann/.config/catalogue"],
    [{ HOME: "myhome" }, "/home/ann/.config/catalogue"],
    [{ HOME: "." }, "/home/ann/.config/catalogue"],
    [{ HOME: "~" }, "/home/ann/.config/catalogue"],
    [{ XDG_CONFIG_HOME: "/cfg", HOME: "/home/bob" }, "/cfg/catalogue"],
    [{ XDG_CONFIG_HOME: "cfg" }, "/home/ann/.config/catalogue"],
    [{ XDG_CONFIG_HOME: "" }, "/home/ann/.config/catalogue"],
    [{ XDG_CONFIG_HOME: "./cfg", HOME: "/home/bob" }, "/home/bob/.config/catalogue"],
    [{ XDG_CONFIG_HOME: "/cfg" }, "/cfg/catalogue", "freebsd"],
    [{}, "/Users/ann/Library/Preferences/catalogue", "darwin", "/Users/ann"],
    [{ XDG_CONFIG_HOME: "/cfg" }, "/Users/ann/Library/Preferences/catalogue", "darwin", "/Users/ann"],
    [{ HOME: "x" }, "/Users/ann/Library/Preferences/catalogue", "darwin", "/Users/ann"],
    [{}, "C:\\Users\\ann\\AppData\\Roaming\\catalogue\\Config", "win32", "C:\\Users\\ann"],
    [{ APPDATA: "D:\\Data" }, "D:\\Data\\catalogue\\Config", "win32", "C:\\Users\\ann"],
    [{ APPDATA: "\\\\server\\ann" }, "\\\\server\\ann\\catalogue\\Config", "win32", "C:\\Users\\ann"],
    // Relative to the current folder, or to the current drive.
    ...["", "Data", "D:Data", "\\Data", "/Data"].map(
      (APPDATA): [{ APPDATA: string }, string, string, string] => [
        { APPDATA },
        "C:\\Users\\ann\\AppData\\Roaming\\catalogue\\Config",
        "win32",
        "C:\\Users\\ann",
      ],
    ),
    [{ USERPROFILE: "E:/bob" }, "E:\\bob\\AppData\\Roaming\\catalogue\\Config", "win32", "C:\\Users\\ann"],
    [{ HOME: "E:\\bob" }, "C:\\Users\\ann\\AppData\\Roaming\\catalogue\\Config", "win32", "C:\\Users\\ann"],
    [{ CAT_HOME: "c:/cat/" }, "c:\\cat", "win32", "C:\\Users\\ann"],
  ])("is, for %j, %s (%s)", ([env, folder, platform = "linux", home = "/home/ann"]) => {
    expect(findHomeFolder(env, host(platform, home))).toBe(folder);
  });

  test.for([
    ["linux", "state"],
    ["linux", "./state"],
    ["linux", "../state"],
    ["linux", "~/state"],
    ["linux", " /state"],
    ["darwin", "state"],
    ["win32", "state"],
    ["win32", "C:state"],
    ["win32", "\\state"],
    ["win32", "/state"],
  ] as const)("is rejected on %s for CAT_HOME=%s", ([platform, CAT_HOME]) => {
    expect(() => findHomeFolder({ CAT_HOME }, host(platform))).toThrow(
      expect.objectContaining({
        code: "relative_home",
        message: `CAT_HOME is not a full path: ${JSON.stringify(CAT_HOME)}`,
      }),
    );
  });

  test.for([null, "", "nobody", "."])("is missing for a user whose entry has the home folder %j", (home) => {
    for (const platform of ["linux", "darwin", "win32"])
      expect(() => findHomeFolder({ HOME: "", XDG_CONFIG_HOME: "x" }, host(platform, home))).toThrow(noHome);
    expect(findHomeFolder({ HOME: "/tmp" }, host("linux", home))).toBe("/tmp/.config/catalogue");
    expect(findHomeFolder({ XDG_CONFIG_HOME: "/tmp" }, host("linux", home))).toBe("/tmp/catalogue");
  });

  test("never depends on the current folder, and an unusable variable changes nothing", () => {
    const part = fc.constantFrom("a", "b c", ".", "..", "ä", "~", "C:", "D:x");
    const path = fc
      .tuple(
        fc.constantFrom("", "/", "//", "./", "C:\\", "C:/", "\\", "\\\\s\\"),
        fc.array(part, { maxLength: 3 }),
      )
      .map(([root, parts]) => root + parts.join("/"));
    const names = [
      "CAT_HOME",
      "HOME",
      "XDG_CONFIG_HOME",
      "APPDATA",
      "USERPROFILE",
      "XDG_STATE_HOME",
    ] as const;
    const env = fc.dictionary(fc.constantFrom(...names), path, { noNullPrototype: true });
    const platforms = fc.constantFrom("linux", "darwin", "win32");
    // By expressions of its own: a slash; on Windows a drive with a slash, or a server.
    const isFull = (text: string, platform: string) =>
      platform === "win32"
        ? /^([A-Za-z]:[\\/]|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)/.test(text)
        : text.startsWith("/");
    fc.assert(
      fc.property(env, platforms, fc.option(path), (variables, platform, home) => {
        const found = (from: Record<string, string>) => {
          try {
            return findHomeFolder(from, host(platform, home));
          } catch (error) {
            return (error as { code: string }).code;
          }
        };
        const folder = found(variables);
        const { CAT_HOME, ...others } = variables;
        if (CAT_HOME && !isFull(CAT_HOME, platform)) expect(folder).toBe("relative_home");
        else if (folder !== "no_home") expect(folder).toSatisfy((text: string) => isFull(text, platform));
        const usable = Object.entries(others).filter(([, value]) => isFull(value, platform));
        const kept = Object.fromEntries(CAT_HOME ? [...usable, ["CAT_HOME", CAT_HOME]] : usable);
        expect(found(kept)).toBe(folder);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Without the folder that the test environment gives. */
const real = (
  world: TestWorld,
  env: Record<string, string | undefined> = {},
  home: string | null = null,
) => ({
  env,
  context: { homeFolder: undefined, host: host("linux", home ?? world.folder) } as never,
});

const a = "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n";

describe("a command", () => {
  test.for(
    sampled(["import a.csv", "whoami", "config list", "config path", "login", "doctor", "products list"]),
  )("exits with 2 for a relative CAT_HOME, and proposes the full path: %s", async (line) => {
    const world = await createWorld();
    world.write("a.csv", a);
    expect(await world.cat(line, real(world, { CAT_HOME: "state" }))).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        'error: CAT_HOME is not a full path: "state"\n' +
        `Set CAT_HOME to the full path of the folder, for example ${world.folder}/state.\n`,
    });
    expect(world.requests()).toEqual([]);
  });

  test.for(["import a.csv", "whoami", "config list", "login"])(
    "exits with 2 without a home folder: %s",
    async (line) => {
      const world = await createWorld();
      world.write("a.csv", a);
      expect(await world.cat(line, real(world, { CAT_HOME: "", HOME: "" }, ""))).toEqual({
        exit: 2,
        stdout: "",
        stderr:
          "error: no folder for settings and state: the user has no home folder\n" +
          "Set CAT_HOME to the full path of a folder, for example /var/lib/catalogue.\n",
      });
    },
  );

  test("doctor names the missing home folder, and makes its other checks", async () => {
    const world = await createWorld();
    const ran = await world.cat("doctor", real(world, { CAT_HOME: "", HOME: "" }, ""));
    expect(ran.exit).toBe(2);
    expect(ran.stdout).toMatch(/error +settings +no folder for settings and state.*\n +Set CAT_HOME/);
    expect(ran.stdout).toMatch(/ok +network/);
    expect(ran.stdout + ran.stderr).not.toContain("internal error");
  });

  test("a HOME from another current folder has the ledger of the user's entry", async () => {
    const world = await createWorld();
    world.write("a.csv", a);
    const images = () => world.products()[0]!.images.length;
    await world.cat("import a.csv", real(world, { CAT_HOME: undefined }));
    const all = [{ HOME: "myhome" }, { HOME: "" }, { XDG_CONFIG_HOME: "cfg" }, { CAT_HOME: "" }];
    for (const env of sampled(all)) {
      const ran = await world.cat("import a.csv", real(world, { CAT_HOME: undefined, ...env }));
      expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining("unchanged") });
      expect(images()).toBe(1);
    }
  });
});

describe("a new, empty folder", () => {
  const note = (folder: string) => `state in ${folder}: new, empty\n`;

  test.for<[name: string, env: (folder: string) => Record<string, string | undefined>, place: string]>(
    sampled(
      [
        ["CAT_HOME", (folder) => ({ CAT_HOME: `${folder}/x/y` }), "/x/y"],
        [
          "XDG_CONFIG_HOME",
          (folder) => ({ CAT_HOME: undefined, XDG_CONFIG_HOME: `${folder}/x` }),
          "/x/catalogue",
        ],
        ["HOME", (folder) => ({ CAT_HOME: undefined, HOME: `${folder}/x` }), "/x/.config/catalogue"],
      ],
      1,
    ),
  )("is noted once, in %s", async ([, env, place]) => {
    const world = await createWorld();
    world.write("a.csv", a);
    const folder = world.folder + place;
    const call = real(world, env(world.folder), "/home/ann");
    expect((await world.cat("import a.csv --quiet --dry-run", call)).stderr).toBe("");
    const first = await world.cat("import a.csv", call);
    expect(first.stderr.split(note(folder))).toHaveLength(2);
    expect(first.stderr.startsWith(note(folder))).toBe(true);
    for (const line of ["import a.csv", "whoami", "config list"])
      expect((await world.cat(line, call)).stderr).not.toContain("state in");
  });

  test.for(
    sampled(["whoami", "config list", "config get label", "config set label x", "doctor", "imports list"]),
  )("is noted by a command that uses settings or state: %s", async (line) => {
    const world = await createWorld();
    const call = real(world, { CAT_HOME: `${world.folder}/x` });
    expect((await world.cat(line, call)).stderr.split(note(`${world.folder}/x`))).toHaveLength(2);
  });

  test("is not noted where the user's entry has it, with --json, --quiet or --mock, nor by commands without settings", async () => {
    const world = await createWorld();
    const same = { CAT_HOME: `${world.folder}/.config/catalogue`, HOME: world.folder };
    const other = { CAT_HOME: `${world.folder}/x` };
    for (const [line, env] of [
      ["config list", same],
      ["config list", { CAT_HOME: undefined }],
      ["config list", { CAT_HOME: undefined, XDG_CONFIG_HOME: `${world.folder}/.config` }],
      ["config list --json", other],
      ["config list --quiet", other],
      ["products list --format csv --mock", other],
      ["completion bash", other],
      ["products list", other],
    ] as const)
      expect((await world.cat(line, real(world, env))).stderr).not.toContain("state in");
  });
});

longTest("the installed program uses the user's entry where HOME is empty or relative", async () => {
  const paths = await Promise.all(
    (
      [{ HOME: "" }, { HOME: "rel" }, { HOME: "", XDG_CONFIG_HOME: "cfg" }, {}] as Record<string, string>[]
    ).map(async (env) => (await spawnCat(["config", "path"], { env })).stdout),
  );
  expect(new Set(paths)).toHaveLength(1);
  expect(paths[0]).toMatch(/^\/.+\/catalogue\/config\.json\n$/);
});
