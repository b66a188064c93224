import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import type { Step } from "../http/scripted-server.ts";
import { filesElsewhere } from "../support/files-elsewhere.ts";
import { longTest } from "../support/long-test.ts";
import { rawZip } from "../support/raw-zip.ts";
import { catProgram, needsBuild, spawnCat } from "../support/spawn-cat.ts";
import { until } from "../support/until.ts";
import { createWorld } from "../support/world.ts";

const mebibyte = 1024 * 1024;
/** Bytes that are sent before the kill, and what must be on the disk by then. */
const sent = 6.5 * mebibyte;
const least = 5 * mebibyte;

/** A JPEG of 9 MiB whose bytes differ everywhere. */
const noise = Buffer.concat(
  Array.from({ length: (9 * mebibyte) / 32 }, (_, at) => createHash("sha256").update(`${at}`).digest()),
);
const image = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xda]),
  noise.map((byte) => byte & 0x7f),
  Buffer.from([0xff, 0xd9]),
]);

const zip = rawZip([
  { name: "a.jpg", data: image },
  { name: "b.jpg", data: "photo" },
]);

/** A server that stops within the file until it is told to send everything. */
function holding(file: Buffer, headers: Record<string, string>): { serve: Step; sendAll(): void } {
  let holds = true;
  const serve: Step = (response, seen) => {
    const from = Number(/\d+/.exec(seen.headers.range ?? "")?.[0] ?? 0);
    const body = file.subarray(from);
    const range = { "content-range": `bytes ${from}-${file.length - 1}/${file.length}` };
    response.writeHead(from > 0 ? 206 : 200, {
      ...{ "content-length": body.length, "content-type": "image/jpeg", ...headers },
      ...(from > 0 && range),
    });
    if (holds) response.write(body.subarray(0, sent));
    else response.end(body);
  };
  const sendAll = () => {
    holds = false;
  };
  return { serve, sendAll };
}

/** A world with a product of two photos, an export of it and a try-on; and commands that download each. */
async function withFiles() {
  const world = await createWorld({ mock: { demo: 1, rateLimit: false } });
  const idOf = async (line: string): Promise<string> =>
    JSON.parse((await world.cat(`${line} --json`)).stdout.split("\n")[0]!).id;
  await world.cat("export --zip --yes");
  const model = await idOf("models list");
  const { reference, images } = world.products()[0]!;
  const look = "--background studio --angle full-front";
  const ran = await world.cat(`tryon --product ${reference} --model ${model} ${look} --yes`);
  expect(ran, ran.stderr).toMatchObject({ exit: 0 });
  return {
    world,
    env: { CAT_API_KEY: world.mock.apiKey, CAT_HOME: join(world.folder, ".home-2") },
    lines: {
      "images get": `images get ${images[0]!.id} --save a.jpg`,
      "tasks save": `tasks save ${await idOf("tasks list")} --save images --no-label`,
      "export sync": "export sync images --role source --concurrency 1",
      "exports download": `exports download ${await idOf("exports list")} --out a.zip`,
    },
  };
}

/** The largest part of a download in a folder. */
const partSize = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".part"))
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false }))
    .reduce((most, found) => (found?.isFile() ? Math.max(most, found.size) : most), 0);

/** The files of a folder that have this content. */
const filesWith = (folder: string, content: Buffer): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).equals(content);
  });

/** Runs a command twice: the first one is killed within its download. */
async function killedOnce(
  name: keyof Awaited<ReturnType<typeof withFiles>>["lines"],
  headers: Record<string, string>,
) {
  needsBuild();
  const { world, lines, env } = await withFiles();
  const file = name === "exports download" ? zip : image;
  const { serve, sendAll } = holding(file, headers);
  const { baseUrl, asked } = await filesElsewhere(world.mock, serve);
  const args = lines[name].split(" ");
  const options = { cwd: world.folder, env: { ...env, CAT_BASE_URL: baseUrl } };
  const child = execa(process.execPath, [catProgram, ...args], { ...options, reject: false });
  await until(() => partSize(world.folder) >= least || child.exitCode !== null, { pauseMs: 1 });
  child.kill("SIGKILL");
  expect((await child).signal).toBe("SIGKILL");
  const kept = partSize(world.folder);
  expect(kept).toBeGreaterThanOrEqual(least);
  asked.length = 0;
  sendAll();
  const again = await spawnCat(args, options);
  expect(again, again.stderr).toMatchObject({ exitCode: 0 });
  expect(partSize(world.folder)).toBe(0);
  return { kept, asked, saved: filesWith(world.folder, file) };
}

const downloads = ["export sync", "images get", "tasks save", "exports download"] as const;

longTest.for(downloads)(
  "cat %s, killed with kill -9, resumes after the last byte on the disk",
  async (name) => {
    const { kept, asked, saved } = await killedOnce(name, { etag: '"v1"' });
    expect(asked[0]).toBe(`bytes=${kept}-`);
    // A mirror has two more images, which are asked for once to learn their length.
    expect(asked.slice(1).every((range) => range === null)).toBe(true);
    expect(saved).toHaveLength(name === "export sync" ? 2 : 1);
  },
);

longTest("a killed download of a file without an ETag starts over", async () => {
  const { asked, saved } = await killedOnce("images get", {});
  expect([asked, saved]).toEqual([[null], ["a.jpg"]]);
});
