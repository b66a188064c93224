import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { radosgwProblem, startRadosgw } from "../test/support/radosgw.js";
import { pairedRatio, root, timed, withPeak } from "./pairs.js";
import { memoryNote, settingsFor, withServer } from "./saving.js";
import { startOutputsServer } from "./servers.js";

/** The most memory that a mirror in a bucket may need, in MB. */
const memoryGoal = 250;

/** Mirrors in Ceph's object store on this machine, by two machines with a shard each. `small`: images of the memory test. */
export async function measure({ count = 2_000, bytes = 100_000, runs = 3, small = 20_000 } = {}) {
  const problem = radosgwProblem();
  if (problem !== null) throw new Error(`radosgw is ${problem}`);
  const gateway = await startRadosgw();
  try {
    const store = { ...gateway.env, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" };
    return [
      ...(await measureTimes({ count, bytes, runs }, gateway.endpoint, store)),
      await measureMemory(small, store),
    ];
  } finally {
    gateway.stop();
  }
}

let places = 0;

/** A mirror by shards of their own processes; resolves to the time of all, and the peak of each. */
async function mirror(prefix, shards, env) {
  const began = performance.now();
  const ran = await Promise.all(
    shards.map((shard) => {
      const args = [join(root, "bin/cat.js"), "export", "sync", `s3://shop/${prefix}`, "--path-style"];
      const part = shard === null ? [] : ["--shard", shard];
      return withPeak([...args, "--quiet", ...part], {
        env: { ...env, CAT_HOME: `${env.CAT_HOME}-${places++}` },
      });
    }),
  );
  return { ms: performance.now() - began, peaks: ran.map(({ peak }) => peak) };
}

const measureTimes = ({ count, bytes, runs }, endpoint, store) =>
  withServer(
    () => startOutputsServer(count, bytes),
    async (folder, server) => {
      const env = { ...settingsFor(server, folder), ...store };
      const shards = ["1/2", "2/2"];
      const peaks = [];
      let last = "";
      const cat = async () => {
        last = `cat-${places++}`;
        const ran = await mirror(last, shards, env);
        peaks.push(...ran.peaks);
        return ran.ms;
      };
      // As many at once as two shards have.
      const loops = (count) => async () => {
        const began = performance.now();
        await Promise.all(
          Array.from({ length: count }, (_, number) => {
            const input = server.urls.filter((_, at) => at % count === number).join("\n");
            const args = [
              join(root, "bench/upload-loop.js"),
              endpoint,
              `loop-${places++}`,
              String(16 / count),
            ];
            return timed(process.execPath, args, { input, env });
          }),
        );
        return performance.now() - began;
      };
      const images = join(folder, "images");
      mkdirSync(images);
      for (let at = 0; at < count; at++) writeFileSync(join(images, `${at}.png`), Buffer.alloc(bytes, at));
      const rclone = async () => {
        const target = `:s3,provider=Ceph,env_auth=true,endpoint='${endpoint}':shop/rclone-${places++}`;
        // It has no use for certificates of a proxy, and fails with them.
        const { AWS_CA_BUNDLE: _, ...own } = env;
        return (await timed("rclone", ["copy", images, target, "--transfers", "16"], { env: own })).ms;
      };
      const what = `mirror of ${count.toLocaleString("en")} images of ${bytes / 1_000} KB in a bucket by two shards, time against`;
      const againstLoop = await pairedRatio(runs, cat, loops(1));
      const againstLoops = await pairedRatio(runs, cat, loops(2));
      const againstRclone = await pairedRatio(1, cat, rclone);
      const unchanged = await measureUnchanged(last, shards, { env, endpoint });
      const note = memoryNote(peaks, memoryGoal);
      if (readdirSync(images).length !== count) throw new Error("rclone has changed the folder");
      return [
        { what: `${what} a bare loop with client-s3`, ratio: againstLoop, goal: 1.3, atMost: true, note },
        {
          what: `${what} two such loops with half of the images each`,
          ratio: againstLoops,
          goal: 1.3,
          atMost: true,
        },
        {
          what: `${what} rclone copy from a folder, which downloads nothing`,
          ratio: againstRclone,
          goal: 3,
          atMost: true,
          note: unchanged,
        },
      ];
    },
  );

/** The requests and seconds of a run without changes, as a note. */
async function measureUnchanged(prefix, shards, { env, endpoint }) {
  const began = performance.now();
  const ran = await Promise.all(
    shards.map((shard) =>
      promisify(execFile)(
        process.execPath,
        [
          join(root, "bin/cat.js"),
          ...["export", "sync", `s3://shop/${prefix}`, "--path-style", "--shard", shard, "--verbose"],
        ],
        { env: { ...env, CAT_HOME: `${env.CAT_HOME}-${places++}` }, maxBuffer: 100_000_000 },
      ),
    ),
  );
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const requests = ran.map(
    ({ stderr }) => stderr.split("\n").filter((line) => line.includes(endpoint)).length,
  );
  return `without changes ${requests.join(" and ")} requests, ${seconds} s`;
}

const measureMemory = (count, store) =>
  withServer(
    () => startOutputsServer(count, 1_000),
    async (folder, server) => {
      const env = { ...settingsFor(server, folder), ...store };
      const { ms, peaks } = await mirror(`small-${places++}`, [null], env);
      const what = `mirror of ${count.toLocaleString("en")} images of 1 KB in a bucket, memory in MB / ${memoryGoal}`;
      const note = `${Math.max(...peaks)} MB, ${Math.round(ms / 1000)} s`;
      return { what, ratio: Math.max(...peaks) / memoryGoal, goal: 1, atMost: true, note };
    },
  );
