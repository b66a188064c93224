import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

type World = Awaited<ReturnType<typeof generateWorld>>;

const look = (product: number, more = "Amara,studio,full-front") => `DRESS-${product},${more}`;
const looks = [1, 2, 3, 4].map((product) => look(product));
const queuing = { method: "POST", path: "/v1/tasks" };
const calm = (world: World) => fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });

/** Three images of looks.csv, which then gets a fourth row. */
async function grownWorld(flags = ""): Promise<World> {
  const world = await generateWorld();
  world.looks(...looks.slice(0, 3));
  expect((await world.cat(`tryon looks.csv --yes ${flags}`.trim())).exit).toBe(0);
  world.looks(...looks);
  return world;
}

const imagesIn = (world: World, folder: string): string[] =>
  readdirSync(join(world.folder, folder)).filter((name) => name.includes("DRESS"));

/** Writes a review of the tasks with these indexes. */
function review(world: World, file: string, decided: Record<number, "approve" | "reject">): void {
  const tasks = world.tasks();
  const rows = Object.entries(decided).map(([at, decision]) => `${tasks[Number(at)]!.id},${decision}`);
  world.write(file, `task_id,decision\n${rows.join("\n")}\n`);
}

describe("a sheet that has grown", () => {
  test("generates only its new look, and asks for that", async () => {
    const world = await grownWorld();
    const { ran, type } = atTerminal(world, "tryon looks.csv --save images");
    await type("Generate 1 image of 1 product? 3 of the 4 in looks.csv exist already.", "y\r");
    expect((await ran).exit).toBe(0);
    expect(world.tasks()).toHaveLength(4);
    expect(imagesIn(world, "images")).toHaveLength(4);
  });

  longTest("saves, lists and shows the images that exist", async () => {
    const world = await grownWorld();
    const ran = await world.cat(
      "tryon looks.csv --yes --save images --results all.csv --gallery review.html --json",
    );
    const ids = world.tasks().map(({ id }) => id);
    expect(summaryOf(ran.stdout)).toMatchObject({
      ...{ total: 4, queued: 1, unchanged: 3, succeeded: 4, failed: 0, gallery_file: "review.html" },
      tasks: ids.map((id, at) => ({
        id,
        line: at + 2,
        status: "succeeded",
        output_file: expect.any(String),
      })),
    });
    expect(summaryOf(ran.stdout)).not.toHaveProperty("existing");
    expect(imagesIn(world, "images")).toHaveLength(4);
    const page = world.read("review.html");
    for (const id of ids)
      for (const text of [page, world.read("all.csv"), world.read("images/results.csv")])
        expect(text).toContain(id);
  });

  longTest(
    "says the same with --yes, and reports what it has generated, and the command that saves all of it",
    async () => {
      const world = await grownWorld();
      const ran = await world.cat("tryon looks.csv --yes");
      expect(ran.stderr).toMatch(
        /^Generating 1 image of 1 product\. 3 of the 4 in looks\.csv exist already\.\n.*\nGenerated 1 image of looks\.csv in \d+ s\.\n {2}3 images not queued: they exist\nTo save the images, run:\n {2}cat tryon looks\.csv --yes --save images\n$/,
      );
      const saved = await world.cat("tryon looks.csv --yes --save images");
      expect(saved.stderr).toMatch(
        /^Nothing to do: 1 image of looks\.csv was queued on \S+ and has finished, and 3 others exist\. To generate again, add --fresh\.\nSaved 4 images/,
      );
      expect(world.tasks()).toHaveLength(4);
    },
  );

  test("has nothing to do in another order, as a part, or in another file", async () => {
    const world = await grownWorld();
    world.looks(looks[2]!, looks[0]!);
    world.write("other.csv", world.read("looks.csv"));
    for (const file of [
      "looks.csv",
      "other.csv",
      "--model Amara --background studio --angle full-front --product DRESS-2",
    ]) {
      const ran = await world.cat(`tryon ${file} --yes --json`);
      const { total, queued, unchanged } = summaryOf(ran.stdout);
      expect([ran.exit, total - unchanged, queued]).toEqual([0, 0, 0]);
    }
    const people = await world.cat("tryon other.csv --yes");
    expect(people.stderr).toBe("Nothing to do: 2 images of other.csv exist.\n");
    expect(world.tasks()).toHaveLength(3);
  });

  test.each(sampled(["--fresh", "--allow-duplicates"], 1))("generates all of it with %s", async (flag) => {
    const world = await grownWorld();
    const ran = await world.cat(`tryon looks.csv --yes --json ${flag}`);
    expect(summaryOf(ran.stdout)).toMatchObject({ total: 4, queued: 4, unchanged: 0 });
    expect(ran.stderr).not.toContain("exist");
    expect(world.tasks()).toHaveLength(7);
  });

  longTest(
    "generates only its new look after a --fresh that was declined, or stopped by a limit",
    async () => {
      const world = await grownWorld();
      const { ran, type } = atTerminal(world, "tryon looks.csv --fresh");
      await type("Generate 4 images of 4 products?", "n\r");
      await ran;
      expect((await world.cat("tryon looks.csv --fresh --yes --max-generations 3")).exit).toBe(3);
      const dry = await world.cat("tryon looks.csv --dry-run --json");
      expect(JSON.parse(dry.stdout)).toMatchObject({ generations: 1, unchanged: 3 });
      const grown = await world.cat("tryon looks.csv --yes --json");
      expect(summaryOf(grown.stdout)).toMatchObject({ queued: 1, unchanged: 3 });
      // One that has begun stays what it is.
      await world.fault({ match: queuing, drop: "after", times: 20 });
      expect((await world.cat("tryon looks.csv --yes --fresh")).exit).toBe(7);
      await calm(world);
      await world.cat("tryon looks.csv --yes");
      expect(world.tasks()).toHaveLength(8);
    },
  );

  longTest("is shown by a dry run as it would be generated, also once it is finished", async () => {
    const world = await grownWorld();
    const dry = async (flags = "") => {
      const { stdout } = await world.cat(`tryon looks.csv --dry-run --json ${flags}`.trim());
      const { total, generations, unchanged } = JSON.parse(stdout);
      return { total, generations, unchanged };
    };
    expect(await dry()).toEqual({ total: 4, generations: 1, unchanged: 3 });
    expect(await dry("--fresh")).toEqual({ total: 4, generations: 4, unchanged: 0 });
    const people = await world.cat("tryon looks.csv --dry-run");
    expect(people.stderr).toBe(
      "looks.csv: 1 image in 1 request. 3 more images exist. Nothing was queued (--dry-run).\n",
    );
    await world.cat("tryon looks.csv --yes");
    expect(await dry()).toEqual({ total: 4, generations: 0, unchanged: 4 });
    expect(world.tasks()).toHaveLength(4);
  });

  longTest("is shown by a dry run with a new key of the organization as with the first one", async () => {
    const world = await grownWorld();
    const env = { CAT_API_KEY: "ak_mock_readonly" };
    const dry = await world.cat("tryon looks.csv --dry-run --json", { env });
    expect(JSON.parse(dry.stdout)).toMatchObject({ generations: 1, unchanged: 3 });
    const stranger = await world.cat("tryon looks.csv --dry-run", { env: { CAT_API_KEY: "ak_mock_other" } });
    expect([stranger.exit, stranger.stderr]).toEqual([3, expect.stringContaining("product_not_found")]);
  });

  test("follows images in progress of the earlier run, and generates those again that have failed", async () => {
    const world = await generateWorld();
    world.looks(...looks.slice(0, 3));
    await world.fault({ match: { job: "task" }, fail: { code: "x", message: "failed" }, times: 1 });
    await world.cat("tryon looks.csv --yes --no-wait");
    world.looks(...looks);
    const busy = await world.cat("tryon looks.csv --yes --no-wait");
    expect(busy.stderr).toMatch(
      /^Generating 1 image of 1 product\. 3 of the 4 in looks\.csv are in progress\.\nQueued 1 image of looks\.csv in \d+ s\.\n {2}3 images not queued: in progress\n/,
    );
    const followed = await world.cat("tryon looks.csv --yes --json");
    expect([followed.exit, summaryOf(followed.stdout)]).toMatchObject([
      8,
      { total: 4, queued: 0, unchanged: 4, succeeded: 3, failed: 1, failed_file: "looks.failed.csv" },
    ]);
    world.looks(...looks, look(5));
    const again = await world.cat("tryon looks.csv --yes --json");
    expect(summaryOf(again.stdout)).toMatchObject({ total: 5, queued: 2, unchanged: 3, succeeded: 5 });
  });

  test("learns from the service that an image of --no-wait has failed since", async () => {
    const world = await generateWorld();
    world.looks(looks[0]!);
    await world.fault({ match: { job: "task" }, fail: { code: "x", message: "failed" }, times: 1 });
    await world.cat("tryon looks.csv --yes --no-wait");
    world.clock.advance(60_000);
    world.looks(looks[0]!, looks[1]!);
    const ran = await world.cat("tryon looks.csv --yes --json");
    expect(summaryOf(ran.stdout)).toMatchObject({ queued: 2, unchanged: 0, succeeded: 2, failed: 0 });
  });

  test("takes stylings as a set, and other settings as another look", async () => {
    const world = await generateWorld();
    const header = "product_reference,model_id,background,angle_shot,styling_product_ids,look_at_camera";
    const sheet = (...rows: string[]) => world.write("looks.csv", `${[header, ...rows].join("\n")}\n`);
    const styled = (stylings: string, camera = "") =>
      `DRESS-1,Amara,#F4F1EA,full-front,${stylings},${camera}`;
    sheet(styled("DRESS-2|DRESS-3"));
    await world.cat("tryon looks.csv --yes");
    sheet(
      styled("DRESS-3|DRESS-2", "true").replace("#F4F1EA", "#f4f1ea"),
      ...[styled(""), styled("DRESS-2"), styled("DRESS-2|DRESS-3", "false")],
    );
    const ran = await world.cat("tryon looks.csv --yes --json");
    expect(summaryOf(ran.stdout)).toMatchObject({ total: 4, queued: 3, unchanged: 1 });
    sheet(styled("DRESS-2|DRESS-3"), styled("DRESS-3|DRESS-2"));
    expect(await world.cat("tryon looks.csv --yes")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("the same image is requested"),
    });
  });

  longTest("of beautified shots distinguishes subtype and style", async () => {
    const world = await generateWorld();
    const sheet = (...rows: string[]) =>
      world.write(
        "shots.csv",
        `${["product_reference,subtype,background,angle_shot,style", ...rows].join("\n")}\n`,
      );
    sheet("DRESS-1,clothing,white,front,ghost");
    await world.cat("beautify shots.csv --yes");
    sheet(
      "DRESS-1,clothing,white,front,ghost",
      "DRESS-1,clothing,white,front,flatlay",
      "DRESS-1,clothing,white,front,",
    );
    const ran = await world.cat("beautify shots.csv --yes --json");
    expect(summaryOf(ran.stdout)).toMatchObject({ total: 3, queued: 2, unchanged: 1, succeeded: 3 });
  });

  longTest("counts rejected images as existing, until one that was to replace them has failed", async () => {
    const world = await grownWorld();
    review(world, "decisions.csv", { 0: "reject" });
    await world.fault({ match: { job: "task" }, fail: { code: "x", message: "failed" }, times: 1 });
    // A part of a review is enough for --rerun.
    expect((await world.cat("tryon --rerun decisions.csv --yes --no-wait")).exit).toBe(0);
    world.clock.advance(60_000);
    world.looks(...looks.slice(0, 2));
    expect(summaryOf((await world.cat("tryon looks.csv --yes --json")).stdout)).toMatchObject({
      ...{ queued: 1, unchanged: 1, succeeded: 2 },
    });
    review(world, "other.csv", { 1: "reject" });
    await world.cat("tasks review other.csv");
    world.looks(looks[1]!, looks[2]!);
    expect(summaryOf((await world.cat("tryon looks.csv --yes --json")).stdout)).toMatchObject({
      ...{ queued: 0, unchanged: 2, succeeded: 2 },
    });
  });

  longTest("whose only new row the service rejects exits with 3", async () => {
    const world = await grownWorld();
    await world.fault({ match: queuing, status: 422, times: 1 });
    const ran = await world.cat("tryon looks.csv --yes");
    expect([ran.exit, world.tasks().length]).toEqual([3, 3]);
  });

  longTest(
    "with a review of all its images takes the decisions, also where the first sheet had more",
    async () => {
      const world = await grownWorld("--save images");
      world.looks(...looks.slice(1));
      await world.cat("tryon looks.csv --yes --save images --gallery review.html");
      review(world, "decisions.csv", { 1: "approve", 2: "reject", 3: "approve" });
      expect(await world.cat("tasks review decisions.csv")).toMatchObject({ exit: 0 });
      const ran = await world.cat("tryon looks.csv --yes --save images --approved decisions.csv");
      expect(ran.stderr).toBe(
        "Applied decisions.csv to 3 images of looks.csv; nothing was queued.\nSaved 3 images in images (listed in results.csv).\n  1 rejected image in images/rejected\n",
      );
    },
  );
});

