import { chmodSync, linkSync, readFileSync, statSync, symlinkSync, truncateSync } from "node:fs";
import * as files from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { tinyPng } from "../../mock/world.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";

vi.mock("node:fs/promises", { spy: true });
afterEach(() => void vi.resetAllMocks());

const png = Buffer.from(tinyPng);

const cdn = "https://cdn.example.com";
const half = `reference,name,images\nOK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

/** A system error with this code. */
const systemError = (code: string) => Object.assign(new Error(code), { code });

describe("a photo that failed the check", () => {
  /** A file whose photos are invalid in different ways, except in the first row. */
  async function refusedPhotos() {
    const world = await createWorld();
    world.write("list/good.png", png);
    truncateSync(world.write("list/big.png", png), 11_000_000);
    world.write("list/anim.gif", "GIF89a");
    world.write("list/unreadable.png", png);
    world.write("outside.png", png);
    world.write("far.png", png);
    symlinkSync("../far.png", join(world.folder, "list/link.png"));
    linkSync(join(world.folder, "list/big.png"), join(world.folder, "hard.png"));
    const photos = ["good.png", "big.png", "anim.gif", "unreadable.png", "..\\outside.png", "link.png"];
    const rows = photos.map((photo, index) => `P${index},Dress,${photo}\n`);
    world.write("list/a.csv", `reference,name,image_1\n${rows.join("")}`);
    const { open } = await vi.importActual<typeof files>("node:fs/promises");
    vi.mocked(files.open).mockImplementation(async (path, ...rest) => {
      if (!String(path).endsWith("unreadable.png")) return open(path, ...rest);
      throw systemError("EACCES");
    });
    return world;
  }

  test.each(
    sampled(["list/big.png", "hard.png", "list/anim.gif", "list/unreadable.png", "outside.png", "far.png"]),
  )("is never an output file: %s", async (name) => {
    const world = await refusedPhotos();
    const before = await files.readFile(join(world.folder, name));
    for (const flag of ["--results", "--failed"]) {
      const ran = await world.cat(`import list/a.csv --skip-invalid ${flag} ${name}`);
      expect(ran.exit).toBe(2);
      expect(ran.stderr).toContain(
        `error: cannot write ${flag} ${name}: it is a photo in the file to import\n`,
      );
    }
    expect(before.equals(await files.readFile(join(world.folder, name)))).toBe(true);
    expect(world.requests()).toEqual([]);
  });

  test.each(sampled(["list/big.png", "list/anim.gif"], 1))("is never a ledger: %s", async (name) => {
    const world = await refusedPhotos();
    const before = await files.readFile(join(world.folder, name));
    const ran = await world.cat(`import list/a.csv --skip-invalid --no-progress --ledger ${name}`);
    expect(ran.exit).toBe(2);
    expect(before.equals(await files.readFile(join(world.folder, name)))).toBe(true);
    expect(world.requests()).toEqual([]);
  });
});

describe("a file that is write-protected", () => {
  test.each(["--results", "--failed"])("is not replaced by %s, and nothing is sent", async (flag) => {
    const world = await createWorld();
    world.write("a.csv", half);
    world.write("mine", "mine");
    // Some tests run as root, who can write anything.
    const { access } = await vi.importActual<typeof files>("node:fs/promises");
    vi.mocked(files.access).mockImplementation(async (path, mode) => {
      if (String(path).endsWith("/mine") && mode === files.constants.W_OK) throw systemError("EACCES");
      await access(path, mode);
    });
    const ran = await world.cat(`import a.csv ${flag} mine`);
    expect([ran.exit, ran.stderr]).toEqual([
      2,
      `error: cannot write ${flag} mine: permission denied\nChoose another file, for example ${flag} ${flag.slice(2)}.csv.\n`,
    ]);
    expect(world.read("mine")).toBe("mine");
    expect(world.requests()).toEqual([]);
  });
});

describe("the permissions of an output file", () => {
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  test.each(sampled([0o600, 0o640, 0o666], 1))("are kept when a file is replaced (%i)", async (mode) => {
    const world = await createWorld();
    world.write("a.csv", half);
    const outputs = ["results.ndjson", "failed.csv"].map((name) => world.write(name, "old"));
    for (const path of outputs) chmodSync(path, mode);
    const ran = await world.cat("import a.csv --results results.ndjson --failed failed.csv --json");
    expect(JSON.parse(ran.stdout)).toMatchObject({ succeeded: 1, failed: 1 });
    expect(outputs.map((path) => [readFileSync(path, "utf8") === "old", modeOf(path)])).toEqual(
      outputs.map(() => [false, mode.toString(8)]),
    );
  });

  test.each(
    sampled([
      [0o600, "600"],
      [0o640, "640"],
      [0o644, "644"],
      [0o444, "644"],
    ]),
  )("of failed rows are those of the input, and writable by the owner (%i)", async (mode, failed) => {
    const world = await createWorld();
    chmodSync(world.write("a.csv", half), mode);
    await world.cat("import a.csv --no-progress");
    expect(modeOf(join(world.folder, "a.failed.csv"))).toBe(failed);
  });
});
