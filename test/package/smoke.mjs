// Uses an installed package as its users do, and writes each kind of file. It prints what works, a line each, and fails at the
// first thing that does not. It runs in a project of its own, without the packages of the tests.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@catalogue-imaging/catalogue";
import { startMock } from "@catalogue-imaging/catalogue/mock";

const require = createRequire(import.meta.url);
const home = dirname(require.resolve("@catalogue-imaging/catalogue/package.json"));
const program = join(home, "bin/catalogue.js");

/**
 * Runs a command, and throws unless it ends with `status` and has written the files.
 * @param {string} what
 * @param {string[]} args
 * @param {{ status?: number, input?: string, writes?: string[], env?: Record<string, string> }} expected
 */
function run(what, args, { status = 0, input, writes = [], env = {} } = {}) {
  const options = {
    encoding: /** @type {const} */ ("utf8"),
    input,
    timeout: 120_000,
    env: { ...process.env, ...env },
  };
  const ran = spawnSync(process.execPath, [program, ...args], options);
  const missing = writes.filter((name) => !existsSync(name));
  if (ran.status !== status || missing.length > 0)
    throw new Error(`${what}: exit ${ran.status}, missing [${missing}]\n${ran.stdout}${ran.stderr}`);
  process.stdout.write(`${what}\n`);
  return ran.stdout;
}

if (process.argv[2] === "inside") inMock();
else await outside();

async function outside() {
  const ofModules = { startMock, createClient };
  const ofCommonJs = {
    ...require("@catalogue-imaging/catalogue/mock"),
    ...require("@catalogue-imaging/catalogue"),
  };
  for (const { startMock, createClient } of [ofModules, ofCommonJs]) {
    const mock = await startMock({ demo: 3 });
    const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey });
    const { data } = await client.products.list({ limit: 2 });
    await client.close();
    await mock.stop();
    if (data.length !== 2) throw new Error(`the mock from code listed ${data.length} products`);
  }
  process.stdout.write("mock from code\n");
  await checkDeliveries();
  const own = [process.execPath, fileURLToPath(import.meta.url), "inside"];
  const inside = run(
    "state of the mock",
    ["serve", "--mock", "--demo", "6", "--save", "sandbox.json", "--", ...own],
    {
      writes: ["sandbox.json"],
    },
  );
  process.stdout.write(inside);
}

/** A wrong signature is a SignatureError of every copy of the package, in both module systems. */
async function checkDeliveries() {
  const ofModules = await import("@catalogue-imaging/catalogue/webhooks");
  const ofCommonJs = require("@catalogue-imaging/catalogue/webhooks");
  const { SignatureError: inNode } = await import("@catalogue-imaging/catalogue");
  for (const { verifyWebhook } of [ofModules, ofCommonJs]) {
    const error = await verifyWebhook({ header: null, rawBody: "{}", secret: "whsec_a" }).catch(
      (/** @type {unknown} */ thrown) => thrown,
    );
    for (const one of [ofModules.SignatureError, ofCommonJs.SignatureError, inNode])
      if (!(error instanceof one)) throw new Error(`${error} is not a SignatureError`);
  }
  process.stdout.write("check of deliveries\n");
}

/** With the mock that `serve` runs for it, in CAT_BASE_URL and CAT_API_KEY. */
function inMock() {
  const { CAT_BASE_URL = "", CAT_API_KEY = "" } = process.env;
  const profile = ["--profile", "shop"];
  run("key in a file", ["login", ...profile, "--base-url", CAT_BASE_URL, "--with-key", "--store", "file"], {
    input: CAT_API_KEY,
  });
  // From here on the settings and the stored key count.
  const env = { CAT_BASE_URL: "", CAT_API_KEY: "" };
  run("settings", ["config", "set", "label", "sandbox", ...profile], { env });
  const quiet = [...profile, "--no-progress"];
  run(
    "results and failed file",
    ["import", "fixtures/some-fail.csv", ...quiet, "--results", "results.csv", "--failed", "failed.csv"],
    {
      ...{ env, status: 8, writes: ["results.csv", "failed.csv"] },
    },
  );
  run("undo", ["imports", "undo", "last", ...quiet, "--yes"], { env });
  run("workbook", ["products", "export", "products.xlsx", ...profile], { env, writes: ["products.xlsx"] });
  run("photo", ["images", "upload", "photo.png", ...quiet], { env });
  const [model = ""] = run("models", ["models", "list", "--json", "--limit", "1", ...profile], { env }).split(
    "\n",
  );
  const [product = ""] = run("products", ["products", "list", "--json", "--limit", "1", ...profile], {
    env,
  }).split("\n");
  const look = ["--product", JSON.parse(product).id, "--model", JSON.parse(model).id];
  run(
    "saved image",
    [
      "tryon",
      ...look,
      "--background",
      "white",
      "--angle",
      "full-front",
      "--save",
      "looks",
      "--yes",
      ...quiet,
    ],
    {
      ...{ env, writes: ["looks/results.csv"] },
    },
  );
  run("mirror", ["export", "sync", "mirror", ...quiet], { env, writes: ["mirror/catalogue.ndjson"] });
  run("ZIP", ["export", "--zip", "--out", "images.zip", ...quiet], { env, writes: ["images.zip"] });
  const command = ["--", process.execPath, program, "export", "--out", "list.ndjson"];
  run("log of events", ["webhooks", "listen", "--port", "0", "--log", "log.ndjson", ...quiet, ...command], {
    ...{ env, writes: ["log.ndjson", "list.ndjson"] },
  });
}
