import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";
import { reviewWorld } from "./review-world.ts";

const looks = [1, 2, 3].map((at) => `DRESS-${at},Amara,studio,full-front`);

type Row = readonly [task: string, decision: "approve" | "reject", at?: string];

/** A file of decisions about tasks. */
const decisions = (...rows: readonly Row[]): string =>
  `${[["task_id", "decision", "note", "decided_at"], ...rows.map(([task, decision, at = ""]) => [task, decision, "", at])].map((cells) => cells.join()).join("\n")}\n`;

const rejectedIn = (folder: string): string[] =>
  existsSync(join(folder, "rejected")) ? readdirSync(join(folder, "rejected")) : [];

describe("the run of --approved is that of its decisions", () => {
  test("with --missing, also after another such run, and queues nothing", async () => {
    const world = await generateWorld();
    world.looks(looks[0]!);
    await world.cat("tryon looks.csv --yes");
    world.looks(...looks);
    await world.cat("tryon looks.csv --missing --yes --save images");
    const [, second, third] = world.tasks().map(({ id }) => id) as [string, string, string];
    world.write("decisions.csv", decisions([second, "reject"], [third, "approve"]));
    await world.cat("tasks review decisions.csv");
    expect((await world.cat("tryon looks.csv --missing --yes --save images")).exit).toBe(0);
    expect(world.tasks()).toHaveLength(4);
    const line = "tryon looks.csv --missing --yes --save images --approved decisions.csv";
    const ran = await world.cat(line);
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr: [
        "Applied decisions.csv to 3 images of looks.csv; nothing was queued.",
        "Saved 3 images in images (listed in results.csv).",
        "  1 rejected image in images/rejected",
        "  1 image without a decision",
        "",
      ].join("\n"),
    });
    expect(rejectedIn(join(world.folder, "images"))).toEqual([
      expect.stringContaining(second.slice(-10).toLowerCase()),
    ]);
    expect(world.tasks()).toHaveLength(4);
  });

  longTest("with --fresh since: the images of the earlier run are moved", async () => {
    const world = await reviewWorld(2, "--save images");
    world.review("decisions.csv", ["reject"], ["approve"]);
    await world.cat("tryon looks.csv --yes --fresh --save images");
    expect(world.tasks()).toHaveLength(4);
    const ran = await world.cat("tryon looks.csv --yes --save images --approved decisions.csv");
    expect([ran.exit, rejectedIn(join(world.folder, "images")).length]).toEqual([0, 1]);
    expect(world.tasks()).toHaveLength(4);
  });
});

describe("a run of --rerun, of which a later review approves an image,", () => {
  /** Two of three images were rejected and queued again; then the first one was approved after all. */
  const changedMind = async (flags: string) => {
    const world = await reviewWorld(3);
    const [first, second, third] = world.tasks().map(({ id }) => id) as [string, string, string];
    const at = (minutes: string) => `2026-01-05T08:${minutes}:00Z`;
    const rejected: Row[] = [
      [first, "reject", at("00")],
      [second, "reject", at("00")],
      [third, "approve", at("00")],
    ];
    world.write("decisions.csv", decisions(...rejected));
    const ran = await world.cat(`tryon --rerun decisions.csv --yes --json ${flags}`);
    expect(summaryOf(ran.stdout)).toMatchObject({ queued: 2 });
    const mind: Row[] = [[first, "approve", at("30")], rejected[1]!, rejected[2]!];
    world.write("mind.csv", decisions(...mind));
    expect((await world.cat("tasks review mind.csv")).exit).toBe(0);
    return world;
  };

  test("is resumed: all that it has paid for is saved", async () => {
    const world = await changedMind("--no-wait");
    const ran = await world.cat("tryon --rerun decisions.csv --yes --save images --json");
    expect(summaryOf(ran.stdout)).toMatchObject({ total: 2, queued: 0, unchanged: 2, succeeded: 2 });
    expect(readdirSync(join(world.folder, "images")).filter((name) => name.includes("DRESS"))).toHaveLength(
      2,
    );
    expect(world.tasks()).toHaveLength(5);
  });

  longTest("takes the decisions about its images", async () => {
    const world = await changedMind("--save images");
    const [, , , one, other] = world.tasks().map(({ id }) => id);
    world.write("decisions-2.csv", decisions([one!, "approve"], [other!, "reject"]));
    const line = "tryon --rerun decisions.csv --yes --save images --approved decisions-2.csv";
    expect((await world.cat(line)).exit).toBe(0);
    expect(rejectedIn(join(world.folder, "images"))).toHaveLength(1);
    expect(world.tasks()).toHaveLength(5);
  });
});

longTest("--rerun leaves out what a later review has approved before it was queued", async () => {
  const world = await reviewWorld(2);
  world.review("decisions.csv", ["reject", "", "2026-01-05T08:00:00Z"], ["reject"]);
  world.review("mind.csv", ["approve", "", "2026-01-05T08:30:00Z"], [""]);
  await world.cat("tasks review mind.csv");
  const ran = await world.cat("tryon --rerun decisions.csv --yes --json");
  expect(summaryOf(ran.stdout)).toMatchObject({ total: 1, queued: 1 });
  expect(world.tasks()[2]!.product_id).toBe(world.tasks()[1]!.product_id);
});

test.each(
  sampled(
    [
      ["shots", "Run cat beautify --rerun decisions.csv."],
      ["both", "Use one file of decisions for each of cat tryon and cat beautify."],
    ],
    1,
  ),
)("tryon --rerun names the command for decisions about %s", async (which, hint) => {
  const world = await reviewWorld(1);
  world.write("shots.csv", "product_reference,subtype,background,angle_shot\nDRESS-1,clothing,white,front\n");
  await world.cat("beautify shots.csv --yes");
  const [look, shot] = world.tasks().map(({ id }) => id) as [string, string];
  const looks: Row[] = which === "both" ? [[look, "reject"]] : [];
  world.write("decisions.csv", decisions([shot, "reject"], ...looks));
  expect(await world.cat("tryon --rerun decisions.csv --yes")).toEqual({
    exit: 3,
    stdout: "",
    stderr: `error: decisions.csv:2 is about an image of cat beautify; nothing was queued\n${hint}\n`,
  });
});
