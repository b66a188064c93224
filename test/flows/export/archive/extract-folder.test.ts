import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { exitCodeOf } from "../../../../src/cli/context/exit.ts";
import { ExtractFolder, findExtractTarget } from "../../../../src/flows/export/archive/extract-folder.ts";
import { extractZips } from "../../../../src/flows/export/archive/extract-zips.ts";
import type { ProgressEvent } from "../../../../src/flows/progress-event.ts";
import { rawZip } from "../../../support/raw-zip.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { treeOf } from "./extracting.ts";

const zip = rawZip([
  { name: "a.jpg", data: "photo" },
  { name: "b.jpg", data: Buffer.alloc(3_000_000, "b"), deflate: true },
]);

/** A folder with `1.zip`, and a way to extract it. */
function place(bytes = zip) {
  const folder = temporaryFolder();
  const path = join(folder, "1.zip");
  writeFileSync(path, bytes);
  const extract = (
    dir: string,
    options: { signal?: AbortSignal; onProgress?: (event: ProgressEvent) => void } = {},
  ) => extractZips({ archives: [{ path }], dir, signal: new AbortController().signal, ...options });
  const failure = (dir: string) =>
    extract(dir).then(
      () => null,
      (error) => ({ message: error.message as string, exit: exitCodeOf(error) }),
    );
  return { folder, path, extract, failure };
}

const files = ["a.jpg", "b.jpg"];

test("extracts into a folder that does not exist, and into an empty one, which keeps its permissions", async () => {
  const { folder, extract } = place();
  await extract(join(folder, "new"));
  const empty = join(folder, "empty");
  mkdirSync(empty);
  chmodSync(empty, 0o750);
  await extract(empty);
  expect(readdirSync(join(folder, "new")).sort()).toEqual(files);
  expect(readdirSync(empty).sort()).toEqual(files);
  expect((statSync(empty).mode & 0o777).toString(8)).toBe("750");
  expect(readdirSync(folder).sort()).toEqual(["1.zip", "empty", "new"]);
});

test.runIf(process.platform === "linux")(
  "files in an empty folder that passes its group on get its group",
  async () => {
    const { folder, extract } = place();
    const empty = join(folder, "empty");
    mkdirSync(empty);
    const { gid: own } = statSync(empty);
    // Only root can give a folder to any group.
    if (process.getuid?.() === 0) chownSync(empty, -1, own + 1);
    const { gid } = statSync(empty);
    chmodSync(empty, 0o2750);
    await extract(empty);
    expect((statSync(empty).mode & 0o7777).toString(8)).toBe("2750");
    for (const name of ["", ...files]) expect(statSync(join(empty, name)).gid).toBe(gid);
  },
);

test("extracts through a link to an empty folder, and keeps the link", async () => {
  const { folder, extract } = place();
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "link"));
  await extract(join(folder, "link"));
  expect(realpathSync(join(folder, "link"))).toBe(join(folder, "real"));
  expect(readdirSync(join(folder, "real")).sort()).toEqual(files);
});

test("writes to the folder that a link in the path led to, even if the link changes meanwhile", async () => {
  const { folder, extract } = place();
  for (const name of ["one", "two"]) mkdirSync(join(folder, name));
  const link = join(folder, "link");
  symlinkSync("one", link);
  const { renameSync } = await import("node:fs");
  await extract(join(link, "out"), {
    onProgress: ({ step }) => {
      if (step !== "extracting" || existsSync(join(folder, "moved"))) return;
      symlinkSync("two", join(folder, "moved"));
      renameSync(join(folder, "moved"), link);
      mkdirSync(join(folder, "moved"));
    },
  });
  expect(readdirSync(join(folder, "one", "out")).sort()).toEqual(files);
  expect(readdirSync(join(folder, "two"))).toEqual([]);
});

