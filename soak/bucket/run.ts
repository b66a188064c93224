// Mirrors in a bucket: two shards that are killed at random, behind a proxy that drops connections: `npm run soak:bucket`.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { radosgwProblem, startRadosgw } from "../../test/support/radosgw.js";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { Running } from "../program.ts";
import { copyProgram, type Patch } from "../program-files.ts";
import { Service } from "../service.ts";
import { checkLeases, checkObjects, checkOverlaps, type Fault } from "./check-round.ts";
import { controls } from "./controls.ts";
import { StoreProxy, writeKinds, writeMoments } from "./store-proxy.ts";

/** Leases that end sooner: a kill costs seconds then. The store's `Date` has whole seconds, which the margin covers. */
const shortLeases: readonly Patch[] = [
  { file: "src/flows/bucket/lease.ts", from: "const lifeMs = 60_000;", to: "const lifeMs = 5_000;" },
  { file: "src/flows/bucket/lease.ts", from: "const renewalMs = 20_000;", to: "const renewalMs = 1_000;" },
  { file: "src/flows/bucket/lease.ts", from: "const marginMs = 10_000;", to: "const marginMs = 2_000;" },
  { file: "src/flows/export/sync/merge.ts", from: "longest: 3_000 }", to: "longest: 500 }" },
];

const { values: flags } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    lanes: { type: "string", default: "2" },
    products: { type: "string", default: "40" },
    control: { type: "string" },
    minutes: { type: "string", default: "12" },
  },
});
const wantedKills = Number(flags.kills);
const { control } = flags;
const isControl = control === "unlocked";
if (control !== undefined && !isControl && !(control in controls))
  throw new Error(`--control must be one of unlocked, ${Object.keys(controls).join(", ")}`);
const mistake = control === undefined || isControl ? [] : [controls[control as keyof typeof controls]];
const problem = radosgwProblem();
if (problem !== null) throw new Error(`radosgw is ${problem}`);

const random = seededRandom(Number(flags.seed));
const began = performance.now();
const seconds = () => Math.round((performance.now() - began) / 1000);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const counts = { rounds: 0, processes: 0, kills: 0, waited_for_lease: 0, store_gone: 0, uploads_repeated: 0 };
/** Kills at a write, by its kind and by how far it was. */
const killsAt = Object.fromEntries(
  writeKinds.map((kind) => [kind, Object.fromEntries(writeMoments.map((moment) => [moment, 0]))]),
);
const faults: Fault[] = [];
const folder = mkdtempSync(join(tmpdir(), "soak-bucket-"));
const gateway = await startRadosgw();
const { program, remove } = await copyProgram([...shortLeases, ...mistake]);
const service = await Service.start(folder, program);
const proxy = new StoreProxy(gateway.endpoint, { random: seededRandom(7), dropped: 0.02 });

interface Machine {
  readonly name: string;
  readonly process: Running;
}

/** One machine: a process with a state folder of its own. */
async function start(prefix: string, shard: string): Promise<Machine> {
  const name = `${prefix.replace("/", "")}-${shard.replace("/", "of")}-${counts.processes++}`;
  const home = join(folder, name);
  mkdirSync(home);
  const mode = isControl ? ["--unlocked"] : ["--shard", shard];
  const process = new Running(
    program,
    ["export", "sync", `s3://shop/${prefix.slice(0, -1)}`, "--path-style", "--quiet", ...mode],
    {
      cwd: home,
      env: {
        ...gateway.env,
        AWS_ENDPOINT_URL_S3: await proxy.originFor(name),
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
        CAT_BASE_URL: service.baseUrl,
        CAT_API_KEY: "ak_mock",
        CAT_HOME: home,
        HOME: home,
      },
    },
  );
  return { name, process };
}

/** Waits for a process that is not killed; true once its shard is complete. */
async function isDone({ name, process }: Machine): Promise<boolean> {
  const { status, stderr } = await process.ended;
  if (status === 0) return true;
  if (status === 6) counts.waited_for_lease++;
  else if (status === 7 || status === 8) counts.store_gone++;
  else if (status !== null)
    faults.push({ kind: "statuses", what: `${name} exited with ${status}: ${stderr}` });
  return false;
}

