import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { median, root } from "./pairs.js";
import { peer } from "./peers.js";

const rounds = 5;
const seconds = 3;

/** The mock under load against a bare node:http JSON server under the same load, in turn. */
export async function measure() {
  const autocannon = (await peer("autocannon@8.0.0")).default;
  const mock = await start([
    join(root, "bin/catalogue.js"),
    "serve",
    "--mock",
    "--port",
    "0",
    "--no-rate-limit",
    "--json",
  ]);
  const bare = await start([join(root, "bench/bare-server.js")]);
  try {
    const path = `/v1/products/${await createProduct(mock)}`;
    const barePath = `/v1/products/${await createProduct(bare)}`;
    const fire = async ({ base_url }, options) =>
      (await autocannon({ url: base_url + options.path, connections: 50, duration: seconds, ...options }))
        .requests.average;
    const headers = { authorization: "Bearer ak_mock" };
    const get = (server, path) => fire(server, { path, headers });
    const post = (server) =>
      fire(server, { path: "/v1/products", ...(server === mock ? mockPosts : barePosts) });
    const image = await uploadImage(mock);
    const mockPosts = posts(headers, image);
    const barePosts = posts(headers, image);
    const gets = [];
    const creates = [];
    for (let round = 0; round <= rounds; round++) {
      const ratios = [
        (await get(mock, path)) / (await get(bare, barePath)),
        (await post(mock)) / (await post(bare)),
      ];
      // The first round warms both servers up.
      if (round === 0) continue;
      gets.push(ratios[0]);
      creates.push(ratios[1]);
    }
    return [
      { what: "mock: GET of a product, speed against bare node:http", ratio: median(gets), goal: 0.85 },
      { what: "mock: POST of a product, speed against bare node:http", ratio: median(creates), goal: 0.7 },
    ];
  } finally {
    mock.stop();
    bare.stop();
  }
}

/** Each request creates another product: both servers parse the same body and keep what it says. */
function posts(headers, image) {
  let next = 0;
  const body = () =>
    JSON.stringify({
      reference: `BENCH-${next++}`,
      name: "Linen dress",
      images: [{ image_id: image, orientation: "front" }],
    });
  return {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    requests: [
      { method: "POST", path: "/v1/products", setupRequest: (request) => ({ ...request, body: body() }) },
    ],
  };
}

async function createProduct(server) {
  const image = await uploadImage(server);
  const answer = await fetch(`${server.base_url}/v1/products`, {
    method: "POST",
    headers: { authorization: "Bearer ak_mock", "content-type": "application/json" },
    body: JSON.stringify({
      reference: "ONE",
      name: "Linen dress",
      images: [{ image_id: image, orientation: "front" }],
    }),
  });
  return (await answer.json()).id;
}

async function uploadImage(server) {
  if (server.bare) return "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const form = new FormData();
  form.set("file", new Blob([png]), "one.png");
  const answer = await fetch(`${server.base_url}/v1/images`, {
    method: "POST",
    headers: { authorization: "Bearer ak_mock" },
    body: form,
  });
  return (await answer.json()).id;
}

/** Starts a server and gives what its first line says, and how to stop it. */
export async function start(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { ...JSON.parse(line), stop: () => child.kill() };
}
