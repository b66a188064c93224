import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../support/free-port.ts";
import { longTest } from "../support/long-test.ts";
import { needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { blocksOf } from "./pages/blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const secret = "whsec_0123456789abcdef";
const blocks = blocksOf(readFileSync(join(root, "docs/webhooks.md"), "utf8"));
const receivers = blocks.filter(({ label }) => label.startsWith("receivers/"));

/** Runs a receiver of the page unchanged, next to the installed package. */
async function start(name: string, lines: readonly string[], ownSecret = secret) {
  needsBuild();
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules/@catalogue-imaging"), { recursive: true });
  for (const linked of ["express", "fastify"])
    symlinkSync(join(root, "node_modules", linked), join(folder, "node_modules", linked));
  symlinkSync(root, join(folder, "node_modules/@catalogue-imaging/catalogue"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const file = join(folder, name.replace("/", "-"));
  writeFileSync(file, `${lines.join("\n")}\n`);
  const port = await freePort();
  const [program, ...args] = commandOf(file, port) as [string, ...string[]];
  const child: ChildProcess = spawn(program, args, {
    cwd: folder,
    // `go run` starts another process.
    detached: true,
    env: {
      ...process.env,
      PORT: String(port),
      CAT_WEBHOOK_SECRET: ownSecret,
      HANDLED_DIR: folder,
      GOCACHE: join(folder, "go"),
    },
  });
  const hasEnded = () => child.exitCode !== null;
  let printed = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (text) => (printed += text));
  onTestFinished(() => void (hasEnded() || process.kill(-child.pid!, "SIGKILL")));
  const post = async (body: string, { age = 0, key = secret, header = "" } = {}): Promise<number> => {
    const t = Math.floor(Date.now() / 1000) - age;
    const v1 = createHmac("sha256", key).update(`${t}.${body}`).digest("hex");
    const { status } = await fetch(`http://localhost:${port}/`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "service-signature": header === "" ? `t=${t},v1=${v1}` : header,
      },
      body,
    });
    return status;
  };
  const isUp = () =>
    post("{}", { header: "none" }).then(
      () => true,
      () => false,
    );
  await until(async () => hasEnded() || (await isUp()), { pauseMs: 20, seen: () => printed });
  /** Sends the start of a body, and leaves. */
  const leave = () =>
    new Promise<void>((resolve) => {
      const socket = connect(port, "localhost", () =>
        socket.write(
          "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Length: 1000\r\n\r\nabc",
          () => socket.destroy(),
        ),
      );
      socket.on("close", () => resolve());
    });
  return { post, leave, printed: () => printed };
}

/** The program that runs a receiver, and whether it is installed. */
const programs: Readonly<Record<string, string>> = { mjs: "node", py: "python3", php: "php", go: "go" };
const extensionOf = (name: string): string => name.split(".").at(-1)!;

function commandOf(file: string, port: number): readonly string[] {
  const commands: Readonly<Record<string, readonly string[]>> = {
    mjs: [process.execPath, file],
    py: ["python3", file],
    php: ["php", "-q", "-S", `localhost:${port}`, file],
    go: ["go", "run", file],
  };
  return commands[extensionOf(file)]!;
}

const isInstalled = (program: string): boolean =>
  spawnSync("sh", ["-c", 'command -v "$1"', "sh", program]).status === 0;

longTest("the page has receivers for four languages", () => {
  expect(receivers.map(({ label }) => label)).toEqual([
    "receivers/http.mjs",
    "receivers/express.mjs",
    "receivers/fastify.mjs",
    "receivers/http.py",
    "receivers/http.php",
    "receivers/http.go",
  ]);
});

longTest.for(receivers)(
  "$label handles a genuine event once, and rejects all others",
  async ({ label, lines }, { skip }) => {
    const program = programs[extensionOf(label)]!;
    skip(!isInstalled(program), `${program} is not installed`);
    const { post, leave, printed } = await start(label, lines);
    const event = (id: string) => `{ "id":"${id}",  "type": "task.failed", "data": {} }`;
    expect(await post(event("evt_1"))).toBe(200);
    expect(await post(event("evt_1"))).toBe(200);
    expect(await post(event("evt_2"), { key: "whsec_other" })).toBe(400);
    expect(await post(event("evt_3"), { age: 400 })).toBe(400);
    expect(await post(event("evt_4"), { header: "t=1,v1=00" })).toBe(400);
    expect(await post(event("evt_4"), { age: -400 })).toBe(400);
    expect(await post(event("x".repeat(1_100_000)))).toBe(413);
    expect(await post(event("x".repeat(5_000_000)))).toBe(413);
    await leave();
    // One that dies of the sender that left does so before its second response.
    expect(await post(event("evt_5"))).toBe(200);
    expect(await post(event("evt_5"))).toBe(200);
    await until(() => printed().includes("evt_5"), { pauseMs: 5, seen: printed });
    // PHP's server has a log of its own.
    expect(printed().replace(/^\[.*\n/gm, "")).toBe("task.failed evt_1\ntask.failed evt_5\n");
  },
);

longTest.for(receivers)(
  "$label accepts nothing that is signed with an empty secret",
  async ({ label, lines }, { skip }) => {
    const program = programs[extensionOf(label)]!;
    skip(!isInstalled(program), `${program} is not installed`);
    const { post } = await start(label, lines, "");
    const event = '{ "id": "evt_1", "type": "task.failed", "data": {} }';
    expect(["not running", 500]).toContain(await post(event, { key: "" }).catch(() => "not running"));
  },
);
