import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { beforeEach, expect } from "vitest";
import { type Ids, lineOf } from "../cli/every-command/command-lines.ts";
import { listedCommands } from "../support/listed-commands.ts";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createWorld } from "../support/world.ts";

beforeEach(needsBuild);

const program = fileURLToPath(new URL("../../dist/program/", import.meta.url));
const id = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";
const ids: Ids = {
  ...{ products: id, images: id, imports: id, tasks: id, exports: id, webhooks: id },
  ...{ twoPhotos: id, secondImage: id, run: "run_1", event: "evt_1" },
};

/** What one command line loaded: files of dist/program/ without their hashes, packages, and the size of the files. */
interface Loaded {
  readonly exit: number;
  readonly files: readonly string[];
  readonly packages: readonly string[];
  readonly bytes: number;
}

/** Runs command lines of the built program in one process, each with the modules of a fresh start. */
async function loadedBy(lines: readonly (readonly string[])[]): Promise<Loaded[]> {
  const world = await createWorld();
  const log = join(temporaryFolder(), "loads");
  const script = fileURLToPath(new URL("many-commands.js", import.meta.url));
  const { stdout } = await execa(process.execPath, ["--import", "tsx", script], {
    env: {
      CAT_BASE_URL: world.mock.baseUrl,
      CAT_API_KEY: world.mock.apiKey,
      CAT_HOME: join(world.folder, ".home"),
    },
    input: JSON.stringify({ program, log, cwd: world.folder, lines }),
  });
  const loads = readFileSync(log, "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  return (JSON.parse(stdout) as number[]).map((exit, run) => {
    const own = loads.filter(([of]) => of === String(run));
    const names = (kind: string) =>
      [...new Set(own.filter(([, one]) => one === kind).map(([, , name]) => name!))].sort();
    const files = names("file");
    return {
      exit,
      files: files.map((file) => file.replace(/^parts\/(.*)-[A-Z0-9]{8}\.js$/, "$1")),
      packages: [
        ...new Set(
          names("package").map((name) =>
            name
              .split("/")
              .slice(0, name.startsWith("@") ? 2 : 1)
              .join("/"),
          ),
        ),
      ],
      bytes: files.reduce((sum, file) => sum + statSync(join(program, file)).size, 0),
    };
  });
}

const listed = await listedCommands();
const groups = [...new Set(listed.commands.map(({ name }) => name.split(" ")[0]!))];
const { commands } = listed;

/** The packages that a command may load while it runs; others load nothing but those of the settings. */
const network = ["libsql"];
const packagesOf: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(groups.map((group) => [group, network])),
  serve: [],
  ...{ logout: ["conf"], config: ["conf", "libsql"], completion: [], commands: [] },
};

const helps = commands.map(({ name }) => [...name.split(" "), "--help"]);
const runs = commands.map((one) => lineOf(one, ids, ["--yes"], ["--", "true"]));
let all: Promise<Loaded[]> | undefined;
/** What the lines of all tests loaded, by one process. */
const loadedByAll = () => {
  all ??= loadedBy([["--help"], ["--json", "--version"], ...helps, ...runs]);
  return all;
};

longTest("help and the version load one file with commands, and no command", async () => {
  const [help, version] = await loadedByAll();
  expect(help).toMatchObject({ exit: 0, packages: [] });
  expect(help!.files.filter((file) => groups.includes(file))).toEqual([]);
  // The import command, which has 160 KB, is not part of it.
  expect(help!.bytes).toBeLessThan(173_000);
  expect(version!.files).toEqual(help!.files);
});

longTest("the help of a command loads the parts of no other command, and no package", async () => {
  const loaded = (await loadedByAll()).slice(2, 2 + helps.length);
  const found = commands.map(({ name }, index) => ({
    name,
    ...loaded[index]!,
    others: othersIn(name, loaded[index]!.files),
  }));
  expect(
    found.filter(({ exit, packages, others }) => exit !== 0 || packages.length + others.length > 0),
  ).toEqual([]);
});

longTest("a command loads the parts of no other command, and no package that it does not need", async () => {
  const loaded = (await loadedByAll()).slice(2 + helps.length);
  const found = commands.map(({ name }, index) => ({
    name,
    others: othersIn(name, loaded[index]!.files),
    packages: loaded[index]!.packages.filter((one) => !packagesOf[name.split(" ")[0]!]!.includes(one)),
  }));
  expect(found.filter(({ packages, others }) => packages.length + others.length > 0)).toEqual([]);
  expect(loaded[commands.findIndex(({ name }) => name === "products list")]).toMatchObject({
    exit: 0,
    packages: [],
  });
});

/** The parts of other commands. `commands` describes them all, and the import has what several need (scripts/build.js). */
const othersIn = (name: string, files: readonly string[]): string[] => {
  const own = name.split(" ")[0]!;
  return name === "commands"
    ? []
    : files.filter((file) => file !== own && file !== "import" && groups.includes(file));
};
