import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished } from "vitest";
import { signDelivery } from "../../../src/contract/signature.ts";
import { longTest } from "../../support/long-test.ts";
import { catProgram, needsBuild, spawnCat } from "../../support/spawn-cat.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { eventText, jsonLines, startHandler } from "./listen-world.ts";

beforeEach(needsBuild);

const secret = "whsec_of_test";
const untilSoon = (holds: () => boolean) => until(holds, { pauseMs: 5 });

/** Starts the real program, and kills it after the test. Its stdout goes to a file, which survives a kill. */
function start(args: readonly string[], { folder, env }: { folder: string; env: Record<string, string> }) {
  const out = join(folder, `out-${Math.random()}.txt`);
  const descriptor = openSync(out, "a");
  const child: ChildProcess = spawn(process.execPath, [catProgram, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, CAT_HOME: join(folder, "home"), ...env },
    stdio: ["ignore", descriptor, "pipe"],
  });
  closeSync(descriptor);
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr!.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const exit = once(child, "close").then(([code]) => code as number | null);
  const lines = () => readFileSync(out, "utf8").split("\n").slice(0, -1);
  return {
    child,
    exit,
    stderr: () => stderr,
    lines: () => lines().map((line) => JSON.parse(line)),
    async first() {
      await untilSoon(() => lines().length > 0 || child.exitCode !== null);
      if (lines().length === 0) throw new Error(stderr);
      return JSON.parse(lines()[0]!);
    },
  };
}

longTest(
  "the full circle: mock, import, task and export, delivery or poll, listener, handler that fails at first",
  async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.csv"), "reference,name,images\nA1,Dress,https://cdn.example.com/1.jpg\n");
    const mock = start(["serve", "--mock", "--json", "--port", "0", "--speed", "100"], { folder, env: {} });
    const { base_url: baseUrl, api_key: apiKey } = await mock.first();
    const env = { CAT_BASE_URL: baseUrl, CAT_API_KEY: apiKey };
    let isUp = false;
    /** A listener with a handler and a log of its own. */
    const listening = async (name: string, flags: readonly string[]) => {
      const handler = await startHandler(() => (isUp ? [200, "done"] : [500, "not yet"]));
      const args = ["webhooks", "listen", "--json", "--log", `${name}.ndjson`, "--forward-to", handler.url];
      const run = () => start([...args, ...flags], { folder, env });
      const listener = run();
      const { webhook_id: webhook } = await listener.first();
      return { handler, listener, run, webhook, results: () => resultsOf(join(folder, `${name}.ndjson`)) };
    };
    const [pushed, polled] = await Promise.all([
      listening("pushed", ["--port", "0", "--tolerance", "99999999"]),
      listening("polled", ["--poll"]),
    ]);
    expect([typeof pushed.webhook, polled.webhook]).toEqual(["string", null]);
    const cat = (line: string) =>
      spawnCat(line.split(" "), { cwd: folder, env: { ...env, CAT_HOME: join(folder, "home") } });
    const shot =
      "beautify --product A1 --subtype clothing --background white --angle front --yes --quiet --no-wait";
    for (const line of ["import a.csv --quiet", shot, "export --zip --out images.zip --quiet"])
      expect(await cat(line)).toMatchObject({ exitCode: 0 });
    const types = ["export.completed", "import.completed", "task.succeeded"];
    for (const { handler, listener, results } of [pushed, polled]) {
      await untilSoon(
        () => results().filter(({ status }) => status === 500).length >= 3 && listener.lines().length === 4,
      );
      const printed = listener.lines().slice(1);
      expect(printed.map(({ type }) => type).sort()).toEqual(types);
      expect(idsOf(handler.received.slice(0, 3))).toEqual(printed.map(({ id }) => id).sort());
    }

    const advance = (ms: number) =>
      fetch(`${baseUrl}/_mock/clock`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ advance_ms: ms }),
      });
    // The schedule retries after one minute, then after five; the mock responds when it has the results.
    await advance(61_000);
    await untilSoon(() => pushed.results().length >= 6);
    expect(pushed.results().map(({ status }) => status)).toEqual(Array(6).fill(500));
    isUp = true;
    await advance(301_000);
    const deliveries = await fetch(`${baseUrl}/_mock/deliveries`);
    expect(await deliveries.json()).toMatchObject(Array(3).fill({ state: "delivered" }));
    // A listener that starts again does not wait for the schedule.
    polled.listener.child.kill("SIGINT");
    expect(await polled.listener.exit).toBe(0);
    const again = polled.run();
    for (const { handler, results } of [pushed, polled]) {
      await untilSoon(() => results().filter(({ status }) => status === 200).length === 3);
      expect(idsOf(handler.received.slice(-3))).toEqual(idsOf(handler.received.slice(0, 3)));
    }
    for (const [listener, lines] of [
      [pushed.listener, 4],
      [again, 1],
    ] as const) {
      listener.child.kill("SIGINT");
      expect(await listener.exit).toBe(0);
      expect(listener.lines()).toHaveLength(lines);
    }
    expect((await cat("webhooks list --json")).stdout).toBe("");
  },
);