describe("what a sheet shows of other runs", () => {
  const listed = (world: World, file: string, tasks: readonly string[]) =>
    world.write(
      file,
      `task_id,decision\n${tasks.map((id, at) => `${id},${at === 0 ? "reject" : "approve"}\n`).join("")}`,
    );

  longTest(
    "is complete in the decisions of its page, also without a new image, and a cut file is not",
    async () => {
      const world = await grownWorld();
      world.looks(...looks.slice(0, 2));
      await world.cat("tryon looks.csv --yes --save images --gallery review.html");
      const [one, two] = world.tasks().map(({ id }) => id);
      listed(world, "cut.csv", [one!]);
      const cut = await world.cat("tasks review cut.csv");
      expect([cut.exit, cut.stderr]).toEqual([3, expect.stringContaining("incomplete_decisions")]);
      listed(world, "page.csv", [one!, two!]);
      expect(await world.cat("tasks review page.csv")).toMatchObject({ exit: 0 });
      const ran = await world.cat("tryon looks.csv --yes --save images --approved page.csv");
      expect([ran.exit, ran.stderr]).toEqual([
        0,
        expect.stringContaining("1 rejected image in images/rejected"),
      ]);
      // Also the page of the image that replaces the first one.
      await world.cat("tryon --rerun page.csv --yes");
      await world.cat("tryon looks.csv --yes --gallery review-2.html");
      listed(world, "page-2.csv", [world.tasks().at(-1)!.id, two!]);
      expect(await world.cat("tasks review page-2.csv")).toMatchObject({ exit: 0 });
      expect(await world.cat("tasks review page.csv")).toMatchObject({ exit: 0 });
    },
  );

  longTest("is not counted by --max-generations, which limits what is paid for", async () => {
    const world = await grownWorld();
    const limited = (limit: number, flags = "") =>
      world.cat(`tryon looks.csv --yes --max-generations ${limit} ${flags}`.trim());
    expect(await limited(1, "--dry-run")).toMatchObject({ exit: 0 });
    expect(await limited(1, "--fresh")).toMatchObject({
      ...{ exit: 3, stderr: expect.stringContaining("looks.csv requests 4 images; the limit is 1 (") },
    });
    expect(await limited(1)).toMatchObject({ exit: 0 });
    expect(await limited(1)).toMatchObject({ exit: 0, stderr: expect.stringContaining("Nothing to do: ") });
    world.looks(...looks, look(5), look(6));
    for (const flags of ["", "--dry-run", "--missing"])
      expect(await limited(1, flags)).toMatchObject({
        ...{ exit: 3, stderr: expect.stringContaining("looks.csv requests 2 more images; the limit is 1 (") },
      });
    expect(world.tasks()).toHaveLength(4);
  });

  longTest("keeps its failure when the same command is run again", async () => {
    const world = await generateWorld();
    world.looks(looks[0]!);
    await world.fault({ match: { job: "task" }, fail: { code: "x", message: "failed" }, times: 1 });
    await world.cat("tryon looks.csv --yes --no-wait");
    world.looks(looks[0]!, looks[1]!);
    expect((await world.cat("tryon looks.csv --yes")).exit).toBe(8);
    const again = await world.cat("tryon looks.csv --yes --json");
    expect(summaryOf(again.stdout)).toMatchObject({
      ...{ total: 2, queued: 0, unchanged: 2, succeeded: 1, failed: 1 },
    });
    const people = await world.cat("tryon looks.csv --yes");
    expect(people.stderr).toContain("\n  1 image failed\n");
    expect(people.stderr).not.toContain("invalid or rejected rows");
  });

  longTest("has the images of its failed file, once that has generated them", async () => {
    const world = await generateWorld();
    world.looks(looks[0]!, looks[1]!);
    await world.fault({ match: { job: "task" }, fail: { code: "x", message: "failed" }, times: 2 });
    expect((await world.cat("tryon looks.csv --yes")).exit).toBe(8);
    expect((await world.cat("tryon looks.failed.csv --yes --limit 1")).exit).toBe(0);
    const ran = await world.cat("tryon looks.csv --yes --json --save images");
    expect(summaryOf(ran.stdout)).toMatchObject({
      total: 2,
      queued: 0,
      unchanged: 2,
      succeeded: 1,
      failed: 1,
    });
    expect([world.tasks().length, imagesIn(world, "images").length]).toEqual([3, 1]);
  });

  longTest("is not named as paid for by this one when the credits run out", async () => {
    const world = await grownWorld();
    await world.credits(0);
    const ran = await world.cat("tryon looks.csv --yes");
    expect(ran.exit).toBe(4);
    expect(ran.stderr).toContain(
      "Stopped: 0 of 1 image of looks.csv queued.\n  3 images not queued: they exist\n  1 image not queued\n",
    );
  });

  test("is followed by the same command, as tasks watch knows the tasks of one run", async () => {
    const world = await generateWorld();
    world.looks(looks[0]!);
    await world.cat("tryon looks.csv --yes --no-wait");
    world.looks(looks[0]!, looks[1]!);
    const busy = await world.cat("tryon looks.csv --yes --no-wait");
    expect(busy.stderr).toContain("To follow the images, run:\n  cat tryon looks.csv --yes\n");
    await world.cat("tryon looks.csv --yes");
    world.looks(looks[1]!);
    const there = await world.cat("tryon looks.csv --yes --no-wait");
    expect(there.stderr).toBe("Nothing to do: 1 image of looks.csv exists.\n");
  });
});

