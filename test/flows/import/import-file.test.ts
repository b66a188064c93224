import { describe, expect, test } from "vitest";
import { json, refusal, type Step } from "../../http/scripted-server.ts";
import type { Judge } from "../../support/gateway.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { nowBatchesOf } from "./batch-rows.ts";
import { afterBatch, beforeBatch, importWorld, isBatch, onBatch } from "./run-import.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => `R-${index},Dress,${cdn}/${index}.jpg\n`).join("");

describe("a valid file", () => {
  test("is sent in batches of at most 2,000 rows, each row once", async () => {
    const most = repetitions(20, 2000);
    nowBatchesOf(most);
    const world = await importWorld();
    const batches = [most, most, 1];
    const all = batches.reduce((sum, count) => sum + count, 0);
    await world.write("a.csv", head + rows(all));
    const { summary, stopped } = await world.import("a.csv");
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({
      total: all,
      submitted: all,
      succeeded: all,
      created: all,
      failed: 0,
    });
    expect(summary?.imports.map(({ rows, status }) => [rows, status])).toEqual(
      batches.map((count) => [count, "completed"]),
    );
    const products = await world.products();
    expect(new Set(products)).toEqual(
      new Set(Array.from({ length: all }, (_, index) => `R-${index} Dress 1`)),
    );
    expect(products.length).toBe(all);
  });

  longTest("is cut at 8 MB before 2,000 rows if the rows are long", async () => {
    const world = await importWorld();
    const long = Array.from({ length: 20 }, (_, index) => `${cdn}/${"x".repeat(1000)}${index}.jpg`).join("|");
    await world.write(
      "a.csv",
      head + Array.from({ length: 420 }, (_, i) => `R-${i},Dress,${long}\n`).join(""),
    );
    const { summary } = await world.import("a.csv");
    const bodies = world.mock.requests().filter(({ method }) => method === "POST");
    expect(summary).toMatchObject({ succeeded: 420 });
    expect(bodies.map(({ status }) => status)).toEqual([202, 202]);
    expect(summary?.imports.reduce((sum, { rows }) => sum + rows, 0)).toBe(420);
    expect(summary!.imports[0]!.rows).toBeLessThan(400);
  });

  longTest("reports its progress: checking, sending, validating, processing, reading results", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(10));
    const { events } = await world.import("a.csv");
    expect([...new Set(events.map(({ step }) => step))]).toEqual([
      "checking the file",
      "sending rows",
      "validating rows",
      "importing rows",
      "reading results",
    ]);
    expect(events.at(-1)).toEqual({ step: "reading results", done: 10, total: 10 });
  });

  test("is sent once its products were looked for, but not followed with --no-wait", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(3));
    const { summary } = await world.import("a.csv", { wait: false });
    expect(summary).toMatchObject({
      submitted: 3,
      succeeded: 0,
      imports: [{ status: "validating", rows: 3 }],
    });
    const requests = world.mock.requests().map(({ method, path }) => `${method} ${path}`);
    expect(requests).toEqual([
      "GET /v1/products?limit=100&q=R-0",
      "GET /v1/products?limit=100&q=R-1",
      "GET /v1/products?limit=100&q=R-2",
      "GET /v1/products?limit=100",
      "POST /v1/imports?mode=upsert&on_image_error=skip",
    ]);
  });
});

