import { describe, expect, test } from "vitest";
import { beautifierAngleShots } from "../../../src/contract/value-sets.ts";
import { sampled } from "../../support/repetitions.ts";
import { refusal, startWorld } from "../world.ts";

type World = Awaited<ReturnType<typeof startWorld>>;
// biome-ignore lint/suspicious/noExplicitAny: the scenario reads fields of any response.
type Json = any;

const nobody = "01HN1H1W2BE2ZP0BXGX60T7K32";
const productWith = async (world: World, reference: string, ...orientations: string[]): Promise<string> => {
  const image_id = await world.imageId();
  const images: Json[] = [];
  // A product has an image only once, so each photo needs its own image.
  for (const [index, orientation] of orientations.entries()) {
    images.push({ image_id: index === 0 ? image_id : await world.imageId(), orientation });
  }
  return (await world.createProduct({ reference, ...(images.length > 0 && { images }) })).body.id;
};
const beautifier = (product_id: unknown, inputs: Json = {}, more: Json = {}) => ({
  json: {
    subtype: "clothing",
    inputs: { product_id, background: "white", angle_shot: "front", ...inputs },
    ...more,
  },
});
const beautify = (world: World, ...of: Parameters<typeof beautifier>) =>
  world.send("/v1/tasks/beautifier", beautifier(...of));
const input = (product_id: unknown, more: Json = {}) => ({
  product_id,
  model_id: "mdl_001",
  background: "studio",
  angle_shot: "full-front",
  ...more,
});
const tryon = (world: World, inputs: unknown, more: Json = {}) =>
  world.send("/v1/tasks/tryon", { json: { inputs, ...more } });
const answer = ({ status, body }: { status: number; body: unknown }) => [status, body];
const tasksOf = async (world: World, query = "") =>
  (await world.send(`/v1/tasks?limit=100${query}`)).body.data;

