import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "./pairs.js";

/** The headers of a client with all scopes. */
export const headers = { authorization: "Bearer ak_mock" };

/** Starts the built program's mock without rate limits; `stop()` ends it. */
export const startMockServer = (...options) => startLimitedMock("--no-rate-limit", ...options);

/** The same with the service's limits, or with those of the options. */
export const startLimitedMock = (...options) =>
  start([join(root, "bin/catalogue.js"), "serve", "--mock", "--port", "0", "--json", ...options]);

/** Starts the bare node:http server. */
export const startBareServer = () => start([join(root, "bench/bare-server.js")]);

/** Starts a server of so many images of so many bytes, and of the tasks that made them. */
export const startOutputsServer = (count, bytes) =>
  start([join(root, "bench/outputs-server.js"), String(count), String(bytes)]);

/** Starts a server of the pages of an export and of the products, of so many products with so many images. */
export const startPagesServer = (products, images) =>
  start([join(root, "bench/pages-server.js"), String(products), String(images)]);

/** Starts a server of one export, whose artifact is a file. */
export const startArtifactServer = (path) => start([join(root, "bench/artifact-server.js"), path]);

/** Starts a server that prints its address in its first line; returns that line, its process ID and `stop()`. */
async function start(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { ...JSON.parse(line), pid: child.pid, stop: () => child.kill() };
}

/** A function that asks a mock: with a body by POST. */
export const controlOf = (mock) => (path, body) =>
  fetch(mock.base_url + path, {
    ...{
      method: body === undefined ? "GET" : "POST",
      body: body === undefined ? null : JSON.stringify(body),
    },
    headers: { ...headers, "content-type": "application/json" },
  }).then((response) => response.json());

/** Imports so many products with the references SKU-0, SKU-1, … into a mock; its clock moves on by ten minutes. */
export async function createProducts(mock, count) {
  const control = controlOf(mock);
  const rows = Array.from({ length: count }, (_, at) => ({
    reference: `SKU-${at}`,
    name: `Linen dress ${at}`,
    images: [{ url: `https://cdn.example.com/${at}.jpg`, orientation: "front" }],
  }));
  const { id } = await control("/v1/imports", { rows });
  await control("/_mock/clock", { advance_ms: 600_000 });
  const { status } = await control(`/v1/imports/${id}`);
  if (status !== "completed") throw new Error(`the products were not imported: ${status}`);
}

/** A product on a server, by its ID. */
export async function createProduct(server, image, reference) {
  const answer = await fetch(`${server.base_url}/v1/products`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: productBody(image, reference),
  });
  if (!answer.ok) throw new Error(`the product was not created: ${answer.status}`);
  return (await answer.json()).id;
}

export const productBody = (image, reference) =>
  JSON.stringify({ reference, name: "Linen dress", images: [{ image_id: image, orientation: "front" }] });

/** An image for products; the bare server needs none. */
export async function uploadImage(server) {
  if (server.bare) return "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const form = new FormData();
  form.set("file", new Blob([png]), "one.png");
  const answer = await fetch(`${server.base_url}/v1/images`, { method: "POST", headers, body: form });
  return (await answer.json()).id;
}
