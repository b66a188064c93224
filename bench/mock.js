import { median } from "./pairs.js";
import { peer } from "./peers.js";
import { startPrism } from "./prism.js";
import {
  createProduct,
  headers,
  productBody,
  startBareServer,
  startMockServer,
  uploadImage,
} from "./servers.js";

const rounds = 5;
const seconds = 3;
const pageSize = 100;

/** The mock under load, in turn with a bare node:http JSON server and Prism under the same load. */
export async function measure() {
  const autocannon = (await peer("autocannon@8.0.0")).default;
  const mock = await startMockServer();
  const watched = await startMockServer();
  const bare = await startBareServer();
  const prism = await startPrism(mock);
  try {
    const ids = new Map();
    const bodies = new Map();
    for (const server of [mock, watched, bare]) {
      const image = await uploadImage(server);
      bodies.set(server, posts(image));
      for (let made = 0; made < pageSize; made++)
        ids.set(server, await createProduct(server, image, `ONE-${made}`));
    }
    ids.set(prism, ids.get(mock));
    const page = await openPage(watched);
    const fire = async ({ base_url }, options) =>
      (await autocannon({ url: base_url + options.path, connections: 50, duration: seconds, ...options }))
        .requests.average;
    const get = (server) => fire(server, { path: `/v1/products/${ids.get(server)}`, headers });
    const list = (server) => fire(server, { path: `/v1/products?limit=${pageSize}`, headers });
    const post = (server) => fire(server, { path: "/v1/products", ...bodies.get(server) });
    const against = async (load, other) => (await load(mock)) / (await load(other));
    const withPage = async (load) => (await load(watched)) / (await load(mock));

    const found = { get: [], list: [], post: [], prism: [], watchedGet: [], watchedPost: [] };
    for (let round = 0; round <= rounds; round++) {
      const ratios = {
        get: await against(get, bare),
        list: await against(list, bare),
        post: await against(post, bare),
        prism: await against(get, prism),
        watchedGet: await withPage(get),
        watchedPost: await withPage(post),
      };
      // The first round warms up the servers.
      if (round > 0) for (const [what, ratio] of Object.entries(ratios)) found[what].push(ratio);
    }
    if (page.frames() < rounds * seconds * 10) throw new Error(`the page got ${page.frames()} frames only`);
    page.close();
    const row = (what, ratios, goal) => ({ what: `mock: ${what}`, ratio: median(ratios), goal });
    return [
      row("GET of a product, speed against bare node:http", found.get, 0.85),
      row("POST of a product, speed against bare node:http", found.post, 0.75),
      row(`list of ${pageSize} products, speed against bare node:http`, found.list, 0.6),
      row("GET of a product, speed against Prism on the same OpenAPI document", found.prism, 8),
      row("GET of a product, speed with an open page against none", found.watchedGet, 0.7),
      row("POST of a product, speed with an open page against none", found.watchedPost, 0.7),
    ];
  } finally {
    for (const server of [mock, watched, bare, prism]) server.stop();
  }
}

/** Opens the page of a mock like a browser: the page itself, then its stream of requests, whose frames are counted. */
async function openPage({ base_url }) {
  await (await fetch(`${base_url}/_mock`)).text();
  const abort = new AbortController();
  const { body } = await fetch(`${base_url}/_mock/events?view=requests`, { signal: abort.signal });
  let frames = 0;
  (async () => {
    for await (const chunk of body)
      frames += Buffer.from(chunk).toString("latin1").split("\ndata: ").length - 1;
  })().catch(() => {});
  return { frames: () => frames, close: () => abort.abort() };
}

/** Each request creates another product: both servers parse the same body and keep its content. */
function posts(image) {
  let next = 0;
  const setupRequest = (request) => ({ ...request, body: productBody(image, `BENCH-${next++}`) });
  return {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    requests: [{ method: "POST", path: "/v1/products", setupRequest }],
  };
}
