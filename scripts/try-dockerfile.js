// @ts-check
// Carries out the steps of the Dockerfile without Docker: `node scripts/try-dockerfile.js`, as root on Linux. Packs the
// package first. The build runs in an empty folder; the image is a folder with Node and its libraries, in which the mock runs as the user of the
// image, without this machine's files and with a network of its own. Prints one JSON line with what was found.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { packCopy } from "./pack-copy.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), "catalogue-image-"));
/** Where a path of the build stage and one of the image are on this machine. */
const inBuild = (/** @type {string} */ path) => join(folder, path.replace(/^\/build/, "build"));
const inImage = (/** @type {string} */ path) => join(folder, "image", path);

/** Those of the packages libc6, libgcc-s1 and libstdc++6, which the base image has. */
const libraries = /\/(?:ld-linux[\w-]*\.so\.\d|lib(?:c|dl|m|pthread|resolv|rt|gcc_s|stdc\+\+)\.so\.\d)$/;

/** What a client next to the mock does: it reads a photo, which loads the library that draws it, imports a file and undoes that. */
const useMock = `
  import { execFileSync } from "node:child_process";
  import { writeFileSync } from "node:fs";
  const origin = "http://127.0.0.1:4010";
  const headers = { Authorization: "Bearer ak_mock" };
  const get = async (path) => (await fetch(origin + "/v1/" + path, { headers })).json();
  const { data: [{ images: [{ id }] }] } = await get("products");
  const { url } = await get("images/" + id);
  const photo = await fetch(url);
  await photo.arrayBuffer();
  process.chdir(process.env.HOME);
  writeFileSync("shop.csv", "reference,name,images\\nA-1,Dress,https://cdn.example.com/a.jpg\\n");
  const env = { ...process.env, CAT_BASE_URL: origin, CAT_API_KEY: "ak_mock" };
  const products = [];
  for (const command of ["import shop.csv", "imports undo last --yes"]) {
    execFileSync(process.execPath, ["/app/bin/catalogue.js", ...command.split(" ")], { env, input: "", stdio: ["pipe", 2, 2] });
    products.push((await get("products")).data.length);
  }
  console.log(JSON.stringify({ photo: photo.headers.get("content-type"), products }));
`;

