import { randomFillSync } from "node:crypto";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { pairedRatio } from "./pairs.js";
import { startMockServer } from "./servers.js";

const products = 500;
const imagesEach = 4;
const imageBytes = 100_000;
const runs = 7;

/**
 * A ZIP of 2,000 images of 100 KB, ordered and downloaded to a file, against writing the same bytes to a file
 * sequentially.
 */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const mock = await startMockServer("--speed", "1000000");
  try {
    const images = await fill(mock);
    const zip = async () => timed(async () => read((await order(mock)).url, join(folder, "images.zip")));
    const concatenated = async () =>
      timed(() => pipeline(Readable.from(images), createWriteStream(join(folder, "images"))));
    return [
      {
        what: "zip: 2,000 images of 100 KB, time against concatenating them to a file",
        ratio: await pairedRatio(runs, zip, concatenated),
        goal: 4,
        atMost: true,
      },
    ];
  } finally {
    mock.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Attaches the images to products; returns their bytes. */
async function fill(mock) {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const images = [];
  for (let at = 0; at < products; at++) {
    const photos = [];
    for (let index = 0; index < imagesEach; index++) {
      const bytes = randomFillSync(Buffer.alloc(imageBytes));
      png.copy(bytes);
      images.push(bytes);
      const form = new FormData();
      form.set("file", new Blob([bytes]), "photo.png");
      const { id } = await post(mock, "/v1/images", form);
      photos.push({ image_id: id, orientation: "front" });
    }
    await post(mock, "/v1/products", { reference: `BENCH-${at}`, name: "Linen dress", images: photos });
  }
  return images;
}

/** An export job of everything, once it is completed. */
async function order(mock) {
  let job = await post(mock, "/v1/exports", { format: "zip" });
  while (job.status === "processing") job = await ask(mock, `/v1/exports/${job.id}`);
  return job;
}

const post = (mock, path, body) => {
  const isForm = body instanceof FormData;
  return ask(mock, path, {
    method: "POST",
    body: isForm ? body : JSON.stringify(body),
    headers: isForm ? {} : { "content-type": "application/json" },
  });
};

async function ask({ base_url }, path, options = {}) {
  const headers = { authorization: "Bearer ak_mock", ...options.headers };
  const answer = await fetch(base_url + path, { ...options, headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function read(url, file) {
  const response = await new Promise((resolve, reject) => get(url, resolve).on("error", reject));
  await pipeline(response, createWriteStream(file));
}

/** Milliseconds. */
async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
