import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { oddPhoto, photo } from "../photos/photo-folder.ts";
import { importWorld } from "./run-import.ts";

const head = "reference,name,image_front,image_2\n";
const why = "cannot read the size of the image";
const failedImage = (index: number, source: string, orientation: string) => ({
  ...{ index, source, orientation, status: "failed" },
  error: { code: "invalid_request", message: why },
});

/** Complete photos, and `cut.png`, truncated after the first bytes: only the service notices that. */
async function worldWithCut(rows: string) {
  const world = await importWorld();
  for (const name of ["a.png", "b.png", "c.png"]) writeFileSync(join(world.folder, name), photo(name));
  writeFileSync(join(world.folder, "cut.png"), oddPhoto);
  await world.write("a.csv", head + rows);
  const results = async () =>
    (await world.read("results.ndjson"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { ...world, results };
}

describe("a photo that the service rejects", () => {
  test("is the only thing in the failed file; its row and all others are imported", async () => {
    const world = await worldWithCut("A,Dress,a.png,cut.png\nB,Coat,cut.png,\nC,Hat,c.png,\n");
    const { summary, stopped } = await world.import("a.csv", { results: "results.ndjson" });
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({
      ...{ total: 3, submitted: 3, succeeded: 1, partial: 1, failed: 1, created: 2 },
      failed_file: "a.failed.csv",
    });
    expect(await world.products()).toEqual(["A Dress 1", "C Hat 1"]);
    expect(await world.failed()).toBe(
      `reference,name,image_front,image_2,error_code,error_message\n` +
        `A,Dress,,cut.png,invalid_request,cut.png: ${why}\n` +
        `B,Coat,cut.png,,image_failed,the service rejected 1 of 1 photos; cut.png: ${why}\n`,
    );
    const [a, b, c] = await world.results();
    expect(a).toMatchObject({ reference: "A", status: "partial", action: "created", file_line: 2 });
    expect(a.images).toEqual([
      expect.objectContaining({ index: 0, orientation: "front", status: "attached" }),
      failedImage(1, "cut.png", "unlabeled"),
    ]);
    expect(b).toMatchObject({
      ...{ reference: "B", status: "failed", action: "none", product_id: null, file_line: 3 },
      images: [failedImage(0, "cut.png", "front")],
      error: { code: "image_failed", message: "the service rejected 1 of 1 photos" },
    });
    expect(c).toMatchObject({ reference: "C", status: "succeeded" });
    // After a fix, the failed file imports the other rows, each once.
    writeFileSync(join(world.folder, "cut.png"), photo("mended"));
    await world.write("mended.csv", await world.failed());
    expect((await world.import("mended.csv")).summary).toMatchObject({ created: 1, updated: 1, failed: 0 });
    expect((await world.products()).sort()).toEqual(["A Dress 2", "B Coat 1", "C Hat 1"]);
  });

  test("fails its row with fail_row, and the other photos are not attached", async () => {
    const world = await worldWithCut("A,Dress,a.png,cut.png\nC,Hat,c.png,\n");
    const { summary } = await world.import("a.csv", { onImageError: "fail_row", results: "results.ndjson" });
    expect(summary).toMatchObject({ succeeded: 1, partial: 0, failed: 1, created: 1 });
    expect(await world.products()).toEqual(["C Hat 1"]);
    const [a] = await world.results();
    expect(a.images).toEqual([
      {
        ...{ index: 0, source: "a.png", orientation: "front", status: "failed" },
        error: { code: "row_failed", message: "another photo of the row was rejected" },
      },
      failedImage(1, "cut.png", "unlabeled"),
    ]);
    expect(await world.failed()).toContain("A,Dress,a.png,cut.png,image_failed,");
  });

  test("is reported by its path, not by the ID of its upload", async () => {
    const world = await worldWithCut("A,Dress,a.png,https://cdn.example.com/fail-timeout.jpg\n");
    await world.import("a.csv", { onImageError: "fail_row" });
    const [, line] = (await world.failed()).split("\n");
    expect(line).toMatch(
      /^A,Dress,a\.png,https:\S+,image_failed,.*; a\.png: the row failed, so its images were discarded; https:/,
    );
  });

  test.each(sampled(["skip", "fail_row"] as const, 1))(
    "fails its row, fields included, if all other photos are attached (%s)",
    async (onImageError) => {
      const world = await worldWithCut("A,Dress,a.png,\nB,Coat,b.png,\n");
      await world.import("a.csv");
      await world.write("b.csv", `${head}A,Silk dress,a.png,cut.png\nB,Long coat,b.png,\n`);
      const before = world.writes().length;
      const { summary } = await world.import("b.csv", { results: "results.ndjson", onImageError });
      expect(summary).toMatchObject({ submitted: 2, succeeded: 1, partial: 0, failed: 1, updated: 1 });
      expect(world.writes().slice(before)).toEqual([
        "POST /v1/images 400",
        expect.stringMatching(/^PATCH .* 200$/),
      ]);
      expect((await world.products()).sort()).toEqual(["A Dress 1", "B Long coat 1"]);
      expect((await world.failed()).split("\n").slice(1, 2)).toEqual([
        `A,Silk dress,a.png,cut.png,image_failed,the service rejected 1 of 2 photos; cut.png: ${why}`,
      ]);
      const [a] = await world.results();
      expect(a).toMatchObject({ line: null, status: "failed", action: "none" });
      expect(a.images).toEqual([failedImage(1, "cut.png", "unlabeled")]);
    },
  );

  longTest("stays rejected, in any number, and does not affect the next run", async () => {
    const cuts = Array.from({ length: 25 }, (_, at) => `cut${at}.png`);
    const rows = cuts.map((name, at) => `B${at},Coat,${name},https://cdn.example.com/${at}.jpg\n`).join("");
    const world = await worldWithCut(rows);
    for (const name of cuts) {
      writeFileSync(join(world.folder, name), Buffer.concat([oddPhoto, Buffer.from(name)]));
    }
    expect((await world.import("a.csv")).summary).toMatchObject({ created: 25, partial: 25 });
    await world.write("b.csv", `${head}${rows}N,Hat,a.png,\n`);
    expect((await world.import("b.csv")).summary).toMatchObject({ created: 1, updated: 0, failed: 25 });
    expect(await world.products()).toHaveLength(26);
    expect((await world.products()).every((product) => product.endsWith(" 1"))).toBe(true);
  });

  longTest("is reported with --no-wait", async () => {
    const world = await worldWithCut("A,Dress,a.png,\nB,Coat,cut.png,\nC,Hat,c.png,cut.png\n");
    const { summary } = await world.import("a.csv", { wait: false });
    expect(summary).toMatchObject({
      ...{ submitted: 3, failed: 1, partial: 1, created: 0, updated: 0, failed_file: "a.failed.csv" },
      imports: [{ rows: 2 }],
    });
    expect((await world.failed()).split("\n").slice(1, 3)).toEqual([
      `B,Coat,cut.png,,image_failed,the service rejected 1 of 1 photos; cut.png: ${why}`,
      `C,Hat,,cut.png,invalid_request,cut.png: ${why}`,
    ]);
  });

  longTest("is reported again if another import has run in the meantime", async () => {
    const world = await worldWithCut("A,Dress,a.png,cut.png\n");
    await world.import("a.csv", { wait: false });
    world.clock.advance(60_000);
    await world.write("b.csv", `${head}B,Coat,b.png,\n`);
    await world.import("b.csv");
    for (const wait of [false, false, true]) {
      const { summary } = await world.import("a.csv", { wait });
      expect(summary).toMatchObject({ failed: 1, succeeded: 0, imports: [] });
    }
    expect((await world.products()).sort()).toEqual(["A Dress 1", "B Coat 1"]);
  });

  longTest("is reported by the process that resumes the run as well", async () => {
    const world = await worldWithCut("A,Dress,a.png,cut.png\nB,Coat,b.png,\n");
    const first = await world.import("a.csv", { wait: false });
    expect(first.summary).toMatchObject({ submitted: 2 });
    world.clock.advance(60_000);
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ run_id: "run_1", submitted: 2, succeeded: 1, partial: 1 });
    expect(await world.failed()).toContain(`A,Dress,,cut.png,invalid_request,cut.png: ${why}\n`);
  });

  test("is uploaded once per run, even if other clients change products in the meantime", async () => {
    const world = await worldWithCut("A,Dress,a.png,cut.png\n");
    await world.import("a.csv");
    const uploads = world.writes().filter((write) => write.startsWith("POST /v1/images"));
    expect(uploads.sort()).toEqual(["POST /v1/images 201", "POST /v1/images 400"]);
  });
});