describe("a beautifier", () => {
  test("is queued at once", async () => {
    const world = await startWorld();
    const id = await productWith(world, "DRESS");
    const got = await beautify(world, id, { style: "ghost" });
    expect(answer(got)).toEqual([
      202,
      {
        id: expect.stringMatching(/^[0-9A-Z]{26}$/),
        type: "beautifier",
        subtype: "clothing",
        status: "queued",
        product_id: id,
        output_image: null,
        failure_reason: null,
        started_at: null,
        finished_at: null,
        created_at: "2026-01-05T09:00:00.000Z",
      },
    ]);
    expect(answer(await world.send(`/v1/tasks/${got.body.id}`))).toEqual([200, got.body]);
  });

  test.each<[string, Json, Json, string]>(
    sampled(
      [
        ["no product", { product_id: undefined }, {}, "inputs.product_id"],
        ["a product that is a number", { product_id: 1 }, {}, "inputs.product_id"],
        ["no background", { background: undefined }, {}, "inputs.background"],
        ["a background of the try-ons", { background: "studio" }, {}, "inputs.background"],
        ["a color without its #", { background: "f4f1ea" }, {}, "inputs.background"],
        ["a color that is too short", { background: "#fff" }, {}, "inputs.background"],
        ["no angle", { angle_shot: undefined }, {}, "inputs.angle_shot"],
        ["an unknown angle", { angle_shot: "above" }, {}, "inputs.angle_shot"],
        ["an angle of the try-ons", { angle_shot: "full-front" }, {}, "inputs.angle_shot"],
        ["an unknown style", { style: "flat" }, {}, "inputs.style"],
        ["a style of null", { style: null }, {}, "inputs.style"],
        ["an unknown field", { model_id: "mdl_001" }, {}, "inputs.model_id"],
        ["no subtype", {}, { subtype: undefined }, "subtype"],
        ["an unknown subtype", {}, { subtype: "bags" }, "subtype"],
        ["an unknown field outside the inputs", {}, { look: 1 }, "look"],
        ["no inputs", {}, { inputs: undefined }, "inputs"],
        ["inputs that are a list", {}, { inputs: [] }, "inputs"],
      ],
      4,
    ),
  )("with %s is rejected", async (_name, inputs, more, param) => {
    const world = await startWorld();
    const got = await beautify(world, await productWith(world, "DRESS"), inputs, more);
    expect(answer(got)).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
    expect(await tasksOf(world)).toEqual([]);
  });

  test.each(sampled(["white", "light-grey", "beige", "black", "floor", "#f4f1ea", "#F4F1EA"]))(
    "accepts the background %s",
    async (background) => {
      const world = await startWorld();
      expect((await beautify(world, await productWith(world, "DRESS"), { background })).status).toBe(202);
    },
  );

  test("has its own angles for each subtype, and a style only for clothing", async () => {
    const world = await startWorld();
    const id = await productWith(world, "ALL", "front", "back");
    const everyAngle = [...new Set(Object.values(beautifierAngleShots).flat())];
    for (const [subtype, angles] of Object.entries(beautifierAngleShots)) {
      for (const angle_shot of everyAngle) {
        const got = await beautify(world, id, { angle_shot }, { subtype });
        if ((angles as readonly string[]).includes(angle_shot)) expect(got.status).toBe(202);
        else {
          const mismatch = refusal("invalid_request", "inputs_mismatch", "inputs.angle_shot");
          expect([subtype, angle_shot, ...answer(got)]).toEqual([subtype, angle_shot, 422, mismatch]);
        }
      }
      const styled = await beautify(world, id, { style: "flatlay" }, { subtype });
      if (subtype === "clothing") expect(styled.status).toBe(202);
      else {
        const mismatch = refusal("invalid_request", "inputs_mismatch", "inputs.style");
        expect(answer(styled)).toEqual([422, mismatch]);
      }
    }
  });

  test("of a product that is unknown, deleted or of another organization is rejected", async () => {
    const world = await startWorld();
    const gone = await productWith(world, "GONE");
    await world.send(`/v1/products/${gone}`, { method: "DELETE" });
    const foreign = (await world.createProduct({}, { key: "ak_mock_other" })).body.id;
    for (const id of [nobody, "", "x", gone, foreign]) {
      expect(answer(await beautify(world, id))).toEqual([
        404,
        refusal("not_found", "product_not_found", "inputs.product_id"),
      ]);
    }
    expect(await tasksOf(world)).toEqual([]);
  });

  test.each(
    sampled(
      [
        ["front", "front", true],
        ["front", "side", true],
        ["front", "unlabeled", true],
        ["front", "back", false],
        ["front", "bottom", false],
        ["front", "detail", false],
        ["three-quarter-left", "front", true],
        ["back", "back", true],
        ["back", "unlabeled", true],
        ["back", "front", false],
        ["back", "detail", false],
        ["detail", "back", true],
        ["detail", "detail", true],
      ],
      4,
    ),
  )(
    "from the angle %s of a product with the photo %s is accepted: %s",
    async (angle_shot, orientation, isEnough) => {
      const world = await startWorld();
      const got = await beautify(world, await productWith(world, "ONE", orientation), { angle_shot });
      if (isEnough) expect(got.status).toBe(202);
      else {
        const required = refusal("invalid_request", "image_required", "inputs.product_id");
        expect(answer(got)).toEqual([422, required]);
        expect(await tasksOf(world)).toEqual([]);
      }
    },
  );

  test("needs only one suitable photo", async () => {
    const world = await startWorld();
    const id = await productWith(world, "TWO", "front", "back");
    expect((await beautify(world, id, { angle_shot: "back" })).status).toBe(202);
    expect((await beautify(world, id, { angle_shot: "front" })).status).toBe(202);
  });
});

