import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Job } from "../../../src/cli/commands/mcp/jobs.ts";
import { runRows } from "../../../src/cli/commands/mcp/run-rows.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { allAllowed, clients, type Json, openAgent } from "./agent.ts";

const names = [
  ...["products_find", "products_get", "products_change", "products_delete", "images_show"],
  ...["tasks_find", "models_find", "export_rows", "import_check", "import_start"],
  ...["generate_start", "sync_start", "run_status", "run_rows"],
];
const reading = names.filter((name) => !/change|delete|import_start|generate|sync/.test(name));

test.each(sampled(clients, 1))("the client %s lists and calls every tool", async (client) => {
  const world = await createWorld({ mock: { demo: 3 } });
  world.write("a.csv", "reference,name,image_front\nCOAT-1,Coat,https://cdn.example.com/a.jpg\nCOAT-2,,x\n");
  world.write("b.csv", "reference,name,image_front\nCOAT-1,Coat,https://cdn.example.com/a.jpg\n");
  const agent = await openAgent(world, { client });
  expect((await agent.list()).map(({ name }) => name)).toEqual(names);

  const page = await agent.call("products_find", { limit: 1 });
  expect(page).toMatchObject({ data: [{ reference: expect.any(String) }], has_more: true });
  const rest = await agent.call("products_find", { cursor: page.next_cursor });
  expect(rest.data).toHaveLength(2);
  const { reference, id, images } = page.data[0];
  expect(await agent.call("products_get", { product: reference })).toEqual(page.data[0]);

  const picture = await agent.call("images_show", { image_id: images[0].id });
  expect(picture.mimeType).toBe("image/jpeg");
  expect(picture.bytes.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));

  expect(await agent.call("products_change", { action: "update", product: id, name: "Cape" })).toMatchObject({
    id,
    name: "Cape",
  });

  const check = await agent.call("import_check", { file: "a.csv" });
  expect(check).toMatchObject({ isError: true, state: "ended", exit: 3, result: { total: 2, invalid: 1 } });
  const problems = await agent.call("run_rows", { run: check.run });
  expect(problems.rows.map(({ line, code }: Json) => [line, code])).toContainEqual([3, "invalid_row"]);

  const started = await agent.call("import_start", { file: "b.csv" });
  expect(started.run).toMatch(/^run_/);
  const imported = await agent.call("run_status", { run: started.run, wait_seconds: 45 });
  expect(imported).toMatchObject({
    run: started.run,
    state: "ended",
    exit: 0,
    outcome: "success",
    result: { created: 1 },
  });
  expect((await agent.call("run_rows", { run: started.run })).rows).toMatchObject([
    { file_line: 2, reference: "COAT-1", status: "succeeded" },
  ]);

  const model = (await agent.call("models_find", { limit: 1 })).data[0].id;
  const look = { products: ["COAT-1"], models: [model], backgrounds: ["studio"], angles: ["full-front"] };
  const generating = await agent.call("generate_start", { kind: "tryon", ...look });
  expect(agent.questions).toEqual([
    "Generate 1 image of 1 product? Each one costs credits (balance unknown).",
  ]);
  const generated = await agent.call("run_status", { run: generating.run, wait_seconds: 45 });
  expect(generated).toMatchObject({ state: "ended", exit: 0, result: { queued: 1, succeeded: 1 } });
  const [task] = (await agent.call("run_rows", { run: generating.run })).rows;
  expect(task).toMatchObject({ line: 1, status: "succeeded" });
  expect(await agent.call("run_rows", { run: generating.run, status: "failed", limit: 1 })).toEqual({
    rows: [],
    next_cursor: null,
  });
  expect((await agent.call("images_show", { task_id: task.id })).mimeType).toBe("image/jpeg");
  expect((await agent.call("tasks_find", { product: "COAT-1" })).data).toMatchObject([{ id: task.id }]);

  const exported = await agent.call("export_rows", { roles: ["tryon"] });
  expect(exported.data.flatMap(({ assets }: Json) => assets)).toMatchObject([
    { role: "tryon", task_id: task.id },
  ]);
  expect(JSON.stringify([page, exported, task])).not.toMatch(/"\w*url|sig=/);

  const mirror = await agent.call("sync_start", { folder: "images" });
  expect(await agent.call("run_status", { run: mirror.run, wait_seconds: 45 })).toMatchObject({
    state: "ended",
    exit: 0,
    result: { failed: 0, index_file: "images/catalogue.ndjson" },
  });
  expect(existsSync(join(world.folder, "images", "catalogue.ndjson"))).toBe(true);

  const deleted = await agent.call("products_delete", { products: [reference] });
  expect(deleted).toEqual({ id, reference, deleted: true });
  expect(agent.questions[1]).toBe(`Delete 1 product?\n${reference} (Cape)`);
  expect(await agent.call("products_get", { product: reference })).toMatchObject({
    isError: true,
    outcome: "not found",
    error: { code: "product_not_found", exit: 5 },
  });

  await agent.close();
  expect(await agent.running).toMatchObject({ exit: 0, stderr: "" });
  // Nothing but the protocol, and the key nowhere.
  for (const line of agent.written) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  expect(agent.written.join("\n")).not.toContain(world.mock.apiKey);
});

