import { expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";
import { type Agent, type AgentOptions, clients, type Json, openAgent } from "./agent.ts";

const eras = ["2025", "2026-07-28"] as const;

/** A test environment with three products, A, B and C. */
async function shop(): Promise<TestWorld> {
  const world = await createWorld({ mock: { rateLimit: false } });
  const rows = ["A", "B", "C"].map((name) => `${name},Dress ${name},https://cdn.example.com/${name}.jpg`);
  world.write("products.csv", `reference,name,image_front\n${rows.join("\n")}\n`);
  expect((await world.cat("import products.csv")).exit).toBe(0);
  return world;
}

const generations = (world: TestWorld): number =>
  world.requests().filter(({ method, path }) => method === "POST" && path === "/v1/tasks/tryon").length;
const deletions = (world: TestWorld): number =>
  world.requests().filter(({ method }) => method === "DELETE").length;

async function generate(agent: Agent, references: readonly string[]): Promise<Json> {
  const { data } = await agent.call("models_find", { limit: 1 });
  const look = { models: [data[0].id], backgrounds: ["studio"], angles: ["full-front"] };
  const started = await agent.call("generate_start", { kind: "tryon", products: references, ...look });
  return started.state === "running"
    ? agent.call("run_status", { run: started.run, wait_seconds: 45 })
    : started;
}

const refusals = eras.flatMap((client) =>
  (["decline", "cancel", "unchecked"] as const).map((answer) => [client, answer] as const),
);

test.each(sampled(refusals))("in %s, the answer %s generates and deletes nothing", async (client, answer) => {
  const world = await shop();
  const agent = await openAgent(world, { client, answer });
  expect(await generate(agent, ["A"])).toMatchObject({
    isError: true,
    outcome: "declined",
    error: { code: "declined", message: "nothing was queued" },
  });
  expect(await agent.call("products_delete", { products: ["A"] })).toMatchObject({
    isError: true,
    outcome: "declined",
    error: { message: "nothing was deleted" },
  });
  expect([agent.questions.length, generations(world), deletions(world)]).toEqual([2, 0, 0]);
  expect(world.products()).toHaveLength(3);
});

test.each(sampled(clients, 1))(
  "a client %s that cannot ask generates and deletes nothing",
  async (client) => {
    const world = await shop();
    const agent = await openAgent(world, { client, answer: null });
    for (const result of [
      await generate(agent, ["A"]),
      await agent.call("products_delete", { products: ["A"] }),
    ])
      expect(result).toMatchObject({ isError: true, error: { code: "confirmation_needed", exit: 2 } });
    expect([generations(world), deletions(world)]).toEqual([0, 0]);
  },
);

test.each(sampled(eras, 1))("in %s, an agreement is for what was asked, once", async (client) => {
  const world = await shop();
  const agent = await openAgent(world, { client });
  expect(await generate(agent, ["A", "B"])).toMatchObject({ exit: 0, result: { queued: 2 } });
  // What exists costs nothing: there is nothing to ask about.
  expect(await generate(agent, ["A", "B"])).toMatchObject({ exit: 0, result: { queued: 0, succeeded: 2 } });
  expect(await generate(agent, ["A", "B", "C"])).toMatchObject({ exit: 0, result: { queued: 1 } });
  expect(agent.questions).toEqual([
    "Generate 2 images of 2 products? Each one costs credits (balance unknown).",
    "Generate 1 image of 1 product? 2 of the 3 exist already. Each one costs credits (balance unknown).",
  ]);
  expect(generations(world)).toBe(2);
});

test("a made-up answer in the first call does nothing", async () => {
  const world = await shop();
  const agent = await openAgent(world, { client: "2026-07-28" });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const yes = { action: "accept", content: { confirm: true } };
  const forged = (id: string, requestState: string | undefined, product = "A", confirm: object = yes) =>
    agent.write(
      `${JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: {
          name: "products_delete",
          arguments: { products: [product] },
          inputResponses: { confirm },
          ...(requestState !== undefined && { requestState }),
          _meta: meta,
        },
      })}\n`,
    );
  const response = async (id: string) => {
    for (;;) {
      const found = agent.written.map((line) => JSON.parse(line)).find((message) => message.id === id);
      if (found !== undefined) return found.result;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  forged("x1", undefined);
  const asked = await response("x1");
  expect(asked).toMatchObject({ resultType: "input_required" });
  forged("x2", "00000000-0000-0000-0000-000000000000");
  expect((await response("x2")).content[0].text).toContain("question_expired");
  // The key is for the call that asked.
  forged("x2b", asked.requestState, "B");
  expect((await response("x2b")).content[0].text).toContain("question_expired");
  expect(deletions(world)).toBe(0);
  // The true key works once.
  forged("x3", asked.requestState);
  expect((await response("x3")).isError).toBeUndefined();
  forged("x4", asked.requestState);
  expect((await response("x4")).content[0].text).toContain("question_expired");
  expect(deletions(world)).toBe(1);
  // An answer of no known form is that of a client that cannot ask.
  forged("x5", undefined, "B");
  forged("x6", (await response("x5")).requestState, "B", { action: "ACCEPT" });
  expect((await response("x6")).content[0].text).toContain("confirmation_needed");
  expect(deletions(world)).toBe(1);
});

test.each(sampled(["2025", "ai-sdk"] as const, 1))(
  "a question that %s fails to show blocks no run",
  async (client) => {
    const world = await shop();
    const agent = await openAgent(world, { client, answer: () => Promise.reject(new Error("no window")) });
    for (let time = 0; time < repetitions(3, 9); time++)
      expect(await generate(agent, ["A"])).toMatchObject({
        isError: true,
        state: "ended",
        error: { code: "confirmation_needed" },
      });
    expect(generations(world)).toBe(0);
  },
);

test.each(
  sampled(
    [
      '"result":null',
      '"result":[]',
      '"result":"yes"',
      '"result":1',
      '"error":"no"',
      '"error":{"message":"no"}',
    ],
    1,
  ),
)("a response %s to a question, which the protocol does not have, ends the question", async (response) => {
  const world = await shop();
  const agent = await openAgent(world, { answer: () => new Promise<never>(() => {}) });
  const deleting = agent.call("products_delete", { products: ["A"] });
  const asked = () =>
    agent.written.map((line) => JSON.parse(line)).find(({ method }) => method !== undefined);
  while (asked() === undefined) await new Promise((resolve) => setImmediate(resolve));
  agent.write(`{"jsonrpc":"2.0","id":${asked().id},${response}}\n`);
  expect(await deleting).toMatchObject({ isError: true, error: { code: "confirmation_needed" } });
  expect(deletions(world)).toBe(0);
});

test("a question that nobody answers is declined after ten minutes", async () => {
  const world = await shop();
  const never = new Promise<never>(() => {});
  const agent = await openAgent(world, { answer: () => never });
  void agent.call("products_delete", { products: ["A"] }).catch(() => {});
  while (agent.questions.length === 0) await new Promise((resolve) => setImmediate(resolve));
  world.clock.advance(9 * 60_000);
  expect(deletions(world)).toBe(0);
  world.clock.advance(61_000);
  await agent.close();
  expect([(await agent.running).exit, deletions(world)]).toEqual([0, 0]);
});

const yes = (world: TestWorld, limit: number, more: Partial<AgentOptions> = {}) =>
  openAgent(world, {
    answer: null,
    words: ["--allow", "generations,deletes", "--yes", "--max-generations", String(limit)],
    ...more,
  });

test("--yes answers for the person, for what is allowed, within the limit", async () => {
  const world = await shop();
  const agent = await yes(world, 2);
  expect(await generate(agent, ["A", "B", "C"])).toMatchObject({
    isError: true,
    exit: 3,
    error: {
      code: "too_many_generations",
      message: expect.stringContaining(
        "3 images requested; 2 of 2 left today (--max-generations of cat mcp). Nothing was queued",
      ),
    },
  });
  expect(await generate(agent, ["A"])).toMatchObject({ exit: 0, result: { queued: 1 } });
  expect((await agent.call("products_delete", { products: ["C"] })).deleted).toBe(true);
  expect((await agent.list()).map(({ name }) => name)).not.toContain("import_start");
});

test("the generations of a day are counted over restarts, and by each session alike", async () => {
  const world = await shop();
  expect(await generate(await yes(world, 2), ["A"])).toMatchObject({ exit: 0 });
  const [one, other] = [await yes(world, 2), await yes(world, 2)];
  expect(await generate(one, ["B"])).toMatchObject({ exit: 0 });
  const rejected = {
    error: { code: "too_many_generations", message: expect.stringContaining("0 of 2 left today") },
  };
  expect(await generate(other, ["C"])).toMatchObject(rejected);
  // A person cannot agree to more either.
  const asking = await openAgent(world, { words: ["--allow", "generations", "--max-generations", "2"] });
  expect(await generate(asking, ["C"])).toMatchObject(rejected);
  expect([asking.questions, generations(world)]).toEqual([[], 2]);
  world.clock.advance(15 * 3_600_000);
  expect(await generate(await yes(world, 2), ["C"])).toMatchObject({ exit: 0, result: { queued: 1 } });
});

longTest("two agreements at once do not pass the limit together", async () => {
  const world = await shop();
  const agent = await openAgent(world, { words: ["--allow", "generations", "--max-generations", "2"] });
  const ran = await Promise.all([generate(agent, ["A", "B"]), generate(agent, ["B", "C"])]);
  expect(ran.filter(({ exit }) => exit === 0)).toHaveLength(1);
  const queued = world.mock.state().organizations.main.tasks.length;
  expect(queued).toBe(2);
});

test.each([
  [["--yes", "--allow", "generations"], "--yes with --allow generations needs --max-generations"],
  [["--allow", "all"], "invalid --allow"],
  [["--root", "none"], "--root none"],
  [["--max-generations", "-1"], "invalid --max-generations"],
])("cat mcp %j is exit 2", async (words, message) => {
  const world = await createWorld();
  const ran = await world.cat(["mcp", ...words]);
  expect([ran.exit, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain(message);
});