describe("a try-on", () => {
  test("creates one task per input, in their order, without a subtype", async () => {
    const world = await startWorld();
    const [one, two] = [await productWith(world, "ONE"), await productWith(world, "TWO")];
    const got = await tryon(world, [input(one), input(two, { styling_product_ids: [one] }), input(one)]);
    expect(got.status).toBe(202);
    expect(Object.keys(got.body)).toEqual(["tasks"]);
    expect(
      got.body.tasks.map((task: Json) => [task.product_id, task.type, task.subtype, task.status]),
    ).toEqual([one, two, one].map((id) => [id, "tryon", null, "queued"]));
    expect(got.body.tasks.map((task: Json) => task.id)).toEqual(
      (await tasksOf(world)).map((task: Json) => task.id).reverse(),
    );
  });

  test("accepts 1 to 20 inputs", async () => {
    const world = await startWorld();
    const id = await productWith(world, "ONE");
    const count = (length: number) => tryon(world, Array(length).fill(input(id)));
    const refused = [400, refusal("invalid_request", "invalid_request", "inputs")];
    expect((await count(1)).body.tasks).toHaveLength(1);
    expect((await count(20)).body.tasks).toHaveLength(20);
    expect(answer(await count(0))).toEqual(refused);
    expect(answer(await count(21))).toEqual(refused);
    expect(await tasksOf(world)).toHaveLength(21);
  });

  test.each([
    ["an object instead of a list", { inputs: {} }, "inputs"],
    ["an empty object", {}, "inputs"],
    ["an unknown field next to the inputs", { inputs: [], subtype: "clothing" }, "inputs"],
  ])("of %s is rejected with one error", async (_name, json, param) => {
    const world = await startWorld();
    const got = await world.send("/v1/tasks/tryon", { json });
    expect(answer(got)).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });

  test("accepts up to 10 stylings, including duplicates", async () => {
    const world = await startWorld();
    const id = await productWith(world, "MAIN");
    const styling = await productWith(world, "STYLING");
    const count = (length: number) =>
      tryon(world, [input(id, { styling_product_ids: Array(length).fill(styling) })]);
    for (const length of [0, 9, 10]) expect((await count(length)).status).toBe(202);
    expect(answer(await count(11))).toEqual([
      400,
      {
        errors: [
          {
            input_index: 0,
            type: "invalid_request",
            code: "invalid_request",
            message: "styling_product_ids: must have at most 10 entries",
            param: "styling_product_ids",
          },
        ],
      },
    ]);
  });

  test("accepts scenes, custom angles, and the backgrounds of a beautifier except the floor", async () => {
    const world = await startWorld();
    const id = await productWith(world, "ONE");
    const backgrounds = "white light-grey beige black studio loft street garden beach #010203".split(" ");
    const angles =
      "full-front full-back full-side half-front half-back close-up custom-a custom-hero-2 custom-Hero_2 custom-_".split(
        " ",
      );
    const inputs = [
      ...backgrounds.map((background) => input(id, { background })),
      ...angles.map((angle_shot) => input(id, { angle_shot })),
    ];
    expect((await tryon(world, inputs)).status).toBe(202);
  });

  test.each(
    sampled(["custom-", "custom-a b", "custom-é", "custom-a.b", "custom-a\n", "Custom-a", "-custom-a"]),
  )("rejects the angle %j, and describes custom angles", async (angle_shot) => {
    const world = await startWorld();
    const got = await tryon(world, [input(await productWith(world, "ONE"), { angle_shot })]);
    expect([got.status, got.body.errors[0].message]).toEqual([
      400,
      "angle_shot: must be one of full-front, full-back, full-side, half-front, half-back, close-up, " +
        "or a slug of letters, digits, - and _ that starts with custom-",
    ]);
  });

  test("reports every problem of every input, and queues nothing", async () => {
    const world = await startWorld();
    await world.send("/_mock/account", { key: null, json: { credits: 1 } });
    const id = await productWith(world, "ONE");
    const problem = (input_index: number, code: string, param?: string) => ({
      input_index,
      type: code.endsWith("_not_found") ? "not_found" : "invalid_request",
      code,
      message: expect.stringMatching(/./),
      ...(param !== undefined && { param }),
    });
    const got = await tryon(world, [
      input(id),
      null,
      [],
      {},
      input(nobody, { model_id: "mdl_999", background: "floor", angle_shot: "front" }),
      input(id, {
        styling_product_ids: [id, nobody, 7],
        look_at_camera: "yes",
        style: "ghost",
        subtype: "x",
      }),
      input(id),
      input(id, { angle_shot: "custom-", model_id: "", background: "#12345g" }),
      input(7, { styling_product_ids: "x", model_id: null }),
    ]);
    expect(answer(got)).toEqual([
      400,
      {
        errors: [
          problem(1, "invalid_request"),
          problem(2, "invalid_request"),
          problem(3, "invalid_request", "product_id"),
          problem(3, "invalid_request", "model_id"),
          problem(3, "invalid_request", "background"),
          problem(3, "invalid_request", "angle_shot"),
          problem(4, "invalid_request", "background"),
          problem(4, "invalid_request", "angle_shot"),
          problem(4, "product_not_found", "product_id"),
          problem(4, "model_not_found", "model_id"),
          problem(5, "invalid_request", "styling_product_ids[2]"),
          problem(5, "invalid_request", "look_at_camera"),
          problem(5, "invalid_request", "style"),
          problem(5, "invalid_request", "subtype"),
          problem(5, "invalid_request", "styling_product_ids[0]"),
          problem(5, "product_not_found", "styling_product_ids[1]"),
          problem(7, "invalid_request", "model_id"),
          problem(7, "invalid_request", "background"),
          problem(7, "invalid_request", "angle_shot"),
          problem(8, "invalid_request", "product_id"),
          problem(8, "invalid_request", "model_id"),
          problem(8, "invalid_request", "styling_product_ids"),
        ],
      },
    ]);
    expect(await tasksOf(world)).toEqual([]);
  });

  test("accepts the organization's own models, but not those of others", async () => {
    const world = await startWorld();
    const own = (await world.send("/v1/models?is_public=false")).body.data.map(({ id }: Json) => id);
    expect(own).toHaveLength(2);
    const id = await productWith(world, "ONE");
    expect((await tryon(world, [input(id, { model_id: own[0] })])).status).toBe(202);
    const key = "ak_mock_other";
    const foreign = (await world.createProduct({}, { key })).body.id;
    const got = await world.send("/v1/tasks/tryon", {
      key,
      json: { inputs: [input(foreign, { model_id: own[0] }), input(foreign), input(id)] },
    });
    expect(got.body.errors.map((one: Json) => [one.input_index, one.code])).toEqual([
      [0, "model_not_found"],
      [2, "product_not_found"],
    ]);
  });
});

