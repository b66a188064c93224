import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished } from "vitest";
import { longTest } from "../support/long-test.ts";
import { s3Server } from "../support/s3-server.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const bench = (name: string) => fileURLToPath(new URL(`../../bench/${name}`, import.meta.url));
const count = 24;

/** The peak memory, in MB, of a command with 24 images of so many bytes; `flags` of the tasks and of the store. */
async function peakOf(
  megabytes: number,
  toArgs: (at: { folder: string; ids: readonly string[] }) => readonly string[],
): Promise<number> {
  needsBuild();
  const server = spawn(process.execPath, [
    bench("outputs-server.js"),
    ...[count, megabytes * 1_000_000].map(String),
  ]);
  onTestFinished(() => void server.kill());
  const [line] = await once(createInterface({ input: server.stdout }), "line");
  const { base_url, ids } = JSON.parse(String(line));
  const folder = temporaryFolder();
  const store = await s3Server();
  const ran = await execa(
    process.execPath,
    ["--import", bench("print-peak.js"), catProgram, ...toArgs({ folder, ids }), "--json"],
    {
      ...{ cwd: folder, reject: false, input: "" },
      env: {
        ...store.env(store.origin),
        ...{
          CAT_HOME: join(folder, ".home"),
          CAT_BASE_URL: base_url,
          CAT_API_KEY: "ak_mock",
          TMPDIR: folder,
        },
      },
    },
  );
  expect([ran.exitCode, ran.stderr]).toEqual([0, ""]);
  return Number(/^peak (\d+) /m.exec(ran.stdout)?.[1]);
}

type ToArgs = Parameters<typeof peakOf>[1];
/** Of 10 MB on the disk, 16 at once; of 4 MB in memory, as many at once as there are by default. */
const commands: readonly (readonly [what: string, megabytes: number, toArgs: ToArgs])[] = [
  ["a mirror", 10, () => ["export", "sync", "images", "--concurrency", "16"]],
  ["a mirror", 4, () => ["export", "sync", "images", "--concurrency", "16"]],
  [
    "a mirror in a bucket",
    10,
    () => ["export", "sync", "s3://shop/a", "--path-style", "--concurrency", "16"],
  ],
  ["a mirror in a bucket", 4, () => ["export", "sync", "s3://shop/a", "--path-style"]],
  ["saved images", 10, ({ ids }) => ["tasks", "save", ...ids, "--save", "images"]],
  ["saved images", 4, ({ ids }) => ["tasks", "save", ...ids, "--save", "images"]],
  ["saves in a bucket", 10, ({ ids }) => ["tasks", "save", ...ids, "--save", "s3://shop/a", "--path-style"]],
];

longTest.each(commands)(
  "%s: images of %i MB, many at once, take less than 200 MB of memory",
  async (_, megabytes, toArgs) => {
    const peak = await peakOf(megabytes, toArgs);
    expect(peak).toBeGreaterThan(20);
    expect(peak).toBeLessThan(200);
  },
);
