// Ceph's object store, for tests, soaks and measurements of buckets. Plain JavaScript, because bench/ runs without a compiler.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const script = fileURLToPath(new URL("radosgw.sh", import.meta.url));
const programs = ["radosgw", "radosgw-admin", "ceph-mon", "ceph-osd", "ceph", "monmaptool", "curl"];

/** Why it cannot be started on this machine; null if it can. */
export function radosgwProblem() {
  const folders = (process.env.PATH ?? "").split(":");
  const missing = programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
  return missing.length === 0 ? null : `not installed: ${missing.join(", ")}`;
}

/** Starts an empty store with one bucket `shop`; Ctrl-C or a kill of this process ends it as well. */
export async function startRadosgw() {
  // The paths of its sockets have 107 characters at most.
  const folder = mkdtempSync(join(tmpdir(), "rgw-"));
  const stop = () => {
    for (const pid of pidsIn(folder)) end(pid);
    rmSync(folder, { recursive: true, force: true });
  };
  spawn("sh", ["-c", watcher, "watcher", String(process.pid), folder], {
    detached: true,
    stdio: "ignore",
  }).unref();
  const [port, monitor] = await Promise.all([freePort(), freePort()]);
  try {
    await promisify(execFile)("bash", [script, folder, String(port), String(monitor)], { timeout: 90_000 });
  } catch (error) {
    stop();
    throw error;
  }
  const endpoint = `http://127.0.0.1:${port}`;
  /** The environment of a command that uses it. */
  const env = {
    AWS_ACCESS_KEY_ID: "AKtest",
    AWS_SECRET_ACCESS_KEY: "SKtest",
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const { CreateBucketCommand } = await import("@aws-sdk/client-s3");
  const s3 = await s3Client(endpoint);
  await s3.send(new CreateBucketCommand({ Bucket: "shop" }));
  return { endpoint, env, s3, stop };
}

/** A bare client of it. @param {string} endpoint */
async function s3Client(endpoint) {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  const { S3Client } = await import("@aws-sdk/client-s3");
  return new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "AKtest", secretAccessKey: "SKtest" },
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}

const watcher =
  'while kill -0 "$1"; do sleep 2; [ -e "$2" ] || exit 0; done; kill -9 $(cat "$2"/run/*.pid); rm -rf "$2"';

/** @param {string} folder */
function pidsIn(folder) {
  const run = join(folder, "run");
  const files = existsSync(run) ? readdirSync(run).filter((name) => name.endsWith(".pid")) : [];
  return files.map((name) => Number(readFileSync(join(run, name), "utf8"))).filter((pid) => pid > 1);
}

/** @param {number} pid */
function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