describe("an upload error that ends the run", () => {
  const rows = "A,Dress,a.png,\nB,Coat,b.png,\n";

  test.each(sampled([402, 409], 1))(
    "with %i writes piped rows to the failed file and shows the next step",
    async (status) => {
      const world = await worldWithCut(rows);
      await world.fault({ match: { path: "/v1/images" }, status });
      const { summary, stopped } = await world.import("a.csv", {}, { piped: true });
      expect(stopped).toMatchObject({ status });
      expect(summary).toMatchObject({ submitted: 0, failed_file: "stdin.failed.csv" });
      expect((await world.failed()).match(/,not_sent,/g)).toHaveLength(2);
    },
  );

  longTest("writes rows of a file to a failed file only with --failed", async () => {
    const world = await worldWithCut(rows);
    await world.fault({ match: { path: "/v1/images" }, status: 402 });
    expect((await world.import("a.csv")).summary).toMatchObject({ failed_file: null });
    expect((await world.import("a.csv", { failed: "f.csv" })).summary).toMatchObject({
      failed_file: "f.csv",
    });
    expect((await world.read("f.csv")).match(/,not_sent,/g)).toHaveLength(2);
    await world.fault();
    await world.import("f.csv");
    expect((await world.import("a.csv")).summary).toMatchObject({ unchanged: 2, submitted: 0 });
    expect((await world.products()).sort()).toEqual(["A Dress 1", "B Coat 1"]);
  });
});
