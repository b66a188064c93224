import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atTerminal } from "../../support/at-terminal.ts";
import { longTest } from "../../support/long-test.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

type World = Awaited<ReturnType<typeof generateWorld>>;

const header =
  "line,task_id,status,product_id,product_reference,model_id,background,angle_shot,decision,note";

/** Writes a review that rejects the tasks with these indexes, in the order of creation, and approves the others. */
function review(world: World, file: string, rejected: readonly number[]): void {
  const rows = world.tasks().map(({ id, product_id, scene: { person, background, angle_shot } }, at) => {
    const decision = rejected.includes(at) ? "reject" : "approve";
    return [at + 2, id, "succeeded", product_id, "", person!.id, background, angle_shot, decision, ""].join();
  });
  world.write(file, `${[header, ...rows].join("\n")}\n`);
}

/** Three tasks that have succeeded. */
async function reviewed() {
  const world = await generateWorld();
  world.looks(...[1, 2, 3].map((at) => `DRESS-${at},Amara,studio,full-front`));
  await world.cat("tryon looks.csv --yes");
  return world;
}

describe("--rerun", () => {
  test("generates an image again that is rejected a second time", async () => {
    const world = await reviewed();
    review(world, "first.csv", [0]);
    await world.cat("tryon --rerun first.csv --yes");
    expect(world.tasks()).toHaveLength(4);
    // The second review has only the new image, in the place where the first one had the other.
    review(world, "second.csv", [3]);
    world.write("second.csv", world.read("second.csv").replace(/.*approve.*\n/g, ""));
    const again = summaryOf((await world.cat("tryon --rerun second.csv --yes --json")).stdout);
    expect(again).toMatchObject({ total: 1, queued: 1, unchanged: 0, succeeded: 1 });
    expect(world.tasks()).toHaveLength(5);
  });

  longTest("of a review that has gone on generates only what is newly rejected", async () => {
    const world = await reviewed();
    review(world, "some.csv", [0]);
    await world.cat("tryon --rerun some.csv --yes");
    review(world, "more.csv", [0, 2]);
    const more = await world.cat("tryon --rerun more.csv --yes");
    expect(more.exit).toBe(0);
    expect(more.stderr).toContain(
      "1 rejected image of more.csv was generated again before and is skipped. To generate it once more, add --fresh.\n",
    );
    expect(more.stderr).toContain("Generated 1 image of more.csv");
    const products = world.tasks().map(({ product_id }) => product_id);
    expect(products.slice(3)).toEqual([products[0], products[2]]);
    expect(world.tasks()).toHaveLength(5);
    const nothing = await world.cat("tryon --rerun more.csv --yes");
    expect(nothing).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^Nothing to do: 1 image of more\.csv was queued on \S+ and has finished, and 1 other exists\./,
      ),
    });
    world.clock.advance(1_000);
    review(world, "less.csv", [2]);
    expect(await world.cat("tryon --rerun less.csv --yes")).toEqual({
      exit: 0,
      stdout: "",
      stderr: [
        "An earlier review decided otherwise about 1 image of less.csv: this one counts.",
        "Nothing to do: the rejected images of less.csv were generated again before. To generate them once more, add --fresh.",
        "",
      ].join("\n"),
    });
    expect(world.tasks()).toHaveLength(5);
    await world.cat("tryon --rerun more.csv --yes --fresh");
    expect(world.tasks()).toHaveLength(7);
  });
});

test("--rerun takes a file of which only the rejected rows were kept", async () => {
  const world = await reviewed();
  review(world, "decisions.csv", [1]);
  world.write("rejected.csv", world.read("decisions.csv").replace(/.*approve.*\n/g, ""));
  const again = summaryOf((await world.cat("tryon --rerun rejected.csv --yes --json")).stdout);
  expect(again).toMatchObject({ total: 1, queued: 1, succeeded: 1 });
  const products = world.tasks().map(({ product_id }) => product_id);
  expect(products.slice(3)).toEqual([products[1]]);
});