describe("a request of another run without a response", () => {
  const stopped = async (drop: "before" | "after") => {
    const world = await generateWorld();
    world.looks(...looks.slice(0, 3));
    await world.fault({ match: queuing, drop, times: 20 });
    expect((await world.cat("tryon looks.csv --yes")).exit).toBe(7);
    await calm(world);
    return world;
  };

  test("that the service has had is paid once: its tasks are found", async () => {
    const world = await stopped("after");
    world.looks(...looks);
    const ran = await world.cat("tryon looks.csv --yes --json --save images");
    expect(summaryOf(ran.stdout)).toMatchObject({ total: 4, queued: 1, unchanged: 3, succeeded: 4 });
    expect([world.tasks().length, imagesIn(world, "images").length]).toEqual([4, 4]);
  });

  test("that the service has not had is not sent for rows that the sheet has no more", async () => {
    const world = await stopped("before");
    world.looks(looks[1]!, looks[3]!);
    const dry = await world.cat("tryon looks.csv --dry-run --json");
    expect(JSON.parse(dry.stdout)).toMatchObject({ generations: 1, unchanged: 1 });
    const ran = await world.cat("tryon looks.csv --yes --json");
    expect(summaryOf(ran.stdout)).toMatchObject({ total: 2, queued: 2, unchanged: 0, succeeded: 2 });
    expect(world.tasks()).toHaveLength(2);
    // The first sheet generates what is left.
    world.looks(...looks.slice(0, 3));
    const first = await world.cat("tryon looks.csv --yes --json");
    expect(summaryOf(first.stdout)).toMatchObject({ total: 3, queued: 2, unchanged: 1, succeeded: 3 });
  });

  longTest("over 24 h ago is decided with --unknown", async () => {
    const world = await stopped("after");
    world.clock.advance(25 * 3_600_000);
    world.looks(...looks);
    const ran = await world.cat("tryon looks.csv --yes --json");
    // Its images show what it was.
    expect(summaryOf(ran.stdout)).toMatchObject({ queued: 1, unchanged: 3, succeeded: 4 });
    expect(world.tasks()).toHaveLength(4);
  });
});

