import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";

const unknownId = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";

/** A test environment with an image, and its ID. */
async function withImage() {
  const world = await createWorld({ mock: { demo: 2 } });
  return { ...world, id: world.products()[0]!.images[0]!.id };
}

describe("cat images get", () => {
  test("shows the image a field per line", async () => {
    const world = await withImage();
    const ran = await world.cat(`images get ${world.id}`);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(ran.stdout.replace(/http:\S+/, "URL").replace(/(created_at +)\S+/, "$1TIME")).toBe(
      `id              ${world.id}\n` +
        "mime_type       image/jpeg\n" +
        "url             URL\n" +
        "url_expires_at  2026-01-05T10:00:00.000Z\n" +
        "created_at      TIME\n",
    );
  });

  test("prints the service's own object with --json", async () => {
    const world = await withImage();
    const ran = await world.cat(`images get ${world.id} --json`);
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
      exit: 0,
      stderr: "",
      stdout: {
        id: world.id,
        mime_type: "image/jpeg",
        url: expect.stringMatching(/^http:/),
        url_expires_at: "2026-01-05T10:00:00.000Z",
        created_at: expect.any(String),
      },
    });
  });

  test("exits with 5 for an unknown ID", async () => {
    const world = await withImage();
    const ran = await world.cat(`images get ${unknownId}`);
    const [request] = world.requests();
    expect(ran).toEqual({
      exit: 5,
      stdout: "",
      stderr: `error: there is no such image (GET /v1/images/${unknownId}: 404 image_not_found) (request ${request!.request_id})\n`,
    });
    const asJson = await world.cat(`images get ${unknownId} --json`);
    expect(JSON.parse(asJson.stderr).error).toMatchObject({ code: "image_not_found", status: 404, exit: 5 });
  });

  test("exits with 5, without a request, for text that cannot be an ID", async () => {
    const world = await withImage();
    expect(await world.cat("images get nope")).toEqual({
      exit: 5,
      stdout: "",
      stderr: 'error: there is no image "nope": an image\'s id has 26 capital letters and digits\n',
    });
    expect(world.requests()).toEqual([]);
  });

  test.for([
    ["images get", "missing required argument 'ID'"],
    ["images get A B", "too many arguments for 'get'. Expected 1 argument but got 2"],
  ] as const)("exits with 2 for %s", async ([line, message]) => {
    const world = await withImage();
    expect(await world.cat(line)).toMatchObject({
      exit: 2,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  });

  test("exits with 2 for an empty ID", async () => {
    const world = await withImage();
    expect(await world.cat(["images", "get", " "])).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: the image's id is empty\n",
    });
  });
});

describe("cat images get --save", () => {
  /** The bytes at the service. */
  const original = async (world: Awaited<ReturnType<typeof withImage>>): Promise<Buffer> => {
    const { url } = JSON.parse((await world.cat(`images get ${world.id} --json`)).stdout);
    return Buffer.from(await (await fetch(url)).arrayBuffer());
  };
  const files = (world: { folder: string }) => readdirSync(world.folder).filter((name) => name !== ".home");

  test("saves the original, and leaves stdout to data", async () => {
    const world = await withImage();
    const bytes = await original(world);
    const ran = await world.cat(`images get ${world.id} --save photo.jpg`);
    const size = bytes.length.toLocaleString("en-US");
    expect(ran).toEqual({ exit: 0, stdout: "", stderr: `Saved photo.jpg (${size} bytes).\n` });
    expect(readFileSync(join(world.folder, "photo.jpg")).equals(bytes)).toBe(true);
    expect(files(world)).toEqual(["photo.jpg"]);
  });

  test("prints the resource with --json", async () => {
    const world = await withImage();
    const ran = await world.cat(`images get ${world.id} --save photo.jpg --json`);
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toMatchObject({
      exit: 0,
      stdout: { id: world.id, mime_type: "image/jpeg" },
      stderr: "",
    });
    expect(files(world)).toEqual(["photo.jpg"]);
  });

  test("needs --yes to replace a file where the user cannot be asked", async () => {
    const world = await withImage();
    world.write("photo.jpg", "mine");
    const line = `images get ${world.id} --save photo.jpg`;
    const expected = {
      exit: 2,
      stdout: "",
      stderr:
        "error: photo.jpg exists; nothing was saved\n" +
        "Add --yes to replace it, or choose another file with --save.\n",
    };
    expect(await world.cat(line)).toEqual(expected);
    expect(await world.cat(`${line} --no-input`, { tty: true })).toMatchObject({ exit: 2, stdout: "" });
    expect([world.read("photo.jpg"), world.requests()]).toEqual(["mine", []]);
    expect((await world.cat(`${line} --yes`)).exit).toBe(0);
    expect(world.read("photo.jpg")).not.toBe("mine");
  });

  test.for([
    ["y", 0],
    ["n", 2],
    ["", 2],
  ] as const)("asks on a terminal before it replaces a file: %j", async ([typed, exit]) => {
    const world = await withImage();
    world.write("photo.jpg", "mine");
    const stdin = new PassThrough();
    const running = world.cat(`images get ${world.id} --save photo.jpg`, { tty: true, stdin });
    while (!running.stderr.includes("Replace photo.jpg?"))
      await new Promise((resolve) => setImmediate(resolve));
    stdin.write(`${typed}\r`);
    expect((await running).exit).toBe(exit);
    expect(world.read("photo.jpg") === "mine").toBe(exit === 2);
  });

  test("rejects a folder, a missing folder and a device before any request", async () => {
    const world = await withImage();
    mkdirSync(join(world.folder, "out"));
    for (const [file, why] of [
      ["out", "is a folder"],
      ["none/photo.jpg", "is in a folder that does not exist"],
      ["/dev/null", "is a device"],
    ] as const) {
      expect(await world.cat(`images get ${world.id} --save ${file} --yes`)).toEqual({
        exit: 2,
        stdout: "",
        stderr: `error: cannot write --save ${file}: it ${why}\nChoose a file with --save.\n`,
      });
    }
    expect(world.requests()).toEqual([]);
  });

  test("leaves no file for an unknown ID", async () => {
    const world = await withImage();
    expect((await world.cat(`images get ${unknownId} --save photo.jpg`)).exit).toBe(5);
    expect(files(world)).toEqual([]);
  });

  test("continues where an interrupted one stopped", async () => {
    const world = await withImage();
    const bytes = await original(world);
    const fault = (order: object) =>
      fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
    await fault({ match: { path: "/_signed" }, times: 1, truncate: 1000 });
    await fault({ match: { path: "/_signed" }, times: 5, status: 503 });
    const failed = await world.cat(`images get ${world.id} --save photo.jpg`);
    expect(failed).toMatchObject({ exit: 7, stdout: "" });
    expect(files(world)).toEqual([".photo.jpg.part", ".photo.jpg.part.state"]);
    expect((await world.cat(`images get ${world.id} --save photo.jpg`)).exit).toBe(0);
    expect(readFileSync(join(world.folder, "photo.jpg")).equals(bytes)).toBe(true);
    expect(files(world)).toEqual(["photo.jpg"]);
  });
});
