import { describe, expect, onTestFinished, test } from "vitest";
import { product } from "../client/world.ts";
import { json, scriptedServer, stopServers } from "../http/scripted-server.ts";
import { createWorld } from "../support/world.ts";

const shirts = { demo: 30 };

test("cat products lists the first 25 as a table, with a note that there are more", async () => {
  const world = await createWorld({ mock: shirts });
  const ran = await world.cat("products list");
  const lines = ran.stdout.split("\n");
  expect(ran.exit).toBe(0);
  expect(lines[0]).toMatch(/^reference {2,}name {2,}sex {2,}images {2,}id$/);
  expect(lines).toHaveLength(27);
  expect(ran.stderr).toBe("Showing the first 25. To see more, add --limit N or --all.\n");
});

test("cat products prints one unchanged object per line with --json", async () => {
  const world = await createWorld({ mock: shirts });
  const ran = await world.cat("products list --all --json");
  const listed = ran.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(ran).toMatchObject({ exit: 0, stderr: "" });
  expect(new Map(listed.map((product) => [product.id, product]))).toEqual(
    new Map(world.products().map((product) => [product.id, product])),
  );
  expect(listed).toHaveLength(30);
});

test("--limit reads as many pages as it needs", async () => {
  const world = await createWorld({ mock: { demo: 250 } });
  const ran = await world.cat("products list --limit 120 --json");
  expect(ran.stdout.trimEnd().split("\n")).toHaveLength(120);
  expect(ran.stderr).toBe("");
  expect(world.requests().map((request) => request.path.replace(/cursor=[^&]+/, "cursor=C"))).toEqual([
    "/v1/products?limit=100",
    "/v1/products?limit=100&cursor=C",
  ]);
});

test("cat products prints no note if the list ends at the limit", async () => {
  const world = await createWorld({ mock: { demo: 3 } });
  expect((await world.cat("products list --limit 3")).stderr).toBe("");
  expect((await world.cat("products list --limit 2")).stderr).toContain("Showing the first 2.");
});

test("cat products shows a value that is not in the contract unchanged", async () => {
  const world = await createWorld();
  const page = {
    data: [product({ sex: "divers" }), product({ id: "01JGZZ0000000000000000000B" })],
    has_more: false,
  };
  const server = await scriptedServer(json(200, { ...page, next_cursor: null }));
  onTestFinished(stopServers);
  expect(await world.cat("products list", { env: { CAT_BASE_URL: server.origin } })).toEqual({
    exit: 0,
    stdout:
      "reference  name         sex     images  id\n" +
      "SHIRT-1    Linen shirt  divers  0       01JGZZ0000000000000000000A\n" +
      "SHIRT-1    Linen shirt  female  0       01JGZZ0000000000000000000B\n",
    stderr: "",
  });
});

describe("a product from the dashboard, without a reference and with fields that are null, absent or new", () => {
  const id = "01JGZZ0000000000000000000C";
  const odd = product({
    ...{ id, name: null, reference: null, description: undefined, sex: 5, images: null },
    ...{ created_at: "soon", updated_at: undefined },
  });
  const sent = JSON.parse(JSON.stringify(odd));
  const listing = async () => {
    const world = await createWorld();
    const body = { data: [odd, product()], has_more: false, next_cursor: null };
    const server = await scriptedServer((response, seen) =>
      json(200, seen.path.endsWith(id) ? odd : body)(response, seen),
    );
    onTestFinished(stopServers);
    return (line: string) => world.cat(line, { env: { CAT_BASE_URL: server.origin } });
  };

  test("is listed in a table with empty cells", async () => {
    const cat = await listing();
    expect(await cat("products list")).toEqual({
      exit: 0,
      stdout:
        "reference  name         sex     images  id\n" +
        `                        5               ${id}\n` +
        "SHIRT-1    Linen shirt  female  0       01JGZZ0000000000000000000A\n",
      stderr: "",
    });
  });

  test("is listed as is in JSON, and with empty cells in CSV", async () => {
    const cat = await listing();
    const asJson = await cat("products list --format json");
    expect(JSON.parse(asJson.stdout)).toEqual([sent, product()]);
    const asCsv = await cat("products list --format csv");
    expect(asCsv).toMatchObject({ exit: 0, stderr: "" });
    expect(asCsv.stdout.split(/\r?\n/)[1]).toBe(`${id},,,,5,,soon,`);
  });

  test("does not hide another product from a search by reference, and is found by its ID", async () => {
    const cat = await listing();
    const other = await cat("products get SHIRT-1 --json");
    expect(JSON.parse(other.stdout)).toEqual(product());
    const itself = await cat(`products get ${id} --json`);
    expect(JSON.parse(itself.stdout)).toEqual(sent);
    expect(await cat(`products get ${id}`)).toMatchObject({ exit: 0, stderr: "" });
  });
});

