import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { monday, refusal, startWorld } from "../world.ts";

type World = Awaited<ReturnType<typeof startWorld>>;
// biome-ignore lint/suspicious/noExplicitAny: tests read fields of any response.
type Json = any;

const at = (ms: number) => new Date(monday + ms).toISOString();
const beautify = async (world: World, product_id: string): Promise<string> => {
  const inputs = { product_id, background: "white", angle_shot: "front" };
  return (await world.send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } })).body.id;
};
const tryon = async (world: World, product_id: string, more: Json = {}): Promise<string> => {
  const input = { product_id, model_id: "mdl_001", background: "studio", angle_shot: "full-front", ...more };
  return (await world.send("/v1/tasks/tryon", { json: { inputs: [input] } })).body.tasks[0].id;
};
const product = async (world: World, reference = "DRESS"): Promise<string> =>
  (await world.createProduct({ reference })).body.id;
const get = async (world: World, id: string): Promise<Json> => (await world.send(`/v1/tasks/${id}`)).body;
const fail = (world: World, more: Json) =>
  world.send("/_mock/faults", { key: null, json: { match: { job: "task" }, ...more } });

describe("a task on the clock", () => {
  test("has Retry-After while the task runs, shorter at higher speeds", async () => {
    for (const [speed, seconds] of [
      [1, "5"],
      [2, "3"],
      [100, "0"],
    ] as const) {
      const world = await startWorld({ speed });
      const id = await beautify(world, await product(world));
      const retryAfter = async () => (await world.send(`/v1/tasks/${id}`)).headers.get("retry-after");
      const queued = await retryAfter();
      world.clock.advance(1_000 / speed);
      const running = await retryAfter();
      world.clock.advance(5_000 / speed);
      expect([queued, running, await retryAfter()]).toEqual([seconds, seconds, null]);
    }
  });

  test("is queued for a second, runs, and succeeds with a picture", async () => {
    const world = await startWorld();
    const id = await beautify(world, await product(world));
    const queued = await get(world, id);
    world.clock.advance(999);
    expect(await get(world, id)).toEqual(queued);
    world.clock.advance(1);
    const running = { ...queued, status: "running", started_at: at(1_000) };
    expect(await get(world, id)).toEqual(running);
    world.clock.advance(4_999);
    expect(await get(world, id)).toEqual(running);
    world.clock.advance(1);
    const succeeded = await get(world, id);
    expect(succeeded).toEqual({
      ...running,
      status: "succeeded",
      finished_at: at(6_000),
      output_image: {
        id: expect.stringMatching(/^[0-9A-Z]{26}$/),
        url: expect.stringMatching(/^http:/),
        url_expires_at: at(6_000 + 3_600_000),
      },
    });
    expect((await world.send("/v1/tasks?status=succeeded")).body.data).toEqual([succeeded]);
  });

  test("runs a try-on for eight seconds, and takes a quarter of the time at speed 4", async () => {
    const slow = await startWorld();
    const fast = await startWorld({ speed: 4 });
    const ids = [await tryon(slow, await product(slow)), await tryon(fast, await product(fast))] as const;
    slow.clock.advance(8_999);
    fast.clock.advance(2_249);
    expect([(await get(slow, ids[0])).status, (await get(fast, ids[1])).status]).toEqual([
      "running",
      "running",
    ]);
    slow.clock.advance(1);
    fast.clock.advance(1);
    const [one, two] = [await get(slow, ids[0]), await get(fast, ids[1])];
    expect([one.started_at, one.finished_at]).toEqual([at(1_000), at(9_000)]);
    expect([two.started_at, two.finished_at]).toEqual([at(250), at(2_250)]);
  });

  test("has a new signed output URL on every read, which expires after an hour", async () => {
    const world = await startWorld();
    const id = await beautify(world, await product(world));
    world.clock.advance(10_000);
    const { output_image: first } = await get(world, id);
    world.clock.advance(3_600_000);
    const { output_image: second } = await get(world, id);
    expect(second.id).toBe(first.id);
    expect(second.url_expires_at).toBe(at(10_000 + 2 * 3_600_000));
    expect((await fetch(first.url)).status).toBe(403);
    const got = await fetch(second.url);
    expect([got.status, got.headers.get("content-type")]).toEqual([200, "image/png"]);
  });

  test("is forgotten by a reset", async () => {
    const world = await startWorld();
    const id = await beautify(world, await product(world));
    await world.send("/_mock/reset", { method: "POST", key: null });
    expect(world.clock.nextDue()).toBeNull();
    world.clock.advance(60_000);
    expect((await world.send(`/v1/tasks/${id}`)).status).toBe(404);
    expect(world.mock.state().organizations.main.images).toEqual([]);
  });
});

