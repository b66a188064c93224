import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { bytes, json, type Step, scriptedServer, stopServers } from "../http/scripted-server.ts";
import { until } from "../support/until.ts";
import { createWorld } from "../support/world.ts";

const unknownId = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";

/** A test environment with an image, and the image's ID. */
async function withImage() {
  const world = await createWorld({ mock: { demo: 2 } });
  return { ...world, id: world.products()[0]!.images[0]!.id };
}

describe("cat images get", () => {
  test("shows one field per line", async () => {
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

  test("prints the object unchanged with --json", async () => {
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
      stderr: `error: image not found (GET /v1/images/${unknownId}: 404 image_not_found, request ${request!.request_id})\nCheck the ID. To see the images of a product: cat products get REFERENCE\n`,
    });
    const asJson = await world.cat(`images get ${unknownId} --json`);
    expect(JSON.parse(asJson.stderr).error).toMatchObject({ code: "image_not_found", status: 404, exit: 5 });
  });

  test("exits with 5, without a request, for text that cannot be an ID", async () => {
    const world = await withImage();
    expect(await world.cat("images get nope")).toEqual({
      exit: 5,
      stdout: "",
      stderr: 'error: no image has the ID "nope"\nCheck the ID: it has 26 capital letters and digits.\n',
    });
    expect(world.requests()).toEqual([]);
  });

  test.for([
    ["images get", "missing argument: ID"],
    ["images get A B", "too many arguments: expected 1, got 2"],
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
      stderr: "error: the image ID is empty\nUse the complete ID.\n",
    });
  });
});

