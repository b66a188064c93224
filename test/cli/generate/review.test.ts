import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { generateWorld } from "./generate-world.ts";
import { reviewWorld } from "./review-world.ts";

const unchanged = "Save the decisions again in the gallery of the run, and use that file unchanged.";

describe("cat tasks review", () => {
  test("records the decisions, counts them, and names the next command", async () => {
    const world = await reviewWorld();
    world.review("decisions.csv", ["approve"], ["reject", "sleeve"], [""]);
    expect(await world.cat("tasks review decisions.csv")).toEqual({
      exit: 0,
      stdout: "",
      stderr: [
        "Recorded 2 decisions of decisions.csv: 1 approved, 1 rejected, 1 without a decision.",
        "To generate the rejected images again, run:",
        "  cat tryon --rerun decisions.csv",
        "",
      ].join("\n"),
    });
    const { stdout } = await world.cat("tasks review decisions.csv --json");
    expect(JSON.parse(stdout)).toEqual({
      ...{ file: "decisions.csv", approved: 1, rejected: 1, undecided: 1, reversed: 0, later: 0 },
    });
  });

  longTest("takes the time of the file where decisions have none", async () => {
    const world = await reviewWorld(1);
    world.review("late.csv", ["reject"]);
    world.review("early.csv", ["approve"]);
    // As file systems store it, with a fraction of a millisecond.
    const times = { "late.csv": "2026-01-05T08:30:00.5Z", "early.csv": "2026-01-05T08:00:00Z" };
    for (const [file, time] of Object.entries(times))
      utimesSync(join(world.folder, file), 0, Date.parse(time) / 1000 + 0.000_123);
    await world.cat("tasks review late.csv");
    expect((await world.cat("tasks review early.csv")).stderr).toContain(
      "A later review decided otherwise about 1 image of early.csv: that one counts.\n",
    );
  });

  test("counts the later of two reviews by its time, and says so once", async () => {
    const world = await reviewWorld();
    const [early, late] = ["2026-01-05T08:00:00Z", "2026-01-05T08:30:00Z"];
    world.review("late.csv", ["approve", "", late], ["reject", "", late], ["approve", "", late]);
    world.review("early.csv", ["reject", "", early], ["approve", "", early], ["approve", "", early]);
    await world.cat("tasks review late.csv");
    expect((await world.cat("tasks review early.csv")).stderr).toBe(
      "A later review decided otherwise about 2 images of early.csv: that one counts.\n" +
        "Recorded 1 decision of early.csv: 1 approved, 0 rejected.\n",
    );
    // What the later review approved is not paid for again.
    const rerun = await world.cat("tryon --rerun early.csv --yes");
    expect(rerun.exit).toBe(3);
    expect(rerun.stderr).toContain("error: no image is rejected in early.csv; nothing was queued\n");
    const latest = "2026-01-05T08:45:00Z";
    world.review("latest.csv", ["reject", "", latest], ["", "", latest], ["approve", "", latest]);
    expect((await world.cat("tasks review latest.csv")).stderr).toContain(
      "An earlier review decided otherwise about 1 image of latest.csv: this one counts.\n",
    );
  });
});

longTest(
  "of two decisions of one time the rejection counts, and the approval says why it does not",
  async () => {
    const world = await reviewWorld(1);
    const time = "2026-01-05T08:00:00Z";
    world.review("one.csv", ["reject", "", time]);
    world.review("other.csv", ["approve", "", time]);
    await world.cat("tasks review one.csv");
    expect((await world.cat("tasks review other.csv")).stderr).toBe(
      "A decision of the same time rejects 1 image of other.csv: the rejection counts. To approve them, set a later decided_at.\n" +
        "Recorded 0 decisions of other.csv: 0 approved, 0 rejected.\n",
    );
    const { stdout } = await world.cat("tasks review other.csv --json");
    expect(JSON.parse(stdout)).toMatchObject({ approved: 0, reversed: 0, later: 1 });
    world.review("later.csv", ["approve", "", "2026-01-05T08:00:00.001Z"]);
    expect((await world.cat("tasks review later.csv --json")).stdout).toContain('"reversed":1');
  },
);

test("a decision of the future has been made when its file was saved", async () => {
  const world = await reviewWorld(1);
  world.review("wrong.csv", ["reject", "", "2031-01-01T00:00:00Z"]);
  utimesSync(join(world.folder, "wrong.csv"), 0, Date.parse("2026-01-05T08:00:00Z") / 1000);
  world.review("right.csv", ["approve", "", "2026-01-05T08:30:00Z"]);
  await world.cat("tasks review right.csv");
  for (const _ of [1, 2])
    expect((await world.cat("tasks review wrong.csv")).stderr).toContain("A later review decided otherwise");
});

