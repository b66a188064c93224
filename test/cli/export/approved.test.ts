import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { dress, reviewedWorld } from "./reviewed-world.ts";

const unknown = "error: no decision is known of any generated image, so --approved would skip all of them\n";
const none = `${unknown}Add --decisions FILE with a file that the gallery saved, or record it with cat tasks review FILE.\n`;
const noneInMirror = `${unknown}Run cat tasks review FILE --mirror m where the images were reviewed, or add --decisions FILE here.\n`;

describe("cat export --approved", () => {
  test("has approved images and own photos, and counts what is left out", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "reject", "");
    const ran = await world.cat("export --approved --format csv");
    expect(ran.stderr).toBe(
      "Exported 3 products with 7 images in 0.0 s.\n  1 not reviewed, 1 rejected: skipped\n",
    );
    const rows = parse(ran.stdout, { columns: true }) as Record<string, string>[];
    expect(
      rows.filter(({ role }) => role === "tryon").map(({ reference, decision }) => [reference, decision]),
    ).toEqual([["DRESS-1", "approve"]]);
    expect(rows.filter(({ role }) => role === "source")).toHaveLength(6);
    const { stdout } = await world.cat("export --approved --out a.ndjson --json");
    expect(JSON.parse(stdout)).toMatchObject({ assets: 7, rejected: 1, not_reviewed: 1 });
    await world.review("approve", "approve", "approve");
    const all = await world.cat("export --approved --out a.ndjson --json --yes");
    expect(JSON.parse(all.stdout)).toMatchObject({ assets: 9, rejected: 0, not_reviewed: 0 });
  });

  test("leaves out an image that was generated after the review", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "approve", "approve");
    await world.look("DRESS-1,Amara,beach,full-front");
    expect((await world.cat("export --approved --out a.ndjson")).stderr).toContain(
      "with 9 images to a.ndjson in 0.0 s.\n  1 not reviewed: skipped\n",
    );
  });

  longTest("exports changes since the last time, unless images were reviewed meanwhile", async () => {
    const world = await reviewedWorld();
    await world.review("reject");
    const line = "export --approved --since last";
    expect((await world.cat(line)).stderr).toContain("2 not reviewed, 1 rejected: skipped\n");
    // Nobody has seen it yet: a delta without a decision is no error.
    await world.look("DRESS-2,Amara,beach,full-front");
    const delta = await world.cat(line);
    expect([delta.exit, delta.stderr]).toEqual([
      0,
      "Exported 1 product with 2 images in 0.0 s.\n  2 not reviewed: skipped\n",
    ]);
    await world.review("reject", "approve");
    const time = new Date(world.clock.now()).toISOString();
    expect((await world.cat(`export --approved --since ${time}`)).stderr).toBe(
      "Only products that changed since then are exported, not those of which an image was reviewed since. --since last has both.\n" +
        "Exported 0 products with 0 images in 0.0 s.\n",
    );
    expect((await world.cat(line)).stderr).toContain(
      "Images were reviewed since the last export with --since last: exporting everything.\n",
    );
  });

  test("exits with 3 if there are generated images, and no decision is known of any", async () => {
    const world = await reviewedWorld();
    for (const line of [
      "export --approved",
      "export --approved --out a.csv",
      "export --approved --since last",
    ]) {
      const ran = await world.cat(line);
      expect([ran.exit, ran.stdout]).toEqual([3, ""]);
      expect(ran.stderr.endsWith(none), ran.stderr).toBe(true);
    }
    expect(world.names(".").filter((name) => name.startsWith("a."))).toEqual([]);
    expect(JSON.parse((await world.cat("export --approved --json")).stderr).error).toMatchObject({
      ...{ type: "input", code: "no_decisions", exit: 3 },
    });
    // Own photos alone need none.
    expect(await world.cat("export --approved --role source")).toMatchObject({ exit: 0 });
    expect(await world.cat("export --not-rejected")).toMatchObject({ exit: 0 });
  });

  longTest("exits with 3 if all decisions are about other images", async () => {
    const world = await reviewedWorld();
    world.write("others.csv", "task_id,decision\n01HZZZZZZZZZZZZZZZZZZZZZZZ,approve\n");
    const ran = await world.cat("export --approved --decisions others.csv --out a.csv");
    expect(ran).toMatchObject({ exit: 3, stderr: expect.stringContaining(none) });
  });
});

