import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pairedRatio, root, timed } from "./pairs.js";

const connections = 64;
const secret = "whsec_of_the_bench";

/**
 * `cat webhooks listen`, whose events are on disk before its responses, against a bare receiver that keeps nothing.
 * Receivers and load generator are processes of their own.
 */
export async function measure({ count = 20_000, runs = 7 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const log = join(folder, "events.ndjson");
  const env = {
    ...process.env,
    CAT_HOME: join(folder, "home"),
    CAT_BASE_URL: "https://service.example.com",
    CAT_WEBHOOK_SECRET: secret,
  };
  const listen = ["webhooks", "listen", "--json", "--port", "0", "--log", log];
  const receivers = [];
  try {
    for (const [name, args] of [
      ["listen", [join(root, "bin/cat.js"), ...listen]],
      ["bare", [join(root, "bench/bare-receiver.js")]],
    ])
      receivers.push(await startReceiver(args, { env, out: join(folder, `${name}.txt`) }));
    let number = 0;
    const speedOf =
      ({ url }) =>
      async () => {
        const args = [
          join(root, "bench/deliver.js"),
          url,
          String(count),
          String(connections),
          String(number++),
        ];
        return JSON.parse((await timed(process.execPath, args, { env })).output).perSecond;
      };
    const [ours, bare] = receivers;
    const ratio = await pairedRatio(runs, speedOf(ours), speedOf(bare));
    const logged = readFileSync(log, "utf8").split("\n").length - 1;
    const expected = (runs + 1) * count;
    if (logged !== expected) throw new Error(`the log has ${logged} events, not ${expected}`);
    return [
      {
        what: `listen with its log, deliveries per second at ${connections} connections against bare node:http and HMAC`,
        ratio,
        goal: 0.4,
      },
    ];
  } finally {
    for (const { stop } of receivers) stop();
    rmSync(folder, { recursive: true });
  }
}

/** Starts a receiver that writes its address to its first line of output, which goes to a file. */
async function startReceiver(args, { env, out }) {
  const descriptor = openSync(out, "a");
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", descriptor, "inherit"] });
  closeSync(descriptor);
  for (;;) {
    const text = readFileSync(out, "utf8");
    if (text.includes("\n"))
      return { url: JSON.parse(text.split("\n", 1)[0]).listening, stop: () => child.kill("SIGKILL") };
    if (child.exitCode !== null) throw new Error(`${args.join(" ")} exited with ${child.exitCode}`);
    await pause(20);
  }
}
