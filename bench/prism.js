import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { peerFile } from "./peers.js";

/** Prism, serving the mock's OpenAPI document. */
export async function startPrism(mock) {
  const program = peerFile("@stoplight/prism-cli@5.14.2", "dist/index.js");
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const file = join(folder, "openapi.json");
  writeFileSync(file, await (await fetch(`${mock.base_url}/openapi.json`)).text());
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [program, "mock", "--port", String(port), "--verboseLevel", "silent", file],
    {
      stdio: "ignore",
    },
  );
  const base_url = `http://127.0.0.1:${port}`;
  const stop = () => {
    child.kill();
    rmSync(folder, { recursive: true });
  };
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(`${base_url}/v1/products/01ARZ3NDEKTSV4RRFFQ69G5FAV`, {
      headers: { authorization: "Bearer ak_mock" },
    }).catch(() => undefined);
    if (answer?.status === 200) return { base_url, stop };
    if (answer !== undefined || child.exitCode !== null) {
      stop();
      throw new Error(`Prism responded with ${answer?.status}: ${await answer?.text()}`);
    }
    await wait(100);
  }
  stop();
  throw new Error("Prism did not start");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}
