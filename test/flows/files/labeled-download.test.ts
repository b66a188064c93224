import { createHash, hash } from "node:crypto";
import { linkSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { afterEach, describe, expect, test } from "vitest";
import { labelSplices, splicedChunks } from "../../../src/flows/files/ai-label.ts";
import { downloadFile, type FileDownload } from "../../../src/flows/files/download-file.ts";
import { imageInMemory } from "../../../src/flows/files/image-bytes.ts";
import type { DigitalSource } from "../../../src/flows/files/xmp.ts";
import { clientAgainst, closeAll } from "../../client/world.ts";
import { bytes, type Step } from "../../http/scripted-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

afterEach(closeAll);

const label: DigitalSource = "compositeWithTrainedAlgorithmicMedia";
const jpeg = await sharp({ create: { width: 9, height: 7, channels: 3, background: "#c33" } })
  .jpeg()
  .toBuffer();
/** An image of several MB: bytes after its end are accepted. */
const large = Buffer.concat([jpeg, Buffer.alloc(5_000_000, "0123456789abcdefghijklm")]);
const sha256 = (image: Buffer) => createHash("sha256").update(image).digest("hex");
const labeled = (image: Buffer) =>
  Buffer.concat(splicedChunks([image], labelSplices(imageInMemory([image]), label)!));

const etag = '"v1"';
const whole = (image: Buffer): Step => bytes(200, image, { "content-length": image.length, etag });
const cut =
  (image: Buffer, at: number): Step =>
  (response) => {
    response.writeHead(200, { "content-length": image.length, etag });
    response.write(image.subarray(0, at), () => setImmediate(() => response.socket?.destroy()));
  };
/** What the request's range asks for. */
const restOf =
  (image: Buffer): Step =>
  (response, seen) => {
    const from = Number(/\d+/.exec(seen.headers.range!)![0]);
    const range = `bytes ${from}-${image.length - 1}/${image.length}`;
    bytes(206, image.subarray(from), { etag, "content-range": range })(response, seen);
  };

async function against(...steps: Step[]) {
  const { client, server } = await clientAgainst(steps);
  const folder = temporaryFolder();
  const path = join(folder, "a.jpg");
  return {
    ...{ folder, path },
    get: (more: Partial<FileDownload> = {}) =>
      downloadFile(client, { url: `${server.origin}/file`, path, label, digestsSent: true, ...more }),
    left: () => readdirSync(folder).sort(),
    asked: () => server.requests.map(({ headers }) => headers.range ?? null),
  };
}

describe("an image that gets a label", () => {
  test("in memory has it in its bytes, with its length and the digest as sent", async () => {
    const { get, left } = await against(whole(jpeg));
    const { chunks, ...saved } = await get({ inMemory: true });
    expect(Buffer.concat(chunks!)).toEqual(labeled(jpeg));
    const sent = { bytes: jpeg.length, sha256: sha256(jpeg) };
    expect([saved, left()]).toEqual([{ bytes: labeled(jpeg).length, label: true, sent }, []]);
  });

  test("is read for its digest as sent only if that is asked for", async () => {
    const { get } = await against(whole(jpeg));
    expect(await get({ inMemory: true, digestsSent: false })).toMatchObject({ label: true, sent: null });
  });

  test("on the disk appears with it, and keeps the permissions of a replaced file", async () => {
    const { get, left, path } = await against(whole(large));
    writeFileSync(path, "old", { mode: 0o640 });
    const sent = { bytes: large.length, sha256: sha256(large) };
    expect(await get()).toEqual({ bytes: labeled(large).length, chunks: null, label: true, sent });
    expect(readFileSync(path).equals(labeled(large))).toBe(true);
    expect([left(), statSync(path).mode & 0o777]).toEqual([["a.jpg"], 0o640]);
  });

  test("resumes a part with the bytes as sent", async () => {
    const { get, path, asked, left } = await against(cut(large, 2_500_000), restOf(large));
    await get();
    expect(readFileSync(path).equals(labeled(large))).toBe(true);
    expect([asked().length, left()]).toEqual([2, ["a.jpg"]]);
  });

  test.each([false, true])(
    "after a kill before its name is right, and a link of the user stays: %j",
    async (isLinked) => {
      const { get, path, folder, left, asked } = await against(whole(large), restOf(large));
      const killed = () => Promise.reject(new Error("killed"));
      await expect(get({ check: killed })).rejects.toThrow("killed");
      const unfinished = join(
        folder,
        `.${hash("sha256", ".a.jpg.part").slice(0, 12)}-${"0".repeat(32)}.part`,
      );
      writeFileSync(unfinished, "half of an image");
      if (isLinked) linkSync(unfinished, join(folder, "mine.jpg"));
      await get();
      expect(readFileSync(path).equals(labeled(large))).toBe(true);
      expect(asked()).toEqual([null, `bytes=${large.length - 1}-`]);
      expect(left()).toEqual(isLinked ? ["a.jpg", "mine.jpg"] : ["a.jpg"]);
      if (isLinked) expect(readFileSync(join(folder, "mine.jpg"), "utf8")).toBe("half of an image");
    },
  );

  test.each([
    ["broken", jpeg.subarray(0, 20), false],
    ["cut off in its pixels", jpeg.subarray(0, -9), false],
    ["labeled already", labeled(jpeg), true],
  ])("is saved as sent if it is %s", async (_, image, label) => {
    const { get, path } = await against(whole(image));
    expect(await get()).toEqual({ bytes: image.length, chunks: null, label, sent: null });
    expect(readFileSync(path)).toEqual(image);
  });

  test("is saved as sent if no label is asked for", async () => {
    const { get, path } = await against(whole(jpeg));
    expect(await get({ label: null })).toEqual({
      ...{ bytes: jpeg.length, chunks: null, label: null, sent: null },
    });
    expect(readFileSync(path)).toEqual(jpeg);
  });
});