test("inputs of one request with the same model, product and stylings form a group", async () => {
  const world = await startWorld();
  const [a, b, c] = [
    await productWith(world, "A"),
    await productWith(world, "B"),
    await productWith(world, "C"),
  ];
  const inputs = [
    input(a),
    input(a, { model_id: "mdl_002" }),
    input(a, {
      styling_product_ids: [],
      angle_shot: "full-back",
      background: "beach",
      look_at_camera: false,
    }),
    input(b),
    input(a, { styling_product_ids: [b] }),
    input(a, { styling_product_ids: [b, c] }),
    input(a, { styling_product_ids: [b, c, b] }),
    input(b),
  ];
  for (const _request of [1, 2]) expect((await tryon(world, inputs)).status).toBe(202);
  const groups = world.mock.state().organizations.main.tasks.map(({ scene }) => scene.group);
  const first = (group: string) => groups.indexOf(group);
  expect(groups.map(first)).toEqual([0, 1, 0, 3, 4, 5, 5, 3, 8, 9, 8, 11, 12, 13, 13, 11]);
});

test.each([
  [0, 1, "not enough credits: 1 needed, 0 left"],
  [1, 2, "not enough credits: 2 needed, 1 left"],
])("with %d credits left, %d generations are rejected in plain words", async (credits, count, message) => {
  const world = await startWorld();
  const id = await productWith(world, "ONE");
  await world.send("/_mock/account", { key: null, json: { credits } });
  const got = await tryon(world, Array(count).fill(input(id)));
  expect([got.status, got.body.error.message]).toEqual([402, message]);
});

