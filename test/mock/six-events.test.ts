import { expect, test } from "vitest";
import { eventTypes } from "../../src/contract/value-sets.ts";
import { startReceiver } from "./receiver.ts";
import { row, startWorld } from "./world.ts";

/** A world with a webhook for every event, and what became of it so far: type, resource, id and status of each. */
async function listeningWorld() {
  const { url, received } = await startReceiver();
  const world = await startWorld();
  await world.send("/v1/webhooks", { json: { url, events: eventTypes } });
  /** Lets all jobs end. */
  const end = () => world.send("/_mock/clock", { json: { advance_ms: 600_000 }, key: null });
  const fault = (job: string) =>
    world.send("/_mock/faults", {
      json: { match: { job }, fail: { code: "down", message: "it is down" } },
      key: null,
    });
  const told = () => received.map(({ body }) => [body.type, body.data]);
  const productId = async (reference: string) => (await world.createProduct({ reference })).body.id;
  const beautify = async (reference: string): Promise<string> => {
    const inputs = { product_id: await productId(reference), background: "white", angle_shot: "front" };
    return (await world.send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } })).body.id;
  };
  const tryon = async (reference: string): Promise<string> => {
    const input = { product_id: await productId(reference), model_id: "mdl_001", background: "loft" };
    const json = { inputs: [{ ...input, angle_shot: "half-front" }] };
    return (await world.send("/v1/tasks/tryon", { json })).body.tasks[0].id;
  };
  const freeze = async (format: string) => (await world.send("/v1/exports", { json: { format } })).body;
  return { ...world, end, fault, told, beautify, tryon, freeze };
}

test("a task's end is told as task.succeeded or task.failed, of either type", async () => {
  const { beautify, tryon, end, told } = await listeningWorld();
  const ids = [await beautify("A"), await beautify("B-fail-model_unsafe_content"), await tryon("C")] as const;
  expect(told()).toEqual([]);
  await end();
  expect(told()).toEqual([
    ["task.succeeded", { task: { id: ids[0], status: "succeeded" } }],
    ["task.failed", { task: { id: ids[1], status: "failed" } }],
    ["task.succeeded", { task: { id: ids[2], status: "succeeded" } }],
  ]);
});

test("an import's end is told as import.completed, also with failed rows, or as import.failed", async () => {
  const { importRows, fault, end, told } = await listeningWorld();
  const failing = { images: [{ url: "https://cdn.example.com/fail-timeout.jpg" }] };
  const whole = (await importRows([row("A")])).body.id;
  await end();
  const broken = (await importRows([row("B", failing)])).body.id;
  await end();
  await fault("import");
  const failed = (await importRows([row("C")])).body.id;
  await end();
  expect(told()).toEqual([
    ["import.completed", { import: { id: whole, status: "completed" } }],
    ["import.completed", { import: { id: broken, status: "completed_with_errors" } }],
    ["import.failed", { import: { id: failed, status: "failed" } }],
  ]);
});

test("a ZIP's end is told as export.completed or export.failed; a manifest, which never was processing, is not told", async () => {
  const { freeze, fault, end, told } = await listeningWorld();
  const zip = await freeze("zip");
  expect((await freeze("manifest")).status).toBe("completed");
  await end();
  await fault("export");
  const failed = await freeze("zip");
  await end();
  expect(told()).toEqual([
    ["export.completed", { export: { id: zip.id, status: "completed" } }],
    ["export.failed", { export: { id: failed.id, status: "failed" } }],
  ]);
});