describe("two --rerun of overlapping reviews", () => {
  test("at once generate each rejected image once", async () => {
    const world = await reviewed();
    review(world, "one.csv", [0, 1]);
    review(world, "other.csv", [1, 2]);
    // What one approves, the other would not generate.
    for (const file of ["one.csv", "other.csv"])
      world.write(file, world.read(file).replace(/.*approve.*\n/g, ""));
    const both = ["one", "other"].map((name) => world.cat(`tryon --rerun ${name}.csv --yes --json`));
    const ended = await Promise.all(both);
    expect(ended.map(({ exit }) => exit)).toEqual([0, 0]);
    const queued = ended.map(({ stdout }) => summaryOf(stdout).queued);
    expect(queued.sort()).toEqual([1, 2]);
    const products = world.tasks().map(({ product_id }) => product_id);
    expect(products.slice(3).sort()).toEqual(products.slice(0, 3).sort());
  });

  longTest("of which one waited for its question skips what the other has queued", async () => {
    const world = await reviewed();
    review(world, "one.csv", [0, 1]);
    review(world, "other.csv", [1, 2]);
    const { ran, type, shows } = atTerminal(world, "tryon --rerun other.csv");
    await shows("Generate 2 images of 2 products?");
    expect(await world.cat("tryon --rerun one.csv --yes")).toMatchObject({ exit: 0 });
    expect(world.tasks()).toHaveLength(5);
    await type("Generate 2 images of 2 products?", "y\r");
    await type("Save the images in", "-\r");
    const { exit, stderr } = await ran;
    expect(exit).toBe(0);
    expect(stderr).toContain("1 rejected image of other.csv was generated again before and is skipped.");
    expect(stderr).toContain("Generated 1 image of other.csv");
    const products = world.tasks().map(({ product_id }) => product_id);
    expect(products.slice(3)).toEqual(products.slice(0, 3));
  });
});

describe("a review that --rerun cannot repeat", () => {
  test("is rejected where a look was edited, or a task is decided twice", async () => {
    const world = await reviewed();
    review(world, "edited.csv", [0]);
    const text = world.read("edited.csv");
    world.write("edited.csv", text.replace("studio", "loft"));
    expect(await world.cat("tryon --rerun edited.csv --yes")).toEqual({
      exit: 3,
      stdout: "",
      stderr: [
        'edited.csv:2  background  edited_decision  "loft", but the image has "studio"',
        "error: edited.csv has 1 problem; nothing was queued",
        "Save the decisions again in the gallery of the run, and use that file unchanged.",
        "",
      ].join("\n"),
    });
    const [header, first] = text.split("\n");
    world.write("twice.csv", `${header}\n${first}\n${first!.replace("reject", "approve")}\n`);
    expect(await world.cat("tryon --rerun twice.csv --yes")).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining(
        "twice.csv:3  task_id  duplicate_decision  duplicate task, first decided on line 2\n",
      ),
    });
    expect(world.tasks()).toHaveLength(3);
  });

  test("of another computer says what is left out", async () => {
    const world = await reviewed();
    review(world, "theirs.csv", [0]);
    const ran = await world.cat("tryon --rerun theirs.csv --yes", {
      env: { CAT_HOME: `${world.folder}/other` },
    });
    expect(ran.stderr).toContain(
      "1 image of theirs.csv was generated on another computer: stylings and look_at_camera are unknown here and are not repeated.",
    );
    expect(ran.exit).toBe(0);
  });
});

describe("the same file again", () => {
  longTest("is the same run with flags that change nothing of it", async () => {
    const world = await reviewed();
    for (const flags of ["--matrix", "--encoding utf-8", "--delimiter ,", "--allow-duplicates"]) {
      const ran = await world.cat(`tryon looks.csv --yes ${flags}`);
      expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining("Nothing to do: 3 images") });
    }
    expect(world.tasks()).toHaveLength(3);
  });

  longTest("ends with 7 when the service is gone, as a new one does", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.cat("tryon looks.csv --yes --no-wait");
    await world.fault({ match: { path: "/v1" }, drop: "before", times: 1_000 });
    const ran = await world.cat("tryon looks.csv --yes");
    expect(ran.exit).toBe(7);
    expect(world.clock.now() - Date.parse("2026-01-05T09:00:00Z")).toBeLessThan(300_000);
  });
});

