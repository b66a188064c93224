import { expect, test } from "vitest";
import { eventTypes } from "../../../src/contract/value-sets.ts";
import { startReceiver } from "../receiver.ts";
import { row, startWorld } from "../world.ts";

/** A mock with a webhook for every event, and the events so far: type, resource, ID and status. */
async function listeningWorld() {
  const { url, received } = await startReceiver();
  const world = await startWorld();
  await world.send("/v1/webhooks", { json: { url, events: eventTypes } });
  /** Advances the clock until all jobs are done. */
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

test("the end of a task of either type sends task.succeeded or task.failed", async () => {
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

test("the end of an import sends import.completed, even with failed rows, or import.failed", async () => {
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

test("the end of a ZIP job sends export.completed or export.failed; a manifest sends nothing", async () => {
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
