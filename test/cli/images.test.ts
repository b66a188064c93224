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
