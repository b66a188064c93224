import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { detectImageType } from "../../../src/contract/image-file.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { TestClock } from "../../support/test-clock.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

describe("a file of looks", () => {
  test("is generated in one request, and each image is saved under a name of its own", async () => {
    const world = await generateWorld();
    world.looks(
      "DRESS-1,Amara,studio,full-front",
      "DRESS-1,Amara,studio,full-back",
      "DRESS-2,mdl_002,#f4f1ea,half-front",
    );
    const ran = await world.cat("tryon looks.csv --yes --save images");
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr: expect.stringMatching(
        /^generating: 0 of 3, 3 running\nGenerated 3 images of looks\.csv in \d+ s\.\nSaved 3 images in images \(listed in results\.csv\)\.\n$/,
      ),
    });
    expect(world.queuing()).toEqual(["POST /v1/tasks/tryon 202"]);
    const names = readdirSync(join(world.folder, "images")).sort();
    expect(names.map((name) => name.replace(/_[0-9a-z]{10}\.png$/, "_ID.png"))).toEqual([
      "DRESS-1_full-back_studio_Amara_ID.png",
      "DRESS-1_full-front_studio_Amara_ID.png",
      "DRESS-2_half-front_f4f1ea_Bastian_ID.png",
      "results.csv",
      "results.ndjson",
    ]);
    const rows = world
      .read("images/results.ndjson")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(
      rows.map(({ line, status, product_reference, model_id, ai_generated }) => [
        line,
        status,
        product_reference,
        model_id,
        ai_generated,
      ]),
    ).toEqual([
      [2, "succeeded", "DRESS-1", "mdl_001", true],
      [3, "succeeded", "DRESS-1", "mdl_001", true],
      [4, "succeeded", "DRESS-2", "mdl_002", true],
    ]);
  });

  test("is queued once: the same command reports that nothing is left, and --fresh generates again", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    const first = summaryOf((await world.cat("tryon looks.csv --yes --json")).stdout);
    expect(first).toMatchObject({ total: 1, queued: 1, unchanged: 0, succeeded: 1, failed: 0 });
    const again = await world.cat("tryon looks.csv");
    expect(again).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^Nothing to do: 1 image of looks\.csv was queued on .* and has finished\. To generate again, add --fresh\.\nTo save the images, run:\n {2}cat tasks save --run run_\w+ --save images\n$/,
      ),
    });
    const known = summaryOf((await world.cat("tryon looks.csv --json --save images")).stdout);
    expect(known).toMatchObject({
      queued: 0,
      unchanged: 1,
      succeeded: 1,
      tasks: [{ line: 2, output_file: expect.stringMatching(/^images\/DRESS-1_/) }],
    });
    expect(world.tasks()).toHaveLength(1);
    await world.cat("tryon looks.csv --yes --fresh");
    expect(world.tasks()).toHaveLength(2);
  });

  test("costs credits: without a terminal --yes is needed, and nothing is queued without it", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    expect(await world.cat("tryon looks.csv")).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: generating 1 image of 1 product costs credits; nothing was queued\nAdd --yes to agree, or --dry-run to see the plan.\n",
    });
    expect(world.tasks()).toEqual([]);
  });

  longTest("proposes references for the first 20 unknown products, in each of their rows", async () => {
    const world = await generateWorld();
    const looks = (name: string) => ["red", "studio"].map((color) => `${name},Amara,${color},full-front`);
    world.looks(
      ...Array.from({ length: 21 }, (_, at) => `DRESS-1,Amora,#${100000 + at},full-front`),
      ...Array.from({ length: 21 }, (_, at) => looks(`DRESS-1${String.fromCharCode(65 + at)}`)).flat(),
    );
    const { stderr } = await world.cat("tryon looks.csv --dry-run");
    expect(stderr.match(/did you mean "DRESS/g)).toHaveLength(40);
  });

  longTest("can have 200,000 rows with one unknown value", async () => {
    const world = await generateWorld();
    const rows = Array.from({ length: 200_000 }, (_, at) => `DRESS-1,Amara,marble,custom-${at}`);
    world.looks(rows.join("\n"));
    const { exit, stderr } = await world.cat("tryon looks.csv --dry-run");
    expect([exit, stderr]).toEqual([0, expect.stringContaining("(and 199,999 more rows)")]);
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, status: 402 });
    expect((await world.cat("tryon looks.csv --yes")).exit).toBe(4);
  });

  test("lists what is unknown or invalid with its line and the nearest value, and queues nothing", async () => {
    const world = await generateWorld();
    world.looks(
      "DRES-1,Amara,studio,full-front",
      "DRESS-2,Amarra,studio,full-front",
      "DRESS-3,Amara,studio,full-front",
    );
    const unknown = await world.cat("tryon looks.csv --yes");
    expect(unknown).toMatchObject({ exit: 3, stdout: "" });
    expect(unknown.stderr.split("\n").slice(0, 2)).toEqual([
      'looks.csv:2  product_reference  product_not_found  no product "DRES-1": did you mean "DRESS-1"?',
      'looks.csv:3  model_id  model_not_found  no model "Amarra": did you mean "Amara"?',
    ]);
    expect(world.queuing()).toEqual([]);
    const skipped = await world.cat("tryon looks.csv --yes --skip-invalid");
    expect(skipped).toMatchObject({ exit: 8 });
    expect(skipped.stderr).toContain("  2 invalid rows skipped\n");
    expect(world.read("looks.failed.csv")).toBe(
      [
        "product_reference,model_id,background,angle_shot,error_code,error_message",
        'DRES-1,Amara,studio,full-front,product_not_found,"no product ""DRES-1"": did you mean ""DRESS-1""?"',
        'DRESS-2,Amarra,studio,full-front,model_not_found,"no model ""Amarra"": did you mean ""Amara""?"',
        "",
      ].join("\n"),
    );
    expect(world.tasks()).toHaveLength(1);
  });

  test("proposes the column that the name of another system means", async () => {
    const world = await generateWorld();
    world.write("looks.csv", "SKU,model,background,angle_shot\nDRESS-1,Amara,studio,full-front\n");
    expect((await world.cat("tryon looks.csv --yes")).stderr.split("\n").slice(0, 4)).toEqual([
      'looks.csv:1  SKU  unknown_column  unknown column "SKU"; did you mean product_reference? Rename it, or use --map "SKU=product_reference" or --map "SKU=ignore"',
      'looks.csv:1  model  unknown_column  unknown column "model"; did you mean model_id? Rename it, or use --map "model=model_id" or --map "model=ignore"',
      'looks.csv:1  model_id  missing_column  missing column "model_id" (required): add it, or use --map "COLUMN=model_id"',
      'looks.csv:1  product_reference  missing_column  missing column "product_reference" or "product_id" (one of them is required): add one, or use --map "COLUMN=product_reference"',
    ]);
  });

  test("with a failing task exits with 8; the failed file has the one combination and runs as it is", async () => {
    const world = await generateWorld();
    world.write(
      "bad.ndjson",
      `${JSON.stringify({ reference: "BAD-fail-model_unsafe_content", name: "x", images: [{ url: "https://cdn.example.com/b.jpg" }] })}\n`,
    );
    await world.cat("import bad.ndjson");
    world.looks(
      "DRESS-1,Amara,studio|beach,full-front",
      "BAD-fail-model_unsafe_content,Amara,white|black,full-back",
    );
    await world.fault({
      match: { job: "task" },
      times: 1,
      fail: { code: "upstream_busy", message: "try again" },
    });
    const ran = await world.cat("tryon looks.csv --matrix --yes --json");
    expect(ran.exit).toBe(8);
    expect(summaryOf(ran.stdout)).toMatchObject({
      total: 4,
      queued: 4,
      succeeded: 1,
      failed: 3,
      failed_file: "looks.failed.csv",
    });
    expect(
      world
        .read("looks.failed.csv")
        .split("\n")
        .map((line) => line.split(",").slice(0, 5)),
    ).toEqual([
      ["product_reference", "model_id", "background", "angle_shot", "error_code"],
      ["DRESS-1", "Amara", "studio", "full-front", "upstream_busy"],
      ["BAD-fail-model_unsafe_content", "Amara", "white", "full-back", "model_unsafe_content"],
      ["BAD-fail-model_unsafe_content", "Amara", "black", "full-back", "model_unsafe_content"],
      [""],
    ]);
    const quiet = await world.cat("tryon looks.failed.csv --yes --quiet");
    expect(quiet).toEqual({
      exit: 8,
      stdout: "",
      stderr:
        "error: 2 of 3 images of looks.failed.csv failed; they are in looks.failed-2.csv, with the reasons\n",
    });
    const again = await world.cat("tryon looks.failed.csv --yes --json --fresh");
    expect(summaryOf(again.stdout)).toMatchObject({ total: 3, queued: 3, succeeded: 1, failed: 2 });
  });
});

