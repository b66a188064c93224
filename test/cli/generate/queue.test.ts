import { describe, expect, test } from "vitest";
import { gateway, type Judge, type Refusal } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

const queue = "/v1/tasks/tryon";
const angles = ["full-front", "full-back", "half-front"];
const look = (product: number, angle: string) => `DRESS-${product},mdl_001,white,${angle}`;

/** A world whose requests to queue images pass a gateway, which may reject them by their number of inputs. */
async function queueWorld(refuse: (inputs: number) => Refusal | null) {
  const world = await generateWorld();
  const sizes: number[] = [];
  const { url } = await gateway(world.mock.baseUrl, ({ path, method, body }) => {
    if (path !== queue || method !== "POST") return null;
    // An empty body asks whether the service has had the key.
    const inputs = body === "" ? 0 : (JSON.parse(body) as { inputs: unknown[] }).inputs.length;
    sizes.push(inputs);
    return refuse(inputs);
  });
  return {
    ...world,
    sizes,
    tryon: (line: string) => world.cat(`tryon ${line} --no-wait --yes`, { env: { CAT_BASE_URL: url } }),
  };
}

describe("a request that a gateway rejects as too large", () => {
  const six = [1, 2].flatMap((product) => angles.map((angle) => look(product, angle)));
  const tooLarge = (most: number) => queueWorld((inputs) => (inputs > most ? { status: 413 } : null));

  test("is queued in halves that split no consistency group which fits in one", async () => {
    const { tryon, looks, sizes, tasks } = await tooLarge(4);
    looks(...six);
    const { exit, stdout } = await tryon("looks.csv --json");
    expect([exit, summaryOf(stdout).queued]).toEqual([0, 6]);
    expect(sizes).toEqual([6, 0, 3, 3]);
    expect(tasks()).toHaveLength(6);
  });

  test("is paid for once if the gateway has passed it on, also by the next command", async () => {
    let isRejecting = true;
    const { tryon, looks, sizes, tasks } = await queueWorld((inputs) =>
      isRejecting && inputs > 4 ? { status: 413, lost: true } : null,
    );
    looks(...six);
    const { exit, stderr } = await tryon("looks.csv");
    expect(exit).not.toBe(0);
    expect(stderr).toContain("413");
    expect(sizes).toEqual([6, 0]);
    expect(tasks()).toHaveLength(6);
    isRejecting = false;
    expect((await tryon("looks.csv")).exit).toBe(0);
    expect(tasks()).toHaveLength(6);
  });

  test("fails an input that is too large alone, at its row", async () => {
    const { tryon, looks, tasks, read } = await tooLarge(0);
    looks(look(1, "full-front"), look(2, "full-front"));
    const ran = await tryon("looks.csv --skip-invalid");
    expect(ran.exit).toBe(3);
    expect(tasks()).toEqual([]);
    expect(read("looks.failed.csv").match(/body_too_large/g)).toHaveLength(2);
  });
});

describe("a batch without a response", () => {
  const customs = (product: number, count: number) =>
    Array.from({ length: count }, (_, at) => look(product, `custom-${at}`));

  /** Queues looks through a gateway, after a batch of DRESS-1 that shows the rate limit: the others go out together. */
  async function together(
    rows: readonly string[],
    judge: (
      body: string,
      world: { gone: (product: number) => Promise<void>; id: (product: number) => string },
    ) => ReturnType<Judge>,
  ) {
    const world = await generateWorld();
    const ids = world.products().map(({ id }) => id);
    const id = (product: number) => ids[product - 1]!;
    const gone = async (product: number) => {
      const headers = { authorization: `Bearer ${world.mock.apiKey}` };
      await fetch(`${world.mock.baseUrl}/v1/products/${id(product)}`, { method: "DELETE", headers });
    };
    const { url } = await gateway(world.mock.baseUrl, ({ path, method, body }) =>
      path === queue && method === "POST" ? judge(body, { gone, id }) : null,
    );
    world.looks(...customs(1, 20), ...rows);
    const tryon = () =>
      world.cat("tryon looks.csv --no-wait --yes --skip-invalid", { env: { CAT_BASE_URL: url } });
    /** The angles of the tasks of a product. */
    const queued = (product: number) =>
      world
        .tasks()
        .flatMap(({ product_id, scene }) => (product_id === id(product) ? [scene.angle_shot] : []));
    return { ...world, tryon, queued };
  }

  test("is not cut again when another batch has a rejected input", async () => {
    let isRejected = false;
    let isLost = false;
    const { tryon, queued } = await together(
      [...customs(2, 11), ...customs(3, 11)],
      async (body, { gone, id }) => {
        if (body.includes(id(3))) {
          await gone(3);
          return {
            change(answer) {
              isRejected = true;
              return answer;
            },
          };
        }
        if (!body.includes(id(2)) || isLost) return null;
        isLost = true;
        await until(() => isRejected);
        return { lost: true };
      },
    );
    const { exit, stderr } = await tryon();
    expect(exit).toBe(8);
    expect(
      stderr.match(/^ {2}looks\.csv:\d+ {2}rejected by the service {2}product_not_found: /gm),
    ).toHaveLength(11);
    expect(queued(1)).toHaveLength(20);
    expect(queued(2)).toEqual(Array.from({ length: 11 }, (_, at) => `custom-${at}`));
  });

  test("that is rejected in part when it is sent again queues each other image once", async () => {
    let isRejected = false;
    let isLost = false;
    const { tryon, queued } = await together(
      [...customs(2, 5), ...customs(3, 5), ...customs(4, 15)],
      async (body, { gone, id }) => {
        if (body.includes(id(4))) {
          await gone(4);
          return {
            change(answer) {
              isRejected = true;
              return answer;
            },
          };
        }
        if (!body.includes(id(3)) || isLost) return null;
        isLost = true;
        await gone(3);
        await until(() => isRejected);
        return (response) => response.destroy();
      },
    );
    await tryon();
    // Whichever outcome came first: the next command resumes.
    await tryon();
    expect([1, 2, 3, 4].map((product) => queued(product).length)).toEqual([20, 5, 0, 0]);
  });
});