describe("--save", () => {
  test("leaves a results.csv alone that is not its own", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    const rows = world.read("looks.csv");
    for (const name of ["results.csv", "results.ndjson"]) {
      world.write(name, rows);
      const ran = await world.cat("tryon looks.csv --yes --save .");
      expect(ran).toEqual({
        exit: 2,
        stdout: "",
        stderr: `error: cannot save in .: ${name} in it was not written by this program, and would be replaced\nChoose another folder, for example --save images.\n`,
      });
      expect(world.read(name)).toBe(rows);
      rmSync(join(world.folder, name));
    }
    expect(world.tasks()).toEqual([]);
    expect(await world.cat("tryon looks.csv --yes --save .")).toMatchObject({ exit: 0 });
    expect(await world.cat("tryon looks.csv --yes --save .")).toMatchObject({ exit: 0 });
  });

  test("rejects a folder that has the name of its list, before images are queued", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    world.write("out/results.csv/notes.txt", "");
    const ran = await world.cat("tryon looks.csv --yes --save out");
    expect(ran).toMatchObject({ exit: 2, stderr: expect.stringMatching(/^error: cannot save in out: /) });
    expect(world.tasks()).toEqual([]);
  });

  longTest("saves an image again that was emptied or replaced", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    const [saved] = summaryOf((await world.cat("tryon looks.csv --yes --save out --json")).stdout).tasks;
    const path = saved!.output_file!;
    const whole = readFileSync(join(world.folder, path));
    for (const damage of ["", "<html>not an image</html>"]) {
      world.write(path, damage);
      expect(await world.cat("tryon looks.csv --yes --save out")).toMatchObject({ exit: 0 });
      expect(readFileSync(join(world.folder, path)).equals(whole)).toBe(true);
    }
  });
});