test("tools only read unless more is allowed, and each has its hints", async () => {
  const world = await createWorld();
  const agent = await openAgent(world, { words: [] });
  const listed = await agent.list();
  expect(listed.map(({ name }) => name)).toEqual(reading);
  await expect(agent.call("products_delete", { products: ["A"] })).rejects.toThrow(/products_delete/);
  const all = await openAgent(world);
  const hints = Object.fromEntries((await all.list()).map(({ name, annotations }) => [name, annotations]));
  for (const [name, hint] of Object.entries(hints))
    expect([name, hint]).toEqual([
      name,
      {
        title: expect.any(String),
        readOnlyHint: reading.includes(name),
        destructiveHint: ["products_change", "products_delete", "import_start"].includes(name),
        idempotentHint: name !== "products_change",
        openWorldHint: true,
      },
    ]);
});

test("runs of an earlier session, and those of a terminal, are found", async () => {
  const world = await createWorld();
  world.write("b.csv", "reference,name,image_front\nCOAT-1,Coat,https://cdn.example.com/a.jpg\n");
  const { run_id } = JSON.parse((await world.cat("import b.csv --json")).stdout);
  const agent = await openAgent(world, { words: [] });
  expect(await agent.call("run_status", { run: run_id })).toMatchObject({ run_id, status: "ended", exit: 0 });
  expect((await agent.call("run_rows", { run: run_id })).rows).toMatchObject([{ reference: "COAT-1" }]);
  expect(await agent.call("run_status", { run: "run_none" })).toMatchObject({
    isError: true,
    error: { code: "run_not_found" },
  });
});

test("wrong input is one clear error, and nothing is sent", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const agent = await openAgent(world, { words: allAllowed });
  const before = world.requests().length;
  const wrong = [
    ["products_change", { action: "create", product: "A" }, "create does not take product"],
    ["products_change", { action: "create", name: "A" }, "create needs reference"],
    ["products_change", { action: "create", reference: "A" }, "create needs photos"],
    [
      "products_change",
      { action: "create", reference: "A", photos: [{ image_id: "A" }], description: null },
      "create cannot empty description",
    ],
    ["products_change", { action: "update", product: "A" }, "update needs a field to change"],
    [
      "products_change",
      { action: "update", product: "A", name: "B", photos: [{ file: "a.png" }] },
      "update does not take photos",
    ],
    [
      "products_change",
      { action: "attach", product: "A", photos: [{ file: "a.png" }], name: "B" },
      "attach does not take name",
    ],
    ["products_change", { action: "attach", product: "A", photos: [{}] }, "either a file or an image_id"],
    [
      "products_change",
      { action: "attach", product: "A", photos: [{ image_id: "/etc/passwd" }] },
      "no image has the ID",
    ],
    ["images_show", {}, "either image_id or task_id"],
    ["generate_start", { kind: "tryon" }, "tryon needs a file, or products, models, backgrounds and angles"],
    ["generate_start", { kind: "tryon", file: "a.csv", models: ["A"] }, "cannot be combined with"],
    ["generate_start", { kind: "beautify", products: ["A"] }, "subtypes, backgrounds and angles"],
    ["import_check", { file: "none.csv" }, "does not exist"],
    ["run_rows", { run: "run_none" }, "no run"],
  ] as const;
  for (const [name, args, message] of wrong) {
    const result = await agent.call(name, args);
    expect([name, result.isError, result.error.message]).toEqual([
      name,
      true,
      expect.stringContaining(message),
    ]);
    expect(JSON.stringify(result)).not.toMatch(/ at .*\.ts|stack/);
  }
  expect(world.requests().slice(before)).toEqual([]);
});

test("of many problems a result has the first ten, and run_rows pages through all", async () => {
  const world = await createWorld();
  const rows = Array.from({ length: 30 }, (_, index) => `R${index},,https://cdn.example.com/a.jpg`);
  world.write("bad.csv", `reference,name,image_front\n${rows.join("\n")}\n`);
  const agent = await openAgent(world, { words: [] });
  const { run, result } = await agent.call("import_check", { file: "bad.csv" });
  expect(result).toMatchObject({ invalid: 30, more_problems: 20 });
  expect(result.problems).toHaveLength(10);
  const pages = [await agent.call("run_rows", { run }), await agent.call("run_rows", { run, cursor: "25" })];
  expect(pages.map(({ rows }) => rows.length)).toEqual([25, 5]);
  expect(pages[1].next_cursor).toBe(null);
});