describe("--matrix", () => {
  test("generates every combination of a row, and --max-generations stops before the first image is queued", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1|DRESS-2,Amara|Bastian|Chiyo,studio,full-front|full-back");
    const ran = await world.cat("tryon looks.csv --matrix --yes --max-generations 11");
    expect(ran).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "error: looks.csv requests 12 images; the limit is 11 (--max-generations). Nothing was queued\nRemove values or rows, or raise --max-generations.\n",
    });
    const { exit, stdout } = await world.cat("tryon looks.csv --matrix --yes --json --max-generations 11");
    expect([exit, JSON.parse(stdout)]).toMatchObject([
      3,
      { problems: [], valid: 1, run_id: null, tasks: [] },
    ]);
    const plan = await world.cat("tryon looks.csv --matrix --dry-run --json --max-generations 11");
    expect([plan.exit, JSON.parse(plan.stdout)]).toEqual([
      3,
      expect.objectContaining({
        total: 1,
        valid: 1,
        generations: 12,
        batches: 1,
        unchanged: 0,
        problems: [],
      }),
    ]);
    expect(world.queuing()).toEqual([]);
    await world.cat("tryon looks.csv --matrix --yes");
    expect(world.tasks()).toHaveLength(12);
  });

  test("without it a | is part of the value", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio|beach,full-front");
    const ran = await world.cat("tryon looks.csv --yes");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain(
      'looks.csv:2  background "studio|beach" is not a known value: to generate an image for each part, add --matrix\n',
    );
  });

  test("--dry-run shows the plan by model, background and angle, and queues nothing", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1|DRESS-2,Amara,studio|beach,full-front");
    expect(await world.cat("tryon looks.csv --matrix --dry-run")).toEqual({
      exit: 0,
      stdout:
        "model  background  angle_shot  images\nAmara  studio      full-front  2\nAmara  beach       full-front  2\n",
      stderr: "looks.csv: 4 images in 1 request. Nothing was queued (--dry-run).\n",
    });
    const json = await world.cat("tryon looks.csv --matrix --dry-run --json", {
      env: { CAT_API_KEY: undefined },
    });
    expect(JSON.parse(json.stdout)).toEqual({
      file: "looks.csv",
      total: 1,
      valid: 1,
      invalid: 0,
      generations: 4,
      batches: 1,
      problems: [],
    });
    expect(world.tasks()).toEqual([]);
  });
});

