import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import sharp from "sharp";
import { describe, expect, onTestFinished, test } from "vitest";
import { json, scriptedServer, stopServers } from "../http/scripted-server.ts";
import { until } from "../support/until.ts";
import { createWorld } from "../support/world.ts";

const unknownId = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";

/** A test environment with two photos and, with `demo`, one product. */
async function withPhotos({ demo = 0, strictSlugs = true } = {}) {
  const world = await createWorld({ mock: { demo, strictSlugs, rateLimit: false } });
  for (const [name, background] of [
    ["front.jpg", "red"],
    ["back.jpg", "blue"],
  ] as const)
    world.write(
      name,
      await sharp({ create: { width: 8, height: 8, channels: 3, background } })
        .jpeg()
        .toBuffer(),
    );
  const writes = () =>
    world
      .requests()
      .filter(({ method }) => method !== "GET")
      .map(({ method, path, status }) => `${method} ${path.replace(/[0-9A-Z]{26}/g, "ID")} ${status}`);
  return { ...world, writes };
}

describe("cat products create", () => {
  test("uploads the photos and creates the product with their orientations", async () => {
    const world = await withPhotos();
    const ran = await world.cat(
      "products create --reference D-1 --name Dress --sex female --image front.jpg:front --image back.jpg --json",
    );
    expect([ran.exit, ran.stderr]).toEqual([0, ""]);
    const [product] = world.products();
    expect(JSON.parse(ran.stdout)).toEqual(product);
    expect(product).toMatchObject({ reference: "D-1", name: "Dress", sex: "female", description: null });
    expect(product!.images.map(({ orientation }) => orientation)).toEqual(["front", "unlabeled"]);
    expect(world.writes()).toEqual(["POST /v1/images 201", "POST /v1/images 201", "POST /v1/products 201"]);
  });

  test("exits with 6 when the reference is in use", async () => {
    const world = await withPhotos({ demo: 1 });
    const { reference, images } = world.products()[0]!;
    const ran = await world.cat(
      `products create --reference ${reference} --name Dress --image ${images[0]!.id}:front`,
    );
    expect(ran).toEqual({
      exit: 6,
      stdout: "",
      stderr: expect.stringMatching(
        /^error: another product has this reference \(POST \/v1\/products: 409 reference_already_exists, /,
      ),
    });
  });

  test.each([
    ["--reference D --name N", 2, "missing flag: --image FILE|IMAGE_ID[:ORIENTATION]"],
    ["--name N --image front.jpg", 2, "missing flag: --reference REFERENCE"],
    ["--reference D --name N --image front.jpg:fornt", 2, 'unknown orientation "fornt"; did you mean front?'],
    ["--reference D --name N --image none.jpg:front", 2, "/none.jpg does not exist"],
    ["--reference D --name N --image front.jpg --sex women", 2, 'invalid --sex "women": use male, female, '],
    ["--reference= --name N --image front.jpg", 3, "error: reference is empty"],
    ["--reference D --name \u200b --image front.jpg", 3, "error: name is empty"],
    [
      "--reference A\u200bB --name N --image front.jpg",
      3,
      'error: reference "A\\u200bB" has a character that cannot be seen: type it again without that\n',
    ],
    [
      "",
      2,
      "error: missing flags: --reference REFERENCE, --name NAME, --image FILE|IMAGE_ID[:ORIENTATION]\nSee: cat products create --help\n",
    ],
    [
      "--reference= --name= --image front.jpg",
      3,
      "error: reference is empty; name is empty\nNothing was sent. Fix them all and run the command again.\n",
    ],
  ])("sends nothing for products create %s", async (flags, exit, message) => {
    const world = await withPhotos();
    const ran = await world.cat(`products create ${flags}`);
    expect([ran.exit, ran.stdout]).toEqual([exit, ""]);
    expect(ran.stderr).toContain(message);
    expect(world.requests()).toEqual([]);
  });

  test("lists the problems of all flags at once, and sends nothing", async () => {
    const world = await withPhotos();
    world.write("text.jpg", "hello");
    const ran = await world.cat(
      "products create --reference= --name N --sex women --image front.jpg:fornt --image none.jpg --image text.jpg",
    );
    expect(ran).toEqual({
      exit: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^error: invalid --sex "women": use male, female, other or kid; reference is empty; unknown orientation "fornt"; did you mean front\?; .*none\.jpg does not exist.*; "text\.jpg" does not contain a JPEG, PNG or WebP image\nNothing was sent\. Fix them all and run the command again\.\n$/,
      ),
    });
    expect(world.requests()).toEqual([]);
  });

  test.each([
    [
      "products create --reference D --name N",
      "front.jpg:front",
      "front.jpg:back",
      '"front.jpg" is listed twice',
    ],
    [
      "products create --reference D --name N",
      unknownId,
      `${unknownId.toLowerCase()}:back`,
      `"${unknownId}" is listed twice`,
    ],
    [
      "products create --reference D --name N",
      "front.jpg:front",
      "copy.jpg",
      '"front.jpg" and "copy.jpg" are the same photo',
    ],
    ["products attach D", "front.jpg:left", "front.jpg:right", '"front.jpg" is listed twice'],
    ["products attach D", "back.jpg", "./back.jpg:back", '"back.jpg" and "./back.jpg" are the same photo'],
  ])("exits with 2 for one photo twice: %s %s %s", async (line, one, other, what) => {
    const world = await withPhotos();
    copyFileSync(join(world.folder, "front.jpg"), join(world.folder, "copy.jpg"));
    const photos = [one, other].map((photo) => (line.includes("create") ? `--image ${photo}` : photo));
    expect(await world.cat(`${line} ${photos.join(" ")}`)).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: ${what}; a product has each photo once, with one orientation\nRemove one of them, and run the command again. Nothing was sent.\n`,
    });
    expect(world.requests()).toEqual([]);
  });

  test("a file that is not an image is exit 3", async () => {
    const world = await withPhotos();
    world.write("text.jpg", "hello");
    const ran = await world.cat("products create --reference D --name N --image front.jpg --image text.jpg");
    expect([ran.exit, ran.stderr]).toEqual([
      3,
      'error: "text.jpg" does not contain a JPEG, PNG or WebP image\nSave it as JPEG, PNG or WebP of at most 10 MB, or use cat import --convert. Nothing was sent.\n',
    ]);
    expect(world.requests()).toEqual([]);
  });
});

describe("limits that the specification has for imports only", () => {
  const note = "The name has 201 characters; imports allow at most 200. The service decides.\n";
  const long = "N".repeat(201);

  test("are a note of products create, update and attach; the service decides", async () => {
    const world = await withPhotos({ strictSlugs: false, demo: 1 });
    const many = Array.from({ length: 21 }, (_, at) => `p${at}.jpg`);
    const bytes = readFileSync(join(world.folder, "front.jpg"));
    for (const [at, name] of many.entries()) world.write(name, Buffer.concat([bytes, Buffer.from([at])]));
    const images = many.map((name) => `--image ${name}`).join(" ");
    const created = await world.cat(`products create --reference ${"D".repeat(101)} --name N ${images}`);
    expect(created).toMatchObject({
      exit: 0,
      stderr:
        "The reference has 101 characters; imports allow at most 100. The service decides.\n21 photos; imports allow at most 20. The service decides.\n",
    });
    const { id } = world.products()[0]!;
    expect(await world.cat(`products update ${id} --name ${long}`)).toMatchObject({ exit: 0, stderr: note });
    expect(world.products()[0]).toMatchObject({ name: long });
  });

  test("are enforced by the mock, whose response is shown", async () => {
    const world = await withPhotos({ demo: 1 });
    const { id } = world.products()[0]!;
    const ran = await world.cat(`products update ${id} --name ${long}`);
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toMatch(
      /^The name has 201 characters; imports allow at most 200. The service decides.\nerror: name must have at most 200 characters \(PATCH/,
    );
  });
});

describe("cat products update", () => {
  test("changes and clears fields of a product found by its reference", async () => {
    const world = await withPhotos({ demo: 1 });
    const { reference, name } = world.products()[0]!;
    expect((await world.cat(`products update ${reference} --description Long --sex other`)).exit).toBe(0);
    expect(world.products()[0]).toMatchObject({ reference, name, description: "Long", sex: "other" });
    const ran = await world.cat(`products update ${reference} --clear description --clear sex --json`);
    expect(world.products()[0]).toMatchObject({ reference, name, description: null, sex: null });
    expect(JSON.parse(ran.stdout)).toEqual(world.products()[0]);
  });

  test.each([
    ["products update X", "nothing to change"],
    ["products update X --clear name", 'invalid --clear "name": use description or sex'],
    ["products update X --sex male --clear sex", "--clear sex cannot be used with --sex"],
    [
      "products update X --reference A\u200bB",
      'reference "A\\u200bB" has a character that cannot be seen: type it again without that',
      3,
    ],
  ] as [string, string, number?][])("sends nothing for %s", async (line, message, exit = 2) => {
    const world = await withPhotos();
    const ran = await world.cat(line);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([exit, `error: ${message}`]);
    expect(world.requests()).toEqual([]);
  });
});

describe("cat products delete", () => {
  test("asks with the names of the products, and deletes none after a no", async () => {
    const world = await withPhotos({ demo: 2 });
    const [one, two] = world.products();
    const stdin = new PassThrough();
    const running = world.cat(`products delete ${one!.reference} ${two!.id} ${one!.id}`, {
      tty: true,
      stdin,
    });
    await until(() => running.stderr.includes("Delete 2 products"));
    // A prompt accepts keys from the next turn of the event loop on.
    setImmediate(() => stdin.write("n\n"));
    const ran = await running;
    expect(ran.exit).toBe(0);
    expect(stripVTControlCharacters(ran.stderr).replace(/\s+/g, " ")).toContain(
      `${one!.reference} (${one!.name}), ${two!.reference} (${two!.name}) ? Delete 2 products?`,
    );
    expect(world.products()).toHaveLength(2);
  });

  test("needs --yes without a terminal, and deletes each product once", async () => {
    const world = await withPhotos({ demo: 2 });
    const [one, two] = world.products();
    const line = `products delete ${one!.reference} ${two!.id} ${one!.id}`;
    expect((await world.cat(line)).stderr).toBe(
      `error: deleting 2 products (${one!.reference} (${one!.name}), ${two!.reference} (${two!.name})) needs a confirmation; nothing was deleted\nAdd --yes to confirm.\n`,
    );
    expect(await world.cat(`${line} --yes`)).toEqual({
      exit: 0,
      stdout: "",
      stderr: "Deleted 2 products.\n",
    });
    expect(world.products()).toEqual([]);
    expect(world.writes()).toEqual(["DELETE /v1/products/ID 204", "DELETE /v1/products/ID 204"]);
  });

  test("names up to 20 products, and counts the others", async () => {
    const world = await withPhotos({ demo: 22 });
    const products = world.products();
    const names = products.slice(0, 20).map(({ reference, name }) => `${reference} (${name})`);
    const { stderr } = await world.cat(`products delete ${products.map(({ id }) => id).join(" ")}`);
    expect(stderr.split("\n")[0]).toBe(
      `error: deleting 22 products (${names.join(", ")} and 2 more) needs a confirmation; nothing was deleted`,
    );
  });

  test("deletes none if one of them does not exist", async () => {
    const world = await withPhotos({ demo: 1 });
    const ran = await world.cat(`products delete ${world.products()[0]!.reference} NONE --yes`);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([
      5,
      'error: no product has the ID or reference "NONE"',
    ]);
    expect(world.products()).toHaveLength(1);
  });
});

describe("cat products delete of several products", () => {
  const setUp = async () => {
    const world = await withPhotos({ demo: 3 });
    const products = world.products();
    return {
      ...world,
      products: () => world.products(),
      refs: products.map(({ reference }) => reference!),
      all: products,
    };
  };

  test("names the deleted products, the one that failed, and the command for the rest", async () => {
    const world = await setUp();
    const [a, b, c] = world.all;
    const fault = { match: { path: `/v1/products/${b!.id}`, method: "DELETE" }, times: 1, status: 403 };
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(fault) });
    const ran = await world.cat(`products delete ${world.refs.join(" ")} --yes`);
    expect([ran.exit, ran.stdout]).toEqual([4, ""]);
    const next = `products delete ${b!.reference} ${c!.reference} --yes`;
    expect(ran.stderr).toContain(`Deleted 1 of 3 products: ${a!.reference} (${a!.name}).\n`);
    expect(ran.stderr).toContain(`error: cannot delete ${b!.reference} (${b!.name}): `);
    expect(ran.stderr).toContain(`To delete the remaining 2 products, run: cat ${next}\n`);
    expect(await world.cat(next)).toEqual({ exit: 0, stdout: "", stderr: "Deleted 2 products.\n" });
    expect(world.products()).toEqual([]);
  });

  test("counts a product that another client has deleted in the meantime", async () => {
    const world = await setUp();
    const [a] = world.all;
    const fault = { match: { path: `/v1/products/${a!.id}`, method: "DELETE" }, times: 1, status: 404 };
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(fault) });
    expect(await world.cat(`products delete ${world.refs.join(" ")} --yes`)).toEqual({
      exit: 0,
      stdout: "",
      stderr: `Already deleted by another client: ${a!.reference} (${a!.name}).\nDeleted 3 products.\n`,
    });
  });

  test("prints only JSON with --json", async () => {
    const world = await setUp();
    const [a, b] = world.all;
    for (const [product, status] of [
      [a, 404],
      [b, 403],
    ] as const) {
      const fault = { match: { path: `/v1/products/${product!.id}`, method: "DELETE" }, times: 1, status };
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(fault) });
    }
    const failed = await world.cat(`products delete ${world.refs.join(" ")} --yes --json`);
    expect(failed.exit).toBe(4);
    expect(
      failed.stderr
        .trimEnd()
        .split("\n")
        .map((line) => Object.keys(JSON.parse(line))),
    ).toEqual([["warning"], ["error"]]);
  });

  test("prints the command for the others if some are not found", async () => {
    const world = await setUp();
    const [a, , c] = world.refs;
    await world.cat(`products delete ${world.refs[1]} --yes`);
    const next = `products delete ${a} ${c}`;
    const ran = await world.cat(`products delete ${world.refs.join(" ")} NONE`);
    expect(ran).toEqual({
      exit: 5,
      stdout: "",
      stderr: `error: no product has the ID or reference "${world.refs[1]}"; no product has the ID or reference "NONE"\nNothing was deleted. To delete the others, run: cat ${next}\n`,
    });
    expect((await world.cat(`${next} --yes`)).exit).toBe(0);
  });
});

describe("cat products attach and detach", () => {
  test("attach adds uploaded and local photos; detach removes one", async () => {
    const world = await withPhotos({ demo: 1 });
    const { reference, images } = world.products()[0]!;
    const ran = await world.cat(`products attach ${reference} back.jpg:back ${images[0]!.id}:detail --json`);
    const attached = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(attached.map(({ orientation }) => orientation)).toEqual(["back", "detail"]);
    const back = attached[0].id;
    expect(await world.cat(`products detach ${reference} ${back}`)).toEqual({
      exit: 0,
      stdout: "",
      stderr: `Removed the photo ${back} from ${reference}.\n`,
    });
    expect(world.products()[0]!.images.map(({ id }) => id)).not.toContain(back);
    expect((await world.cat(`products detach ${reference} ${unknownId}`)).exit).toBe(5);
  });

  test("the last photo cannot be removed", async () => {
    const world = await withPhotos();
    await world.cat("products create --reference D-1 --name Dress --image front.jpg:front");
    const ran = await world.cat(`products detach D-1 ${world.products()[0]!.images[0]!.id}`);
    expect([ran.exit, ran.stdout]).toEqual([3, ""]);
    expect(ran.stderr).toContain("422 cannot_drop_last_image");
  });
});

describe("cat images upload", () => {
  test("prints the image of each file", async () => {
    const world = await withPhotos();
    const ran = await world.cat("images upload front.jpg back.jpg --json");
    expect([ran.exit, ran.stderr]).toEqual([0, ""]);
    const rows = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows).toEqual(
      ["front.jpg", "back.jpg"].map((file) => ({
        file,
        id: expect.stringMatching(/^[0-9A-Z]{26}$/),
        mime_type: "image/jpeg",
        created_at: "2026-01-05T09:00:00.000Z",
      })),
    );
    expect((await world.cat(`images get ${rows[1].id}`)).exit).toBe(0);
  });

  test.each([
    [".", '"." is a folder, not a file'],
    ["/dev/null", '"/dev/null" is a pipe or a device, not a file'],
  ])("exits with 2 for %s", async (file, message) => {
    const world = await withPhotos();
    expect(await world.cat(`images upload ${file}`)).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: ${message}\nChoose other files, and run the command again. Nothing was sent.\n`,
    });
    expect(world.requests()).toEqual([]);
  });

  test("uploads nothing if a file cannot be used, and names every one", async () => {
    const world = await withPhotos();
    world.write("text.jpg", "hello");
    const ran = await world.cat("images upload front.jpg text.jpg none.jpg");
    expect([ran.exit, ran.stdout]).toEqual([3, ""]);
    expect(ran.stderr).toMatch(
      /^error: "text\.jpg" does not contain a JPEG, .*; \S+none\.jpg does not exist\n/,
    );
    expect(world.requests()).toEqual([]);
  });

  test("prints the IDs of the photos before the one that failed", async () => {
    const world = await withPhotos();
    onTestFinished(stopServers);
    const image = {
      id: "01KE6W9ZJ8Q3V5X7B2D4F6H8JK",
      mime_type: "image/jpeg",
      created_at: "2026-01-05T09:00:00Z",
    };
    const error = { type: "forbidden", code: "insufficient_scope", message: "No." };
    const { origin } = await scriptedServer(json(201, image), json(403, { error }));
    const ran = await world.cat("images upload front.jpg back.jpg", { env: { CAT_BASE_URL: origin } });
    expect(ran).toMatchObject({ exit: 4, stderr: expect.stringContaining("insufficient_scope") });
    expect(ran.stdout).toBe("file       mime_type   id\nfront.jpg  image/jpeg  01KE6W9ZJ8Q3V5X7B2D4F6H8JK\n");
  });

  test("exits with 8 when the service rejects one of several", async () => {
    const world = await withPhotos();
    const fault = { match: { path: "/v1/images" }, times: 1, status: 415 };
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(fault) });
    const ran = await world.cat("images upload front.jpg back.jpg --json");
    expect(ran.exit).toBe(8);
    expect(ran.stdout.split("\n").map((line) => line && JSON.parse(line).id !== null)).toEqual([
      false,
      true,
      "",
    ]);
    const [warning, failure] = ran.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(warning.warning.message).toMatch(/^front\.jpg: /);
    expect(failure.error).toEqual({
      type: "partial",
      code: "part_failed",
      message: "the service rejected 1 of 2 photos",
      exit: 8,
    });
  });
});
