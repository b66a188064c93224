import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { generateWorld } from "../generate/generate-world.ts";
import { listenWorld, startHandler } from "../webhooks/listen-world.ts";
import { serviceInFront } from "./service-in-front.ts";

const key = "ak_live_0123456789abcdefWXYZ";
const masked = "ak_…WXYZ";

/** Texts in which a service repeats the key. */
const echoing = new Set(["name", "message", "description"]);

const withKey = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, one: unknown) =>
    echoing.has(name) && typeof one === "string" ? `${one} ${key}` : one,
  );

/** A server that adds the key to each message and name of a JSONL file of the mock. */
async function echoingStorage(): Promise<string> {
  const server = createServer(async (request, response) => {
    const file = await fetch(Buffer.from(request.url!.slice(1), "base64url").toString());
    const lines = (await file.text())
      .split("\n")
      .map((line) => line && JSON.stringify(withKey(JSON.parse(line))));
    response.end(lines.join("\n"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Products, one of which fails, behind a service that repeats the key in each response and in each file. */
async function echoingWorld() {
  const world = await generateWorld();
  world.write("more.csv", "reference,name,images\nfail-low_confidence,Coat,https://cdn.example.com/c.jpg\n");
  expect(await world.cat("import more.csv")).toMatchObject({ exit: 0 });
  const front = await serviceInFront(world.mock.baseUrl);
  const storage = await echoingStorage();
  const moved = (url: string) => `${storage}/${Buffer.from(url).toString("base64url")}`;
  front.change = (passing) => {
    passing.headers["x-request-id"] = `req-${key}`;
    // The file names a model.
    if (!passing.path.startsWith("/v1/models")) passing.json = withKey(passing.json);
    const job = passing.json as { results_url?: string; url?: string; format?: string } | undefined;
    if (typeof job?.results_url === "string") job.results_url = moved(job.results_url);
    if (typeof job?.url === "string" && job.format === "manifest") job.url = moved(job.url);
  };
  const env = { CAT_BASE_URL: front.origin, CAT_API_KEY: key };
  return { ...world, run: (line: string) => world.cat(line, { env }) };
}

/** Every file below a folder, hidden ones included, with its bytes. */
const filesOf = (folder: string): (readonly [path: string, text: string])[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .map((path) => [path.slice(folder.length + 1), readFileSync(path, "latin1")]);

/** Each command, its exit, and a place with the masked key: a file, or standard output. */
const commands: readonly (readonly [line: string, exit: number, place: string])[] = [
  ["products list --json", 0, "stdout"],
  ["products list --format csv --verbose", 0, "stdout"],
  ["api GET /v1/products --include", 0, "stdout"],
  ["export", 0, "stdout"],
  ["export --out rows.ndjson", 0, "rows.ndjson"],
  ["export --out rows.csv", 0, "rows.csv"],
  ["export --manifest --out manifest.jsonl", 0, "manifest.jsonl"],
  ["export sync mirror", 0, "mirror/catalogue.ndjson"],
  ["import bad.csv --results r.ndjson", 8, "r.ndjson"],
  ["import bad.csv --results r.csv --fresh", 8, "r.csv"],
  ["import bad.csv --fresh --yes", 8, "bad.failed.csv"],
  ["tryon looks.csv --yes --save out --gallery page.html", 8, "out/results.csv"],
  ["tryon looks.csv --yes --fresh --results t.ndjson", 8, "t.ndjson"],
];

describe("a key that the service repeats in every text", () => {
  longTest("is in no file and on no stream", async () => {
    const world = await echoingWorld();
    world.write("bad.csv", "reference,name,images\nBAD,Coat,https://cdn.example.com/fail-timeout.jpg\n");
    world.looks("DRESS-1,Amara,studio,full-front", "fail-low_confidence,Amara,studio,full-front");
    for (const [line, exit, place] of commands) {
      const ran = await world.run(line);
      expect([line, ran.exit, ran.stderr]).toEqual([line, exit, expect.any(String)]);
      expect(`${ran.stdout}${ran.stderr}`, line).not.toContain(key.slice(8, -4));
      const shown = place === "stdout" ? ran.stdout : world.read(place);
      expect(shown, `${line}: ${place}`).toContain(masked);
    }
    const leaks = filesOf(world.folder).filter(([, text]) => text.includes(key.slice(8, -4)));
    expect(leaks.map(([path]) => path)).toEqual([]);
    expect(world.read("page.html")).toContain(masked);
  });
});

longTest("other texts that look like a key stay", async () => {
  const world = await generateWorld();
  world.write(
    "more.csv",
    "reference,name,images\nak_dress_001,Dress ak_live_0123456789,https://cdn.example.com/c.jpg\n",
  );
  expect(await world.cat("import more.csv")).toMatchObject({ exit: 0 });
  const front = await serviceInFront(world.mock.baseUrl);
  const ran = await world.cat("export", { env: { CAT_BASE_URL: front.origin, CAT_API_KEY: key } });
  const [row] = ran.stdout.split("\n").map((line) => JSON.parse(line || "null"));
  expect(row.product).toMatchObject({ reference: "ak_dress_001", name: "Dress ak_live_0123456789" });
});

longTest("an event with the key is forwarded as it is, and logged without the key", async () => {
  const world = await listenWorld();
  const front = await serviceInFront(world.mock.baseUrl);
  const handler = await startHandler(() => [200]);
  const listener = await world.listen(`--forward-to ${handler.url}`, {
    env: { CAT_BASE_URL: front.origin, CAT_API_KEY: key },
  });
  const [webhook] = world.mock.state().organizations.main.webhooks;
  const body = `{ "id":"evt_1", "type":"import.failed", "data": {"import":{"id":"X","error":"${key}"}} }`;
  const secret = webhook!.signing_secret;
  expect(await world.send(listener.first.listening, body, { secret })).toEqual([200, "ok"]);
  expect(handler.received[0]).toMatchObject({ body });
  expect(world.logLines()[0]).toMatchObject({
    data: { import: { id: "X", error: masked } },
    body: body.replace(key, masked),
  });
  const { stdout, stderr } = await listener.stop();
  expect(filesOf(world.folder).filter(([, text]) => text.includes(key))).toEqual([]);
  expect(stdout + stderr).not.toContain(key);
});