/** Starts a machine, and kills it at one of its writes, or at a random time after its first one; the last one at its index. */
async function killOne(prefix: string, shard: string, isLast: boolean): Promise<void> {
  const machine = await start(prefix, shard);
  if (random() < 0.8) return killAtWrite(machine, isLast ? "index" : pick(["upload", "upload", "record"]));
  let hasEnded = false;
  void machine.process.ended.then(() => {
    hasEnded = true;
  });
  const hasBegun = () => [...proxy.leases, ...proxy.writes].some(({ process }) => process === machine.name);
  while (!hasEnded && !hasBegun()) await sleep(20);
  await sleep(random() * 1_500);
  if (hasEnded) return void (await isDone(machine));
  machine.process.kill();
  const { status } = await machine.process.ended;
  if (status === null) counts.kills++;
}

async function killAtWrite(machine: Machine, kind: (typeof writeKinds)[number]): Promise<void> {
  const moment = pick(writeMoments);
  const nth = 1 + Math.floor(random() * { upload: 10, record: 2, index: 1 }[kind]);
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    machine.process.kill();
  };
  proxy.kills.set(machine.name, { kind, nth, moment, kill });
  const { status } = await machine.process.ended;
  if (!isKilled || status !== null) return void (await isDone(machine));
  counts.kills++;
  killsAt[kind]![moment]!++;
}

const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

/** One shard: machines that are killed, others that work on it at the same time, and one that completes it. */
async function playShard(prefix: string, shard: string): Promise<void> {
  const kills = 3 + Math.floor(random() * 4);
  for (let at = 0; at < kills; at++) {
    const rival = random() < 0.25 ? await start(prefix, shard) : null;
    if (isControl) await isDone(await start(prefix, shard));
    else await killOne(prefix, shard, at === kills - 1);
    if (rival !== null) await isDone(rival);
  }
  for (let tries = 0; !(await isDone(await start(prefix, shard))); tries++) {
    if (tries === 60) return void faults.push({ kind: "statuses", what: `${prefix}${shard} never ends` });
    await sleep(500);
  }
}

async function playRound(assets: ReadonlySet<string>): Promise<void> {
  const prefix = `round-${++counts.rounds}/`;
  await Promise.all((isControl ? ["all"] : ["1/2", "2/2"]).map((shard) => playShard(prefix, shard)));
  const found = [
    ...(await checkObjects(gateway.s3, prefix, assets)),
    ...checkLeases(proxy, prefix),
    ...checkOverlaps(proxy, prefix, (name) => name.replace(/-\d+$/, "")),
  ];
  const uploads = proxy.writes.filter(({ key }) => key.startsWith(prefix) && /\.(jpg|png|webp)$/.test(key));
  counts.uploads_repeated += uploads.length - new Set(uploads.map(({ key }) => key)).size;
  for (const { kind, what } of found) console.error(`${prefix} ${kind}: ${what}`);
  faults.push(...found);
  console.error(`${counts.rounds} rounds, ${counts.kills} kills, ${faults.length} faults, ${seconds()} s`);
}

try {
  const rows = Array.from({ length: Number(flags.products) }, (_, at) => ({
    reference: `DRESS-${at}`,
    name: `Dress ${at}`,
    images: ["front", "back"].map((orientation) => ({
      url: `https://cdn.example.com/${at}-${orientation}.jpg`,
      orientation,
    })),
  }));
  await service.importByOthers(rows);
  const { organizations } = await service.state();
  const assets = new Set(
    Object.values(organizations).flatMap(({ products }) =>
      products.flatMap(({ id, images }) => images.map((image) => `${id} ${image.id}`)),
    ),
  );
  const isOver = () =>
    seconds() > Number(flags.minutes) * 60 || (isControl ? counts.rounds >= 3 : counts.kills >= wantedKills);
  const lane = async () => {
    while (!isOver()) await playRound(assets);
  };
  await Promise.all(Array.from({ length: Number(flags.lanes) }, lane));
  const byKind = Object.fromEntries(
    ["images", "objects", "leases", "overlaps", "statuses"].map((kind) => [
      kind,
      faults.filter((fault) => fault.kind === kind).length,
    ]),
  );
  for (const { what } of faults.filter(({ kind }) => kind === "statuses").slice(0, 5)) console.error(what);
  const { requests, drops, leases } = proxy;
  console.log(
    JSON.stringify({
      ...counts,
      images: assets.size,
      requests,
      drops,
      lease_writes: leases.length,
      kills_at: killsAt,
      faults: byKind,
      control: control ?? null,
      seed: flags.seed,
      seconds: seconds(),
    }),
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await service.stop();
  proxy.stop();
  gateway.stop();
  remove();
  rmSync(folder, { recursive: true, force: true });
}
