// Another member of a group plants links at every path that a command is seen to use in a shared folder. What they lead
// to, private files of the victim, stays as it is.

import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const victim = { uid: 54_001, gid: 54_000 };
const attacker = { uid: 54_002, gid: 54_000 };
/** Only root can be both. */
const twoUsers = longTest.runIf(process.platform === "linux" && process.getuid?.() === 0);

interface Users {
  /** Both can write to it. */
  readonly shared: string;
  /** The victim's own. */
  readonly own: string;
  run(args: readonly string[]): ReturnType<typeof spawnCat>;
}

function users(): Users {
  const root = temporaryFolder();
  chmodSync(root, 0o755);
  const make = (name: string, { uid, gid }: typeof victim, mode: number) => {
    const folder = join(root, name);
    mkdirSync(folder);
    chownSync(folder, uid, gid);
    chmodSync(folder, mode);
    return folder;
  };
  const shared = make("shared", attacker, 0o777);
  const own = make("own", victim, 0o700);
  const env = { CAT_HOME: join(own, "home"), HOME: own, TMPDIR: make("tmp", victim, 0o700) };
  const run = (args: readonly string[]) => spawnCat(args, { cwd: shared, env, ...victim });
  write(join(shared, "rows.csv"), rows, victim);
  return { shared, own, run };
}

function write(path: string, text: string, { uid, gid }: typeof victim): void {
  writeFileSync(path, text);
  chownSync(path, uid, gid);
}

const rows =
  "reference,name,images\nA,One,https://cdn.example.com/a.jpg\nB,Two,https://cdn.example.com/fail-not-found.jpg\n";

const commands = {
  sync: "export sync mirror",
  save: "beautify --product KNIT-0001 --subtype clothing --background white --angle front --save images --results all.csv",
  export: "export --out out.ndjson",
  manifest: "export --manifest --out manifest.ndjson",
  zip: "export --zip --out out.zip",
  extract: "export --zip --extract photos",
  import: "import rows.csv --failed bad.csv --results all.ndjson",
  sheet: "products export sheet.csv",
  workbook: "products export sheet.xlsx",
  plan: "import rows.csv --plan plan.json",
} as const;
const toArgs = (command: string): string[] => [...command.split(" "), "--mock", "--yes"];

/** The paths that a command uses in the shared folder, also those that are gone at its end. */
async function pathsOf(command: string): Promise<{ files: string[]; folders: Set<string> }> {
  const { shared, run } = users();
  const seen = new Set<string>();
  const watcher = watch(shared, { recursive: true }, (_, name) => {
    if (name !== null) seen.add(name);
  });
  expect([0, 8]).toContain((await run(toArgs(command))).exitCode);
  watcher.close();
  const left = readdirSync(shared, { recursive: true, encoding: "utf8" });
  const all = new Set([...seen, ...left].filter((name) => name !== "" && name !== "rows.csv"));
  for (const name of all)
    for (let folder = dirname(name); folder !== "."; folder = dirname(folder)) all.add(folder);
  const folders = new Set(
    [...all].filter((name) => {
      const isParent = [...all].some((other) => other.startsWith(name + sep));
      return isParent || statSync(join(shared, name), { throwIfNoEntry: false })?.isDirectory();
    }),
  );
  return { files: [...all].filter((name) => !folders.has(name)), folders };
}

/** Makes what the links lead to. */
function outside({ own }: Users): { file(): string; folder(): string; all(): Record<string, string> } {
  const place = join(own, "private");
  mkdirSync(place);
  chownSync(place, victim.uid, victim.gid);
  let number = 0;
  return {
    file() {
      const path = join(place, `file-${++number}`);
      // Some lead to files that do not exist yet.
      if (number % 2 === 0) write(path, `private ${number}`, victim);
      return path;
    },
    folder() {
      const path = join(place, `folder-${++number}`);
      mkdirSync(path);
      chownSync(path, victim.uid, victim.gid);
      return path;
    },
    all: () =>
      Object.fromEntries(
        readdirSync(place, { recursive: true, encoding: "utf8" }).map((name) => {
          const path = join(place, name);
          return [name, statSync(path).isFile() ? readFileSync(path, "utf8") : "folder"];
        }),
      ),
  };
}