describe("an output", () => {
  test("is an image of the organization, created at the end of the task", async () => {
    const world = await startWorld();
    const id = await beautify(world, await product(world));
    world.clock.advance(6_000);
    const { output_image } = await get(world, id);
    expect((await world.send(`/v1/images/${output_image.id}`)).body).toEqual({
      id: output_image.id,
      mime_type: "image/png",
      url: output_image.url,
      url_expires_at: output_image.url_expires_at,
      created_at: at(6_000),
    });
    const foreign = await world.send(`/v1/images/${output_image.id}`, { key: "ak_mock_other" });
    expect([foreign.status, foreign.body]).toEqual([404, refusal("not_found", "image_not_found")]);
  });

  test("is a picture of 600 x 800 with the requested background, drawn on first read", async () => {
    const world = await startWorld();
    const id = await tryon(world, await product(world), { background: "#12ab9f" });
    world.clock.advance(60_000);
    const { images } = world.mock.state().organizations.main;
    expect(images.at(-1)).toMatchObject({ bytes: null, width: 600, height: 800, mime_type: "image/png" });
    const response = await fetch((await get(world, id)).output_image.url);
    const picture = sharp(Buffer.from(await response.arrayBuffer()))
      .removeAlpha()
      .raw();
    const { data, info } = await picture.toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, ...data.subarray(0, 3)]).toEqual([600, 800, 0x12, 0xab, 0x9f]);
  });

  longTest("shows the requested style and gaze", async () => {
    const world = await startWorld();
    const id = await product(world);
    const styled = async (more: Json) => {
      const inputs = { product_id: id, background: "white", angle_shot: "front", ...more };
      return (await world.send("/v1/tasks/beautifier", { json: { subtype: "clothing", inputs } })).body.id;
    };
    const orders: [Promise<string>, Json][] = [
      [styled({}), { style: null, look_at_camera: true }],
      [styled({ style: "ghost" }), { style: "ghost", look_at_camera: true }],
      [styled({ style: "flatlay" }), { style: "flatlay", look_at_camera: true }],
      [tryon(world, id), { style: null, look_at_camera: true }],
      [tryon(world, id, { look_at_camera: true }), { style: null, look_at_camera: true }],
      [tryon(world, id, { look_at_camera: false }), { style: null, look_at_camera: false }],
    ];
    const tasks = await Promise.all(orders.map(([task]) => task));
    world.clock.advance(60_000);
    const outputs = await Promise.all(tasks.map(async (task) => (await get(world, task)).output_image.id));
    const { images } = world.mock.state().organizations.main;
    for (const [index, [, shown]] of orders.entries()) {
      const { seed } = images.find((image) => image.id === outputs[index])!;
      expect(JSON.parse(seed)).toMatchObject(shown);
    }
  });

  test("is listed with its product, with its inputs as attributes", async () => {
    const world = await startWorld();
    const [id, styling] = [await product(world), await product(world, "SHOE")];
    const first = await beautify(world, id);
    const second = await tryon(world, id, { styling_product_ids: [styling, styling] });
    world.clock.advance(60_000);
    const outputs = [await get(world, first), await get(world, second)].map((task) => task.output_image.id);
    const { products, images } = world.mock.state().organizations.main;
    const generations = Object.fromEntries(products.map((one) => [one.id, one.generations]));
    expect(generations).toEqual({ [id]: outputs, [styling]: [] });
    expect(outputs.map((output) => images.find((image) => image.id === output)?.generation)).toEqual([
      {
        role: "beautifier",
        task_id: first,
        product_id: id,
        angle_shot: "front",
        background: "white",
        model_id: null,
        also_features: [],
      },
      {
        role: "tryon",
        task_id: second,
        product_id: id,
        angle_shot: "full-front",
        background: "studio",
        model_id: "mdl_001",
        also_features: [styling],
      },
    ]);
  });

  test("has its origin when attached to a product", async () => {
    const world = await startWorld();
    const id = await product(world);
    const tasks = [await beautify(world, id), await tryon(world, id)];
    world.clock.advance(60_000);
    const [one, two] = await Promise.all(tasks.map(async (task) => (await get(world, task)).output_image.id));
    const photo = await world.imageId();
    const images = [one, two, photo].map((image_id) => ({ image_id, orientation: "detail" }));
    const got = await world.send(`/v1/products/${id}/images`, { json: { images } });
    expect(got.body.map(({ origin }: Json) => origin)).toEqual(["beautifier", "other", "user"]);
  });
});

