import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { generateWorld } from "./generate-world.ts";
import { reviewWorld } from "./review-world.ts";

/** Three saved try-ons with a review: the first approved, the second rejected, the third not decided. */
async function savedWorld() {
  const world = await reviewWorld(3, "--save images");
  world.review("decisions.csv", ["approve"], ["reject", "sleeve too long"], [""]);
  const at = (path: string) => join(world.folder, "images", path);
  const images = (path: string) =>
    readdirSync(at(path))
      .filter((name) => name.endsWith(".png") || name.endsWith(".jpg") || name.endsWith(".webp"))
      .sort();
  const names = images("");
  return {
    ...world,
    at,
    names,
    /** The images of the folder, and of its folder of rejected ones. */
    images: () => ({ kept: images(""), rejected: existsSync(at("rejected")) ? images("rejected") : null }),
    /** The last columns of results.csv: file, and after the label decision and note. */
    results: () =>
      readFileSync(at("results.csv"), "utf8")
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(","))
        .map((cells) => [cells[8], ...cells.slice(-2)]),
  };
}

const line = "tryon looks.csv --yes --save images --approved decisions.csv";

describe("--approved", () => {
  test("moves rejected images to DIR/rejected, and lists decisions and notes", async () => {
    const world = await savedWorld();
    const [first, second, third] = world.names as [string, string, string];
    const bytes = readFileSync(world.at(second));
    const ran = await world.cat(line);
    expect(ran.exit).toBe(0);
    expect(ran.stderr.split("\n")).toEqual([
      "Applied decisions.csv to 3 images of looks.csv; nothing was queued.",
      "Saved 3 images in images (listed in results.csv).",
      "  1 rejected image in images/rejected",
      "  1 image without a decision",
      "",
    ]);
    expect(world.images()).toEqual({ kept: [first, third], rejected: [second] });
    expect(readFileSync(world.at(`rejected/${second}`)).equals(bytes)).toBe(true);
    expect(world.results()).toEqual([
      [first, "approve", ""],
      [`rejected/${second}`, "reject", "sleeve too long"],
      [third, "", ""],
    ]);
    const rows = readFileSync(world.at("results.ndjson"), "utf8").trim().split("\n");
    expect(rows.map((row) => JSON.parse(row)).map(({ decision, note }) => [decision, note])).toEqual([
      ["approve", null],
      ["reject", "sleeve too long"],
      [null, null],
    ]);
    expect(world.tasks()).toHaveLength(3);
  });

  longTest("leaves moved images where they are, and downloads none again, in later commands", async () => {
    const world = await savedWorld();
    await world.cat(line);
    const images = world.images();
    const downloads = () => world.requests().filter(({ path }) => !path.startsWith("/v1")).length;
    const before = downloads();
    for (const again of [
      line,
      "tryon looks.csv --yes --save images",
      `tasks save --run ${world.run} --save images`,
    ])
      expect((await world.cat(again)).exit).toBe(0);
    expect(world.images()).toEqual(images);
    expect(downloads()).toBe(before);
    expect(world.results()[1]).toEqual([`rejected/${world.names[1]}`, "reject", "sleeve too long"]);
  });

  test("moves an image back that a later review approves", async () => {
    const world = await savedWorld();
    await world.cat(line);
    world.clock.advance(1_000);
    world.review("decisions.csv", ["reject"], ["approve"], ["approve"]);
    const ran = await world.cat(line);
    expect(ran.stderr).toContain(
      "An earlier review decided otherwise about 2 images of decisions.csv: this one counts.\n",
    );
    const [first, second, third] = world.names;
    expect(world.images()).toEqual({ kept: [second, third], rejected: [first] });
  });

  longTest("completes a move that a kill has stopped between its two steps", async () => {
    const world = await savedWorld();
    const [first, second, third] = world.names as [string, string, string];
    mkdirSync(world.at("rejected"));
    linkSync(world.at(second), world.at(`rejected/${second}`));
    expect((await world.cat(line)).exit).toBe(0);
    const moved = { kept: [first, third], rejected: [second] };
    expect(world.images()).toEqual(moved);
    // On the way back.
    linkSync(world.at(`rejected/${second}`), world.at(second));
    world.clock.advance(1_000);
    world.review("decisions.csv", ["approve"], ["approve"], [""]);
    expect((await world.cat(line)).exit).toBe(0);
    expect(world.images()).toEqual({ kept: world.names, rejected: [] });
    // An empty file has the name, where the file system has no links.
    writeFileSync(world.at(`rejected/${first}`), "");
    world.clock.advance(1_000);
    world.review("decisions.csv", ["reject"], ["approve"], [""]);
    expect((await world.cat(line)).exit).toBe(0);
    expect(world.images()).toEqual({ kept: [second, third], rejected: [first] });
  });

  test("replaces no file that has the name in DIR/rejected", async () => {
    const world = await savedWorld();
    const second = world.names[1]!;
    mkdirSync(world.at("rejected"));
    writeFileSync(world.at(`rejected/${second}`), "mine");
    const ran = await world.cat(line);
    expect(ran.exit).toBe(2);
    const [from, to] = [world.at(second), world.at(`rejected/${second}`)];
    expect(ran.stderr).toContain(`  1 image not moved, and still in images: ${from} cannot be moved`);
    expect(ran.stderr).toContain(
      `error: ${from} cannot be moved: another file is ${to}\nCompare both files, move one of them away, and run the same command again.\n`,
    );
    expect(world.images()).toEqual({ kept: world.names, rejected: [second] });
    expect(readFileSync(to, "utf8")).toBe("mine");
    rmSync(to);
    expect((await world.cat(line)).exit).toBe(0);
    expect(world.images().rejected).toEqual([basename(second)]);
  });

  longTest("moves nothing where rejected is a file", async () => {
    const world = await savedWorld();
    writeFileSync(world.at("rejected"), "");
    const ran = await world.cat(line);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain(
      `error: ${world.at("rejected")} is a file, so rejected images cannot be moved there\nRename it, and run the same command again.\n`,
    );
    expect(readdirSync(world.at(""))).toEqual(expect.arrayContaining(world.names));
  });

  test("with a review of another run queues and moves nothing", async () => {
    const world = await savedWorld();
    world.write("looks.csv", world.read("looks.csv").replace("DRESS-2", "DRESS-4"));
    expect(await world.cat(line)).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "error: decisions.csv:3 is about an image of another run (looks.csv, 2026-01-05T09:00:05Z); nothing was queued or moved\nUse the file of decisions about the images of looks.csv.\n",
    });
    expect(world.tasks()).toHaveLength(3);
    expect(world.images()).toEqual({ kept: world.names, rejected: null });
  });

  longTest("with the review of a sheet that has grown since moves its images", async () => {
    const world = await savedWorld();
    const [first, second, third] = world.names as [string, string, string];
    world.looks(...[1, 2, 3, 4].map((at) => `DRESS-${at},Amara,studio,full-front`));
    expect(await world.cat(line)).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(
        "Saved 4 images in images (listed in results.csv).\n  1 rejected image in",
      ),
    });
    expect(world.images()).toEqual({
      kept: [first, third, expect.stringContaining("DRESS-4")],
      rejected: [second],
    });
    expect(world.tasks()).toHaveLength(4);
  });

  longTest("with an edited review queues and moves nothing", async () => {
    const world = await savedWorld();
    world.write("decisions.csv", world.read("decisions.csv").replace("studio", "loft"));
    expect(await world.cat(line)).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("decisions.csv has 1 problem; nothing was queued or moved\n"),
    });
    expect(world.images()).toEqual({ kept: world.names, rejected: null });
  });

  longTest(
    "with --limit names a next command without --approved, whose review lacks the other images",
    async () => {
      const world = await generateWorld();
      world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front");
      const limited = "tryon looks.csv --yes --limit 1 --save images";
      await world.cat(limited);
      world.write("decisions.csv", `task_id,decision,note\n${world.tasks()[0]!.id},approve,\n`);
      expect((await world.cat(`${limited} --approved decisions.csv`)).stderr).toContain(
        "To generate the other rows, run (nothing is queued twice):\n  cat tryon looks.csv --yes --save images\n",
      );
      expect((await world.cat("tryon looks.csv --yes --save images")).exit).toBe(0);
      expect(world.tasks()).toHaveLength(2);
    },
  );

  test.each(
    sampled(
      [
        ["", "--approved needs --save", "Add --save DIR."],
        ["--save images --dry-run", "--approved cannot be used with --dry-run", "Remove one of them."],
        ["--save images --fresh", "--approved cannot be used with --fresh", "Remove one of them."],
      ],
      1,
    ),
  )("is rejected with %j", async (flags, error, hint) => {
    const world = await reviewWorld(1);
    const ran = await world.cat(`tryon looks.csv --yes --approved decisions.csv ${flags}`.trim());
    expect(ran).toEqual({ exit: 2, stdout: "", stderr: `error: ${error}\n${hint}\n` });
  });
});