function plant(target: string, path: string): void {
  symlinkSync(target, path);
  lchownSync(path, attacker.uid, attacker.gid);
}

twoUsers.each(Object.values(commands))(
  "links of another user at every file of %j change nothing that they lead to",
  async (command) => {
    const { files, folders } = await pathsOf(command);
    for (let round = 0; round < 2; round++) {
      const world = users();
      const targets = outside(world);
      for (const folder of [...folders].sort()) {
        mkdirSync(join(world.shared, folder));
        chownSync(join(world.shared, folder), attacker.uid, attacker.gid);
        chmodSync(join(world.shared, folder), 0o777);
      }
      // In the second round other links lead to nothing.
      if (round === 1) targets.file();
      for (const file of files) plant(targets.file(), join(world.shared, file));
      const before = targets.all();
      const { exitCode, stderr } = await world.run(toArgs(command));
      expect([command, targets.all()]).toEqual([command, before]);
      expect([stderr, [0, 2, 3, 8].includes(exitCode ?? -1)]).toEqual([stderr, true]);
    }
  },
);

twoUsers.each(Object.values(commands))(
  "links of another user at every folder of %j change nothing that they lead to",
  async (command) => {
    const { folders } = await pathsOf(command);
    for (const folder of folders) {
      const world = users();
      const targets = outside(world);
      if (folder.includes(sep)) {
        mkdirSync(join(world.shared, dirname(folder)), { recursive: true });
        for (let parent = dirname(folder); parent !== "."; parent = dirname(parent)) {
          chownSync(join(world.shared, parent), attacker.uid, attacker.gid);
          chmodSync(join(world.shared, parent), 0o777);
        }
      }
      plant(targets.folder(), join(world.shared, folder));
      const before = targets.all();
      const { exitCode, stderr } = await world.run(toArgs(command));
      expect([folder, targets.all()]).toEqual([folder, before]);
      expect([stderr, [0, 2, 3, 8].includes(exitCode ?? -1)]).toEqual([stderr, true]);
    }
  },
);

twoUsers("a mirror whose hidden folder another user has made is exit 2, with the way out", async () => {
  const { shared, run } = users();
  const hidden = join(shared, "mirror", ".catalogue-sync", "all", "parts");
  mkdirSync(hidden, { recursive: true });
  for (let folder = hidden; folder !== shared; folder = dirname(folder)) {
    chownSync(folder, attacker.uid, attacker.gid);
    chmodSync(folder, 0o777);
  }
  const { exitCode, stderr } = await run(toArgs(commands.sync));
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr:
      `error: ${join(shared, "mirror", ".catalogue-sync")} belongs to another user, who alone can update this mirror\n` +
      "Run the command as that user, or mirror the catalogue into a folder of your own.\n",
  });
});

twoUsers("a mirror in a read-only folder without a hidden folder says nothing of other users", async () => {
  const { shared, run } = users();
  const mirror = join(shared, "mirror");
  mkdirSync(mirror);
  chownSync(mirror, victim.uid, victim.gid);
  chmodSync(mirror, 0o555);
  const { exitCode, stderr } = await run(toArgs(commands.sync));
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr:
      `error: cannot write ${join(mirror, ".catalogue-sync", "all")}: permission denied\n` +
      "Check the permissions of the file and its folder.\n",
  });
});

twoUsers("the hidden folder of a mirror, and what is in it, is for its user alone", async () => {
  const { shared, run } = users();
  await run(toArgs(commands.sync));
  const hidden = join(shared, "mirror", ".catalogue-sync");
  const modes = [".", "all", join("all", "parts")].map((name) => statSync(join(hidden, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700, 0o700]);
  expect(existsSync(join(shared, "mirror", "catalogue.ndjson"))).toBe(true);
});