describe("a failure", () => {
  test("has the code of a reference with fail-CODE, shown only at the end", async () => {
    const world = await startWorld();
    const id = await beautify(world, await product(world, "DRESS-fail-model_unsafe_content-7"));
    world.clock.advance(5_999);
    expect(await get(world, id)).toMatchObject({ status: "running", failure_reason: null });
    world.clock.advance(1);
    expect(await get(world, id)).toMatchObject({
      status: "failed",
      started_at: at(1_000),
      finished_at: at(6_000),
      output_image: null,
      failure_reason: {
        code: "model_unsafe_content",
        message: "the generation failed: model unsafe content",
      },
    });
    const { products } = world.mock.state().organizations.main;
    expect(products[0]!.generations).toEqual([]);
  });

  test.each(
    sampled([
      ["x-fail-timeout_1", "timeout"],
      ["fail-timeout_", "timeout"],
      ["fail-too__large", "too"],
      ["fail-_x fail-late_one", "late_one"],
      ["fail-Timeout", null],
    ]),
  )("with the reference %s has the code %s", async (reference, code) => {
    const world = await startWorld();
    const id = await beautify(world, await product(world, reference));
    world.clock.advance(60_000);
    expect((await get(world, id)).failure_reason?.code ?? null).toBe(code);
  });

  longTest("from a fault takes precedence over that of the reference", async () => {
    const world = await startWorld();
    const id = await product(world, "DRESS-fail-model_unsafe_content");
    await fail(world, { fail: { code: "gpu_lost", message: "the machine is gone" }, times: 1 });
    const tasks = [await beautify(world, id), await beautify(world, id)];
    world.clock.advance(60_000);
    const reasons = tasks.map(async (task) => (await get(world, task)).failure_reason.code);
    expect(await Promise.all(reasons)).toEqual(["gpu_lost", "model_unsafe_content"]);
  });

  test("is not caused by the reference of a styling product", async () => {
    const world = await startWorld();
    const styling = await product(world, "fail-model_unsafe_content");
    const id = await tryon(world, await product(world), { styling_product_ids: [styling] });
    world.clock.advance(60_000);
    expect((await get(world, id)).status).toBe("succeeded");
  });

  test("comes from a fault that is active when the task starts", async () => {
    const world = await startWorld();
    const id = await product(world);
    const before = await beautify(world, id);
    world.clock.advance(1_000);
    await fail(world, { fail: { code: "gpu_lost", message: "the machine is gone" }, times: 1 });
    const [during, after] = [await beautify(world, id), await beautify(world, id)];
    world.clock.advance(60_000);
    const statuses = [before, during, after].map(async (task) => {
      const { status, failure_reason } = await get(world, task);
      return [status, failure_reason];
    });
    expect(await Promise.all(statuses)).toEqual([
      ["succeeded", null],
      ["failed", { code: "gpu_lost", message: "the machine is gone" }],
      ["succeeded", null],
    ]);
  });
});

longTest(
  "a task renders the product as of the request, even if it is renamed or deleted meanwhile",
  async () => {
    const world = await startWorld();
    const [kept, gone] = [await product(world), await product(world, "GONE")];
    const tasks = [await beautify(world, kept), await tryon(world, gone)];
    await world.send(`/v1/products/${kept}`, {
      method: "PATCH",
      body: JSON.stringify({ reference: "fail-model_unsafe_content" }),
      headers: { "content-type": "application/merge-patch+json" },
    });
    await world.send(`/v1/products/${gone}`, { method: "DELETE" });
    world.clock.advance(60_000);
    for (const task of tasks) {
      const { status, output_image } = await get(world, task);
      expect(status).toBe("succeeded");
      expect((await fetch(output_image.url)).status).toBe(200);
    }
    const deleted = world.mock.state().organizations.main.products.find(({ id }) => id === gone);
    expect(deleted?.generations).toEqual([]);
    expect((await world.send(`/v1/tasks?product_id=${gone}`)).body.data).toHaveLength(1);
  },
);