test("problems that were not kept are an error, not an empty page", async () => {
  const job = new Job("run_1");
  const session = { jobs: { find: () => job } } as never;
  await expect(runRows({ run: "run_1", limit: 25 }, session)).rejects.toMatchObject({
    code: "run_not_ended",
  });
  job.stdout.write("x".repeat(8_000_001));
  job.exit = 3;
  await expect(runRows({ run: "run_1", limit: 25 }, session)).rejects.toMatchObject({
    code: "too_many_problems",
  });
});

test("the help names no value of the program", async () => {
  const world = await createWorld();
  expect((await world.cat("mcp --help")).stdout).not.toContain("[object");
});

test("images of another computer are not generated again", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const products = [world.products()[0]!.reference];
  const flags = ["--subtype=clothing", "--background=white", "--angle=front", "--yes"];
  const other = { env: { CAT_HOME: join(world.folder, "other") } };
  const once = await world.cat(["beautify", `--product=${products[0]}`, ...flags], other);
  expect(once).toMatchObject({ exit: 0 });
  const agent = await openAgent(world);
  const look = { subtypes: ["clothing"], backgrounds: ["white"], angles: ["front"] };
  await agent.call("generate_start", { kind: "beautify", products, ...look });
  expect(agent.questions).toEqual([]);
  expect(world.mock.state().organizations.main.tasks).toHaveLength(1);
});

longTest("of a repeated generation run_rows lists the images that existed before", async () => {
  const world = await createWorld({ mock: { demo: 12 } });
  const agent = await openAgent(world);
  const products = world.products().map(({ reference }) => reference);
  const look = { subtypes: ["clothing"], backgrounds: ["white"], angles: ["front"] };
  const generate = async () => {
    const { run } = await agent.call("generate_start", { kind: "beautify", products, ...look });
    return agent.call("run_status", { run, wait_seconds: 45 });
  };
  await generate();
  const { run, result } = await generate();
  expect(result).toMatchObject({ queued: 0, succeeded: 12, more_tasks: 2 });
  const { rows } = await agent.call("run_rows", { run });
  expect(rows.map(({ line, status }: Json) => [line, status])).toEqual(
    products.map((_, index) => [index + 1, "succeeded"]),
  );
});

test("long texts are cut in lists, and complete where a product is alone", async () => {
  const world = await createWorld();
  const agent = await openAgent(world);
  const long = "d".repeat(2_000);
  world.write(
    "a.csv",
    `reference,name,description,image_front\nA,Coat,${long},https://cdn.example.com/a.jpg\n`,
  );
  await agent.call("import_start", { file: "a.csv" });
  await agent.call("run_status", {
    run: (await agent.call("import_start", { file: "a.csv" })).run,
    wait_seconds: 45,
  });
  const cut = `${"d".repeat(299)}…`;
  expect((await agent.call("products_find")).data).toMatchObject([{ description: cut }]);
  expect(await agent.call("products_get", { product: "A" })).toMatchObject({ description: long });
  world.write(
    "b.csv",
    `reference,name,image_front\n${"r".repeat(30_000)},Coat,not a url ${"u".repeat(30_000)}\n`,
  );
  const { run, result } = await agent.call("import_check", { file: "b.csv" });
  const { rows } = await agent.call("run_rows", { run });
  expect(result.problems).toEqual(rows);
  expect(JSON.stringify(rows).length).toBeLessThan(3_000);
});

test("errors name the program as it was called", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const agent = await openAgent(world, { program: "catalogue" });
  const { error } = await agent.call("products_get", { product: "none" });
  expect(error.message).toContain("catalogue products list");
  const change = await agent.call("products_change", { action: "update", product: "A" });
  expect(change.error.param).toBe("action");
});

test("a run of an earlier session has the command that resumes it, as it is called", async () => {
  const world = await createWorld();
  world.write("a.csv", "reference,name,image_front\nA,Coat,https://cdn.example.com/a.jpg\n");
  const agent = await openAgent(world, { program: "catalogue" });
  const { run } = await agent.call("import_start", { file: "a.csv" });
  await agent.call("run_status", { run, wait_seconds: 45 });
  const later = await openAgent(world, { program: "catalogue" });
  expect((await later.call("run_status", { run })).command).toBe(
    "catalogue import a.csv --json --progress=json",
  );
});

test("the problems of a check have no status to ask for", async () => {
  const world = await createWorld();
  world.write("bad.csv", "reference,name,image_front\nA,,https://cdn.example.com/a.jpg\n");
  const agent = await openAgent(world, { words: [] });
  const { run } = await agent.call("import_check", { file: "bad.csv" });
  expect(await agent.call("run_rows", { run, status: "failed" })).toMatchObject({
    isError: true,
    error: { param: "status", message: "problems have no status. Remove it." },
  });
});
