import { expect, test } from "vitest";
import { operations } from "../../src/contract/operations.ts";
import { startWorld } from "../mock/world.ts";
import { exactly } from "./exact-schema.ts";
import { beautify, nobody } from "./inputs.ts";

const { tasks } = operations;
const exactTask = exactly(tasks.get.reply);

test("a task matches the contract exactly at every moment, alone and in a list", async () => {
  const world = await startWorld();
  const seen = new Set<string>();
  for (const reference of ["GOOD", "fail-model_unsafe_content"]) {
    const product_id = (await world.createProduct({ reference })).body.id;
    const input = { product_id, model_id: "mdl_001", background: "beach", angle_shot: "custom-x" };
    const alone = (await world.send("/v1/tasks/beautifier", { json: beautify(product_id) })).body;
    const worn = (await world.send("/v1/tasks/tryon", { json: { inputs: [input, input] } })).body;
    expect(exactly(tasks.beautify.reply)(alone)).toEqual([]);
    expect(exactly(tasks.tryon.reply)(worn)).toEqual([]);
    for (let second = 0; second < 11; second++) {
      for (const { id } of [alone, ...worn.tasks]) {
        const { body } = await world.send(`/v1/tasks/${id}`);
        expect(exactTask(body)).toEqual([]);
        seen.add(body.status);
      }
      expect(exactly(tasks.list.reply)((await world.send("/v1/tasks")).body)).toEqual([]);
      world.clock.advance(1_000);
    }
  }
  expect([...seen].sort()).toEqual(["failed", "queued", "running", "succeeded"]);
});

test("the list of try-on problems matches the contract exactly", async () => {
  const world = await startWorld();
  const inputs = [
    null,
    {},
    {
      product_id: nobody,
      model_id: nobody,
      styling_product_ids: [nobody, 1],
      background: "",
      angle_shot: 1,
      x: 1,
    },
  ];
  const { status, body } = await world.send("/v1/tasks/tryon", { json: { inputs } });
  expect([status, exactly(tasks.tryon.rejectionList!)(body)]).toEqual([400, []]);
});
