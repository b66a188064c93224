import { describe, expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { Balance } from "../../../src/flows/generate/balance.ts";
import { type Generation, packGenerations } from "../../../src/flows/generate/generation.ts";
import { type GenerationRun, lookRule } from "../../../src/flows/generate/generation-run.ts";
import { queueGenerations } from "../../../src/flows/generate/queue.ts";
import type { Run } from "../../../src/flows/run/run.ts";
import { NetworkError } from "../../../src/http/errors.ts";
import { tryonRun } from "../tryon-run.ts";

type Tryon = Client["tasks"]["tryon"];

/** A generation of its own consistency group of `size` images. */
const generation = (line: number, productId: string, modelId: string, angleShot: string): Generation => ({
  ...{ kind: "tryon", line, combination: 0, productId, productReference: null, modelId, modelName: null },
  ...{ stylings: [], background: "white", angleShot, lookAtCamera: true, subtype: null, style: null },
});

/** A run of which nothing is sent. */
const generationRun = (run: Run, remaining: Generation[]) =>
  ({
    input: { kind: "tryon", skipInvalid: true },
    run,
    balance: new Balance(run),
    sent: new Map(),
    remaining,
    known: new Map(),
    rule: lookRule({ fresh: false, missing: false, allowDuplicates: false, review: null }, run),
    pid: 1,
    rejected: new Map(),
  }) as unknown as GenerationRun;

test("a batch without a response is not cut again when another batch has a rejected input", async () => {
  const { mock, client, run: at } = await tryonRun();
  const [one, other] = (await client.products.list({ limit: 2 })).data.map(({ id }) => id);
  await client.products.delete({ product_id: other! });
  const angles = Array.from({ length: 11 }, (_, index) => `custom-${index}`);
  const remaining = [one!, other!].flatMap((product, of) =>
    angles.map((angle, index) => generation(of * 11 + index + 2, product, "mdl_001", angle)),
  );
  let rejected = () => {};
  const untilRejected = new Promise<void>((resolve) => {
    rejected = resolve;
  });
  let isLost = true;
  const tryon: Tryon = async (request, options) => {
    const isOfOne = Buffer.from(request.json as Uint8Array).includes(one!);
    try {
      const response = await client.tasks.tryon(request, options);
      if (!isOfOne || !isLost) return response;
    } catch (error) {
      // The request in flight is settled after the rejection.
      setImmediate(rejected);
      throw error;
    }
    isLost = false;
    await untilRejected;
    throw new NetworkError("the connection was lost", { code: "connection_lost", transient: true });
  };
  const failing = { ...client, paginate: client.paginate, tasks: { ...client.tasks, tryon } } as Client;
  const run = generationRun({ ...at, client: Object.setPrototypeOf(failing, client) as Client }, remaining);
  const stopped = await queueGenerations(run, () => {});
  expect(stopped).toBe(undefined);
  expect(run.rejected.size).toBe(11);
  const tasks = mock.state().organizations.main.tasks;
  expect(tasks.map(({ scene }) => scene.angle_shot).sort()).toEqual([...angles].sort());
});

test("a batch without a response that is rejected in part when it is sent again queues each other image once", async () => {
  const { mock, client, run: at } = await tryonRun();
  const [kept, gone] = (await client.products.list({ limit: 2 })).data.map(({ id }) => id);
  const other = "01HN1H1W020000000000000000";
  const angles = Array.from({ length: 15 }, (_, index) => `custom-${index}`);
  const images = (product: string, count: number, from: number) =>
    angles.slice(0, count).map((angle, index) => generation(from + index, product, "mdl_001", angle));
  const remaining = [...images(kept!, 5, 2), ...images(gone!, 5, 7), ...images(other, 15, 12)];
  let rejected = () => {};
  const untilRejected = new Promise<void>((resolve) => {
    rejected = resolve;
  });
  let isLost = true;
  const tryon: Tryon = async (request, options) => {
    if (Buffer.from(request.json as Uint8Array).includes(other)) setTimeout(rejected);
    else if (isLost) {
      isLost = false;
      options?.onDoubt?.(true);
      await client.products.delete({ product_id: gone! });
      await untilRejected;
      throw new NetworkError("the connection was lost", { code: "connection_lost", transient: true });
    }
    return client.tasks.tryon(request, options);
  };
  const failing = { ...client, paginate: client.paginate, tasks: { ...client.tasks, tryon } } as Client;
  const run = generationRun({ ...at, client: Object.setPrototypeOf(failing, client) as Client }, remaining);
  await queueGenerations(run, () => {});
  // Whichever outcome came first: the next command resumes.
  expect(await queueGenerations(run, () => {})).toBe(undefined);
  const tasks = mock.state().organizations.main.tasks;
  expect(tasks.map(({ scene }) => scene.angle_shot).sort()).toEqual(angles.slice(0, 5).sort());
  expect(run.rejected.size).toBe(20);
});

describe.each([
  ["an image that replaces a rejected one", true],
  ["a look", false],
])("%s", (_, isRerun) => {
  /** A run to queue two images, of which another one records the first just before. */
  async function rerun(fresh: boolean, allowDuplicates = false) {
    const { client, run: at } = await tryonRun();
    const { state, account } = at;
    const others = {
      account,
      kind: "tryon",
      identity: "other",
      file: "other.csv",
      options: {},
      startedAt: 2,
    };
    state.runs.begin({ id: "other", ...others });
    const remaining = (await client.products.list({ limit: 2 })).data.map(({ id }, place) => ({
      ...generation(place + 2, id, "mdl_001", "full-front"),
      ...(isRerun && { replaces: `task-${place}` }),
    }));
    // The other run records its batch just before this one does.
    const { begin } = state.batches;
    state.batches.begin = (of, batch) => {
      state.batches.begin = begin;
      const memo = packGenerations(remaining.slice(0, 1));
      const looks = batch.looks!.slice(0, 1);
      begin(of, { ...batch, run: "other", idempotencyKey: "theirs", memo, looks });
      // The response tells its task.
      state.batches.accepted("other", 0, ["task-9"]);
      return begin(of, batch);
    };
    const queuing = { ...at, options: fresh ? { fresh: "yes" } : {} };
    const rule = lookRule({ fresh, missing: false, allowDuplicates, review: null }, queuing);
    const run: GenerationRun = { ...generationRun(queuing, remaining), rule };
    expect(await queueGenerations(run, () => {})).toBe(undefined);
    return { known: [...run.known.keys()], sent: [...run.sent.keys()] };
  }

  test("is left out where another run records it first", async () => {
    expect(await rerun(false)).toEqual({ known: ["2.0"], sent: ["3.0"] });
  });

  test("is sent once more with --allow-duplicates, if it replaces none", async () => {
    const { known, sent } = await rerun(false, true);
    expect([known, sent]).toEqual(isRerun ? [["2.0"], ["3.0"]] : [[], ["2.0", "3.0"]]);
  });

  test("is sent once more with --fresh", async () => {
    expect(await rerun(true)).toEqual({ known: [], sent: ["2.0", "3.0"] });
  });
});
