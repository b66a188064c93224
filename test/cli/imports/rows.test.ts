import { expect, test } from "vitest";
import { importsWorld, mixed, tidy } from "./imports-world.ts";

const cdn = "https://cdn.example.com";

test("rows are a table that says why some did not make it", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", mixed);
  const [one, part, two] = world.products();
  expect(await world.cat(`imports rows ${id}`)).toEqual({
    exit: 0,
    stderr: "",
    stdout:
      "line  reference  status     action   product_id                  error                 images\n" +
      `1     OK-1       succeeded  created  ${one!.id}                        1/1\n` +
      `2     PART-1     partial    created  ${part!.id}  timeout not_an_image  1/3\n` +
      "3     BAD-1      failed     none                                 image_failed          0/1\n" +
      `4     OK-2       succeeded  created  ${two!.id}                        1/1\n`,
  });
});

test("with --json they are the service's own objects, those with a status alone if one is given", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", mixed);
  const ran = await world.cat(`imports rows ${id} --status failed --json`);
  expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
    exit: 0,
    stderr: "",
    stdout: {
      line: 3,
      reference: "BAD-1",
      status: "failed",
      action: "none",
      product_id: null,
      images: [
        {
          index: 0,
          source: `${cdn}/fail-http_error.jpg`,
          orientation: "unlabeled",
          status: "failed",
          error: { code: "http_error", message: expect.any(String) },
        },
      ],
      error: { code: "image_failed", message: expect.any(String) },
    },
  });
  const lines = async (status: string) =>
    (await world.cat(`imports rows ${id} --json --status ${status}`)).stdout
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line).line]));
  expect([await lines("succeeded"), await lines("partial"), await lines("pending")]).toEqual([
    [1, 4],
    [2],
    [],
  ]);
  expect((await world.cat(`imports rows ${id} --status pending`)).stderr).toBe("No row is pending.\n");
  expect(await world.cat(`imports rows ${id} --status lost`)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("Allowed choices are pending, succeeded, partial, failed"),
  });
});

test("as CSV they have the columns of an import's results file", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", mixed, "--results results.csv");
  const csv = (await world.cat(`imports rows ${id} --format csv`)).stdout.split("\n");
  const results = world.read("results.csv").split("\n");
  expect(csv[0]).toBe("line,reference,status,action,product_id,error_code,error_message,images");
  // But for the line of the file, which the service does not know.
  expect(csv).toEqual(results.map((line) => line.slice(line.indexOf(",") + 1)));
});

test("rows that are not done yet have nothing to tell", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(1), "--no-wait");
  expect((await world.cat(`imports rows ${id}`)).stdout).toBe(
    "line  reference  status   action  product_id  error  images\n1     R-0        pending\n",
  );
});

test("there are 25 unless told; --limit goes over pages, and --all over all", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(230));
  const first = await world.cat(`imports rows ${id}`);
  expect(first.stdout.trimEnd().split("\n")).toHaveLength(26);
  expect(first.stderr).toBe("These are the first 25; --all shows all, --limit N more.\n");
  const before = world.requests().length;
  const some = await world.cat(`imports rows ${id} --limit 120 --json`);
  expect(some.stdout.trimEnd().split("\n")).toHaveLength(120);
  expect(world.requests()).toHaveLength(before + 2);
  const all = await world.cat(`imports rows ${id} --all --json`);
  expect(all.stdout.match(/"reference":"R-\d+"/g)).toEqual(
    Array.from({ length: 230 }, (_, index) => `"reference":"R-${index}"`),
  );
  expect(all.stderr).toBe("");
  expect((await world.cat(`imports rows ${id} --limit 230`)).stderr).toBe("");
});

test("a reader that goes away ends the reading too", async () => {
  const world = await importsWorld();
  const id = await world.send("autumn.csv", tidy(2000));
  const before = world.requests().length;
  const ran = await world.cat(`imports rows ${id} --all --json`, { stdoutReads: 1 });
  expect(ran).toMatchObject({ exit: 0, stderr: "" });
  expect(world.requests().length - before).toBeLessThan(15);
});

test("control characters are made visible", async () => {
  const world = await importsWorld();
  const row = { reference: "A\u0007\u009b2J", name: "Dress", images: [{ url: `${cdn}/1.jpg` }] };
  const id = await world.send("a.ndjson", JSON.stringify(row));
  expect((await world.cat(`imports rows ${id}`)).stdout).toContain("A\\x07\\x9b2J");
  expect((await world.cat(`imports rows ${id} --json`)).stdout).toContain("A\\u0007\\u009b2J");
});

test.each([40, 60, 80])(
  "on a terminal of %i columns no ID is cut, and what has no room is named",
  async (columns) => {
    const world = await importsWorld({ columns });
    const id = await world.send("a-file-with-a-rather-long-name-for-a-table.csv", mixed);
    const tty = { tty: { stdout: true } };
    const ids = world.products().map((product) => product.id);
    const rows = await world.cat(`imports rows ${id} --no-color`, tty);
    const left = { 40: "status, action, error, images", 60: "action, images", 80: null }[columns];
    const note = (names: string) =>
      `Columns left out for lack of room: ${names}. To see them, add --format csv.\n`;
    expect({ ...rows, stdout: ids.filter((one) => rows.stdout.includes(one)) }).toEqual({
      exit: 0,
      stdout: ids,
      stderr: left === null || left === undefined ? "" : note(left),
    });
    const listed = await world.cat("imports list --no-color", tty);
    expect(listed.stdout).toContain(`${id}  a-`);
    const products = await world.cat("products list --no-color", tty);
    expect(ids.filter((one) => products.stdout.includes(one))).toEqual(ids);
    for (const { stdout } of [rows, listed, products]) {
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    }
    expect((await world.cat(`imports rows ${id} --quiet`, tty)).stderr).toBe("");
  },
);