describe("a run that was stopped", () => {
  test("by 402 says what was queued; after topping up the same command queues the rest", async () => {
    const world = await generateWorld();
    world.looks(
      "DRESS-1|DRESS-2|DRESS-3,Amara|Bastian,studio|beach,full-front|full-back|full-side|half-front",
    );
    await world.credits(45);
    const stopped = await world.cat("tryon looks.csv --matrix --yes");
    expect(stopped.exit).toBe(4);
    const queued = world.tasks().length;
    expect(stopped.stderr).toContain(
      `Stopped: ${queued} of 48 images of looks.csv queued.\n  ${queued} images queued and paid for:\n`,
    );
    expect(stopped.stderr).toContain(`\n    and ${queued - 20} more\n  ${48 - queued} images not queued\n`);
    await world.credits(null);
    const resumed = await world.cat("tryon looks.csv --matrix --yes --json");
    expect(summaryOf(resumed.stdout)).toMatchObject({
      total: 48,
      queued: 48 - queued,
      unchanged: queued,
      succeeded: 48,
    });
    expect(world.tasks()).toHaveLength(48);
  });

  test("by a lost response queues nothing twice", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "after", times: 20 });
    const lost = await world.cat("tryon looks.csv --yes");
    expect(lost.exit).toBe(7);
    expect(world.tasks()).toHaveLength(1);
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    const resumed = await world.cat("tryon looks.csv --json");
    expect(resumed.exit).toBe(0);
    expect(summaryOf(resumed.stdout)).toMatchObject({ total: 1, succeeded: 1 });
    expect(world.tasks()).toHaveLength(1);
  });

  longTest("by a lost response over 24 h ago is looked for among the tasks", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "after", times: 20 });
    await world.cat("tryon looks.csv --yes");
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    world.clock.advance(25 * 3_600_000);
    const resumed = await world.cat("tryon looks.csv --json");
    expect(summaryOf(resumed.stdout)).toMatchObject({ total: 1, queued: 0, unchanged: 1, succeeded: 1 });
    expect(world.tasks()).toHaveLength(1);
  });

  longTest(
    "by a lost response is not queued again while only one clock says that a day has passed",
    async () => {
      const world = await generateWorld();
      world.looks("DRESS-1,Amara,studio,full-front");
      await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "before", times: 20 });
      await world.cat("tryon looks.csv --yes");
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
      const ahead = new TestClock({ frozenAt: world.clock.now() + 30 * 3_600_000 });
      const sent = world.queuing().length;
      expect(await world.cat("tryon looks.csv --yes", { context: { clock: ahead } })).toMatchObject({
        exit: 6,
        stderr: expect.stringMatching(
          /^error: no response for 1 image of looks\.csv requested at \S+; the service has 0 tasks that may be theirs\nThe clock of this machine or that of the service is wrong/m,
        ),
      });
      expect(world.queuing()).toHaveLength(sent);
      expect(await world.cat("tryon looks.csv --yes")).toMatchObject({ exit: 0 });
      expect(world.tasks()).toHaveLength(1);
    },
  );

  longTest("over 24 h ago is not found in the tasks that others queued before it", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,white,full-front");
    const elsewhere = join(world.folder, ".colleague");
    await world.cat("tryon looks.csv --yes", { env: { CAT_HOME: elsewhere } });
    world.clock.advance(60_000);
    world.looks("DRESS-1,Amara,garden,full-front");
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "before", times: 20 });
    await world.cat("tryon looks.csv --yes");
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    world.clock.advance(25 * 3_600_000);
    expect(await world.cat("tryon looks.csv --yes --save images")).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining("the service has 1 task that may be theirs\n"),
    });
    expect(await world.cat("tryon looks.csv --yes --unknown not-queued")).toMatchObject({ exit: 0 });
    expect(world.tasks().map(({ scene }) => scene.background)).toEqual(["white", "garden"]);
  });

  longTest("over 24 h ago is not found in the tasks that others queued an hour later", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,garden,full-front");
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "before", times: 20 });
    await world.cat("tryon looks.csv --yes");
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    world.clock.advance(3_600_000);
    world.looks("DRESS-1,Amara,white,full-front");
    await world.cat("tryon looks.csv --yes", { env: { CAT_HOME: join(world.folder, ".colleague") } });
    world.clock.advance(25 * 3_600_000);
    world.looks("DRESS-1,Amara,garden,full-front");
    expect(await world.cat("tryon looks.csv --yes")).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining("the service has 1 task that may be theirs\n"),
    });
    expect(await world.cat("tryon looks.csv --yes --unknown not-queued")).toMatchObject({ exit: 0 });
    expect(world.tasks().map(({ scene }) => scene.background)).toEqual(["white", "garden"]);
  });

  longTest(
    "over 24 h ago takes its own tasks by their images, not those that others queued at the same time",
    async () => {
      const world = await generateWorld();
      const own = ["DRESS-1,Amara,garden,full-front", "DRESS-2,Amara,garden,full-front"];
      world.looks("DRESS-1,Amara,white,full-back", "DRESS-2,Bastian,garden,full-front");
      const elsewhere = { env: { CAT_HOME: join(world.folder, ".colleague") } };
      await world.cat("tryon looks.csv --yes --no-wait", elsewhere);
      world.looks(...own);
      await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "before", times: 20 });
      await world.cat("tryon looks.csv --yes");
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
      world.clock.advance(25 * 3_600_000);
      expect(await world.cat("tryon looks.csv --yes")).toMatchObject({
        exit: 6,
        stderr: expect.stringContaining("the service has 2 tasks that may be theirs\n"),
      });
      expect(world.tasks()).toHaveLength(2);
      await world.cat("tryon looks.csv --yes --unknown not-queued --save images");
      expect(world.tasks().map(({ scene }) => scene.background)).toEqual([
        "white",
        "garden",
        "garden",
        "garden",
      ]);
      // Now its own tasks exist beside those of others.
      world.looks(...own, "DRESS-3,Amara,garden,full-front");
      await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "after", times: 20 });
      await world.cat("tryon looks.csv --yes --fresh");
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
      world.looks("DRESS-3,Amara,street,full-back");
      await world.cat("tryon looks.csv --yes", elsewhere);
      world.clock.advance(25 * 3_600_000);
      world.looks(...own, "DRESS-3,Amara,garden,full-front");
      const found = await world.cat("tryon looks.csv --yes --json");
      expect(summaryOf(found.stdout)).toMatchObject({ queued: 0, unchanged: 3, succeeded: 3 });
      expect(world.tasks()).toHaveLength(8);
    },
  );

  longTest("over 24 h ago finds its failed tasks as well, which have no image", async () => {
    const world = await generateWorld();
    world.write(
      "bad.csv",
      "reference,name,images\nBAD-fail-model_unsafe_content,Coat,https://cdn.example.com/b.jpg\n",
    );
    await world.cat("import bad.csv");
    world.looks("DRESS-1,Amara,studio,full-front", "BAD-fail-model_unsafe_content,Amara,studio,full-front");
    await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "after", times: 20 });
    await world.cat("tryon looks.csv --yes");
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    world.clock.advance(25 * 3_600_000);
    const resumed = await world.cat("tryon looks.csv --json");
    expect(resumed.exit).toBe(8);
    expect(summaryOf(resumed.stdout)).toMatchObject({ queued: 0, unchanged: 2, succeeded: 1, failed: 1 });
    expect(world.tasks()).toHaveLength(2);
  });

  longTest(
    "over 24 h ago does not take the image that another file with other stylings asked for",
    async () => {
      const world = await generateWorld();
      const lost = async (drop: "before" | "after", line: string) => {
        await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop, times: 20 });
        expect((await world.cat(line)).exit).toBe(7);
        await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
      };
      world.looks("DRESS-1,Amara,studio,full-front");
      world.write(
        "styled.csv",
        "product_reference,model_id,background,angle_shot,styling_product_ids\nDRESS-1,Amara,studio,full-front,DRESS-2\n",
      );
      await lost("before", "tryon looks.csv --yes");
      await lost("after", "tryon styled.csv --yes");
      world.clock.advance(25 * 3_600_000);
      expect((await world.cat("tryon looks.csv --yes")).exit).toBe(6);
      expect((await world.cat("tryon looks.csv --yes --unknown not-queued")).exit).toBe(0);
      expect((await world.cat("tryon styled.csv --yes")).exit).toBe(0);
      expect(world.tasks().map((task) => task.styling_product_ids.length)).toEqual([1, 0]);
    },
  );

  test("after --no-wait the same command follows the tasks", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    const queued = await world.cat("tryon looks.csv --yes --no-wait --json");
    expect(summaryOf(queued.stdout)).toMatchObject({
      queued: 1,
      succeeded: 0,
      tasks: [{ status: "queued" }],
    });
    const followed = await world.cat("tryon looks.csv --json");
    expect(summaryOf(followed.stdout)).toMatchObject({ queued: 0, unchanged: 1, succeeded: 1 });
    expect(world.tasks()).toHaveLength(1);
    const finished = await world.cat("tryon looks.csv --no-wait --json");
    expect(summaryOf(finished.stdout)).toMatchObject({ succeeded: 1, tasks: [{ status: "succeeded" }] });
  });

  longTest("after --no-wait the failed rows are written by the command that follows the tasks", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front", "NOPE,Amara,studio,full-front");
    const queued = await world.cat("tryon looks.csv --yes --no-wait --skip-invalid");
    expect(queued).toMatchObject({ exit: 8, stdout: "" });
    expect(queued.stderr.split("\n").slice(-5)).toEqual([
      expect.stringMatching(/^Queued 1 image of looks\.csv in \d+ s\.$/),
      "  1 invalid row skipped",
      "To follow the images and get a file of the failed rows, run:",
      "  cat tryon looks.csv --yes --skip-invalid",
      "",
    ]);
    expect(existsSync(join(world.folder, "looks.failed.csv"))).toBe(false);
    expect(await world.cat("tryon looks.csv --skip-invalid")).toMatchObject({ exit: 8 });
    expect(world.read("looks.failed.csv")).toContain("NOPE,Amara,studio,full-front,product_not_found,");
    expect(world.tasks()).toHaveLength(1);
  });

  test("--failed cannot be used with --no-wait", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    const ran = await world.cat("tryon looks.csv --yes --no-wait --failed bad.csv");
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--failed cannot be used with --no-wait"),
    });
    expect(world.tasks()).toEqual([]);
  });
});

