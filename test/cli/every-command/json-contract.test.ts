import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import type { DescribedCommand } from "../../../scripts/reference/source.ts";
import { listedCommands } from "../../support/listed-commands.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { lineOf, runsAnother } from "./command-lines.ts";
import { canary, type Finished, seededWorld } from "./seeded-world.ts";
import type { Passing } from "./service-in-front.ts";
import { walkedCommands } from "./walked-commands.ts";

const schemas = new Ajv2020({ strict: false, formats: { uri: true } });
addFormats.default(schemas);

/** The check of a command's values, compiled once: its line runs four times. */
const checkOf = (name: string, schema: unknown) =>
  schemas.getSchema(name) ?? schemas.addSchema(closed(schema) as object, name).getSchema(name)!;

/** What is wrong with the output of a command line with `--json`, by the list of `cat commands --json`. */
function problemsOf(
  { name, output }: DescribedCommand,
  ran: Pick<Finished, "exit" | "stdout" | "stderr">,
  flag?: string,
) {
  const problems: string[] = [];
  const values = jsonLines(ran.stdout);
  if (values === null) problems.push(`stdout is not JSON: ${ran.stdout}`);
  const errors = jsonLines(ran.stderr);
  if (errors === null) problems.push(`stderr is not JSON lines: ${ran.stderr}`);
  const isOne = output.form === "json" && (flag === undefined || flag !== output.ndjson_with);
  if (isOne && (values?.length ?? 0) > 1) problems.push("stdout has several values");
  const check = checkOf(name, output.schema);
  for (const value of values ?? [])
    if (!check(value)) problems.push(`${schemas.errorsText(check.errors)}: ${JSON.stringify(value)}`);
  if (!output.exit_statuses.includes(ran.exit)) problems.push(`exit ${ran.exit} is not listed`);
  const own = (errors ?? []).find((line) => "error" in (line as object)) as
    | { error: { exit: number } }
    | undefined;
  if (ran.exit !== 0 && own?.error.exit !== ran.exit) problems.push(`no error object for exit ${ran.exit}`);
  return problems.map((problem) => `cat ${name}: ${problem}`);
}

/** The values of lines of JSON; null if a line is something else. */
function jsonLines(text: string): unknown[] | null {
  try {
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  } catch {
    return null;
  }
}

