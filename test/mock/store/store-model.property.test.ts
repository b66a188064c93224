import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { type Mock, startMock } from "../../../src/mock/index.ts";
import { repetitions } from "../../support/repetitions.ts";
import { monday } from "../world.ts";
import { Disagreement, difference } from "./difference.ts";
import { type Reply, refused, StoreModel } from "./model.ts";
import { notThere, requestOf } from "./requests.ts";
import { type Orders, orders } from "./steps.ts";

/** Change it with `STORE_SEED=…`; a failure prints the seed and the path that led to it. */
const seed = Number(process.env.STORE_SEED ?? 20_261_121);

let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ clock: new MovableClock({ frozenAt: monday }), seed: 1, rateLimit: false });
});
afterAll(() => mock.stop());

/** Runs the commands on the mock and on the model; throws at the first difference. */
async function play(list: Orders, makeStore: (now: number) => StoreModel): Promise<void> {
  mock.reset();
  const now = mock.clock.now();
  const stores = [makeStore(now), makeStore(now)] as const;
  const known = new Set<string>();
  let keys = 0;

  const same = (what: string, expected: unknown, actual: unknown): void => {
    const found = difference(expected, actual, known);
    if (found !== null) throw new Disagreement(`${what}: ${found}`);
  };
  async function ask(mine: 0 | 1, method: string, path: string, content?: string | Uint8Array, headers = {}) {
    const response = await fetch(path.startsWith("http") ? path : mock.baseUrl + path, {
      method,
      headers: { authorization: mine === 0 ? "Bearer ak_mock" : "Bearer ak_mock_other", ...headers },
      ...(content !== undefined && { body: content as string }),
    });
    const text = await response.text();
    const type = response.headers.get("content-type") ?? "";
    return { response, text, body: type.startsWith("application/json") ? JSON.parse(text) : text };
  }
  const get = (mine: 0 | 1, path: string) => ask(mine, "GET", path);
  function sameReply(
    what: string,
    { status, body, retryAfter }: Reply,
    got: Awaited<ReturnType<typeof ask>>,
  ): void {
    const told = got.response.headers.get("retry-after");
    same(
      what,
      { status, retryAfter: retryAfter ?? null, body },
      { status: got.response.status, retryAfter: told, body: got.body },
    );
  }
  async function samePages(
    mine: 0 | 1,
    path: string,
    limit: number,
    expected: readonly unknown[],
  ): Promise<void> {
    let cursor = "";
    for (let from = 0; from === 0 || from < expected.length; from += limit) {
      const { response, body } = await get(mine, `${path}limit=${limit}${cursor}`);
      const data = expected.slice(from, from + limit);
      const has_more = from + limit < expected.length;
      same(
        `${path} from ${from}`,
        { status: 200, data, has_more },
        {
          status: response.status,
          data: body.data,
          has_more: body.has_more,
        },
      );
      if ((body.next_cursor !== null) !== has_more)
        throw new Disagreement(`${path}: next_cursor does not fit has_more`);
      cursor = `&cursor=${body.next_cursor}`;
    }
  }
  async function sameJobs(mine: 0 | 1): Promise<void> {
    for (const job of stores[mine].jobs) {
      const path = `/v1/imports/${job.id.value}`;
      const got = await get(mine, path);
      sameReply(path, stores[mine].shown(job), got);
      await samePages(mine, `${path}/rows?`, 7, job.results);
      if (got.body.results_url === null) continue;
      const lines = (await get(mine, got.body.results_url)).text.trimEnd().split("\n");
      same(
        "results",
        job.results,
        lines.map((line) => JSON.parse(line)),
      );
    }
  }

  for (const { mine, twice, step } of list) {
    const store = stores[mine];
    const request = requestOf(step, stores, mine);
    if ("advance" in step) {
      mock.clock.advance(step.advance);
      for (const one of [0, 1] as const) {
        stores[one].advance(step.advance);
        await sameJobs(one);
      }
    } else if ("list" in step) {
      await samePages(
        mine,
        `/v1/products?q=${encodeURIComponent(step.list)}&`,
        step.limit,
        store.list(step.list),
      );
    } else {
      const { method, path, content, headers, expected } = request!;
      const key = twice ? { "idempotency-key": `key-${keys++}` } : {};
      const got = await ask(mine, method, path, content, { ...headers, ...key });
      sameReply(`${method} ${path}`, expected, got);
      if (!twice || method === "GET") continue;
      const again = await ask(mine, method, path, content, { ...headers, ...key });
      expect([again.response.status, again.text]).toEqual([got.response.status, got.text]);
      expect(again.response.headers.get("idempotent-replayed")).toBe("true");
    }
  }

  for (const mine of [0, 1] as const) {
    const store = stores[mine];
    await sameJobs(mine);
    await samePages(mine, "/v1/products?", 3, store.list(""));
    for (const product of store.products) {
      same("product", product, (await get(mine, `/v1/products/${product.id.value}`)).body);
    }
    for (const id of store.gone) sameReply("gone", notThere, await get(mine, `/v1/products/${id.value}`));
    for (const { id, mime_type, created_at } of store.images) {
      const { body } = await get(mine, `/v1/images/${id.value}`);
      same(
        "image",
        { id, mime_type, created_at },
        { id: body.id, mime_type: body.mime_type, created_at: body.created_at },
      );
      const elsewhere = await get(mine === 0 ? 1 : 0, `/v1/images/${id.value}`);
      sameReply("image of another organization", refused(404, "not_found", "image_not_found"), elsewhere);
    }
  }
}

