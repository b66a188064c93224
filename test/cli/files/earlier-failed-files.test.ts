import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { earlierName, moveAndKeepEarlier } from "../../../src/flows/files/earlier-files.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createWorld } from "../../support/world.ts";

const bad = "https://cdn.example.com/fail-timeout.jpg";
const sheet = (...references: string[]) =>
  `reference,name,images\n${references.map((reference) => `${reference},Coat,${bad}\n`).join("")}`;

/** The same as a failed file of an earlier import. */
const failedSheet = (reference: string) =>
  `reference,name,images,error_code,error_message\n${reference},Coat,${bad},timeout,no response\n`;

const files = (world: Awaited<ReturnType<typeof createWorld>>) =>
  readdirSync(world.folder)
    .filter((name) => /failed/.test(name))
    .sort();
const firstReference = (world: Awaited<ReturnType<typeof createWorld>>, name: string) =>
  world.read(name).split("\n")[1]!.split(",")[0];

test("the last 5 failed files are kept, the newest as 1", async () => {
  const world = await createWorld();
  for (let run = 1; run <= 8; run++) {
    world.write("a.csv", sheet(`R-${run}`));
    const ran = await world.cat("import a.csv --no-progress");
    expect(ran.exit).toBe(8);
    expect(ran.stderr).toContain(
      "Failed rows are in a.failed.csv, with the reasons. Fix them there, then run:\n  cat import a.failed.csv\n",
    );
  }
  expect(files(world).map((name) => [name, firstReference(world, name)])).toEqual([
    ["a.failed.1.csv", "R-7"],
    ["a.failed.2.csv", "R-6"],
    ["a.failed.3.csv", "R-5"],
    ["a.failed.4.csv", "R-4"],
    ["a.failed.5.csv", "R-3"],
    ["a.failed.csv", "R-8"],
  ]);
});

longTest("a file of --failed is kept too, a file of --results is replaced", async () => {
  const world = await createWorld();
  for (const reference of ["R-1", "R-2"]) {
    world.write("a.csv", sheet(reference));
    const ran = await world.cat("import a.csv --no-progress --failed bad.csv --results all.csv --json");
    expect(JSON.parse(ran.stdout)).toMatchObject({ failed_file: "bad.csv", results_file: "all.csv" });
  }
  expect(firstReference(world, "bad.1.csv")).toBe("R-1");
  expect(firstReference(world, "bad.csv")).toBe("R-2");
  expect(readdirSync(world.folder).filter((name) => name.startsWith("all"))).toEqual(["all.csv"]);
});

test.each(
  sampled(
    [
      ["a.failed.csv", "a.failed-2.csv"],
      ["a.failed.1.csv", "a.failed.csv"],
    ],
    1,
  ),
)("an input %s keeps its name, and its failed rows are in %s", async (input, failed) => {
  const world = await createWorld();
  for (const name of ["a.failed.csv", "a.failed.1.csv", "a.failed.2.csv"])
    world.write(name, failedSheet(name));
  const before = world.read(input);
  for (let run = 0; run < 2; run++) {
    const ran = await world.cat(`import ${input} --fresh --json --no-progress`);
    expect(JSON.parse(ran.stdout).failed_file).toBe(failed);
    expect(world.read(input)).toBe(before);
    expect(firstReference(world, failed)).toBe(input);
  }
});

longTest("another input of the command is neither replaced nor renamed", async () => {
  const world = await createWorld();
  world.write("a.csv", sheet("A"));
  world.write("a.failed.csv", failedSheet("B"));
  const ran = await world.cat("import a.csv a.failed.csv --json --no-progress");
  expect(JSON.parse(ran.stdout).files.map((file: { failed_file: string }) => file.failed_file)).toEqual([
    "a.failed-2.csv",
    "a.failed-3.csv",
  ]);
  expect(firstReference(world, "a.failed.csv")).toBe("B");
});

test("files that are no failed files are never replaced by earlier ones", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("none", "failed", "notes", "folder", "staying"), {
        minLength: 12,
        maxLength: 12,
      }),
      fc.integer({ min: 1, max: 8 }),
      (kinds, runs) => {
        const folder = temporaryFolder();
        const path = join(folder, "f.csv");
        const names = kinds.map((_, at) => earlierName(path, at + 1));
        const staying: string[] = [];
        for (const [at, kind] of kinds.entries()) {
          const name = names[at]!;
          if (kind === "folder") mkdirSync(name);
          else if (kind !== "none")
            writeFileSync(name, kind === "notes" ? `notes ${at}` : `error_code old ${at}`);
          if (kind === "staying") staying.push(name);
        }
        for (let run = 1; run <= runs; run++) {
          writeFileSync(join(folder, "part"), `error_code run ${run}`);
          moveAndKeepEarlier(join(folder, "part"), path, staying);
        }
        for (const [at, kind] of kinds.entries()) {
          if (kind === "notes") expect(readFileSync(names[at]!, "utf8")).toBe(`notes ${at}`);
          if (kind === "staying") expect(readFileSync(names[at]!, "utf8")).toBe(`error_code old ${at}`);
        }
        const kept = readdirSync(folder, { withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => readFileSync(join(folder, name), "utf8"));
        // The newest of this program, whatever else has their numbers.
        for (let run = runs; run > Math.max(0, runs - 6); run--)
          expect(kept).toContain(`error_code run ${run}`);
        const olds = kinds.filter((kind) => kind === "failed").length;
        const lost =
          olds + runs - kept.filter((text) => /^error_code (?:run|old)/.test(text)).length + staying.length;
        expect(lost).toBeLessThanOrEqual(Math.max(0, olds + runs - 6));
      },
    ),
    { numRuns: repetitions(20, 1_000) },
  );
});