/** The schema without room for fields that it does not name, so that a new field cannot be missed. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const all = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const names = Object.keys(all.properties ?? {});
  return names.length === 0 || "additionalProperties" in all ? all : { ...all, additionalProperties: false };
}

const failing = (passing: Passing): void => {
  if (!passing.path.startsWith("/v1/")) return;
  passing.status = 403;
  passing.headers["content-type"] = "application/json";
  passing.json = { error: { type: "forbidden", code: "insufficient_scope", message: "no scope" } };
};

test("with --json, every command prints JSON of its schema on stdout, and only JSON lines on stderr", async () => {
  const { list, ids, run, front } = await seededWorld();
  const found: string[] = [];
  for (const command of sampled(walkedCommands(list.commands as readonly DescribedCommand[]), 12)) {
    const stdin = command.name === "login" ? { stdin: canary.key } : {};
    const line = lineOf(command, ids, ["--json", "--yes"]);
    found.push(...problemsOf(command, await run(line, stdin)));
    found.push(...problemsOf(command, await run([...command.name.split(" "), "--json", "--unknown-flag"])));
    front.change = failing;
    found.push(...problemsOf(command, await run(line, stdin)));
    front.change = null;
    if (runsAnother(command)) continue;
    const stopped = new AbortController();
    const { InterruptError } = await import("../../../src/cli/context/errors.ts");
    stopped.abort(new InterruptError("SIGINT"));
    found.push(...problemsOf(command, await run(line, { ...stdin, context: { interrupt: stopped.signal } })));
  }
  expect(found).toEqual([]);
});

test.each(
  sampled(
    [
      ["import", "import rows.csv --plan", 3, 0],
      ["import", "import rows.csv --plan plan.ndjson", 1, 0],
      ["import", "import bad.csv --plan", 1, 3],
      ["imports undo", "imports undo RUN --plan", 1, 0],
      ["api", "api /models --paginate", 14, 0],
      ["products export", "products export -", 3, 0],
      ["products delete", "products delete --from demo.csv --yes", 1, 0],
      ["products delete", "products delete --from demo.csv --dry-run", 1, 0],
      ["products delete", "products delete --from empty.csv", 1, 3],
      ["products detach", "products detach --from demo.csv --yes", 1, 5],
      ["products detach", "products detach --from empty.csv", 1, 3],
      ["tryon", "tryon bad.csv --yes", 1, 3],
      ["tryon", "tryon unknown.csv --yes", 1, 3],
      ["beautify", "beautify bad.csv --yes --skip-invalid", 1, 3],
    ],
    4,
  ),
)("with --json, the schema of %s holds for: cat %s", async (name, line, values, exit) => {
  const world = await createWorld({ mock: { demo: name.startsWith("products ") ? 3 : 0 } });
  world.write("demo.csv", "reference,image_id\nBAG-0001,01KE6W9ZJ8Q3V5X7B2D4F6H8JK\n");
  world.write("empty.csv", "");
  world.write("bad.csv", "reference,name,images,product_reference\nA-1,,,A-1\n");
  world.write("unknown.csv", "product_reference,model_id,background,angle_shot\nX,X,white,full-front\n");
  world.write("rows.csv", "reference,name,images\nN-1,Dress,https://cdn.example.com/1.jpg\n");
  const { commands } = await listedCommands();
  const command = (commands as readonly DescribedCommand[]).find((one) => one.name === name)!;
  const run = line.includes("RUN") ? (await world.cat("import rows.csv --json")).stdout : "{}";
  const ran = await world.cat(`${line.replace("RUN", JSON.parse(run).run_id)} --json`);
  expect(
    problemsOf(
      command,
      ran,
      ["--plan", "--paginate", "-"].find((flag) => line.endsWith(flag)),
    ),
  ).toEqual([]);
  expect([ran.exit, jsonLines(ran.stdout)!.length]).toEqual([exit, values]);
});

test("with --json, a photo of several that the service rejects is printed in the schema", async () => {
  const world = await createWorld();
  const photo = sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } });
  for (const name of ["front.jpg", "back.jpg"]) world.write(name, await photo.jpeg().toBuffer());
  world.mock.faults.add({ match: { path: "/v1/images" }, times: 1, status: 415 });
  const { commands } = await listedCommands();
  const command = (commands as readonly DescribedCommand[]).find(({ name }) => name === "images upload")!;
  const ran = await world.cat("images upload front.jpg back.jpg --json");
  expect(problemsOf(command, ran)).toEqual([]);
  expect([ran.exit, jsonLines(ran.stdout)!.length]).toEqual([8, 2]);
});

test("the list of commands says with which flag a value has the chosen fields alone", async () => {
  const { commands } = await listedCommands();
  const withFields = (commands as readonly DescribedCommand[]).filter(
    ({ output }) => output.fields_with !== undefined,
  );
  expect(withFields.map(({ name }) => name)).toContain("products list");
  for (const { flags, output } of withFields)
    expect(flags.map(({ flag }) => flag)).toContain(output.fields_with);
  const world = await createWorld({ mock: { demo: 1 } });
  const { stdout } = await world.cat("products list --fields reference,images.9.id --json");
  expect(JSON.parse(stdout)).toEqual({ reference: world.products()[0]!.reference, "images.9.id": null });
});

test.each([
  ["tryon", "model_id", "full-front"],
  ["beautify", "subtype", "front"],
])("%s with --json has all fields of a summary if the input is rejected", async (command, column, angle) => {
  const world = await createWorld();
  world.write("bad.csv", `product_reference,${column},background,angle_shot\nX,,white,${angle}\n`);
  const ran = await world.cat(`${command} bad.csv --yes --json`);
  expect(ran.exit).toBe(3);
  expect(JSON.parse(ran.stdout)).toEqual({
    ...{ run_id: null, file: "bad.csv", total: 1, valid: 0, invalid: 1, problems: [expect.any(Object)] },
    ...{ queued: 0, unchanged: 0, succeeded: 0, failed: 0, tasks: [], duration_ms: 0 },
  });
});

test.each(["", "--dry-run"])(
  "a problem with --json names the command that was called: tryon %s",
  async (flag) => {
    const world = await createWorld();
    world.write("a.csv", "product_reference,model_id,background,angle_shot\nX,Q,white,full-front\n");
    const context = { program: "catalogue" as const };
    const { stdout } = await world.cat(`tryon a.csv --yes --json ${flag}`.trim(), { context });
    expect(stdout).toContain("catalogue models list shows all models");
  },
);

describe("an import with --json", () => {
  const csv = (...rows: string[]) => ["reference,name,images", ...rows, ""].join("\n");
  const url = "https://cdn.example.com";

  test("that is rejected has all fields of a summary", async () => {
    const world = await createWorld();
    world.write("good.csv", csv(`A-1,Dress,${url}/1.jpg`));
    world.write("bad.csv", csv("A-1,,"));
    const good = JSON.parse((await world.cat("import good.csv --json")).stdout);
    const ran = await world.cat("import bad.csv --json");
    expect(ran.exit).toBe(3);
    const bad = JSON.parse(ran.stdout);
    expect(Object.keys(good).filter((name) => !(name in bad))).toEqual([]);
    expect(bad).toMatchObject({
      ...{ run_id: null, file: "bad.csv", mode: "upsert", total: 1, valid: 0, invalid: 1, submitted: 0 },
      ...{ imports: [], failed_file: null, results_file: null },
    });
    expect(bad.problems[0]).toMatchObject({ line: 2 });
  });

  test("exits with 8 and an error object if rows failed", async () => {
    const world = await createWorld();
    world.write("a.csv", csv(`A-1,Dress,${url}/fail-timeout.jpg`));
    const ran = await world.cat("import a.csv --json");
    expect(ran.exit).toBe(8);
    expect(JSON.parse(ran.stderr).error).toMatchObject({ type: "partial", code: "rows_failed", exit: 8 });
  });

  test("shows progress as JSON lines only with --progress json", async () => {
    const world = await createWorld();
    world.write("a.csv", csv(`A-1,Dress,${url}/1.jpg`));
    expect((await world.cat("import a.csv --json --fresh")).stderr).toBe("");
    world.write("b.csv", csv(`B-1,Dress,${url}/1.jpg`));
    const { stderr } = await world.cat("import b.csv --json --progress json");
    const steps = jsonLines(stderr)!.map((line) => (line as { progress: { step: string } }).progress.step);
    expect(steps).toContain("importing rows");
  });
});

test("--verbose prints requests and the stack of an error as JSON lines with --json", async () => {
  const world = await createWorld();
  const ran = await world.cat("products get NONE-1 --json --verbose");
  expect(ran.exit).toBe(5);
  const [request, error] = jsonLines(ran.stderr)! as [{ request: object }, { error: { stack: string } }];
  expect(request).toEqual({
    request: {
      ...{ method: "GET", url: `${world.mock.baseUrl}/v1/products?limit=100&q=NONE-1`, status: 200 },
      ...{ error: null, ms: 0, attempt: 1, request_id: expect.any(String) },
      ...{ idempotency_key: null, api_key: "ak_…", replayed: false },
    },
  });
  expect(error.error.stack).toMatch(/^\w*Error: .*\n +at /);
});

test("a job that takes minutes prints no text on stderr with --json", async () => {
  const world = await createWorld({ mock: { rateLimit: false } });
  world.write("a.csv", "reference,name,images\nA-1,Dress,https://cdn.example.com/1.jpg\n");
  await world.cat("import a.csv --json");
  const line = "beautify --product A-1 --subtype clothing --background white --angle front --yes --json";
  expect(await world.cat(line)).toMatchObject({ exit: 0, stderr: "" });
});