/** The responses of handlers in a log; its last line may be in the middle of being written. */
const resultsOf = (log: string): { status: number }[] =>
  jsonLines(readFileSync(log, "utf8").replace(/[^\n]*$/, "")).filter((line) => line.result_of !== undefined);

const idsOf = (received: readonly { body: string }[]): string[] =>
  received.map(({ body }) => JSON.parse(body).id as string).sort();

describe("COMMAND", () => {
  const node = process.execPath;

  longTest("gets the URL and the secret, and its exit status is that of the listener", async () => {
    const folder = temporaryFolder();
    const code = `
      import { createHmac } from "node:crypto";
      const { CAT_WEBHOOK_URL: url, CAT_WEBHOOK_SECRET: secret } = process.env;
      const body = ${JSON.stringify(eventText("evt_1"))}, t = Math.floor(Date.now() / 1000);
      const v1 = createHmac("sha256", secret).update(t + "." + body).digest("hex");
      const response = await fetch(url, { method: "POST", body, headers: { "Service-Signature": "t=" + t + ",v1=" + v1 } });
      console.log(response.status); process.exitCode = 7;`;
    const ran = await spawnCat(
      ["webhooks", "listen", "--json", "--port", "0", "--", node, "--input-type=module", "-e", code],
      { env: { CAT_HOME: folder, CAT_WEBHOOK_SECRET: secret, CAT_BASE_URL: "https://a.example.com" } },
    );
    expect([ran.exitCode, ran.stdout]).toEqual([7, "200\n"]);
    expect(jsonLines(ran.stderr)).toMatchObject([{ webhook_id: null }, { id: "evt_1" }]);
  });

  longTest("with --wait the listener ends once both have ended, and --timeout ends the command", async () => {
    const folder = temporaryFolder();
    const env = { CAT_HOME: folder, CAT_WEBHOOK_SECRET: secret, CAT_BASE_URL: "https://a.example.com" };
    const listen = (flags: string, ...command: string[]) =>
      spawnCat(["webhooks", "listen", "--port", "0", ...flags.split(" "), "--", ...command], { env });
    const ran = await listen(
      "--wait task.failed --timeout 1s --quiet",
      node,
      "-e",
      "setInterval(() => {}, 1000)",
    );
    expect([ran.exitCode, ran.stderr]).toEqual([
      7,
      "error: listening timed out after 1 s: 0 events of 1 came\nUse a longer --timeout, or check that the events are sent.\n",
    ]);
    expect(
      await listen("--wait task.failed --timeout 20s --quiet", node, "-e", "process.exit(3)"),
    ).toMatchObject({
      exitCode: 3,
    });
    expect(await listen("--quiet", "no-such-program")).toMatchObject({ exitCode: 127 });
  });
});

longTest("garbage, slow sockets and long bodies get their status, and genuine deliveries pass", async () => {
  const folder = temporaryFolder();
  const listener = start(["webhooks", "listen", "--json", "--port", "0", "--path", "/hook"], {
    folder,
    env: { CAT_WEBHOOK_SECRET: secret, CAT_BASE_URL: "https://a.example.com" },
  });
  const { listening: url } = await listener.first();
  const port = Number(new URL(url).port);
  const raw = (text: string) =>
    new Promise<string>((resolve) => {
      let answer = "";
      const socket = connect(port, "127.0.0.1", () => socket.write(text));
      socket.on("data", (bytes) => {
        answer += bytes.toString();
      });
      socket.on("close", () => resolve(answer.split("\r\n")[0]!)).on("error", () => {});
    });
  expect(await raw("\x16\x03\x01 garbage\r\n\r\n")).toBe("HTTP/1.1 400 Bad Request");
  expect(await raw(`POST /hook HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(100_000)}\r\n\r\n`)).toBe(
    "HTTP/1.1 431 Request Header Fields Too Large",
  );
  expect(await raw("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n")).toBe("HTTP/1.1 405 Method Not Allowed");
  const status = async (path: string, init: RequestInit = {}) =>
    (await fetch(new URL(path, url), init)).status;
  expect(await status("/other", { method: "POST" })).toBe(404);
  expect(await status("/hook")).toBe(405);
  expect(await status("/hook", { method: "POST", body: Buffer.alloc(20_000_000) })).toBe(413);
  const chunks = new ReadableStream({
    start(controller) {
      for (let at = 0; at < 3; at++) controller.enqueue(Buffer.alloc(500_000));
      controller.close();
    },
  });
  expect(await status("/hook", { method: "POST", body: chunks, duplex: "half" } as RequestInit)).toBe(413);
  // 40 senders that hold nearly 1 MB each do not fit the memory together: the last ones are turned away.
  const slow = Array.from({ length: 40 }, () =>
    raw(`POST /hook HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(900_000)}`),
  );
  expect(await Promise.race(slow)).toBe("HTTP/1.1 503 Service Unavailable");
  const body = eventText("evt_1");
  const headers = { "Service-Signature": signDelivery(secret, body, Math.floor(Date.now() / 1000)) };
  expect(await status("/hook", { method: "POST", headers, body })).toBe(200);
  listener.child.kill("SIGINT");
  expect(await listener.exit).toBe(0);
  expect(new Set(await Promise.all(slow))).toEqual(new Set(["HTTP/1.1 503 Service Unavailable", ""]));
  expect(listener.lines()).toHaveLength(2);
});