describe("a rejected image", () => {
  const rejected = async () => {
    const world = await grownWorld();
    world.looks(...looks.slice(0, 3));
    review(world, "decisions.csv", { 1: "reject" });
    return world;
  };
  const missing = "tryon looks.csv --missing --yes";
  const rerun = "tryon --rerun decisions.csv --yes";

  test.each(
    sampled(
      [
        ["--missing, then --rerun", [missing, rerun]],
        ["--rerun, then --missing", [rerun, missing]],
        ["--missing without a wait, then --rerun", [`${missing} --no-wait`, rerun]],
        ["--rerun without a wait, then --missing", [`${rerun} --no-wait`, missing]],
      ],
      1,
    ),
  )("is generated once by %s", async (_, commands) => {
    const world = await rejected();
    // The night knows the decisions.
    review(world, "all.csv", { 0: "approve", 1: "reject", 2: "approve" });
    await world.cat("tasks review all.csv");
    const ended = [];
    for (const line of commands) ended.push(await world.cat(line));
    expect(ended.map(({ exit }) => exit)).toEqual([0, 0]);
    expect(world.tasks()).toHaveLength(4);
    expect(ended[1]!.stderr).toContain("Nothing to do: ");
    const fresh = await world.cat(`${rerun} --fresh`);
    expect([fresh.exit, world.tasks().length]).toEqual([0, 5]);
  });

  longTest("is generated once by both at the same moment, and by a grown sheet with --missing", async () => {
    const world = await rejected();
    review(world, "all.csv", { 0: "approve", 1: "reject", 2: "approve" });
    await world.cat("tasks review all.csv");
    world.write("more.csv", `${world.read("looks.csv")}${looks[3]}\n`);
    const more = "tryon more.csv --missing --yes";
    const ended = await Promise.all([missing, rerun, more].map((line) => world.cat(`${line} --json`)));
    expect(ended.map(({ exit }) => exit)).toEqual([0, 0, 0]);
    const queued = ended.map(({ stdout }) => summaryOf(stdout).queued);
    expect([queued.reduce((sum, one) => sum + one), world.tasks().length]).toEqual([2, 5]);
    for (const { stdout } of ended) {
      const { total, queued, unchanged, succeeded } = summaryOf(stdout);
      expect([queued + unchanged, succeeded]).toEqual([total, total]);
    }
  });

  longTest("of another machine is generated once by --missing and --rerun", async () => {
    const world = await generateWorld();
    const elsewhere = { env: { CAT_HOME: join(world.folder, "another") } };
    world.looks(...looks.slice(0, 2));
    await world.cat("tryon looks.csv --yes", elsewhere);
    const [one, other] = world.tasks();
    const { person, background, angle_shot } = one!.scene;
    const cells = [one!.id, one!.product_id, person!.id, background, angle_shot, "reject"];
    writeFileSync(
      join(world.folder, "decisions.csv"),
      `task_id,product_id,model_id,background,angle_shot,decision\n${cells.join()}\n${other!.id},,,,,approve\n`,
    );
    await world.cat("tasks review decisions.csv");
    expect(summaryOf((await world.cat(`${missing} --json`)).stdout)).toMatchObject({
      queued: 1,
      existing: 1,
    });
    const again = await world.cat(rerun);
    expect(again.stderr).toContain(
      "Nothing to do: the rejected images of decisions.csv were generated again before.",
    );
    expect(world.tasks()).toHaveLength(3);
  });
});