longTest("beautified shots have decisions, too", async () => {
  const world = await reviewWorld(1);
  world.write("shots.csv", "product_reference,subtype,background,angle_shot\nDRESS-1,clothing,white,front\n");
  const { tasks } = JSON.parse((await world.cat("beautify shots.csv --yes --save shots --json")).stdout);
  world.write("d.csv", `task_id,decision,note\n${tasks[0].id},reject,dark\n`);
  const ran = await world.cat("beautify shots.csv --yes --save shots --approved d.csv --json");
  expect(JSON.parse(ran.stdout).tasks[0].output_file).toBe(
    join("shots", "rejected", basename(tasks[0].output_file)),
  );
});

longTest(
  "a review that was recorded is in the lists of a folder that is saved later, and moves nothing",
  async () => {
    const world = await reviewWorld(2);
    world.review("decisions.csv", ["approve", "good"], ["reject"]);
    await world.cat("tasks review decisions.csv");
    await world.cat("tryon looks.csv --yes --save images --results all.csv");
    const all = world.read("all.csv").trim().split("\n");
    expect(all[0]).toMatch(/,label,decision,note$/);
    expect(all.slice(1).map((line) => line.split(",").slice(-2))).toEqual([
      ["approve", "good"],
      ["reject", ""],
    ]);
    expect(existsSync(join(world.folder, "images/rejected"))).toBe(false);
  },
);