test("exits with 2 for a folder that is not empty, and leaves it unchanged", async () => {
  const { folder, failure } = place();
  const dir = join(folder, "out");
  mkdirSync(dir);
  writeFileSync(join(dir, "mine.txt"), "mine");
  expect(await failure(dir)).toEqual({ message: `${dir} is not empty`, exit: 2 });
  expect(treeOf(folder)).toMatchObject({ "out/mine.txt": "mine" });
  expect(readdirSync(folder).sort()).toEqual(["1.zip", "out"]);
});

test("exits with 2 for a folder that gets a file while the archive is extracted", async () => {
  const { folder, extract } = place();
  const dir = join(folder, "out");
  const error = await extract(dir, {
    onProgress: ({ step }) => {
      if (step !== "extracting") return;
      mkdirSync(dir, { recursive: true });
      writeFileSync(join(dir, "mine.txt"), "mine");
    },
  }).catch((thrown) => thrown);
  expect({ message: error.message, exit: exitCodeOf(error) }).toEqual({
    message: `${dir} is not empty`,
    exit: 2,
  });
  expect(readdirSync(dir)).toEqual(["mine.txt"]);
  expect(readdirSync(folder).sort()).toEqual(["1.zip", "out"]);
});

test.each([
  ["a file", (dir: string) => writeFileSync(dir, ""), (dir: string) => `${dir} is not a folder`],
  ["a link to a file", (dir: string) => symlinkSync("1.zip", dir), (dir: string) => `${dir} is not a folder`],
  [
    "a link to nothing",
    (dir: string) => symlinkSync("nothing", dir),
    (dir: string) => `cannot write ${dir}: no such file or folder`,
  ],
  [
    "a link to itself",
    (dir: string) => symlinkSync("out", dir),
    (dir: string) => `cannot write ${dir}: too many symbolic links`,
  ],
])("exits with 2 for %s", async (_what, make, message) => {
  const { folder, failure } = place();
  const dir = join(folder, "out");
  make(dir);
  expect(await failure(dir)).toEqual({ message: message(dir), exit: 2 });
  expect(readdirSync(folder).sort()).toEqual(["1.zip", "out"]);
});

test("exits with 2 for a folder in one that does not exist", async () => {
  const { folder, failure } = place();
  const dir = join(folder, "missing", "out");
  expect(await failure(dir)).toEqual({ message: `cannot write ${dir}: no such file or folder`, exit: 2 });
  expect(readdirSync(folder)).toEqual(["1.zip"]);
});

test("exits with 2 where no folder can be made", async () => {
  const { failure } = place();
  expect(await failure("/proc/out")).toEqual({
    message: "cannot write /proc/out: no such file or folder",
    exit: 2,
  });
});

test("exits with 2 for the current folder and a mounted one, and suggests a folder in it", async () => {
  const { failure } = place();
  const here = process.cwd();
  const empty = temporaryFolder();
  process.chdir(empty);
  try {
    expect(await failure(".")).toEqual({
      message: ". is the current folder or a disk, which the files cannot replace",
      exit: 2,
    });
  } finally {
    process.chdir(here);
  }
  await expect(findExtractTarget("/")).rejects.toMatchObject({ code: "folder_not_empty" });
});

test("stops at an interrupt, and leaves nothing", async () => {
  const { folder, extract } = place();
  for (const step of ["checking archives", "extracting"]) {
    const stop = new AbortController();
    const reason = new Error("interrupted");
    const onProgress = (event: ProgressEvent) => {
      if (event.step === step) stop.abort(reason);
    };
    await expect(extract(join(folder, "out"), { signal: stop.signal, onProgress })).rejects.toBe(reason);
    expect(readdirSync(folder)).toEqual(["1.zip"]);
  }
});

test("reports the bytes", async () => {
  const { folder, extract } = place();
  const events: ProgressEvent[] = [];
  await extract(join(folder, "out"), { onProgress: (event) => events.push(event) });
  expect(events).toEqual([
    { step: "checking archives", done: 0, total: 1 },
    { step: "extracting", done: 0, total: 3_000_005, unit: "bytes" },
    { step: "extracting", done: 3_000_005, total: 3_000_005, unit: "bytes" },
  ]);
});