test("cat products exits with 7 for a product without an ID", async () => {
  const world = await createWorld();
  const page = { data: [product({ id: undefined })], has_more: false, next_cursor: null };
  const server = await scriptedServer(json(200, page));
  onTestFinished(stopServers);
  const ran = await world.cat("products list", { env: { CAT_BASE_URL: server.origin } });
  expect(ran).toMatchObject({ exit: 7, stdout: "" });
  expect(ran.stderr).toContain("at data.0.id");
});

test("--q searches, and an empty result prints nothing on stdout", async () => {
  const world = await createWorld({ mock: shirts });
  const reference = world.products()[0]!.reference!;
  const found = await world.cat(["products", "list", "--q", reference, "--json"]);
  expect(JSON.parse(found.stdout).reference).toBe(reference);
  expect(await world.cat("products list --q no-such-thing")).toEqual({
    exit: 0,
    stdout: "",
    stderr: "No products found.\n",
  });
  expect(await world.cat("products list --q no-such-thing --format json")).toMatchObject({ stdout: "[]\n" });
});

test("--format csv has the fields of the service, and photos in the form of an import file", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const [product] = world.products();
  const ran = await world.cat("products list --format csv");
  const [head, row] = ran.stdout.split("\n");
  expect(head).toBe("id,reference,name,description,sex,images,created_at,updated_at");
  expect(row).toContain(`${product!.id},${product!.reference},`);
  expect(row).toContain(product!.images.map((image) => image.id).join("|"));
});

test("--format json prints one array", async () => {
  const world = await createWorld({ mock: { demo: 2 } });
  const ran = await world.cat("products list --format json");
  expect(JSON.parse(ran.stdout)).toHaveLength(2);
});

test("get finds a product by ID and by reference, and prints one object with --json", async () => {
  const world = await createWorld({ mock: shirts });
  const product = world.products()[7]!;
  for (const name of [product.id, product.reference!, `  ${product.reference} `]) {
    const ran = await world.cat(["products", "get", name, "--json"]);
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({ exit: 0, stdout: product, stderr: "" });
  }
  const plain = await world.cat(["products", "get", product.id]);
  expect(plain.stdout).toContain(`reference    ${product.reference}\n`);
});

test("a reference must match completely, on any page of the search", async () => {
  const world = await createWorld();
  const lines = Array.from({ length: 130 }, (_, index) => {
    const images = [{ url: "https://cdn.example.com/a.jpg" }];
    return JSON.stringify({ reference: index === 0 ? "AB" : `AB-${index}`, name: "x", images });
  });
  world.write("rows.ndjson", lines.join("\n"));
  expect((await world.cat("import rows.ndjson --quiet")).exit).toBe(0);
  const found = await world.cat("products get AB --json");
  expect(JSON.parse(found.stdout).reference).toBe("AB");
  expect((await world.cat("products get AB-")).exit).toBe(5);
});

