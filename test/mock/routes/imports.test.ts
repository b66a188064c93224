import { describe, expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import { longTest } from "../../support/long-test.ts";
import { refusal, row, startWorld } from "../world.ts";

type World = Awaited<ReturnType<typeof startWorld>>;

const url = (name: string) => `https://cdn.example.com/${name}`;
const ndjson = (world: World, body: string | Uint8Array, query = "") =>
  world.send(`/v1/imports${query}`, { body, headers: { "content-type": "application/x-ndjson" } });

describe("a new import", () => {
  test("starts with status validating and no counts", async () => {
    const { importRows } = await startWorld();
    const got = await importRows([row("A"), row("B")], { mode: "create", on_image_error: "fail_row" });
    expect(got.status).toBe(202);
    expect(got.headers.get("retry-after")).toBe("5");
    expect(got.body).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      status: "validating",
      mode: "create",
      on_image_error: "fail_row",
      counts: { total: null, pending: 0, succeeded: 0, partial: 0, failed: 0 },
      results_url: null,
      created_at: "2026-01-05T09:00:00.000Z",
      started_at: null,
      finished_at: null,
    });
  });

  test.each(["mode=create", "on_image_error=skip"])(
    "takes options from a JSON body, and rejects them in the query: %s",
    async (query) => {
      const world = await startWorld();
      const got = await world.send(`/v1/imports?${query}`, { json: { rows: [row("A")] } });
      const param = query.split("=")[0]!;
      expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
      expect(got.body.error.message).toBe(`${param}: with application/json, send it in the body instead`);
      expect((await world.send("/v1/imports?unknown=1", { json: { rows: [row("A")] } })).status).toBe(202);
    },
  );

  test("takes options from the query for NDJSON, and counts blank lines without reading them as rows", async () => {
    const world = await startWorld();
    const lines = ["", JSON.stringify(row("A")), "  ", `${JSON.stringify(row("B"))}\r`, "", ""];
    const got = await ndjson(world, `\ufeff${lines.join("\n")}`, "?mode=create&on_image_error=fail_row");
    expect([got.status, got.body.mode, got.body.on_image_error]).toEqual([202, "create", "fail_row"]);
    const rows = (await world.send(`/v1/imports/${got.body.id}/rows`)).body.data;
    expect(rows.map(({ line, reference }: { line: number; reference: string }) => [line, reference])).toEqual(
      [
        [2, "A"],
        [4, "B"],
      ],
    );
  });

  test("treats only spaces, tabs and carriage returns as blank; other control characters are invalid JSON", async () => {
    const world = await startWorld();
    const blank = await ndjson(world, ` \t\r\n${JSON.stringify(row("A"))}\n\t`);
    expect(blank.status).toBe(202);
    const got = await ndjson(world, `\u0000\n${JSON.stringify(row("A"))}\n\f\n\u000b \n`);
    expect([
      got.status,
      got.body.errors.map((one: { line: number; code: string }) => [one.line, one.code]),
    ]).toEqual([
      400,
      [
        [1, "invalid_row"],
        [3, "invalid_row"],
        [4, "invalid_row"],
      ],
    ]);
  });

  test("uses upsert and skip by default", async () => {
    const world = await startWorld();
    const inline = (await world.importRows([row("A")])).body;
    const lines = (await ndjson(world, JSON.stringify(row("A")))).body;
    for (const { mode, on_image_error } of [inline, lines]) {
      expect([mode, on_image_error]).toEqual(["upsert", "skip"]);
    }
  });

  test("accepts 1 to 2,000 rows", async () => {
    const world = await startWorld();
    const rows = (count: number) => Array.from({ length: count }, (_, index) => row(`R${index}`));
    const bad = [400, refusal("invalid_request", "invalid_request", "rows")];
    const statusAndBody = ({ status, body }: { status: number; body: unknown }) => [status, body];
    const lines = (count: number) =>
      rows(count)
        .map((one) => JSON.stringify(one))
        .join("\n");
    expect((await world.importRows(rows(1))).status).toBe(202);
    expect((await world.importRows(rows(2_000))).status).toBe(202);
    expect((await ndjson(world, lines(2_000))).status).toBe(202);
    expect(statusAndBody(await world.importRows([]))).toEqual(bad);
    expect(statusAndBody(await world.importRows(rows(2_001)))).toEqual(bad);
    expect(statusAndBody(await ndjson(world, lines(2_001)))).toEqual(bad);
    expect(statusAndBody(await ndjson(world, "\n \n"))).toEqual(bad);
    expect(statusAndBody(await ndjson(world, ""))).toEqual(bad);
  });

  longTest("rejects more than 8 MB", async () => {
    const world = await startWorld();
    const line = JSON.stringify(row("A"));
    const body = (bytes: number) => line + "\n".repeat(bytes - line.length);
    expect((await ndjson(world, body(limits.importBodyBytes))).status).toBe(202);
    const over = await ndjson(world, body(limits.importBodyBytes + 1));
    expect([over.status, over.body]).toEqual([413, refusal("invalid_request", "body_too_large")]);
  });

  test.each([
    ["?mode=replace", "mode"],
    ["?on_image_error=stop", "on_image_error"],
  ])("rejects an unknown option: %s", async (query, param) => {
    const world = await startWorld();
    const got = await ndjson(world, JSON.stringify(row("A")), query);
    expect([got.status, got.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
    const inline = await world.importRows([row("A")], { [param]: "x" });
    expect([inline.status, inline.body]).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });

  test("rejects another content type", async () => {
    const { send } = await startWorld();
    const got = await send("/v1/imports", { body: "a,b", headers: { "content-type": "text/csv" } });
    expect([got.status, got.body]).toEqual([415, refusal("invalid_request", "unsupported_media_type")]);
  });
});

describe("validation", () => {
  const problem = (line: number, code: string, param?: string) => ({
    line,
    code,
    message: expect.any(String),
    ...(param !== undefined && { param }),
  });

  test("reports every problem of every row in line order, and creates nothing", async () => {
    const world = await startWorld();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const body = [
      JSON.stringify(row("GOOD")),
      "{not json",
      "null",
      "[]",
      JSON.stringify({ reference: " GOOD ", name: "", images: [] }),
      JSON.stringify({ ...row("B"), sex: "men", colour: "red" }),
      JSON.stringify(
        row("C", { images: [{ url: "http://a.example.com/x" }, { image_id: "x", url: url("x") }] }),
      ),
      `{"reference":"D","name":"N","sex":${deep},"images":[{"url":"${url("x")}"}]}`,
      JSON.stringify(row("E", { images: Array(21).fill({ url: url("x") }) })),
      JSON.stringify(row("GOOD")),
    ].join("\n");
    const got = await ndjson(world, body);
    expect(got.status).toBe(400);
    expect(got.body).toEqual({
      errors: [
        problem(2, "invalid_row"),
        problem(3, "invalid_row"),
        problem(4, "invalid_row"),
        problem(5, "invalid_row", "name"),
        problem(5, "invalid_row", "images"),
        problem(5, "duplicate_reference_in_file", "reference"),
        problem(6, "invalid_row", "colour"),
        problem(6, "invalid_row", "sex"),
        problem(7, "invalid_row", "images[0].url"),
        problem(7, "invalid_row", "images[1]"),
        problem(7, "invalid_row", "images[1].image_id"),
        problem(8, "invalid_row"),
        problem(9, "invalid_row", "images"),
        problem(10, "duplicate_reference_in_file", "reference"),
      ],
    });
    expect(got.body.errors[5].message).toContain("line 1");
    const { products, imports } = world.mock.state().organizations.main;
    expect([products, imports]).toEqual([[], []]);
  });

  test("reports invalid UTF-8 with its line", async () => {
    const world = await startWorld();
    const good = new TextEncoder().encode(`${JSON.stringify(row("Ä"))}\n`);
    const bad = Buffer.from(JSON.stringify(row("Ä")), "latin1");
    const got = await ndjson(world, Buffer.concat([good, bad]));
    expect([got.status, got.body]).toEqual([400, { errors: [problem(2, "invalid_row")] }]);
  });

  test("counts inline rows from 1, and replays a rejection for the same key", async () => {
    const { send } = await startWorld();
    const go = () =>
      send("/v1/imports", { json: { rows: [row("A"), {}] }, headers: { "idempotency-key": "k" } });
    const first = await go();
    expect(first.body.errors.map(({ line }: { line: number }) => line)).toEqual([2, 2, 2]);
    const second = await go();
    expect([second.status, second.body, second.headers.get("idempotent-replayed")]).toEqual([
      400,
      first.body,
      "true",
    ]);
  });
});

describe("an import in progress", () => {
  test("takes one second to validate, then 10 ms per row in small steps", async () => {
    const { send, importRows, clock } = await startWorld();
    const rows = Array.from({ length: 100 }, (_, index) => row(`R${index}`));
    const { id } = (await importRows(rows)).body;
    const look = async () => {
      const { body, headers } = await send(`/v1/imports/${id}`);
      return [body.status, body.counts, headers.get("retry-after")];
    };
    const counts = (succeeded: number) => ({
      total: 100,
      pending: 100 - succeeded,
      succeeded,
      partial: 0,
      failed: 0,
    });
    clock.advance(999);
    expect((await look())[0]).toBe("validating");
    clock.advance(1);
    expect(await look()).toEqual(["processing", counts(0), "5"]);
    clock.advance(100);
    expect(await look()).toEqual(["processing", counts(10), "5"]);
    clock.advance(899);
    expect(await look()).toEqual(["processing", counts(95), "5"]);
    clock.advance(1);
    expect(await look()).toEqual(["completed", counts(100), null]);
    const { body } = await send(`/v1/imports/${id}`);
    expect([body.started_at, body.finished_at]).toEqual([
      "2026-01-05T09:00:01.000Z",
      "2026-01-05T09:00:02.000Z",
    ]);
  });

  test("is faster at a higher speed, and has a shorter Retry-After", async () => {
    const { send, importRows, clock } = await startWorld({ speed: 2 });
    const got = await importRows([row("A")]);
    expect(got.headers.get("retry-after")).toBe("3");
    clock.advance(505);
    expect((await send(`/v1/imports/${got.body.id}`)).body.status).toBe("completed");
    const fast = await startWorld({ speed: 1_000 });
    expect((await fast.importRows([row("A")])).headers.get("retry-after")).toBe("0");
  });

  test("shows a row as pending until its turn, and filters by status meanwhile", async () => {
    const { send, importRows, clock } = await startWorld();
    const rows = Array.from({ length: 20 }, (_, index) => row(`R${index}`));
    const { id } = (await importRows(rows)).body;
    clock.advance(1_050);
    const pending = (await send(`/v1/imports/${id}/rows?status=pending&limit=2`)).body;
    expect(pending.data[0]).toEqual({
      line: 6,
      reference: "R5",
      status: "pending",
      action: null,
      product_id: null,
      images: [],
      error: null,
    });
    expect((await send(`/v1/imports/${id}/rows?status=succeeded`)).body.data).toHaveLength(5);
    clock.advance(100);
    // Rows 8 to 15 finished meanwhile; the next page starts after row 7 with the rows that are still pending.
    const next = (await send(`/v1/imports/${id}/rows?status=pending&limit=2&cursor=${pending.next_cursor}`))
      .body;
    expect(next.data.map(({ line }: { line: number }) => line)).toEqual([16, 17]);
    const other = await send(`/v1/imports/${id}/rows?status=failed&cursor=${pending.next_cursor}`);
    expect([other.status, other.body]).toEqual([400, refusal("invalid_request", "invalid_cursor", "cursor")]);
    const bad = await send(`/v1/imports/${id}/rows?status=done`);
    expect([bad.status, bad.body]).toEqual([400, refusal("invalid_request", "invalid_request", "status")]);
  });

  test("creates one product for two simultaneous imports of one reference", async () => {
    const { importRows, clock, mock } = await startWorld();
    await importRows([row("A")], { mode: "create" });
    await importRows([row("A")], { mode: "create" });
    await importRows([row("A")]);
    clock.advance(5_000);
    const { products, imports } = mock.state().organizations.main;
    expect(products).toHaveLength(1);
    expect(imports.map(({ rows }) => rows[0]!.result.action)).toEqual(["created", "none", "updated"]);
  });
});

describe("an import row", () => {
  const attached = (index: number, name: string, orientation = "front") => ({
    index,
    source: url(name),
    orientation,
    status: "attached",
    image_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
  });

  test("creates a product for a new reference in every mode", async () => {
    for (const mode of ["upsert", "create", "skip_existing"]) {
      const { send, runImport } = await startWorld();
      const images = [{ url: url("1.jpg"), orientation: "front" }, { url: url("2.png") }];
      const { job, results } = await runImport([row(" A ", { sex: "kid", description: "D", images })], {
        mode,
      });
      expect(job.status).toBe("completed");
      expect(results).toEqual([
        {
          line: 1,
          reference: "A",
          status: "succeeded",
          action: "created",
          product_id: expect.any(String),
          images: [attached(0, "1.jpg"), attached(1, "2.png", "unlabeled")],
          error: null,
        },
      ]);
      const product = (await send(`/v1/products/${results[0].product_id}`)).body;
      expect(product).toMatchObject({ reference: "A", name: "Product  A ", sex: "kid", description: "D" });
      expect(product.images).toEqual([
        { id: results[0].images[0].image_id, orientation: "front", origin: "user" },
        { id: results[0].images[1].image_id, orientation: "unlabeled", origin: "user" },
      ]);
      expect((await send(`/v1/images/${results[0].images[1].image_id}`)).body.mime_type).toBe("image/png");
    }
  });

  test("sets the name and the given fields with upsert, and appends the images, each time", async () => {
    const { send, createProduct, runImport, clock } = await startWorld();
    const { body: made } = await createProduct({ reference: "A", description: "old", sex: "kid" });
    clock.advance(1_000);
    const { results } = await runImport([row("A", { name: "New", sex: "female" })]);
    expect(results[0]).toMatchObject({ status: "succeeded", action: "updated", product_id: made.id });
    const changed = (await send(`/v1/products/${made.id}`)).body;
    expect(changed).toMatchObject({ name: "New", description: "old", sex: "female" });
    expect(changed.updated_at > made.updated_at).toBe(true);
    expect(changed.images).toHaveLength(2);
    await runImport([row("A", { name: "New", sex: "female" })]);
    const again = (await send(`/v1/products/${made.id}`)).body;
    // New photos alone do not change updated_at.
    expect([again.images.length, again.updated_at]).toEqual([3, changed.updated_at]);
  });

  test("fails with create for an existing reference, and leaves its product unchanged", async () => {
    const { send, createProduct, runImport } = await startWorld();
    const { body: made } = await createProduct({ reference: "A" });
    const { job, results } = await runImport([row("A"), row("B")], { mode: "create" });
    expect([job.status, job.counts]).toEqual([
      "completed_with_errors",
      { total: 2, pending: 0, succeeded: 1, partial: 0, failed: 1 },
    ]);
    expect(results[0]).toMatchObject({
      status: "failed",
      action: "none",
      product_id: null,
      images: [{ index: 0, status: "failed", error: { code: "row_failed" } }],
      error: { code: "reference_already_exists" },
    });
    expect((await send(`/v1/products/${made.id}`)).body).toEqual(made);
  });

  test("is skipped with skip_existing for an existing reference, and leaves its product unchanged", async () => {
    const { send, createProduct, runImport } = await startWorld();
    const { body: made } = await createProduct({ reference: "A" });
    const images = [{ url: url("fail-timeout") }];
    const { job, results } = await runImport([row("A", { images })], { mode: "skip_existing" });
    expect(job.status).toBe("completed");
    expect(results[0]).toEqual({
      line: 1,
      reference: "A",
      status: "succeeded",
      action: "skipped",
      product_id: made.id,
      images: [],
      error: null,
    });
    expect((await send(`/v1/products/${made.id}`)).body).toEqual(made);
  });
});

describe("images that fail", () => {
  const codes = (results: { images: { error?: { code: string } }[] }[]) =>
    results.map(({ images }) => images.map(({ error }) => error?.code ?? "attached"));
  const images = [{ url: url("1.jpg") }, { url: url("fail-timeout.jpg?x=/y") }];
  const allFail = [{ url: url("fail-http_error.jpg") }, { url: url("a/fail-too_large") }];

  test("make a row partial with skip, or failed if all images fail", async () => {
    const { runImport, mock } = await startWorld();
    const { job, results } = await runImport([row("A", { images }), row("B", { images: allFail })]);
    expect([job.status, job.counts]).toEqual([
      "completed_with_errors",
      { total: 2, pending: 0, succeeded: 0, partial: 1, failed: 1 },
    ]);
    expect(results[0]).toMatchObject({ status: "partial", action: "created", error: null });
    expect(results[1]).toMatchObject({
      status: "failed",
      action: "none",
      product_id: null,
      error: { code: "image_failed" },
    });
    expect(codes(results)).toEqual([
      ["attached", "timeout"],
      ["http_error", "too_large"],
    ]);
    const state = mock.state().organizations.main;
    expect([state.products.length, state.images.length]).toEqual([1, 1]);
  });

  test("fail the row with fail_row, and its other images are discarded", async () => {
    const { runImport, mock, createProduct } = await startWorld();
    const { body: made } = await createProduct({ reference: "C" });
    const rows = [row("A", { images }), row("B", { images: allFail }), row("C", { images, name: "X" })];
    const { results } = await runImport(rows, { on_image_error: "fail_row" });
    for (const one of results) {
      expect(one).toMatchObject({
        status: "failed",
        action: "none",
        product_id: null,
        error: { code: "image_failed" },
      });
    }
    expect(codes(results)).toEqual([
      ["row_failed", "timeout"],
      ["http_error", "too_large"],
      ["row_failed", "timeout"],
    ]);
    const state = mock.state().organizations.main;
    expect(state.images).toHaveLength(1);
    expect(state.products.map(({ id, name }) => [id, name])).toEqual([[made.id, made.name]]);
  });

  test("include unknown image IDs, while a known one is attached unchanged", async () => {
    const { runImport, imageId } = await startWorld();
    const ours = await imageId();
    const theirs = await imageId("ak_mock_other");
    const { results } = await runImport([
      row("A", { images: [{ image_id: ours, orientation: "back" }, { image_id: theirs }] }),
    ]);
    expect(results[0].images).toEqual([
      { index: 0, source: ours, orientation: "back", status: "attached", image_id: ours },
      {
        index: 1,
        source: theirs,
        orientation: "unlabeled",
        status: "failed",
        error: { code: "image_not_found", message: expect.any(String) },
      },
    ]);
  });

  test.each([
    ["fail-not_an_image.jpg", "not_an_image"],
    ["fail-something_new-1.jpg", "something_new"],
    ["deep/er/fail-blocked_host", "blocked_host"],
    ["fail-x/photo.jpg", "attached"],
    ["photo-fail-timeout.jpg", "attached"],
    ["photo.jpg?name=/fail-timeout", "attached"],
    ["fail-", "attached"],
    ["fail-_timeout", "attached"],
    ["fail-timeout_.jpg", "timeout"],
    ["fail-timeout_1.jpg", "timeout"],
    ["fail-too__large", "too"],
    ["fail-1/fail-2fail-timeout", "attached"],
  ])("follow the code in the URL: %s gives %s", async (name, code) => {
    const { runImport } = await startWorld();
    const { results } = await runImport([row("A", { images: [{ url: url(name) }] })]);
    expect(codes(results)).toEqual([[code]]);
  });
});

describe("results", () => {
  test("have one line per row in input order, behind a newly signed URL that expires", async () => {
    const world = await startWorld();
    const { send, runImport, clock } = world;
    const rows = [row("B", { images: [{ url: url("fail-timeout") }] }), row("A")];
    const { job, results } = await runImport(rows);
    const response = await fetch(job.results_url);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const text = await response.text();
    expect(text.endsWith("\n")).toBe(true);
    expect(
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(results);
    expect(results.map(({ reference }: { reference: string }) => reference)).toEqual(["B", "A"]);
    clock.advance(3_600_000);
    const late = await send(job.results_url, { key: null });
    expect([late.status, late.body]).toEqual([403, refusal("forbidden", "url_expired")]);
    const fresh = (await send(`/v1/imports/${job.id}`)).body.results_url;
    expect((await fetch(fresh)).status).toBe(200);
  });

  test("are listed in pages, in input order", async () => {
    const { send, runImport } = await startWorld();
    const { job } = await runImport(Array.from({ length: 30 }, (_, index) => row(`R${index}`)));
    const first = (await send(`/v1/imports/${job.id}/rows`)).body;
    const second = (await send(`/v1/imports/${job.id}/rows?cursor=${first.next_cursor}`)).body;
    expect([first.data.length, first.has_more, second.data.length, second.has_more]).toEqual([
      25,
      true,
      5,
      false,
    ]);
    const lines = [...first.data, ...second.data].map(({ line }) => line);
    expect(lines).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });
});