describe("--decisions", () => {
  test("adds the decisions of files to those of the profile: the later one counts, of equals the rejection", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "approve", "");
    const [one, two, three] = world.tasks as [string, string, string];
    const later = "2027-01-05T09:00:00Z";
    world.clock.advance(2 * 365 * 86_400_000);
    world.write("a.csv", `task_id,decision,decided_at\n${two},reject,${later}\n${three},approve,${later}\n`);
    // The same time: an equal decision of another person, and an opposite one.
    world.write("b.csv", `task_id;decision;decided_at\n${three};reject;${later}\n${one};;\n`);
    const exported = async (flags: string) =>
      JSON.parse((await world.cat(`export --approved ${flags} --out o.ndjson --json --yes`)).stdout);
    expect(await exported("--decisions a.csv")).toMatchObject({ assets: 8, rejected: 1, not_reviewed: 0 });
    for (const flags of ["--decisions a.csv --decisions b.csv", "--decisions b.csv --decisions a.csv"])
      expect(await exported(flags)).toMatchObject({ assets: 7, rejected: 2, not_reviewed: 0 });
    // They are not recorded.
    expect(await exported("")).toMatchObject({ assets: 8, rejected: 0, not_reviewed: 1 });
  });

  longTest("reads workbooks", async () => {
    const world = await reviewedWorld();
    const rows = world.tasks.map((id, at) => [id, at === 0 ? "approve" : "reject"]);
    world.write("d.xlsx", workbookOf({ Decisions: [["task_id", "decision"], ...rows] }));
    const ran = await world.cat("export --zip --extract out --approved --decisions d.xlsx");
    expect([ran.exit, ran.stderr]).toEqual([0, expect.stringContaining("  2 rejected: skipped\n")]);
    expect(world.files("out")).toEqual([dress(1)]);
  });

  test("lists what is wrong with a file, and exports nothing", async () => {
    const world = await reviewedWorld();
    world.write("d.csv", `task_id,decision\n${world.tasks[0]},maybe\n`);
    const ran = await world.cat("export --approved --decisions d.csv --out a.csv");
    expect(ran).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        'd.csv:2  decision  invalid_decision  "maybe" is not approve or reject\n' +
        "error: d.csv has 1 problem; nothing was exported\n" +
        "Write approve or reject there, or nothing, and run the command again.\n",
    });
    expect((await world.cat("export sync m --approved --decisions missing.csv")).stderr).toContain(
      "error: missing.csv does not exist\n",
    );
    expect(world.names("m")).toEqual([]);
  });

  test.each(
    sampled([
      ["export --decisions d.csv", "--decisions needs --approved or --not-rejected", "Add one of them."],
      [
        "export --approved --decisions -",
        "--decisions does not read standard input",
        "Choose a file of decisions, for example --decisions looks.decisions.csv.",
      ],
      [
        "export --approved --not-rejected",
        "--approved cannot be used with --not-rejected",
        "Remove one of them.",
      ],
      ["export --manifest --approved", "--approved cannot be used with --manifest", "Remove one of them."],
      [
        "export --zip --approved",
        "--approved needs --extract with --zip",
        "Add --extract DIR, because the service writes the ZIP.",
      ],
      ["export sync m --merge --approved", "--merge cannot be used with --approved", "Remove one of them."],
      [
        "export sync m --merge --decisions d.csv",
        "--merge cannot be used with --decisions",
        "Remove one of them.",
      ],
    ]),
  )("is a wrong command line: %s", async (line, error, hint) => {
    const world = await createWorld();
    expect(await world.cat(line)).toEqual({ exit: 2, stdout: "", stderr: `error: ${error}\n${hint}\n` });
  });
});

describe("cat export --zip --extract --approved", () => {
  test("extracts approved images and own photos", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "reject", "");
    const ran = await world.cat("export --zip --extract out --approved");
    expect(ran.stderr).toMatch(
      /^Exported 3 products with 7 images to out \(7 files, .*\n {2}1 not reviewed, 1 rejected: skipped\n$/,
    );
    expect(world.files("out")).toEqual([dress(1)]);
    const { stdout } = await world.cat("export --zip --extract json --approved --json");
    expect(JSON.parse(stdout)).toMatchObject({ assets: 7, rejected: 1, not_reviewed: 1 });
  });

  longTest(
    "without a decision extracts nothing, and goes on with the same ZIP once there is one",
    async () => {
      const world = await reviewedWorld();
      const ran = await world.cat("export --zip --extract out --approved");
      expect([ran.exit, ran.stderr]).toEqual([3, expect.stringContaining(none)]);
      expect(world.names("out")).toEqual([]);
      await world.review("approve");
      expect(await world.cat("export --zip --extract out --approved")).toMatchObject({ exit: 0 });
      expect(world.files("out")).toEqual([dress(1)]);
      const zips = world.mock.state().organizations.main.exports.filter(({ format }) => format === "zip");
      expect(zips).toHaveLength(1);
    },
  );
});