test("a reference that looks like an ID is found too", async () => {
  const world = await createWorld();
  const reference = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const images = [{ url: "https://cdn.example.com/a.jpg" }];
  world.write("rows.ndjson", JSON.stringify({ reference, name: "x", images }));
  expect((await world.cat("import rows.ndjson --quiet")).exit).toBe(0);
  const found = await world.cat(`products get ${reference} --json`);
  expect(JSON.parse(found.stdout).reference).toBe(reference);
});

test("cat products exits with 5 and a next step for an unknown product", async () => {
  const world = await createWorld({ mock: shirts });
  expect(await world.cat("products get NOPE")).toEqual({
    exit: 5,
    stdout: "",
    stderr:
      'error: no product has the ID or reference "NOPE"\n' +
      "Use the complete reference, or search: cat products list --q TEXT\n",
  });
  const asJson = await world.cat("products get 01ARZ3NDEKTSV4RRFFQ69G5FAV --json");
  expect(JSON.parse(asJson.stderr).error).toMatchObject({
    type: "not_found",
    code: "product_not_found",
    exit: 5,
  });
});

test("cat products exits with 4 and the request ID for an unknown API key", async () => {
  const world = await createWorld({ env: { CAT_API_KEY: "ak_mock_revoked" } });
  const ran = await world.cat("products list --json");
  expect(ran).toMatchObject({ exit: 4, stdout: "" });
  expect(JSON.parse(ran.stderr)).toEqual({
    error: {
      type: "unauthorized",
      code: "invalid_api_key",
      message: expect.any(String),
      status: 401,
      request_id: world.requests()[0]!.request_id,
      exit: 4,
    },
  });
  expect((await world.cat("products list")).stderr).toContain(world.requests()[1]!.request_id);
});

test("--verbose shows each request, but not the key", async () => {
  const world = await createWorld({ env: { CAT_API_KEY: "ak_mock_readonly" }, mock: { demo: 1 } });
  const ran = await world.cat("products list --verbose");
  expect(ran.stderr).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/v1\/products\?limit=26 200 in /);
  expect(ran.stderr).not.toContain("ak_mock_readonly");
});

test("control characters from the service are shown as escapes in all formats", async () => {
  const world = await createWorld();
  const name = "Red\u001b[2J\u009b31m\u202e\r\ndress";
  const images = [{ url: "https://cdn.example.com/a.jpg" }];
  world.write("rows.ndjson", JSON.stringify({ reference: "A\u0007-1", name, images }));
  // An import would reject the reference.
  const { id } = JSON.parse((await world.cat("api POST /imports --input rows.ndjson")).stdout);
  expect((await world.cat(`imports watch ${id} --quiet`)).exit).toBe(0);
  const table = await world.cat("products list");
  expect(table.stdout).toContain("A\\x07-1");
  expect(table.stdout).toContain("Red\\x1b[2J\\x9b31m\\u202e\\r\\ndress");
  expect((await world.cat("products list --format csv")).stdout).toContain(
    '"Red\\x1b[2J\\x9b31m\\u202e\r\ndress"',
  );
  const json = await world.cat("products list --json");
  expect(json.stdout).toContain("Red\\u001b[2J\\u009b31m\\u202e\\r\\ndress");
  expect(JSON.parse(json.stdout).name).toBe(name);
  expect((await world.cat(["products", "get", "A\u0007-1"])).stdout).toContain("reference    A\\x07-1\n");
});

test("a closed pipe ends the list without a message", async () => {
  const world = await createWorld({ mock: shirts });
  expect(await world.cat("products list", { stdoutReads: 0 })).toEqual({ exit: 0, stdout: "", stderr: "" });
});

test("--mock needs no settings and no key, and each command has the same products", async () => {
  const world = await createWorld({ env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined } });
  const [one, two] = [
    await world.cat("products list --mock --json"),
    await world.cat("--mock products list --json"),
  ];
  expect(one.exit).toBe(0);
  expect(one.stdout.trimEnd().split("\n")).toHaveLength(24);
  expect(two.stdout).toBe(one.stdout);
  expect(world.requests()).toEqual([]);
});