test("results.csv overrules no review, and gives notes back as they were written", async () => {
  const world = await reviewWorld(2);
  world.review("decisions.csv", ["reject", "=1+1", "2026-01-05T08:00:00Z"], [""]);
  await world.cat("tasks review decisions.csv");
  await world.cat("tryon looks.csv --yes --save images");
  const results = () => world.read("images/results.csv");
  expect(results()).toContain("reject,'=1+1\n");
  world.review("later.csv", ["approve", "", "2026-01-05T08:30:00Z"], [""]);
  await world.cat("tasks review later.csv");
  world.write("copy.csv", results().replace(/,,\n$/, ",reject,dark\n"));
  expect((await world.cat("tasks review copy.csv")).stderr).toContain(
    "A later review decided otherwise about 1 image of copy.csv: that one counts.\nRecorded 1 decision of copy.csv: 0 approved, 1 rejected.\n",
  );
  await world.cat("tryon looks.csv --yes --save images");
  expect(
    results()
      .split("\n")
      .map((line) => line.split(",").slice(-2)),
  ).toMatchObject([["decision", "note"], ["approve", ""], ["reject", "dark"], {}]);
  // Edited by hand, with the time that the note asks for.
  const [header, ...rows] = results().trim().split("\n");
  const timed = rows.map((row) => `${row.replace(/,reject,dark$/, ",approve,")},2026-01-05T08:45:00Z`);
  world.write("timed.csv", [`${header},decided_at`, ...timed, ""].join("\n"));
  expect((await world.cat("tasks review timed.csv")).stderr).toContain("2 approved, 0 rejected.\n");
  const env = { CAT_HOME: `${world.folder}/other` };
  world.write("guarded.csv", world.read("copy.csv"));
  await world.cat("tasks review guarded.csv", { env });
  await world.cat(`tasks save ${world.tasks()[0]!.id} --save again`, { env });
  expect(world.read("again/results.ndjson")).toContain('"note":"=1+1"');
});