describe("credits", () => {
  const setCredits = (world: World, credits: unknown, path = "/_mock/account") =>
    world.send(path, { key: null, json: { credits } });
  const credits = async (world: World) => (await world.send("/_mock/account", { key: null })).body.credits;

  test("are taken when a task is queued, one per generation, all or none", async () => {
    const world = await startWorld();
    const id = await productWith(world, "fail-model_unsafe_content");
    expect(await credits(world)).toBeNull();
    expect(answer(await setCredits(world, 3))).toEqual([200, { organization: "main", credits: 3 }]);
    const refused = [402, refusal("payment_required", "insufficient_credits")];
    expect(answer(await tryon(world, Array(4).fill(input(id))))).toEqual(refused);
    expect([await credits(world), (await tasksOf(world)).length]).toEqual([3, 0]);
    expect((await tryon(world, Array(2).fill(input(id)))).status).toBe(202);
    expect((await beautify(world, id)).status).toBe(202);
    expect([await credits(world), (await tasksOf(world)).length]).toEqual([0, 3]);
    expect(answer(await beautify(world, id))).toEqual(refused);
    expect(answer(await tryon(world, [input(id)]))).toEqual(refused);
    // A failed task keeps its credit.
    world.clock.advance(60_000);
    expect(await credits(world)).toBe(0);
    await setCredits(world, null);
    expect((await tryon(world, Array(20).fill(input(id)))).status).toBe(202);
    expect(await credits(world)).toBeNull();
  });

  test("are checked last: an invalid request gets its own error", async () => {
    const world = await startWorld();
    const id = await productWith(world, "ONE", "front");
    await setCredits(world, 0);
    expect((await beautify(world, id, { background: "x" })).status).toBe(400);
    expect((await beautify(world, nobody)).status).toBe(404);
    expect((await beautify(world, id, { angle_shot: "back" })).body.error.code).toBe("image_required");
    expect((await tryon(world, [input(id), input(nobody)])).status).toBe(400);
    expect((await beautify(world, id)).status).toBe(402);
  });

  test("are separate for each organization", async () => {
    const world = await startWorld();
    const other = await setCredits(world, 0, "/_mock/account/other");
    expect(answer(other)).toEqual([200, { organization: "other", credits: 0 }]);
    expect(await credits(world)).toBeNull();
    expect((await world.send("/_mock/account/main", { key: null })).body.credits).toBeNull();
    const stranger = await world.send("/_mock/account/third", { key: null });
    expect(answer(stranger)).toEqual([404, refusal("not_found", "route_not_found")]);
  });

  test.each([
    [{}],
    [{ credits: -1 }],
    [{ credits: 1.5 }],
    [{ credits: "1" }],
    [{ credits: 1, more: 1 }],
    [[]],
  ])("are not set by %j", async (json) => {
    const world = await startWorld();
    const got = await world.send("/_mock/account", { key: null, json });
    expect([got.status, got.body.error.code]).toEqual([400, "invalid_request"]);
    expect(await credits(world)).toBeNull();
  });
});