/** The instructions of the Dockerfile, one list per stage. */
const stages = readFileSync(join(root, "Dockerfile"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => /** @type {[string, string]} */ ([line.split(" ")[0], line.replace(/^\S+ /, "")]))
  .reduce(
    (found, one) => {
      if (one[0] === "FROM") found.push([]);
      found.at(-1)?.push(one);
      return found;
    },
    /** @type {[string, string][][]} */ ([]),
  );

/** The value of the only instruction of this name in the image's stage. */
function only(/** @type {string} */ name) {
  const found = stages[1]?.filter(([one]) => one === name) ?? [];
  if (found.length !== 1) throw new Error(`the image has ${found.length} ${name} instead of one`);
  return /** @type {[string, string]} */ (found[0])[1];
}

try {
  await build();
  const bytes = fillImage();
  process.stdout.write(`${JSON.stringify({ bytes, user: only("USER"), ...(await tryImage()) })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The first stage: copies the files that .dockerignore leaves, and runs each RUN in the folder. */
async function build() {
  const { tarball } = await packCopy(folder);
  const [, ...kept] = readFileSync(join(root, ".dockerignore"), "utf8").trimEnd().split("\n");
  let place = folder;
  /** @type {Record<string, string>} */
  const defaults = {};
  for (const [name, written] of stages[0] ?? []) {
    const value = name === "RUN" ? written : written.replace(/\$\{(\w+)\}/g, (_, one) => defaults[one] ?? "");
    if (name === "ARG") {
      const [, one = "", byDefault = ""] = /^(\w+)=(.*)$/.exec(value) ?? [];
      defaults[one] = byDefault;
    } else if (name === "WORKDIR") {
      place = inBuild(value);
      mkdirSync(place, { recursive: true });
    } else if (name === "COPY") {
      const [to, ...paths] = value.split(" ").reverse();
      if (to !== "./" || paths.some((path) => !kept.includes(`!${path}`)))
        throw new Error(`unknown COPY ${value}`);
      for (const path of paths) {
        const from = path.endsWith(".tgz") ? tarball : join(root, path);
        cpSync(from, join(place, basename(from)));
      }
    } else if (name === "RUN") {
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_prefer_offline: "true" };
      execFileSync("sh", ["-c", value], { cwd: place, env, stdio: ["ignore", 2, 2] });
    } else if (name !== "FROM") throw new Error(`unknown instruction ${name}`);
  }
}

/** What the base image has, as far as Node needs it; then the one layer on it. Returns the size of the layer. */
function fillImage() {
  const node = process.execPath;
  cpSync(node, inImage("/nodejs/bin/node"), { dereference: true });
  mkdirSync(inImage("/tmp"));
  chmodSync(inImage("/tmp"), 0o1777);
  const home = inImage(only("WORKDIR"));
  mkdirSync(home, { recursive: true });
  const [uid = 0, gid = 0] = only("USER").split(":").map(Number);
  chownSync(home, uid, gid);
  const [from = "", to = ""] = only("COPY").replace("--from=build ", "").split(" ");
  cpSync(inBuild(from), inImage(to), { recursive: true, verbatimSymlinks: true });
  const addons = readdirSync(inImage(to), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:node|so[.\d]*)$/.test(name) && !name.includes("musl"))
    .map((name) => join(inImage(to), name));
  for (const one of [node, ...addons]) {
    const found = execFileSync("ldd", [one], { encoding: "utf8" }).matchAll(
      /^\s*(?:\S+ => )?(\/(?:usr\/)?lib\S*) \(0x/gm,
    );
    for (const [, path = ""] of found) {
      if (!libraries.test(path)) throw new Error(`${one} needs ${path}, which the base image lacks`);
      cpSync(path, inImage(path), { dereference: true });
    }
  }
  return sizeOf(inImage(to));
}

/** The bytes of all files in a folder. @returns {number} */
function sizeOf(/** @type {string} */ path) {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Starts the image, waits until it is healthy, uses it, and stops it. */
async function tryImage() {
  const inside = ["chroot", `--userspec=${only("USER")}`, inImage("/")];
  const start = [...inside, ...JSON.parse(only("ENTRYPOINT")), "--demo", "1"];
  const script = 'ip link set lo up && exec "$@"';
  const env = { HOME: only("WORKDIR"), PATH: process.env.PATH };
  const mock = spawn("unshare", ["--net", "sh", "-c", script, "sh", ...start], { env });
  let printed = "";
  for (const stream of [mock.stdout, mock.stderr]) stream.on("data", (text) => (printed += text));
  const exit = once(mock, "exit");
  /** Runs a command of the image next to the mock. */
  const run = (/** @type {string[]} */ ...command) =>
    spawnSync("nsenter", ["--net", `--target=${mock.pid}`, ...inside, ...command], {
      env,
      encoding: "utf8",
    });
  const health = JSON.parse(only("HEALTHCHECK").replace(/^.*? CMD /, ""));
  try {
    const late = Date.now() + 30_000;
    while (run(...health).status !== 0) {
      if (mock.exitCode !== null || Date.now() > late)
        throw new Error(`the mock is not healthy:\n${printed}`);
      await wait(100);
    }
    // Real, effective, saved and file system.
    const [, ids = ""] = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${mock.pid}/status`, "utf8")) ?? [];
    const used = run("/nodejs/bin/node", "--input-type=module", "-e", useMock);
    if (used.status !== 0) throw new Error(`the mock cannot be used: ${used.stderr}`);
    mock.kill("SIGTERM");
    const [status] = await exit;
    return { ...JSON.parse(used.stdout), ids: [...new Set(ids.split(/\s+/))], status };
  } finally {
    mock.kill("SIGKILL");
  }
}
