import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { syncWorld } from "../cli/export/sync-world.ts";
import { generateWorld } from "../cli/generate/generate-world.ts";
import { longTest } from "../support/long-test.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const mount = (path: string, options: string) =>
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { stdio: "ignore" });
const unmount = (path: string) => execFileSync("umount", ["--lazy", path]);

/** Whether this user may mount a disk; containers may not. */
function mayMount(): boolean {
  if (process.platform !== "linux" || process.geteuid?.() !== 0) return false;
  try {
    const folder = temporaryFolder();
    mount(folder, "size=4k");
    unmount(folder);
    return true;
  } catch {
    return false;
  }
}

/** A disk of a few kilobytes in a new folder; `grow` gives it enough room. */
function smallDisk(kilobytes: number): { readonly path: string; grow(): void } {
  const path = join(temporaryFolder(), "disk");
  mkdirSync(path);
  mount(path, `size=${kilobytes}k`);
  onTestFinished(() => void unmount(path));
  return { path, grow: () => mount(path, "remount,size=100m") };
}

/** The images of a folder, with their content. */
const imagesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => /^[^.].*\.(jpg|png|webp)$/.test(name))
      .map((name) => [name, readFileSync(join(folder, name), "latin1")]),
  );

/** Unfinished files, of batches too. */
const unfinishedIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".part"));

/** The error of an image, or of the table that records its batch. */
const full =
  /^error: (?:cannot write \S+\/disk\/(\S+): no space left on device|the state file \S+\/disk\/.catalogue-sync\/all\/index\.db cannot be written: the disk is full)$/m;
const next = /^Free some space or (?:choose another|check the) disk, and run the command again\.$/m;

longTest(
  "a mirror on a disk that fills up keeps its images, names one without room, and is completed",
  async (context) => {
    if (!mayMount()) return context.skip("only root can mount a small disk");
    const world = await syncWorld({ mock: { demo: 24 } });
    await world.cat("export sync fresh");
    const complete = imagesIn(world.at("fresh"));
    const named = new Set<string>();
    for (const kilobytes of [300, 500, 700, 900, 1100, 1250]) {
      const { path, grow } = smallDisk(kilobytes);
      const { exit, stderr } = await world.cat(`export sync ${path}`);
      expect([kilobytes, exit, stderr]).toEqual([kilobytes, 2, expect.stringMatching(full)]);
      expect(stderr).toMatch(next);
      const kept = imagesIn(path);
      for (const [name, content] of Object.entries(kept)) expect(content === complete[name], name).toBe(true);
      const [, failed] = full.exec(stderr)!;
      if (failed !== undefined) named.add(failed);
      expect(Object.keys(kept)).not.toContain(failed);
      grow();
      world.traffic();
      expect(await world.cat(`export sync ${path}`)).toMatchObject({ exit: 0 });
      // What had its name is not downloaded again.
      expect(world.traffic().images).toBe(Object.keys(complete).length - Object.keys(kept).length);
      expect(imagesIn(path)).toEqual(complete);
      expect(unfinishedIn(path)).toEqual([]);
    }
    expect(named.size).toBeGreaterThan(0);
    for (const name of named) expect(name in complete, name).toBe(true);
  },
);

longTest(
  "images that are saved on a disk that fills up stay, those without room are named, and are saved later",
  async (context) => {
    if (!mayMount()) return context.skip("only root can mount a small disk");
    const world = await generateWorld({ mock: { speed: 1_000_000 } });
    const angles = ["full-front", "full-back", "half-front", "half-back"];
    world.looks(
      ...[1, 2, 3, 4, 5, 6].flatMap((at) =>
        angles.flatMap((angle) =>
          ["studio", "#ffffff"].map((color) => `DRESS-${at},Amara,${color},${angle}`),
        ),
      ),
    );
    expect(await world.cat("tryon looks.csv --yes --save images")).toMatchObject({ exit: 0 });
    const complete = imagesIn(join(world.folder, "images"));
    const ids = world.tasks().map(({ id }) => id);
    for (const kilobytes of [1100, 1500, 2000]) {
      const { path, grow } = smallDisk(kilobytes);
      const { exit, stderr, stdout } = await world.cat(["tasks", "save", ...ids, "--save", path, "--json"]);
      expect([exit, stderr]).toEqual([
        2,
        expect.stringMatching(/cannot write \S+\/disk\/DRESS-\S+\.png: no space/),
      ]);
      const kept = imagesIn(path);
      for (const [name, content] of Object.entries(kept)) expect(content === complete[name], name).toBe(true);
      const listed = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).output_file as string | undefined);
      // Each is named or has a file, never both.
      expect(listed.flatMap((file) => file?.split("/").at(-1) ?? []).toSorted()).toEqual(
        Object.keys(kept).toSorted(),
      );
      expect(stderr).not.toContain(Object.keys(kept)[0]);
      grow();
      expect(await world.cat(["tasks", "save", ...ids, "--save", path])).toMatchObject({ exit: 0 });
      expect(imagesIn(path)).toEqual(complete);
      expect(unfinishedIn(path)).toEqual([]);
    }
  },
);