describe("cat images get --save", () => {
  /** The bytes of the original. */
  const original = async (world: Awaited<ReturnType<typeof withImage>>): Promise<Buffer> => {
    const { url } = JSON.parse((await world.cat(`images get ${world.id} --json`)).stdout);
    return Buffer.from(await (await fetch(url)).arrayBuffer());
  };
  const files = (world: { folder: string }) => readdirSync(world.folder).filter((name) => name !== ".home");

  test("saves the original and prints nothing on stdout", async () => {
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

  test("needs --yes to replace a file if it cannot prompt", async () => {
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

  test.for(["y", "n", ""])("prompts on a terminal before it replaces a file: %j", async (typed) => {
    const world = await withImage();
    world.write("photo.jpg", "mine");
    const stdin = new PassThrough();
    const running = world.cat(`images get ${world.id} --save photo.jpg`, { tty: true, stdin });
    await until(() => running.stderr.includes("Replace photo.jpg?"));
    stdin.write(`${typed}\r`);
    expect((await running).exit).toBe(0);
    expect(world.read("photo.jpg") === "mine").toBe(typed !== "y");
  });

  test("rejects a folder, a missing folder and a device before any request", async () => {
    const world = await withImage();
    mkdirSync(join(world.folder, "out"));
    for (const [file, why] of [
      ["out", "it is a folder"],
      ["none/photo.jpg", "its folder does not exist"],
      ["d/", "the folder does not exist"],
      ["/dev/null", "it is a device"],
    ] as const) {
      expect(await world.cat(`images get ${world.id} --save ${file} --yes`)).toEqual({
        exit: 2,
        stdout: "",
        stderr: `error: cannot write --save ${file}: ${why}\nChoose a file with --save.\n`,
      });
    }
    expect(world.requests()).toEqual([]);
  });

  test("leaves no file for an unknown ID", async () => {
    const world = await withImage();
    expect((await world.cat(`images get ${unknownId} --save photo.jpg`)).exit).toBe(5);
    expect(files(world)).toEqual([]);
  });

  test("resumes an interrupted download", async () => {
    const world = await withImage();
    const bytes = await original(world);
    const fault = (order: object) =>
      fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
    await fault({ match: { path: "/_signed" }, times: 1, truncate: 1000 });
    await fault({ match: { path: "/_signed" }, times: 5, status: 503 });
    const failed = await world.cat(`images get ${world.id} --save photo.jpg`);
    expect(failed).toMatchObject({
      exit: 7,
      stdout: "",
      stderr: expect.stringContaining("\nTo download the image, run the same command again.\n"),
    });
    expect(files(world)).toEqual([".photo.jpg.part", ".photo.jpg.part.state"]);
    expect((await world.cat(`images get ${world.id} --save photo.jpg`)).exit).toBe(0);
    expect(readFileSync(join(world.folder, "photo.jpg")).equals(bytes)).toBe(true);
    expect(files(world)).toEqual(["photo.jpg"]);
  });

  test.for([
    ["-", "cannot use --save -: images are not written to standard output"],
    ["", "--save is empty"],
    [" ", "--save is empty"],
  ] as const)("exits with 2 for --save %j", async ([file, message]) => {
    const world = await withImage();
    expect(await world.cat(["images", "get", world.id, "--save", file])).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: ${message}\nChoose a file, for example --save photo.jpg.\n`,
    });
    expect([files(world), world.requests()]).toEqual([[], []]);
  });

  test.for([undefined, null, ""])("shows an image whose URL is %j, but cannot save it", async (url) => {
    onTestFinished(stopServers);
    const world = await createWorld();
    const server = await scriptedServer(json(200, { id: unknownId, mime_type: "image/jpeg", url }));
    const env = { CAT_BASE_URL: server.origin };
    const ran = await world.cat(`images get ${unknownId}`, { env });
    expect(ran).toMatchObject({ exit: 0, stderr: "", stdout: expect.stringContaining("image/jpeg") });
    expect(await world.cat(`images get ${unknownId} --save k.jpg`, { env })).toMatchObject({
      exit: 7,
      stderr: expect.stringContaining(`the service sent no URL of image ${unknownId}\n`),
    });
  });

  /** `cat images get --save k.jpg` of an image whose file a scripted server sends. */
  async function saved(file: Step, mime_type = "image/jpeg") {
    const world = await createWorld();
    onTestFinished(stopServers);
    const times = { created_at: "2026-01-05T09:00:00.000Z", url_expires_at: "2026-01-05T10:00:00.000Z" };
    const server = await scriptedServer((response, seen) => {
      const url = `${server.origin}/files/k?signature=s`;
      const image = { id: unknownId, mime_type, url, ...times };
      (seen.path.startsWith("/v1/") ? json(200, image) : file)(response, seen);
    });
    const running = world.cat(`images get ${unknownId} --save k.jpg --no-label`, {
      env: { CAT_BASE_URL: server.origin },
    });
    return { world, running, server, url: `${server.origin}/files/k` };
  }
  const sent = (body: string | Uint8Array, type = "image/jpeg"): Step =>
    bytes(200, body, { "content-type": type, "content-length": Buffer.byteLength(body), etag: '"v1"' });
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);
  const again = "Run the command again. If it fails again, report this message to the service.\n";

  test.for([
    ["no bytes", "", "is empty"],
    ["text", "<html>sorry</html>", "is another kind of file, not image/jpeg"],
    ["another image type", png, "is an image/png file, not image/jpeg"],
  ] as const)("saves nothing if the service sends %s", async ([, body, why]) => {
    const { world, running, url } = await saved(sent(body));
    expect(await running).toEqual({ exit: 7, stdout: "", stderr: `error: ${url} ${why}\n${again}` });
    expect(files(world)).toEqual([]);
  });

  test("saves an image of a type that is newer than this program", async () => {
    const { running } = await saved(sent("avif", "image/avif"), "image/avif");
    expect(await running).toMatchObject({ exit: 0, stderr: "Saved k.jpg (4 bytes).\n" });
  });

  test.for<[string, Step]>([
    ["a 404", bytes(404, "", {})],
    ["a wrong type", sent("text", "text/html")],
    [
      "an unknown length",
      (response) => {
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { "content-type": "image/jpeg", connection: "close" });
        response.end("text");
      },
    ],
  ])("reports a next step after %s of the signed URL", async ([, file]) => {
    const { world, running } = await saved(file);
    const { exit, stderr } = await running;
    expect([exit, stderr.slice(stderr.indexOf("\n") + 1)]).toEqual([7, again]);
    expect(files(world)).toEqual([]);
  });

  test("saves an image that is sent in chunks", async () => {
    const chunked = { "content-type": "image/avif", "transfer-encoding": "chunked" };
    const { running } = await saved(bytes(200, "avif", chunked), "image/avif");
    expect(await running).toMatchObject({ exit: 0, stderr: "Saved k.jpg (4 bytes).\n" });
  });

  test("reports after an interrupt the same command, without the promise of a resume", async () => {
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { running } = await saved((response) => {
      response.writeHead(200, { "content-type": "image/jpeg", "content-length": 100, etag: '"v1"' });
      response.write("\xff", () => begun());
    });
    await isBegun;
    running.interrupt();
    expect(await running).toEqual({
      exit: 130,
      stdout: "",
      stderr: "interrupted\nTo download the image, run the same command again.\n",
    });
  });

  test("leaves a user file that has the name of the temporary file", async () => {
    const world = await withImage();
    world.write(".photo.jpg.part", "mine");
    const ran = await world.cat(`images get ${world.id} --save photo.jpg`);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toMatch(
      /^error: .+\nMove that file elsewhere, or choose another name for the download\.\n$/,
    );
    expect([world.read(".photo.jpg.part"), files(world)]).toEqual(["mine", [".photo.jpg.part"]]);
  });
});
