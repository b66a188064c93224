import { describe, expect, test } from "vitest";
import { gateway, type Refusal } from "../../support/gateway.ts";
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