describe("the list", () => {
  /** Seven tasks of two products; those of A end before those of B begin. */
  async function listed() {
    const world = await startWorld();
    const [a, b] = [await productWith(world, "A"), await productWith(world, "B-fail-model_unsafe_content")];
    const ids: Record<string, string> = {};
    ids.a1 = (await beautify(world, a)).body.id;
    ids.a2 = (await beautify(world, a, { angle_shot: "side" }, { subtype: "shoes" })).body.id;
    ids.a3 = (await tryon(world, [input(a)])).body.tasks[0].id;
    ids.b1 = (await beautify(world, b)).body.id;
    world.clock.advance(60_000);
    ids.b2 = (await tryon(world, [input(b)])).body.tasks[0].id;
    world.clock.advance(2_000);
    ids.b3 = (await beautify(world, b)).body.id;
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    const list = async (query: string) =>
      (await world.send(`/v1/tasks?${query}`)).body.data?.map(({ id }: Json) => names.get(id)).join(" ");
    return { world, list, a, b };
  }

  test("has the newest tasks first, and supports every filter", async () => {
    const { world, list, a, b } = await listed();
    const expected: Record<string, string> = {
      "": "b3 b2 b1 a3 a2 a1",
      "status=queued": "b3",
      "status=running": "b2",
      "status=succeeded": "a3 a2 a1",
      "status=failed": "b1",
      "type=beautifier": "b3 b1 a2 a1",
      "type=tryon": "b2 a3",
      "subtype=clothing": "b3 b1 a1",
      "subtype=shoes": "a2",
      "subtype=headwear": "",
      "type=tryon&subtype=clothing": "",
      "type=beautifier&subtype=shoes": "a2",
      [`product_id=${a}`]: "a3 a2 a1",
      [`product_id=${b}&type=beautifier&status=failed`]: "b1",
      [`product_id=${nobody}`]: "",
      "product_id=x": "",
    };
    for (const [query, names] of Object.entries(expected))
      expect([query, await list(query)]).toEqual([query, names]);
    expect((await world.send("/v1/tasks", { key: "ak_mock_other" })).body).toEqual({
      data: [],
      next_cursor: null,
      has_more: false,
    });
  });

  test.each([
    ["status=done", "status"],
    ["type=recoloring", "type"],
    ["subtype=bags", "subtype"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["status=queued&status=failed", "status"],
  ])("rejects ?%s", async (query, param) => {
    const world = await startWorld();
    const got = await world.send(`/v1/tasks?${query}`);
    expect(answer(got)).toEqual([400, refusal("invalid_request", "invalid_request", param)]);
  });

  test.each(sampled(["", "&type=beautifier", "&product_id=B"], 1))(
    "keeps its pages stable while tasks are added and progress (%s)",
    async (filter) => {
      const { world, b } = await listed();
      const query = filter.replace("=B", `=${b}`);
      const expected = (await tasksOf(world, query)).map(({ id }: Json) => id);
      const seen: string[] = [];
      let cursor = "";
      do {
        const { body } = await world.send(`/v1/tasks?limit=1${query}${cursor}`);
        seen.push(...body.data.map(({ id }: Json) => id));
        cursor = body.has_more ? `&cursor=${body.next_cursor}` : "";
        await beautify(world, b);
        world.clock.advance(1_000);
      } while (cursor !== "");
      expect(seen).toEqual(expected);
    },
  );

  test("accepts a cursor only with the same filters", async () => {
    const { world } = await listed();
    const { next_cursor } = (await world.send("/v1/tasks?limit=1&type=beautifier")).body;
    expect((await world.send(`/v1/tasks?type=beautifier&cursor=${next_cursor}`)).status).toBe(200);
    for (const query of ["", "type=tryon&", "type=beautifier&subtype=clothing&"]) {
      const got = await world.send(`/v1/tasks?${query}cursor=${next_cursor}`);
      expect(answer(got)).toEqual([400, refusal("invalid_request", "invalid_cursor", "cursor")]);
    }
  });

  test("does not show tasks of another organization", async () => {
    const world = await startWorld();
    const { id } = (await beautify(world, await productWith(world, "ONE"))).body;
    for (const [task, key] of [
      [id, "ak_mock_other"],
      [nobody, "ak_mock"],
    ]) {
      const got = await world.send(`/v1/tasks/${task}`, { key });
      expect(answer(got)).toEqual([404, refusal("not_found", "task_not_found")]);
    }
  });
});
