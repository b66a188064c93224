import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeEach, expect } from "vitest";
import type { Json } from "../cli/mcp/agent.ts";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { until } from "../support/until.ts";
import { createWorld, type TestWorld } from "../support/world.ts";

beforeEach(needsBuild);

const all = ["mcp", "--allow", "writes,generations,deletes"];
const envOf = (world: TestWorld): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  CAT_BASE_URL: world.mock.baseUrl,
  CAT_API_KEY: world.mock.apiKey,
  CAT_HOME: `${world.folder}/.home`,
});

/** The built program with its streams, after the handshake of 2025. */
async function start(world: TestWorld, words: readonly string[] = all) {
  const child = spawn(process.execPath, [catProgram, ...words], { cwd: world.folder, env: envOf(world) });
  const received: Json[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => received.push(JSON.parse(line)));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = async (id: number, method: string, params: object) => {
    send({ id, method, params });
    await until(() => received.some((message) => message.id === id), { pauseMs: 20 });
    return received.find((message) => message.id === id)!.result;
  };
  const clientInfo = { name: "test", version: "1" };
  await ask(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  return { child, ask, send };
}

longTest.each([[{}], [{ mode: { pin: "2026-07-28" } }]] as const)(
  "the built program serves the SDK client %j",
  async (versionNegotiation) => {
    const world = await createWorld({ mock: { demo: 2 } });
    const client = new Client({ name: "t", version: "1" }, { versionNegotiation } as never);
    const [command, args] = [process.execPath, [catProgram, ...all]];
    await client.connect(new StdioClientTransport({ command, args, cwd: world.folder, env: envOf(world) }));
    expect((await client.listTools()).tools).toHaveLength(14);
    const { content } = (await client.callTool({ name: "products_find", arguments: {} })) as Json;
    expect(JSON.parse(content[0].text).data).toHaveLength(2);
    await client.close();
  },
);

longTest.each(["end of stdin", "SIGTERM", "SIGINT"] as const)(
  "%s ends the built program with 0",
  async (how) => {
    const world = await createWorld();
    const { child } = await start(world);
    if (how === "end of stdin") child.stdin.end();
    else child.kill(how);
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);

longTest("a client that closes its end of stdout ends the built program", async () => {
  const world = await createWorld();
  const { child, send } = await start(world);
  child.stdout.destroy();
  for (let id = 1; id < 20; id++) send({ id, method: "tools/list", params: {} });
  const [status] = await once(child, "exit");
  expect(status).toBe(0);
});

longTest("a server that is killed in the middle of a generation pays nothing twice", async () => {
  const world = await createWorld({ mock: { rateLimit: false } });
  const names = Array.from({ length: 45 }, (_, index) => `P${index}`);
  const products = names.map((name) => `${name},Dress,https://cdn.example.com/${name}.jpg`).join("\n");
  world.write("products.csv", `reference,name,image_front\n${products}\n`);
  expect((await world.cat("import products.csv")).exit).toBe(0);
  const model = world.mock.state().organizations.main.models[0]!.id;
  const looks = names.map((name) => `${name},${model},studio,full-front`).join("\n");
  world.write("looks.csv", `product_reference,model_id,background,angle_shot\n${looks}\n`);
  const words = ["mcp", "--allow", "generations", "--yes", "--max-generations", "45"];
  const { child, send } = await start(world, words);
  const args = { kind: "tryon", file: "looks.csv" };
  send({ id: 1, method: "tools/call", params: { name: "generate_start", arguments: args } });
  await until(() => world.requests().some(({ path }) => path === "/v1/tasks/tryon"), { pauseMs: 1 });
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(JSON.parse((await world.cat("tryon looks.csv --yes --json")).stdout)).toMatchObject({ total: 45 });
  expect(world.mock.state().organizations.main.tasks).toHaveLength(45);
  // The limit of the day counts what was confirmed before the kill.
  const again = await start(world, words);
  const looksOf = {
    kind: "tryon",
    products: ["P1"],
    models: [model],
    backgrounds: ["white"],
    angles: ["full-front"],
  };
  const { content } = await again.ask(2, "tools/call", { name: "generate_start", arguments: looksOf });
  expect(content[0].text).toContain("too_many_generations");
  again.child.stdin.end();
  await once(again.child, "exit");
});