test("removes what a killed process left", async () => {
  const { folder, extract } = place();
  const dir = join(folder, "out");
  const work = join(folder, ".out.extract.part");
  mkdirSync(join(work, "files", "deep"), { recursive: true });
  writeFileSync(join(work, "owner"), "");
  writeFileSync(join(work, "files", "deep", "old.jpg"), "old");
  symlinkSync(folder, join(work, "files", "link"));
  await extract(dir);
  expect(readdirSync(folder).sort()).toEqual(["1.zip", "out"]);
  expect(readdirSync(dir).sort()).toEqual(files);
});

test.each([
  ["a folder of another program", (work: string) => void mkdirSync(join(work, "files"), { recursive: true })],
  ["a file", (work: string) => writeFileSync(work, "mine")],
  ["a link", (work: string) => symlinkSync("..", work)],
])(
  "exits with 2 if the name of the unfinished folder is %s, and leaves it unchanged",
  async (_what, make) => {
    const { folder, failure } = place();
    const dir = join(folder, "out");
    const work = join(folder, ".out.extract.part");
    make(work);
    expect(await failure(dir)).toEqual({
      message: `${dir} cannot be written: another program uses the name of its unfinished folder, ${work}`,
      exit: 2,
    });
    expect(readdirSync(folder).sort()).toEqual([".out.extract.part", "1.zip"]);
  },
);

test("shortens the name of the unfinished folder of a long name", async () => {
  const { folder, extract } = place();
  const dir = join(folder, "x".repeat(255));
  await extract(dir);
  expect(readdirSync(dir).sort()).toEqual(files);
});

test("exits with 6 while another process extracts to the folder, and works after that one was killed", async () => {
  const { folder, failure } = place();
  const dir = join(folder, "out");
  const other = spawn(
    process.execPath,
    ["--import", createRequire(import.meta.url).resolve("tsx"), "--input-type=module", "-e", claims],
    {
      env: { ...process.env, DIR: dir, MODULE: fileURLToPath(moduleUrl) },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [said] = await once(other.stdout, "data");
  expect(String(said)).toBe("claimed\n");
  expect(await failure(dir)).toEqual({ message: `another process is extracting to ${dir}`, exit: 6 });
  expect(readdirSync(join(folder, ".out.extract.part")).sort()).toEqual(["files", "owner"]);
  other.kill("SIGKILL");
  await once(other, "exit");
  expect(await failure(dir)).toBe(null);
  expect(readdirSync(folder).sort()).toEqual(["1.zip", "out"]);
});

const moduleUrl = new URL("../../../../src/flows/export/archive/extract-folder.ts", import.meta.url);
const claims = `
  const { ExtractFolder } = await import(process.env.MODULE);
  await ExtractFolder.claim(process.env.DIR);
  console.log("claimed");
  setInterval(() => {}, 1000);
`;

test("lets one of many attempts at once have the folder, and then the next", async () => {
  const dir = join(temporaryFolder(), "out");
  for (let round = 0; round < 20; round++) {
    const claims = await Promise.allSettled(Array.from({ length: 4 }, () => ExtractFolder.claim(dir)));
    const won = claims.flatMap((claim) => (claim.status === "fulfilled" ? [claim.value] : []));
    expect(won.length).toBe(1);
    for (const claim of claims)
      if (claim.status === "rejected") expect(claim.reason).toMatchObject({ code: "folder_busy" });
    await won[0]!.discard();
    expect(readdirSync(dirname(dir))).toEqual([]);
  }
});

test("does not replace a folder that another process completed meanwhile", async () => {
  const { folder, extract, failure } = place();
  const dir = join(folder, "out");
  await extract(dir);
  expect(await failure(dir)).toEqual({ message: `${dir} is not empty`, exit: 2 });
  expect(readFileSync(join(dir, "a.jpg"), "utf8")).toBe("photo");
  expect(
    readdirSync(folder)
      .map((name) => basename(name))
      .sort(),
  ).toEqual(["1.zip", "out"]);
});