test("the end of a task sends one event with only its ID and status", async () => {
  const world = await startWorld();
  const [good, bad] = [await product(world), await product(world, "fail-model_unsafe_content")];
  const url = "http://127.0.0.1:9/none";
  const events = ["task.succeeded", "task.failed"];
  expect((await world.send("/v1/webhooks", { json: { url, events } })).status).toBe(201);
  const [one, two] = [await beautify(world, good), await beautify(world, bad)];
  world.clock.advance(30_000);
  const { body } = await world.send("/_mock/deliveries", { key: null });
  const told = body.map((delivery: Json) => [delivery.event.type, delivery.event.data]);
  expect(told).toEqual([
    ["task.succeeded", { task: { id: one, status: "succeeded" } }],
    ["task.failed", { task: { id: two, status: "failed" } }],
  ]);
});

describe("a state with tasks", () => {
  longTest("continues after a restore, with the same IDs", async () => {
    const one = await startWorld({ demo: 2 });
    await one.send("/_mock/account", { key: null, json: { credits: 7 } });
    const id = one.mock.state().organizations.main.products[0]!.id;
    const ids = [await beautify(one, id)];
    one.clock.advance(7_000);
    ids.push(await tryon(one, id));
    one.clock.advance(2_000);
    ids.push(await beautify(one, id));
    const state = (await one.send("/_mock/state", { key: null })).body;
    const statuses = state.organizations.main.tasks.map(({ status }: Json) => status);
    expect(statuses).toEqual(["succeeded", "running", "queued"]);
    const cursor = (await one.send("/v1/tasks?limit=1")).body.next_cursor;

    const two = await startWorld();
    const put = await two.send("/_mock/state", { method: "PUT", body: JSON.stringify(state), key: null });
    expect(put.status).toBe(200);
    expect((await two.send("/_mock/account", { key: null })).body.credits).toBe(4);
    const rest = (await two.send(`/v1/tasks?cursor=${cursor}`)).body.data;
    expect(rest.map((task: Json) => task.id)).toEqual([ids[1], ids[0]]);
    await two.imageId();
    for (const world of [one, two]) world.clock.advance(60_000);
    for (const task of ids) {
      const [first, second] = [await get(one, task), await get(two, task)];
      expect(first.status).toBe("succeeded");
      const { output_image: mine, ...more } = first;
      const { output_image: theirs, ...same } = second;
      expect([theirs.id, same]).toEqual([mine.id, more]);
      const bytes = await Promise.all(
        [mine.url, theirs.url].map(async (url) => (await fetch(url)).arrayBuffer()),
      );
      expect(Buffer.from(bytes[0]!).equals(Buffer.from(bytes[1]!))).toBe(true);
    }
  });

  const change = (fields: object) => (state: Json) => {
    const { main } = state.organizations;
    return {
      ...state,
      organizations: {
        ...state.organizations,
        main: { ...main, tasks: main.tasks.map((task: Json) => ({ ...task, ...fields })) },
      },
    };
  };
  test.each<[string, (state: Json) => Json]>([
    ["has an unknown status", change({ status: "waiting" })],
    ["has no end time", change({ ends_at: null })],
    ["has an empty scene", change({ scene: {} })],
  ])("is rejected if a task %s", async (_name, wrong) => {
    const world = await startWorld();
    await beautify(world, await product(world));
    world.clock.advance(60_000);
    const before = JSON.parse(JSON.stringify(world.mock.state()));
    const put = (state: Json) =>
      world.send("/_mock/state", { method: "PUT", body: JSON.stringify(state), key: null });
    expect((await put(before)).status).toBe(200);
    const got = await put(wrong(before));
    expect([got.status, got.body.error.code]).toEqual([400, "invalid_request"]);
  });
});

longTest("the IDs of a task and its output do not depend on requests during the task", async () => {
  async function told(frozenAt: number, between: (world: World) => Promise<unknown>) {
    const world = await startWorld({ seed: 9, clock: new MovableClock({ frozenAt }) });
    const id = await product(world);
    const tasks = [await beautify(world, id), await tryon(world, id)];
    await between(world);
    world.clock.advance(60_000);
    const outputs = await Promise.all(tasks.map(async (task) => (await get(world, task)).output_image.id));
    expect(new Set([id, ...tasks, ...outputs]).size).toBe(5);
    return [id, ...tasks, ...outputs];
  }
  const alone = await told(monday, async () => {});
  expect(await told(monday + 86_400_000 * 30, (world) => world.imageId())).toEqual(alone);
  expect(
    await told(monday, async (world) => {
      world.clock.advance(1_500);
      await beautify(world, await product(world, "BETWEEN"));
    }),
  ).toEqual(alone);
});