describe("failed rows", () => {
  const mixed = `reference,name,image_1,image_1_orientation,image_2,images
OK,Dress,${cdn}/1.jpg,front,,
PART,"Two, of four",${cdn}/2.jpg,front,${cdn}/fail-timeout.jpg,${cdn}/fail-http_error.jpg|${cdn}/4.jpg
BAD,Coat,${cdn}/fail-not_an_image.jpg,back,,
`;

  test("are written to the failed file in the columns of the input, partial rows with only their failed photos", async () => {
    const world = await importWorld();
    await world.write("a.csv", mixed);
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({
      succeeded: 1,
      partial: 1,
      failed: 1,
      created: 2,
      failed_file: "a.failed.csv",
    });
    const lines = (await world.failed()).split("\n");
    expect(lines[0]).toBe(
      "reference,name,image_1,image_1_orientation,image_2,images,error_code,error_message",
    );
    expect(lines[1]).toMatch(
      new RegExp(`^PART,"Two, of four",,,${cdn}/fail-timeout.jpg,${cdn}/fail-http_error.jpg,timeout,`),
    );
    expect(lines[2]).toMatch(new RegExp(`^BAD,Coat,${cdn}/fail-not_an_image.jpg,back,,,image_failed,`));
    expect(lines.length).toBe(4);
    expect(await world.files()).toEqual(["a.csv", "a.failed.csv"]);
  });

  test("can be fixed and imported again without adding a photo twice", async () => {
    const world = await importWorld();
    await world.write("a.csv", mixed);
    await world.import("a.csv");
    await world.write("again.csv", (await world.failed()).replaceAll("fail-", "good-"));
    const { summary } = await world.import("again.csv");
    expect(summary).toMatchObject({ succeeded: 2, created: 1, updated: 1, failed_file: null });
    expect((await world.products()).sort()).toEqual(["BAD Coat 1", "OK Dress 1", "PART Two, of four 4"]);
  });

  longTest("of an NDJSON file are written as NDJSON", async () => {
    const world = await importWorld();
    const images = [{ url: `${cdn}/1.jpg`, orientation: "front" }, { url: `${cdn}/fail-timeout.jpg` }];
    await world.write("a.ndjson", `${JSON.stringify({ reference: "P", name: "Dress", images })}\n`);
    await world.import("a.ndjson");
    expect(JSON.parse(await world.failed())).toEqual({
      reference: "P",
      name: "Dress",
      images: [{ url: `${cdn}/fail-timeout.jpg` }],
      error_code: "timeout",
      error_message: expect.stringContaining("fail-timeout.jpg"),
    });
  });

  test("are in the results file with their line in the input", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}\n"A","two\nlines",${cdn}/1.jpg\n\nB,Dress,${cdn}/fail-timeout.jpg\n`);
    const { summary } = await world.import("a.csv", { results: "results.ndjson" });
    const results = (await world.read("results.ndjson"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(
      results.map(({ file_line, line, reference, status }) => [file_line, line, reference, status]),
    ).toEqual([
      [3, 1, "A", "succeeded"],
      [6, 2, "B", "failed"],
    ]);
    expect(summary?.results_file).toBe("results.ndjson");
  });

  longTest(
    "are in the failed file in input order, together with rejected rows (--skip-invalid)",
    async () => {
      const world = await importWorld();
      await world.write(
        "a.csv",
        `${head}A,,${cdn}/1.jpg\nB,Dress,${cdn}/fail-timeout.jpg\nC,Dress,${cdn}/3.jpg\nD,Dress,nowhere\n`,
      );
      const { problems } = await world.import("a.csv");
      expect(problems.map(({ line, param }) => [line, param])).toEqual([
        [2, "name"],
        [5, "images"],
      ]);
      const { summary } = await world.import("a.csv", { skipInvalid: true });
      expect(summary).toMatchObject({ total: 4, invalid: 2, submitted: 2, succeeded: 1, failed: 1 });
      const failed = (await world.failed()).trim().split("\n").slice(1);
      expect(failed.map((line) => line.split(",")[0])).toEqual(["A", "B", "D"]);
      expect(await world.products()).toEqual(["C Dress 1"]);
    },
  );

  test("include rows with existing references in mode create", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(1));
    await world.import("a.csv");
    const { summary } = await world.import("a.csv", { mode: "create" });
    expect(summary).toMatchObject({ succeeded: 0, failed: 1 });
    expect(await world.failed()).toContain("reference_already_exists");
    expect(await world.products()).toEqual(["R-0 Dress 1"]);
  });

  longTest("do not include rows with existing products in mode skip_existing", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(1));
    await world.import("a.csv");
    await world.write("b.csv", `${head}R-0,Another name,${cdn}/9.jpg\nR-1,New,${cdn}/1.jpg\n`);
    const { summary } = await world.import("b.csv", { mode: "skip_existing" });
    expect(summary).toMatchObject({ succeeded: 2, skipped: 1, created: 1, failed_file: null });
    expect(await world.products()).toEqual(["R-0 Dress 1", "R-1 New 1"]);
  });
});

describe("a results file", () => {
  const isResults = (path: string) => path.startsWith("/_signed/imports/");
  const isList = (path: string) => path.endsWith("/rows");
  const lengthOfFirstLine = 400;
  /** The results are cut in the first `times` downloads, and cannot be listed if there are more. */
  const cut = (change: (results: string) => string, times: number) => {
    const isListed = times < 9;
    const judge: Judge = ({ path }) => {
      if (isList(path) && !isListed) return refusal(404, "import_not_found");
      return isResults(path) && times-- > 0 ? { change } : null;
    };
    return { judge };
  };
  const inFirstLine = (results: string) => results.slice(0, lengthOfFirstLine);

  test("is read again from a fresh link if it breaks off", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(5));
    const { summary, stopped } = await world.import("a.csv", {}, cut(inFirstLine, 2));
    expect(stopped).toBeUndefined();
    expect(summary).toMatchObject({ succeeded: 5, created: 5 });
  });

  test("is reported as an error if it is never complete, and unread rows are not counted", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(5));
    const { summary, stopped } = await world.import("a.csv", {}, cut(inFirstLine, 9));
    expect(stopped).toMatchObject({ type: "bad_response", code: "bad_results" });
    expect(summary).toMatchObject({ submitted: 5, succeeded: 0, failed: 0, failed_file: null });
  });

  longTest("is incomplete if it lacks rows, even if it ends with a line end", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(5));
    const firstLine = (results: string) => results.slice(0, results.indexOf("\n") + 1);
    const { stopped } = await world.import("a.csv", {}, cut(firstLine, 9));
    expect(stopped).toMatchObject({ message: expect.stringContaining("has results for 1 of 5 rows") });
  });
});

describe("no row is lost or duplicated", () => {
  test("when the results of one batch cannot be read: other results are read, and rows of a rejected batch are kept", async () => {
    nowBatchesOf(20);
    const world = await importWorld();
    await world.write("a.csv", head + rows(41));
    let batches = 0;
    const judge: Judge = (request) => {
      if (isBatch(request) && ++batches === 3) return refusal(400, "invalid_row");
      if (request.path.endsWith("/rows")) return refusal(404, "import_not_found");
      // Every read of the first import's results returns invalid data.
      const first = Object.values(world.mock.state().organizations.main.imports)[0]?.id ?? "none";
      const isOfFirst = request.path.startsWith("/_signed/imports/") && request.path.includes(first);
      return isOfFirst ? { change: () => "garbage\n" } : null;
    };
    const { summary, stopped } = await world.import("a.csv", { concurrency: 1 }, { judge });
    expect(stopped).toMatchObject({ status: 400, code: "invalid_row" });
    expect(summary).toMatchObject({ submitted: 40, succeeded: 20, failed_file: "a.failed.csv" });
    const failed = (await world.failed()).trim().split("\n").slice(1);
    expect([failed.length, failed[0]!.split(",")[0]]).toEqual([1, "R-40"]);
  });

  test("rows of an import that could not be run are kept", async () => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(3));
    await world.fault({ match: { job: "import" }, fail: { code: "internal_error", message: "no" } });
    const { summary } = await world.import("a.csv");
    expect(summary).toMatchObject({ submitted: 3, failed: 3, failed_file: "a.failed.csv" });
    expect((await world.failed()).match(/import_failed/g)).toHaveLength(3);
  });

  /** The responses to a batch and its repetitions, of which the last one repeats. */
  const responses =
    (...steps: Step[]): Judge =>
    (request) =>
      isBatch(request) ? (steps.length > 1 ? steps.shift()! : steps[0]!) : null;
  const lost: Step = (response) => response.destroy();

  test.each<[string, "unknown" | "refused" | "unsent", Step[]]>(
    sampled([
      ["a 409 request_in_progress", "unknown", [refusal(409, "request_in_progress")]],
      ["a 409 conflict", "refused", [refusal(409, "conflict")]],
      ["a 429", "unsent", [refusal(429, "rate_limit_exceeded")]],
      ["a lost response and a 429", "unknown", [lost, refusal(429, "rate_limit_exceeded")]],
      ["a lost response and a 401", "unknown", [lost, refusal(401, "invalid_api_key")]],
      ["a lost response and a 402", "unknown", [lost, refusal(402, "insufficient_credits")]],
      ["a lost response and a 400", "refused", [lost, refusal(400, "invalid_request")]],
      ["a 500", "unknown", [refusal(500, "internal_error")]],
    ]),
  )("%s makes the batch %s", async (what, kind, steps) => {
    const world = await importWorld();
    await world.write("a.csv", head + rows(2));
    const { summary } = await world.import("a.csv", {}, { judge: responses(...steps) });
    expect([summary!.unknown, summary!.refused].map((batches) => batches?.[0]?.rows)).toEqual(
      { unknown: [2, undefined], refused: [undefined, 2], unsent: [undefined, undefined] }[kind],
    );
    // The same command resends a batch that was rejected for another reason than its rows.
    expect((await world.files()).includes("a.failed.csv")).toBe(what.endsWith("a 400"));
  });

  test("keeps all photos of a failed row in the failed file, even those reported as attached", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg|${cdn}/fail-timeout.jpg\n`);
    const attached = (line: string) => {
      const result = JSON.parse(line);
      result.images[0].status = "attached";
      return `${JSON.stringify(result)}\n`;
    };
    const judge: Judge = ({ path }) => (path.startsWith("/_signed/imports/") ? { change: attached } : null);
    await world.import("a.csv", { onImageError: "fail_row" }, { judge });
    expect(await world.failed()).toContain(`A,Dress,${cdn}/1.jpg|${cdn}/fail-timeout.jpg,image_failed`);
  });

  test("does not overwrite a file created in the meantime, but uses the next name", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/fail-timeout.jpg\n`);
    const meanwhile = beforeBatch(1, () => world.write("a.failed.csv", "somebody else's"));
    const { summary } = await world.import("a.csv", {}, meanwhile);
    expect(summary?.failed_file).toBe("a.failed-2.csv");
    expect(await world.read("a.failed.csv")).toBe("somebody else's");
    expect(await world.failed()).toContain("A,Dress,");
  });

  longTest("writes a ragged row and a malformed line unchanged", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg,one cell, too many\nB,Coat,${cdn}/1.jpg\n`);
    await world.import("a.csv", { skipInvalid: true });
    expect((await world.failed()).split("\n")[1]).toMatch(
      new RegExp(`^A,Dress,${cdn}/1.jpg,one cell, too many,ragged_row,`),
    );
    const broken = '{"reference":"B","name":"Coat"';
    const good = JSON.stringify({ reference: "C", name: "Tee", images: [{ url: `${cdn}/1.jpg` }] });
    await world.write("b.ndjson", `${broken}\n["C"]\n${good}\n`);
    await world.import("b.ndjson", { skipInvalid: true });
    expect(await world.failed()).toBe(`${broken}\n["C"]\n`);
  });
});

