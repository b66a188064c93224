import { execFileSync } from "node:child_process";
import { Agent, request } from "node:http";
import { median } from "./pairs.js";
import { headers, productBody, startMockServer } from "./servers.js";

const many = 1_000_000;
const few = 1_000;
const rounds = 5;
const requestsARound = 2_000;
const pageSize = 25;

const goals = { seconds: 20, gigabytes: 1.5, ratio: 2, searchMs: 300 };

/** The mock with a million products: its start-up time and size, and its speed compared with a thousand. */
export async function measure() {
  const started = performance.now();
  const large = await startMockServer("--seed", "1", "--demo", String(many));
  const seconds = (performance.now() - started) / 1_000;
  const small = await startMockServer("--seed", "1", "--demo", String(few));
  try {
    const ready = gigabytesOf(large);
    const known = { large: await walk(large, many), small: await walk(small, few) };
    const found = [
      share("seconds until --demo 1000000 is ready, as a share of 20", seconds, goals.seconds, "s"),
    ];
    for (const [what, ask] of Object.entries(loads)) {
      const ratios = [];
      for (let round = 0; round <= rounds; round++) {
        const ratio = (await slowest(large, known.large, ask)) / (await slowest(small, known.small, ask));
        // The first round warms up both.
        if (round > 0) ratios.push(ratio);
      }
      const ratio = median(ratios);
      found.push({
        what: `99th percentile of ${what}, 1,000,000 products / 1,000`,
        ratio,
        goal: goals.ratio,
        atMost: true,
      });
    }
    for (const [what, q] of Object.entries(searches)) {
      const times = [];
      for (let time = 0; time < 7; time++)
        times.push((await send(large, { path: `/v1/products?q=${encodeURIComponent(q)}` })).ms);
      found.push(
        share(
          `search for ${what} among 1,000,000, the slowest of 7, as a share of 300 ms`,
          Math.max(...times),
          goals.searchMs,
          "ms",
        ),
      );
    }
    const largest = Math.max(ready, gigabytesOf(large));
    found.push(
      share("resident memory with 1,000,000 products, as a share of 1.5 GB", largest, goals.gigabytes, "GB"),
    );
    return found;
  } finally {
    large.stop();
    small.stop();
  }
}

const share = (what, value, limit, unit) => ({
  what,
  ratio: value / limit,
  goal: 1,
  atMost: true,
  note: `${value.toFixed(unit === "ms" ? 0 : 2)} ${unit}`,
});

/** Requests under load, to a server with some known products and cursors. */
const loads = {
  "GET of a product": ({ products }) => ({ path: `/v1/products/${any(products).id}` }),
  "a list page at any depth": ({ cursors }) => ({
    path: `/v1/products?limit=${pageSize}&cursor=${any(cursors)}`,
  }),
  "a rejected reference": ({ products }) => {
    const { reference, images } = any(products);
    return {
      method: "POST",
      path: "/v1/products",
      body: productBody(images[0].id, reference),
      expected: 409,
    };
  },
};

const searches = {
  "text of no product": "qqqqqq",
  "one product": "DRESS-0001",
  "text of every twelfth product": "dress",
  "two words that never meet": "linen silk",
};

const any = (list) => list[Math.floor(Math.random() * list.length)];

/** Reads the entire list once, and keeps some products and cursors from all over it. */
async function walk(server, count) {
  const products = [];
  const cursors = [];
  const every = Math.max(1, Math.floor(count / 100 / 500));
  let cursor = "";
  for (let page = 0; ; page++) {
    const { body } = await send(server, { path: `/v1/products?limit=100${cursor}` });
    const { data, next_cursor } = JSON.parse(body);
    if (page % every === 0) products.push(any(data));
    if (next_cursor === null) return { products, cursors };
    if (page % every === 0) cursors.push(next_cursor);
    cursor = `&cursor=${next_cursor}`;
  }
}

/** The 99th percentile of the time of sequential requests, in milliseconds. */
async function slowest(server, known, ask) {
  const times = [];
  for (let count = 0; count < requestsARound; count++) {
    const { expected = 200, ...asked } = ask(known);
    const { ms, status } = await send(server, asked);
    if (status !== expected) throw new Error(`${asked.path}: ${status}`);
    times.push(ms);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
}

const agent = new Agent({ keepAlive: true });

function send(server, { method = "GET", path, body }) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request(server.base_url + path, {
      method,
      agent,
      headers: {
        ...headers,
        ...(body !== undefined && {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        }),
      },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          ms: performance.now() - started,
          status: response.statusCode,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.end(body);
  });
}

const gigabytesOf = ({ pid }) =>
  (Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1_024) / 1e9;
