import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, withPeak } from "../pairs.js";
import { controlOf, headers, uploadImage } from "../servers.js";
import { checkMirror } from "./check.js";

const memoryGoal = 500;

/** A row for each part of the run: the memory of its largest process. */
export async function measure() {
  const { phases } = await mirrorMillion();
  return Object.entries(phases).flatMap(([name, { shards = [], seconds }]) => {
    if (shards.length === 0) return [];
    const peak = Math.max(...shards.map((shard) => shard.peak));
    return [
      {
        what: `mirror of 1,000,000 products by ${shards.length} shards, ${name}, memory / ${memoryGoal} MB`,
        ratio: peak / memoryGoal,
        goal: 1,
        atMost: true,
        note: `${peak} MB, ${Math.round(seconds / 60)} min`,
      },
    ];
  });
}

/**
 * A million products with two million images of 1 KB, mirrored by shards at once; one of them is killed in the middle. Then a night
 * without changes, one with changes, and a comparison of every image. Takes over an hour.
 */
async function mirrorMillion({ products = 1_000_000, shards = 4, folder = null } = {}) {
  const work = folder ?? mkdtempSync(join(tmpdir(), "catalogue-million-"));
  const mirror = join(work, "mirror");
  mkdirSync(work, { recursive: true });
  const mock = await startMillionMock(products);
  const env = {
    ...process.env,
    CAT_HOME: join(work, "home"),
    CAT_BASE_URL: mock.base_url,
    CAT_API_KEY: "ak_mock",
  };
  const sync = (...flags) =>
    withPeak([join(root, "bin/cat.js"), "export", "sync", mirror, "--quiet", ...flags], { env });
  const phases = {};
  const phase = async (name, run) => {
    const before = await mock.report();
    const started = performance.now();
    const found = await run();
    const after = await mock.report();
    phases[name] = {
      seconds: Math.round((performance.now() - started) / 1000),
      ...found,
      served: difference(after.served, before.served),
      mock: { cpu_s: Math.round(after.cpu_s - before.cpu_s), peak_mb: after.peak_mb },
    };
    console.error(new Date().toISOString(), name, JSON.stringify(phases[name]));
  };
  const night =
    (...flags) =>
    async () => ({
      shards: await Promise.all(
        numbers(shards).map((number) => sync("--shard", `${number}/${shards}`, "--delete", ...flags)),
      ),
    });
  const merge = async () => ({ merge: await sync("--merge"), ...sizes(mirror) });
  try {
    await phase("first run", async () => ({
      shards: await Promise.all(
        numbers(shards).map(async (number) => {
          const flags = ["--shard", `${number}/${shards}`, "--delete"];
          if (number === 2) await killed(mock, products * 0.8, { mirror, env, flags });
          return sync(...flags);
        }),
      ),
    }));
    await phase("merge", merge);
    await phase("no changes", night());
    await change(mock);
    await phase("changes", night());
    await phase("merge after changes", merge);
    await phase("full read", night("--full"));
    await phase("check", async () => checkMirror(mirror, mock.base_url));
    return { products, phases };
  } finally {
    mock.stop();
    if (folder === null) rmSync(work, { recursive: true });
  }
}

const numbers = (count) => Array.from({ length: count }, (_, at) => at + 1);

async function startMillionMock(products) {
  const child = fork(join(root, "bench/million/mock.js"), [String(products)]);
  const [{ base_url }] = await once(child, "message");
  const report = async () => {
    child.send("report");
    const [reported] = await once(child, "message");
    return reported;
  };
  return { base_url, pid: child.pid, report: inTurn(report), stop: () => child.disconnect() };
}

/** Calls of a function one after the other. */
function inTurn(work) {
  let last = Promise.resolve();
  return () => {
    last = last.then(work);
    return last;
  };
}

/** Starts a shard, and kills it once the mock has served so many images. */
async function killed(mock, images, { mirror, env, flags }) {
  const args = ["export", "sync", mirror, "--quiet", ...flags];
  const child = spawn(process.execPath, [join(root, "bin/cat.js"), ...args], { env, stdio: "inherit" });
  const ended = once(child, "exit");
  while (((await mock.report()).served["GET image"] ?? 0) < images && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill("SIGKILL");
  const [, signal] = await ended;
  if (signal !== "SIGKILL") throw new Error("the shard ended before its kill");
}

/** Changes a thousandth of the products in each of three ways, deletes as many, and creates as many. */
async function change(mock) {
  const control = controlOf(mock);
  const send = async (method, path, body, type = "application/json") => {
    const answer = await fetch(mock.base_url + path, {
      method,
      headers: { ...headers, "content-type": type },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
  };
  const products = [];
  let cursor = "";
  // Four of each thousand products, from all over the catalogue.
  for (let page = 0; cursor !== null; page++) {
    const { data, next_cursor } = await control(`/v1/products?limit=100${cursor}`);
    if (page % 10 === 0) products.push(...data.slice(0, 4));
    cursor = next_cursor && `&cursor=${next_cursor}`;
  }
  const count = products.length / 4;
  const next = () => products.splice(0, count);
  const image = await uploadImage(mock);
  for (const { id, name } of next())
    await send("PATCH", `/v1/products/${id}`, { name: `${name} (new)` }, "application/merge-patch+json");
  for (const { id, reference } of next())
    await send(
      "PATCH",
      `/v1/products/${id}`,
      { reference: `NEW-${reference}` },
      "application/merge-patch+json",
    );
  for (const { id } of next())
    await send("POST", `/v1/products/${id}/images`, { images: [{ image_id: image, orientation: "detail" }] });
  for (const { id } of next()) await send("DELETE", `/v1/products/${id}`);
  for (let at = 0; at < count; at++)
    await send("POST", "/v1/products", {
      ...{ reference: `ADDED-${at}`, name: "Linen dress" },
      images: [{ image_id: image, orientation: "front" }],
    });
}

/** Bytes and number of the files of a mirror, its indexes and its tables. Throws if anything else is left. */
function sizes(mirror) {
  const sum = { files: 0, images_bytes: 0, images_blocks: 0, index_bytes: 0, table_bytes: 0 };
  for (const name of readdirSync(mirror, { recursive: true })) {
    const stat = statSync(join(mirror, name));
    if (!stat.isFile()) continue;
    sum.files++;
    if (/^catalogue\..*ndjson$/.test(name)) sum.index_bytes += stat.size;
    else if (name.startsWith(".catalogue-sync")) {
      sum.table_bytes += stat.blocks * 512;
      if (!/(?:\.db(?:-wal|-shm)?|\.json|lock|\.ndjson)$/.test(name)) throw new Error(`${name} is left over`);
    } else {
      sum.images_bytes += stat.size;
      sum.images_blocks += stat.blocks * 512;
    }
  }
  return sum;
}

const difference = (after, before) =>
  Object.fromEntries(
    Object.entries(after)
      .map(([kind, count]) => [kind, count - (before[kind] ?? 0)])
      .filter(([, count]) => count > 0),
  );

// node bench/million/mirror.js 1000000 FOLDER > scripts/scale/run-of-a-million.json
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [products, folder] = process.argv.slice(2);
  const found = await mirrorMillion({ products: Number(products), folder });
  const rounded = (_, value) => (typeof value === "number" ? Math.round(value) : value);
  console.log(JSON.stringify(found, rounded, 1));
}