describe("a stopped run", () => {
  test("sends nothing if one row is invalid", async () => {
    const world = await importWorld();
    await world.write("a.csv", `${head}A,Dress,${cdn}/1.jpg\nA,Coat,${cdn}/2.jpg\n`);
    const { summary, problems } = await world.import("a.csv");
    expect(summary).toBeNull();
    expect(problems.map(({ code }) => code)).toEqual(["duplicate_reference_in_file"]);
    expect(world.mock.requests()).toEqual([]);
  });

  test("sends nothing after a rejected batch, and writes its rows and unsent rows to the failed file, from a file or a pipe", async () => {
    nowBatchesOf(20);
    const world = await importWorld();
    await world.write("a.csv", head + rows(43));
    const errors = [{ line: 3, code: "invalid_row", message: "the service knows better", param: "name" }];
    const rejectSecond = () => onBatch(2, () => json(400, { errors }));
    const { summary, stopped } = await world.import("a.csv", { concurrency: 1 }, rejectSecond());
    expect(world.requestsTo("/v1/imports")).toHaveLength(2);
    expect(stopped).toMatchObject({ status: 400, code: "invalid_row" });
    expect(summary).toMatchObject({
      total: 43,
      submitted: 20,
      succeeded: 20,
      created: 20,
      failed: 0,
    });
    const failed = (await world.failed()).trim().split("\n").slice(1);
    expect(failed.length).toBe(23);
    const codes = failed.map((line) => line.split(",")[3]);
    expect(codes[2]).toBe("invalid_row");
    expect(codes.filter((code) => code === "call_refused").length).toBe(19);
    expect(failed[0]).toContain("R-20,");
    expect(failed[19]).toContain("R-39,");
    expect(failed.slice(20).map((line) => [line.split(",")[0], line.split(",")[3]])).toEqual(
      Array.from({ length: 3 }, (_, index) => [`R-${40 + index}`, "not_sent"]),
    );

    const other = await importWorld();
    await other.write("a.csv", head + rows(43));
    await other.import("a.csv", { concurrency: 1 }, { piped: true, ...rejectSecond() });
    const piped = (await other.failed()).trim().split("\n").slice(1);
    expect(piped).toEqual(failed);
  });

  longTest(
    "counts a batch without a response as neither succeeded nor failed: sending it again could add its photos twice",
    async () => {
      nowBatchesOf(20);
      const world = await importWorld();
      await world.write("a.csv", head + rows(21));
      const { summary, stopped } = await world.import(
        "a.csv",
        { concurrency: 1 },
        { piped: true, judge: (request) => (isBatch(request) ? { lost: true } : null) },
      );
      expect(stopped).toMatchObject({ type: "network" });
      expect(summary).toMatchObject({ submitted: 0, succeeded: 0, failed: 0, unknown: [{ rows: 20 }] });
      const failed = (await world.failed()).trim().split("\n").slice(1);
      expect(failed.map((line) => line.split(",")[3])).toEqual(["not_sent"]);
    },
  );

  test("sends nothing more if the file changes during the import", async () => {
    nowBatchesOf(20);
    const world = await importWorld();
    await world.write("a.csv", head + rows(21));
    const change = beforeBatch(1, () => world.write("a.csv", head + rows(22)));
    const { stopped, summary } = await world.import("a.csv", { concurrency: 1 }, change);
    expect(world.requestsTo("/v1/imports")).toHaveLength(1);
    expect(stopped).toMatchObject({ type: "input", code: "file_changed" });
    expect(summary).toMatchObject({ submitted: 20 });
  });

  test("stops sending after an interrupt and reports the accepted batches", async () => {
    nowBatchesOf(20);
    const world = await importWorld();
    await world.write("a.csv", head + rows(43));
    const { stopped, summary } = await world.import(
      "a.csv",
      { concurrency: 1 },
      { piped: true, ...afterBatch(2, world.interrupt) },
    );
    expect(stopped).toMatchObject({ type: "interrupted" });
    expect(world.requestsTo("/v1/imports")).toHaveLength(2);
    expect(summary).toMatchObject({
      total: 43,
      submitted: 40,
      succeeded: 0,
      failed_file: "stdin.failed.csv",
    });
    const failed = (await world.failed()).trim().split("\n").slice(1);
    expect(failed.length).toBe(3);
    expect([failed[0], failed.at(-1)].map((line) => line!.split(",")[0])).toEqual(["R-40", "R-42"]);
    expect(new Set(failed.map((line) => line.split(",")[3]))).toEqual(new Set(["not_sent"]));
  });
});