describe("cat export sync --approved", () => {
  longTest("mirrors approved images and own photos, and counts the others in each run", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "reject", "");
    const counts = { total: 7, rejected: 1, not_reviewed: 1 };
    expect((await world.sync("m --approved")).counts).toEqual({ ...counts, added: 7 });
    expect(world.files()).toEqual([dress(1)]);
    expect(world.tryons()).toEqual([["DRESS-1", "approve", false]]);
    // A delta lists none of these products.
    expect((await world.sync("m --approved")).counts).toEqual({ ...counts, unchanged: 7 });
    expect(world.requests().at(-1)!.path).toContain("since=");
    await world.look("DRESS-3,Amara,beach,full-front");
    const next = { total: 7, rejected: 1, not_reviewed: 2, unchanged: 7 };
    expect((await world.sync("m --approved")).counts).toEqual(next);
    expect(world.requests().at(-1)!.path).toContain("since=");
    // So long after it that a delta lists none of them any more.
    for (let run = 1; run <= 2; run++) {
      world.clock.advance(600_000);
      expect((await world.sync("m --approved")).counts).toEqual(next);
    }
    expect((await world.sync("m --approved --full")).counts).toEqual(next);
    expect((await world.sync("m --approved --dry-run")).counts).toEqual(next);
    const { stderr } = await world.cat("export sync m --approved");
    expect(stderr).toMatch(
      /^Mirrored 7 images in m in .*: 7 unchanged\.\n {2}2 not reviewed, 1 rejected: skipped\n$/,
    );
  });

  test("takes out what is no longer approved, and back without a download", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "approve", "approve");
    await world.sync("m --approved");
    await world.review("reject", "", "");
    const run = await world.sync("m --approved --delete");
    expect(run.counts).toEqual({ total: 8, removed: 1, unchanged: 8, rejected: 1 });
    expect(world.files()).toEqual([dress(2), dress(3)]);
    await world.review("approve", "", "");
    expect((await world.sync("m --approved")).counts).toEqual({ total: 9, added: 1, unchanged: 8 });
  });

  longTest("changed to it, the mirror of all images takes out those that are not approved", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "reject", "");
    await world.sync("m");
    expect((await world.sync("m --approved --delete")).counts).toMatchObject({ total: 7, removed: 2 });
    expect(world.files()).toEqual([dress(1)]);
    expect((await world.sync("m --not-rejected")).counts).toMatchObject({ total: 8, added: 1 });
  });

  longTest("removes no more than usual", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "", "");
    await world.sync("m --role tryon");
    const refused = await world.sync("m --approved --role tryon");
    expect([refused.exit, refused.stderr]).toEqual([
      8,
      expect.stringContaining(
        "not approved or no longer in the catalogue: 2 of 3 images of the mirror; none was marked as removed",
      ),
    ]);
  });

  longTest("mirrors a shard none of whose images is reviewed, if other decisions are known", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "", "");
    let total = 0;
    for (let shard = 1; shard <= 6; shard++) {
      const { exit, counts } = await world.sync(`m --approved --shard ${shard}/6`);
      expect(exit).toBe(0);
      total += counts.total ?? 0;
    }
    expect(total).toBe(7);
    expect(world.files()).toEqual([dress(1)]);
    expect(await world.cat("export sync m --merge")).toMatchObject({ exit: 0 });
    const merged = world.read("m/catalogue.ndjson");
    await world.sync("m --not-rejected --shard 2/6");
    expect(await world.cat("export sync m --merge")).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        "error: cannot merge the shards in m: catalogue.1-of-6.ndjson and catalogue.2-of-6.ndjson differ: --approved, not --not-rejected\n" +
        "Mirror every shard with the same flags.\n",
    });
    expect(world.read("m/catalogue.ndjson")).toBe(merged);
  });

  longTest("says why it deletes none of many files also if an earlier run has marked them", async () => {
    const world = await reviewedWorld();
    await world.review("approve", "approve", "approve");
    await world.sync("m --role tryon");
    await world.review("approve", "reject", "approve");
    await world.sync("m --approved --role tryon");
    await world.review("approve", "reject", "reject");
    await world.sync("m --approved --role tryon");
    const refused = await world.sync("m --approved --role tryon --delete");
    expect([refused.exit, refused.stderr]).toEqual([
      8,
      expect.stringContaining(
        "2 of 3 files are not approved or no longer in the catalogue; none was deleted",
      ),
    ]);
  });

  test("exits with 3 without any decision, and removes nothing", async () => {
    const world = await reviewedWorld();
    await world.sync("m");
    const before = world.tree("m");
    const ran = await world.cat("export sync m --approved --delete");
    expect(ran).toEqual({ exit: 3, stdout: "", stderr: noneInMirror });
    expect(world.tree("m")).toEqual(before);
    world.write("others.csv", "task_id,decision\n01HZZZZZZZZZZZZZZZZZZZZZZZ,approve\n");
    const others = await world.cat("export sync m --approved --delete --decisions others.csv");
    expect(others).toEqual({ exit: 3, stdout: "", stderr: noneInMirror });
    expect(world.index("m/catalogue.ndjson").filter(({ removed }) => removed)).toEqual([]);
  });
});