describe("one image from flags", () => {
  test("is generated with its stylings", async () => {
    const world = await generateWorld();
    const ran = await world.cat(
      "tryon --product DRESS-1 --model Amara --background studio --angle full-front --style-with DRESS-2 --look-away --yes --json",
    );
    expect(summaryOf(ran.stdout)).toMatchObject({ total: 1, succeeded: 1 });
    const products = world.products();
    expect(world.tasks()).toMatchObject([
      {
        product_id: products[0]!.id,
        styling_product_ids: [products[1]!.id],
        scene: { look_at_camera: false },
      },
    ]);
  });

  test.for(
    sampled([
      [
        "tryon",
        "missing argument: FILE",
        "Use a file, - for standard input, or --product, --model, --background, --angle.",
      ],
      [
        "tryon --product DRESS-1",
        "missing --model, --background, --angle",
        "Add the missing flags, or use a file.",
      ],
      [
        "beautify --product DRESS-1",
        "missing --subtype, --background, --angle",
        "Add the missing flags, or use a file.",
      ],
      [
        "tryon --product A --product B --model M --background studio --angle full-front",
        "--product is given 2 times",
        "To generate every combination, add --matrix.",
      ],
      [
        "tryon looks.csv --model Amara",
        "--model cannot be combined with a file",
        "Put the value into a column of the file, or remove the file.",
      ],
    ] as const),
  )("exits with 2: %s", async ([line, message, hint]) => {
    const world = await generateWorld();
    expect(await world.cat(line)).toEqual({ exit: 2, stdout: "", stderr: `error: ${message}\n${hint}\n` });
  });
});

test("saved images are complete files of their type, and unfinished ones of a killed command are removed", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  await world.cat("tryon looks.csv --yes");
  const [task] = world.tasks();
  world.write(`images/.${task!.id}.0badcafe.part`, "half an image");
  await world.fault({ match: { path: "/_signed" }, truncate: 1000, times: 2 });
  await world.cat("tryon looks.csv --save images");
  const names = readdirSync(join(world.folder, "images"));
  expect(names.filter((name) => name.startsWith("."))).toEqual([]);
  const saved = readFileSync(join(world.folder, "images", names.find((name) => name.endsWith(".png"))!));
  expect(detectImageType(saved)).toBe("image/png");
  expect(saved.subarray(-8, -4).toString()).toBe("IEND");
});