const property = (makeStore: (now: number) => StoreModel) =>
  fc.asyncProperty(orders, (list) => play(list, makeStore));

describe("the mock and a simple model of its store", () => {
  test("have the same responses to any sequence of requests, and the same final state", async () => {
    await fc.assert(
      property((now) => new StoreModel(now)),
      { seed, numRuns: repetitions(3, 300) },
    );
  });

  /** Each is wrong in one place. */
  const wrongModels: [string, (now: number) => StoreModel][] = [
    [
      "photos bump updated_at",
      (now) =>
        new (class extends StoreModel {
          protected override attachTo(...[product, links]: Parameters<StoreModel["attachTo"]>) {
            product.updated_at = new Date(this.now).toISOString();
            return super.attachTo(product, links);
          }
        })(now),
    ],
    [
      "images of another organization exist",
      (now) =>
        new (class extends StoreModel {
          protected override missingImage(links: Parameters<StoreModel["missingImage"]>[0]) {
            return links.findIndex(({ image }) => typeof image === "string");
          }
        })(now),
    ],
    [
      "a deleted product keeps its reference",
      (now) =>
        new (class extends StoreModel {
          readonly #all: StoreModel["products"] = [];
          protected override make(...fields: Parameters<StoreModel["make"]>) {
            const product = super.make(...fields);
            this.#all.push(product);
            return product;
          }
          protected override holderOf(reference: string) {
            return this.#all.find((product) => product.reference === reference);
          }
        })(now),
    ],
    [
      "every change bumps updated_at, even one that changes nothing",
      (now) =>
        new (class extends StoreModel {
          protected override changeTo(...[product, change]: Parameters<StoreModel["changeTo"]>) {
            super.changeTo(product, change);
            product.updated_at = new Date(this.now).toISOString();
          }
        })(now),
    ],
    [
      "fail_row is skip",
      (now) =>
        new (class extends StoreModel {
          protected override settle(...[job, row, line]: Parameters<StoreModel["settle"]>) {
            return super.settle({ ...job, onImageError: "skip" }, row, line);
          }
        })(now),
    ],
    [
      "search is case-sensitive",
      (now) =>
        new (class extends StoreModel {
          override list(q: string) {
            return super.list(q).filter(({ name, reference }) => `${name} ${reference}`.includes(q));
          }
        })(now),
    ],
  ];
  test.each(wrongModels.slice(0, repetitions(1, 9)))(
    "detect a model with a mistake: %s (negative control)",
    async (_name, makeStore) => {
      const outcome = await fc.check(property(makeStore), {
        seed,
        numRuns: repetitions(25, 800),
        endOnFailure: true,
      });
      expect(outcome.errorInstance).toBeInstanceOf(Disagreement);
    },
  );
});