describe("a failed file", () => {
  const bad = "BAD-fail-model_unsafe_content";
  const withBad = async () => {
    const world = await generateWorld();
    const images = [{ url: "https://cdn.example.com/b.jpg" }];
    world.write("bad.ndjson", `${JSON.stringify({ reference: bad, name: "x", images })}\n`);
    await world.cat("import bad.ndjson");
    return world;
  };

  longTest("of a failed file runs as well, although the rows and reasons are the same", async () => {
    const world = await withBad();
    world.looks(`${bad},Amara,studio,full-front`);
    for (const [at, file] of ["looks.csv", "looks.failed.csv", "looks.failed-2.csv"].entries()) {
      expect(await world.cat(`tryon ${file} --yes`)).toMatchObject({ exit: 8 });
      expect(world.tasks()).toHaveLength(at + 1);
    }
    expect(world.read("looks.failed-2.csv").split("\n")[1]).toBe(
      `${bad},Amara,studio,full-front,model_unsafe_content,the generation failed: model unsafe content (task ${world.tasks()[1]!.id})`,
    );
  });

  longTest("is written once: a finished file writes it again only for --failed", async () => {
    const world = await withBad();
    world.looks(`${bad},Amara,studio,full-front`, "NOPE,Amara,studio,full-front", "DRESS-1,Amara,studio,x");
    const ran = await world.cat("tryon looks.csv --yes --skip-invalid");
    expect(ran).toMatchObject({ exit: 8, stderr: expect.stringContaining("looks.failed.csv") });
    const again = await world.cat("tryon looks.csv --yes --skip-invalid");
    expect(again.exit).toBe(0);
    expect(again.stderr).toMatch(
      /^looks\.csv:3 {2}product_reference {2}product_not_found {2}no product "NOPE"/,
    );
    expect(again.stderr.split("\n").slice(-7)).toEqual([
      expect.stringMatching(
        /^Nothing to do: 1 of 3 images of looks\.csv was queued on \S+ and has finished\.$/,
      ),
      "  1 image not queued: invalid or rejected rows",
      "  1 invalid row skipped",
      "  1 image failed",
      "For a file of the failed rows, run:",
      "  cat tryon looks.csv --yes --skip-invalid --failed failed.csv",
      "",
    ]);
    expect(existsSync(join(world.folder, "looks.failed-2.csv"))).toBe(false);
    const named = await world.cat("tryon looks.csv --yes --skip-invalid --failed again.csv");
    expect(named).toMatchObject({ exit: 0, stderr: expect.stringContaining("again.csv") });
    const reasons = world
      .read("again.csv")
      .split("\n")
      .map((row) => row.split(",").slice(0, 5));
    expect(reasons).toEqual([
      ["product_reference", "model_id", "background", "angle_shot", "error_code"],
      [bad, "Amara", "studio", "full-front", "model_unsafe_content"],
      ["NOPE", "Amara", "studio", "full-front", "product_not_found"],
      [""],
    ]);
    // The summary is the only object on stdout.
    for (const flags of ["", "--skip-invalid"]) {
      const json = await world.cat(`tryon looks.csv --yes --json ${flags}`.trim());
      expect([json.exit, summaryOf(json.stdout)]).toMatchObject([
        0,
        { total: 3, queued: 0, unchanged: 1, failed: 1, invalid: 1 },
      ]);
    }
  });

  test("is not written by a run that is stopped, because the same command resumes it", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,x");
    await world.credits(0);
    expect(await world.cat("tryon looks.csv --yes --skip-invalid")).toMatchObject({ exit: 4 });
    expect(readdirSync(world.folder)).not.toContain("looks.failed.csv");
  });

  longTest("of a matrix, or with duplicates, runs with the command that is printed", async () => {
    const world = await generateWorld();
    world.write(
      "looks.csv",
      "product_reference,model_id,background,angle_shot\nDRESS-1|NOPE,Amara,studio,full-front\nDRESS-2,Amara,studio,full-front\n",
    );
    const ran = await world.cat("tryon looks.csv --yes --matrix --allow-duplicates --skip-invalid");
    expect(ran.stderr).toContain("  cat tryon looks.failed.csv --matrix --allow-duplicates\n");
    const fixed = world.read("looks.failed.csv").replace("NOPE", "DRESS-3");
    world.write("looks.failed.csv", fixed);
    const again = await world.cat("tryon looks.failed.csv --matrix --allow-duplicates --yes");
    expect(again.exit).toBe(0);
    expect(world.tasks()).toHaveLength(3);
  });
});

test("a file of which the service rejected every row is tried again by the same command", async () => {
  const world = await generateWorld();
  world.write("shots.csv", "product_reference,subtype,background,angle_shot\nDRESS-1,clothing,white,front\n");
  await world.fault({ match: { method: "POST", path: "/v1/tasks" }, status: 422, times: 1 });
  expect(await world.cat("beautify shots.csv --yes --skip-invalid")).toMatchObject({ exit: 3 });
  expect(await world.cat("beautify shots.csv --yes --skip-invalid")).toMatchObject({ exit: 0 });
  expect(world.tasks()).toHaveLength(1);
});

test("without --matrix a | in a flag is part of the value", async () => {
  const world = await generateWorld();
  const flags = "--model Amara --background studio --angle full-front --yes";
  const ran = await world.cat(["tryon", "--product", "DRESS-1|DRESS-2", ...flags.split(" ")]);
  expect(ran).toEqual({
    exit: 3,
    stdout: "",
    stderr: [
      'flags:1  product_reference  product_not_found  no product "DRESS-1|DRESS-2": to generate an image for each value, add --matrix',
      "error: invalid flags; nothing was queued",
      "Fix the flags and run the command again.",
      "",
    ].join("\n"),
  });
  expect(world.tasks()).toEqual([]);
  const both = await world.cat(["tryon", "--matrix", "--product", "DRESS-1|DRESS-2", ...flags.split(" ")]);
  expect(both.exit).toBe(0);
  expect(world.tasks()).toHaveLength(2);
});