describe("--missing compares", () => {
  const header = "product_reference,model_id,background,angle_shot,styling_product_ids,look_at_camera";
  const sheet = (world: World, ...rows: string[]) =>
    world.write("looks.csv", `${[header, ...rows].join("\n")}\n`);
  const elsewhere = (world: World) => ({ env: { CAT_HOME: join(world.folder, "another") } });

  longTest("stylings of the images of other machines", async () => {
    const world = await generateWorld();
    sheet(world, "DRESS-1,Amara,studio,full-front,DRESS-2|DRESS-3,");
    await world.cat("tryon looks.csv --yes", elsewhere(world));
    sheet(
      world,
      ...["DRESS-3|DRESS-2", "DRESS-2", ""].map((worn) => `DRESS-1,Amara,studio,full-front,${worn},`),
    );
    const ran = await world.cat("tryon looks.csv --missing --yes --json");
    expect(summaryOf(ran.stdout)).toMatchObject({
      total: 3,
      existing: 1,
      queued: 2,
      unchanged: 1,
      succeeded: 3,
    });
  });

  longTest("look_at_camera by the tasks of this machine, and says where it is unknown", async () => {
    const world = await generateWorld();
    const rows = [1, 2].map((product) => `DRESS-${product},Amara,studio,full-front,,`);
    sheet(world, ...rows);
    await world.cat("tryon looks.csv --yes");
    sheet(world, ...rows.map((row) => `${row}false`));
    const dry = await world.cat("tryon looks.csv --missing --dry-run --json");
    expect(JSON.parse(dry.stdout)).toMatchObject({ generations: 2, existing: 0 });
    const planned = await world.cat("tryon looks.csv --missing --dry-run", elsewhere(world));
    const counted = await world.cat("tryon looks.csv --missing --dry-run --json", elsewhere(world));
    expect(JSON.parse(counted.stdout)).toMatchObject({ existing: 2, existing_unknown: 2 });
    expect(planned.stderr).toContain(
      "2 images of looks.csv exist, but look_at_camera of them is unknown: counted as existing.\nlooks.csv: 0 images",
    );
    const theirs = await world.cat("tryon looks.csv --missing --yes", elsewhere(world));
    expect(theirs.stderr).toBe(
      "2 images of looks.csv exist, but look_at_camera of them is unknown: counted as existing.\nNothing to do: 2 images of looks.csv exist.\n",
    );
    const again = await world.cat("tryon looks.csv --missing --yes --json", elsewhere(world));
    expect(summaryOf(again.stdout)).toMatchObject({ existing: 2, existing_unknown: 2 });
    expect(summaryOf((await world.cat("tryon looks.csv --missing --yes --json")).stdout)).toMatchObject({
      ...{ queued: 2, existing: 0 },
    });
  });

  test("the subtype of shots of other machines, which their tasks tell", async () => {
    const world = await generateWorld();
    const shots = (subtype: string) =>
      world.write(
        "shots.csv",
        `product_reference,subtype,background,angle_shot\nDRESS-1,${subtype},white,front\n`,
      );
    shots("shoes");
    expect((await world.cat("beautify shots.csv --yes", elsewhere(world))).exit).toBe(0);
    shots("headwear");
    const other = await world.cat("beautify shots.csv --missing --dry-run --json");
    expect(JSON.parse(other.stdout)).toMatchObject({ generations: 1, existing: 0 });
    shots("shoes");
    const same = await world.cat("beautify shots.csv --missing --dry-run --json");
    expect(JSON.parse(same.stdout)).toMatchObject({ generations: 0, existing: 1 });
  });

  test("and saves what other machines have generated", async () => {
    const world = await generateWorld();
    world.looks(looks[0]!);
    await world.cat("tryon looks.csv --yes", elsewhere(world));
    const ran = await world.cat("tryon looks.csv --missing --yes --save images");
    expect(ran.stderr).toContain("Saved 1 image in images (listed in results.csv).\n");
    expect(readFileSync(join(world.folder, "images/results.csv"), "utf8")).toContain(world.tasks()[0]!.id);
    expect(world.tasks()).toHaveLength(1);
  });
});
