import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pairedRatio, root } from "./pairs.js";
import { memoryNote, settingsFor, withServer } from "./saving.js";
import { headers, startMockServer } from "./servers.js";

/** `cat mcp` against a running mock: its start until the tools are listed, a search, and its memory. */
export const measure = ({ calls = 100 } = {}) =>
  withServer(
    () => startMockServer("--demo", "1000"),
    async (folder, mock) => {
      const env = settingsFor(mock, folder);
      const peaks = [];
      const startOf = (script) => async () => {
        const server = await startServer(script, env);
        await server.end();
        return server.ms;
      };
      const start = {
        what: "cat mcp until tools/list / the SDK with one tool",
        ratio: await pairedRatio(
          11,
          startOf([join(root, "bin/cat.js"), "mcp"]),
          startOf([join(root, "bench/bare-mcp.js")]),
        ),
        goal: 1.5,
        atMost: true,
      };
      const server = await startServer([join(root, "bin/cat.js"), "mcp"], env);
      const find = { name: "products_find", arguments: { q: "dress", limit: 25 } };
      const ratio = await pairedRatio(
        5,
        () => timeOf(calls, () => server.ask("tools/call", find)),
        () =>
          timeOf(calls, async () =>
            (await fetch(`${mock.base_url}/v1/products?q=dress&limit=25`, { headers })).json(),
          ),
      );
      peaks.push(server.peak());
      await server.end();
      return [
        start,
        {
          what: "products_find of 25 products / a fetch of the page",
          ratio,
          goal: 3,
          atMost: true,
          note: memoryNote(peaks),
        },
      ];
    },
  );

async function timeOf(calls, call) {
  const started = performance.now();
  for (let at = 0; at < calls; at++) await call();
  return performance.now() - started;
}

/** Starts a server and asks for its tools; `ms` is the time until they came. */
async function startServer(script, env) {
  const started = performance.now();
  const child = spawn(process.execPath, script, { stdio: ["pipe", "pipe", "inherit"], env });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let next = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  const clientInfo = { name: "bench", version: "1" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  const { tools } = await ask("tools/list", {});
  if (tools.length === 0) throw new Error("no tools");
  return {
    ms: performance.now() - started,
    ask,
    /** In MB. */
    peak: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) / 1024,
    async end() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