describe("a file of decisions is rejected, and nothing of it recorded,", () => {
  /** The second image is rejected in each file: nothing may be known of it afterwards. */
  const rejected = async (change: (text: string, ids: readonly string[]) => string) => {
    const world = await reviewWorld();
    world.review("decisions.csv", ["approve"], ["reject"], [""]);
    const ids = world.tasks().map(({ id }) => id);
    world.write("decisions.csv", change(world.read("decisions.csv"), ids));
    const ran = await world.cat("tasks review decisions.csv");
    world.review("right.csv", ["approve"], ["approve"], ["approve"]);
    const { stdout } = await world.cat("tasks review right.csv --json");
    expect(JSON.parse(stdout)).toMatchObject({ reversed: 0, later: 0 });
    expect(ran).toMatchObject({ exit: 3, stdout: "" });
    return ran.stderr.split("\n").slice(0, -1);
  };
  const ends = (problems: string) => [
    `error: decisions.csv has ${problems}; nothing was recorded`,
    unchanged,
  ];

  test("if a look was edited, or a word is not a decision: all problems by line", async () => {
    const edited = await rejected((text) => text.replace("studio,full-front,approve", "loft,close-up,maybe"));
    expect(edited).toEqual([
      'decisions.csv:2  decision  invalid_decision  "maybe" is not approve or reject',
      'decisions.csv:2  background  edited_decision  "loft", but the image has "studio"',
      'decisions.csv:2  angle_shot  edited_decision  "close-up", but the image has "full-front"',
      ...ends("3 problems"),
    ]);
  });

  longTest("in a workbook, at the cells", async () => {
    const world = await reviewWorld(2);
    const rows = world.tasks().map(({ id }) => [id, "vielleicht"]);
    const looks = [["task_id", "decision"], ...rows];
    const sheet = { Looks: looks, Copy: looks };
    writeFileSync(join(world.folder, "a.xlsx"), workbookOf(sheet));
    const both = await world.cat("tasks review a.xlsx");
    expect(both.stderr).toContain('error: a.xlsx has several sheets that may be meant: "Looks", "Copy"\n');
    expect((await world.cat("tryon looks.csv --yes --save images --approved a.xlsx")).stderr).toContain(
      "Save the sheet with the decisions as a file of its own.\n",
    );
    expect((await world.cat("tryon --rerun a.xlsx --sheet Copy --dry-run")).stderr).toContain(
      "a.xlsx: Copy!B2",
    );
    expect((await world.cat("tasks review a.xlsx --sheet Looks")).stderr.split("\n").slice(0, -1)).toEqual([
      `a.xlsx: Looks!B2  decision  invalid_decision  "vielleicht" is not approve or reject`,
      `a.xlsx: Looks!B3  decision  invalid_decision  "vielleicht" is not approve or reject`,
      "error: a.xlsx has 2 problems; nothing was recorded",
      "Write approve or reject there, or nothing, and run the command again.",
    ]);
    const id = rows[0]![0];
    const twice = {
      Looks: [
        ["decision", "task_id"],
        ["approve", id],
        ["reject", id],
      ],
    };
    writeFileSync(join(world.folder, "b.xlsx"), workbookOf(twice));
    expect((await world.cat("tasks review b.xlsx")).stderr).toContain(
      "b.xlsx: Looks!B3  task_id  duplicate_decision  duplicate task, first decided in Looks!B2\n",
    );
  });

  test("if a time is not one that the gallery writes", async () => {
    for (const time of sampled(
      ["yesterday", "24.11.2026 14:10", "2026-13-05T09:00:00Z", "2026-02-30T09:00:00Z", "2026"],
      1,
    ))
      expect(await rejected((text) => text.replace("approve,,", `approve,,${time}`))).toEqual([
        `decisions.csv:2  decided_at  invalid_time  "${time}" is not a time like 2026-01-05T09:00:00Z`,
        ends("1 problem")[0],
        "Write such a time there, or nothing for the time of the file, and run the command again.",
      ]);
  });

  longTest("if an image is listed twice", async () => {
    expect(await rejected((text) => `${text}${text.split("\n")[1]}\n`)).toEqual([
      "decisions.csv:5  task_id  duplicate_decision  duplicate task, first decided on line 2",
      ...ends("1 problem"),
    ]);
  });

  longTest("if images of the run are missing, or the last row is cut", async () => {
    const half = await rejected((text) => text.split("\n").slice(0, 3).join("\n"));
    expect(half).toEqual([
      "decisions.csv:3  task_id  incomplete_decisions  the last row of the run of looks.csv: 1 of its 3 images are missing",
      ...ends("1 problem"),
    ]);
    const cut = await rejected((text) => text.slice(0, -30));
    expect(cut[1]).toMatch(/^decisions\.csv:4 {2}- {2}ragged_row {2}/);
  });

  test("if all of its rows are cut", async () => {
    expect(await rejected((text) => text.split("\n")[0]!)).toEqual([
      "error: decisions.csv lists no images; nothing was recorded",
      unchanged,
    ]);
  });

  longTest("if it is of another service, whose tasks this one does not have", async () => {
    const strange = await rejected((text, ids) =>
      text.replaceAll(ids[0]!.slice(0, 20), "01HZZZZZZZZZZZZZZZZZ"),
    );
    expect(strange.slice(0, 1)).toEqual([
      expect.stringMatching(
        /^decisions\.csv:2 {2}task_id {2}task_not_found {2}the service has no task "01HZ\w+"$/,
      ),
    ]);
    expect(strange.at(-2)).toContain("nothing was recorded");
  });

  test("if none of its tasks is known to the service: one line for all", async () => {
    const none = await rejected((text) => text.replace(/,01\w{20}/g, ",01HZZZZZZZZZZZZZZZZZZZ"));
    expect(none).toEqual([
      "decisions.csv:2  task_id  task_not_found  the service has none of the 3 tasks of the file",
      "error: decisions.csv has 1 problem; nothing was recorded",
      "Use the profile and the service that generated the images (--profile, --base-url).",
    ]);
  });

  longTest("if a row without a task has a decision", async () => {
    expect(await rejected((text) => `${text}9,,rejected,,DRESS-9,,studio,full-front,reject,,\n`)).toEqual([
      "decisions.csv:5  decision  no_task  the row has a decision, but no task_id",
      ...ends("1 problem"),
    ]);
  });

  longTest("if it is not UTF-8", async () => {
    const world = await reviewWorld(1);
    world.review("decisions.csv", ["reject", "zu d\u00fcnn"]);
    writeFileSync(join(world.folder, "decisions.csv"), world.read("decisions.csv"), "latin1");
    const stderr =
      'error: cannot read decisions.csv: it is not UTF-8\nAdd the encoding if its text is right: --encoding windows-1252 ("zu dünn"); or save it as UTF-8.\n';
    expect(await world.cat("tasks review decisions.csv")).toEqual({ exit: 3, stdout: "", stderr });
    const again = "tryon --rerun decisions.csv --encoding windows-1252";
    const ran = await world.cat("tasks review decisions.csv --encoding windows-1252");
    expect(ran.stderr).toContain(`  cat ${again}\n`);
    expect(await world.cat(`${again} --dry-run`)).toMatchObject({ exit: 0 });
    const other = await world.cat(again.replace("tryon", "beautify"));
    expect(other.stderr).toContain(`\nRun cat ${again}.\n`);
  });

  test("if it is another file", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    expect(await world.cat("tasks review looks.csv")).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        'error: looks.csv is not a file of decisions: it has no column "task_id"\nUse the CSV file that the gallery saves, with approve or reject in the column decision.\n',
    });
  });
});

test("a review of another computer is recorded, if the service has its tasks", async () => {
  const world = await reviewWorld();
  world.review("theirs.csv", ["approve"], ["reject"], ["approve"]);
  const env = { CAT_HOME: `${world.folder}/other` };
  expect(await world.cat("tasks review theirs.csv", { env })).toEqual({
    ...{ exit: 0, stdout: "" },
    stderr: "Recorded 3 decisions of theirs.csv: 2 approved, 1 rejected.\n",
  });
  world.write("edited.csv", world.read("theirs.csv").replace(world.tasks()[0]!.product_id, "another"));
  expect((await world.cat("tasks review edited.csv", { env })).stderr).toContain(
    'edited.csv:2  product_id  edited_decision  "another", but the image has',
  );
});
