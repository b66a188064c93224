import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { aroundStatements } from "../../support/sqlite-statements.ts";
import { cdn, fileOf, hour, once, responsesLost, worldWith } from "../import/import-fixtures.ts";
import {
  type By,
  blind,
  type ImportWorld,
  importWorld,
  withoutExports,
  withoutProducts,
} from "../import/run-import.ts";

type World = ImportWorld;

/** Another key of the organization. */
const key = (name: string): By => ({ key: `ak_new_${name}` });
/** A key of another organization. */
const stranger: By = { key: "ak_other_1" };
const digestOf = (apiKey: string): string => hash("sha256", apiKey).slice(0, 32);
/** The account of a key in the state. */
const accountOf = async (world: World, { key: apiKey = world.mock.apiKey }: By = {}) =>
  (await world.stateOf()).accounts.find(world.baseUrl, digestOf(apiKey));

/** The requests up to the first write, with the IDs of a file's products. */
async function requestsOf(world: World, work: () => Promise<unknown>): Promise<string[]> {
  const before = world.mock.requests().length;
  await work();
  const requests = world.mock.requests().slice(before);
  const write = requests.findIndex(({ method }) => method !== "GET");
  return requests.slice(0, write === -1 ? undefined : write + 1).map(({ method, path, status }) => {
    return `${method} ${path.replace(/(?<==)[^&]+/g, "…")} ${status}`;
  });
}

const note = (world: World): string =>
  `This API key cannot see what other keys imported to ${world.baseUrl}, so it is treated as another organization's key. If it belongs to the same one, press Ctrl-C and add --same-organization.`;
const anotherKey = (world: World, hint: string) => ({
  ...{ type: "conflict", code: "another_key" },
  message: `earlier imports to ${world.baseUrl} used another API key; cannot determine whether both keys belong to one organization. ${hint}`,
});
const oneCandidate =
  "If they do, add --same-organization. If not, use a separate profile (--profile NAME) or ledger (--ledger FILE).";

describe("a key that was used before", () => {
  test("finds its account without a request", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    await world.write("b.csv", fileOf("B"));
    const requests = await requestsOf(world, () => world.import("b.csv", { photos: "all" }));
    expect(requests).toEqual([
      "GET /v1/products?limit=…&q=… 200",
      // The newest products, for one that looks the same.
      "GET /v1/products?limit=… 200",
      "POST /v1/imports?mode=…&on_image_error=… 202",
    ]);
    expect(await accountOf(world)).toBe(1);
  });

  test("sends no more requests than every import for its products", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    await world.import("a.csv");
    world.clock.advance(hour);
    const id = (await world.stateOf()).ledger.last(1);
    expect(await requestsOf(world, () => world.import("a.csv"))).toEqual([`GET /v1/products/${id} 200`]);
  });

  longTest("finds it on a service that was restarted", async () => {
    const world = await importWorld({ seed: undefined });
    await world.write("a.csv", fileOf("A", "B"));
    const requests: number[] = [];
    for (let time = 0; time < 5; time++) {
      const before = world.mock.requests().length;
      expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 2, created: 2 });
      requests.push(world.mock.requests().length - before);
      expect(await world.products()).toEqual(once("A", "B"));
      world.clock.advance(hour);
      world.mock.reset();
    }
    expect(new Set(requests.slice(2)).size).toBe(1);
    expect((await world.stateOf()).accounts.at(world.baseUrl)).toEqual([1]);
  });

  longTest("counts as new while nothing was imported with it", async () => {
    const world = await worldWith("A");
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
    expect((await world.import("a.csv", {}, key("first"))).stopped).toMatchObject({ status: 402 });
    await world.fault();
    const second = await world.lines("a.csv", {}, key("second"));
    expect(second).toEqual([expect.stringMatching(/^Imported 1 row from a\.csv in .*: 1 created\.$/)]);
    expect([await accountOf(world, key("first")), await accountOf(world, key("second"))]).toEqual([1, 2]);
    const third = await world.import("a.csv", {}, key("first"));
    expect(third.summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await accountOf(world, key("first"))).toBe(2);
    expect(await world.products()).toEqual(once("A"));
  });

  longTest("gets one account if two processes first use it at the same time", async () => {
    const world = await worldWith("A");
    const { accounts } = await world.stateOf();
    let theirs: number | null = null;
    // Between the check of this process and its write, the other one has created its account.
    aroundStatements({
      after(sql) {
        if (theirs !== null || !/^SELECT account FROM account_key/.test(sql)) return;
        theirs = 0;
        theirs = accounts.createFor(world.baseUrl, digestOf(world.mock.apiKey));
      },
    });
    expect((await world.import("a.csv")).summary).toMatchObject({ created: 1 });
    expect(await accountOf(world)).toBe(theirs);
    expect((await world.import("a.csv")).summary).toMatchObject({ unchanged: 1 });
  });
});

describe("a new key", () => {
  test("joins the account whose newest product it sees", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    const newest = (await world.stateOf()).ledger.last(1);
    const first = await requestsOf(world, async () => {
      expect(await world.lines("a.csv", {}, key("new"))).toEqual([
        "Nothing to do: both rows of a.csv are unchanged.",
      ]);
    });
    expect(first[0]).toBe(`GET /v1/products/${newest} 200`);
    expect(first).toHaveLength(1 + 2);
    expect(await accountOf(world, key("new"))).toBe(1);
    expect(await world.products()).toEqual(once("A", "B"));
  });

  longTest("joins the account whose oldest product it sees", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    const { ledger } = await world.stateOf();
    const [oldest, newest] = [ledger.first(1), ledger.last(1)];
    await world.client.products.delete({ product_id: newest! });
    const requests = await requestsOf(world, () => world.import("a.csv", {}, key("new")));
    expect(requests.slice(0, 2)).toEqual([
      `GET /v1/products/${newest} 404`,
      `GET /v1/products/${oldest} 200`,
    ]);
    // The row of the deleted product was not edited.
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  longTest("joins the account with one of its last imports, of a run that it resumes", async () => {
    const world = await worldWith("A");
    const first = await world.import("a.csv", { wait: false }, key("old"));
    const { id } = first.summary!.imports[0]!;
    const requests = await requestsOf(world, async () => {
      const { summary } = await world.import("a.csv", {}, key("new"));
      expect(summary).toMatchObject({ run_id: "run_1", created: 1, updated: 0 });
    });
    expect(requests[0]).toBe(`GET /v1/imports/${id} 200`);
    expect(await world.products()).toEqual(once("A"));
  });

  test("that sees nothing of the account gets a new one, and one line reports that", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    await world.import("a.csv", {}, key("second"));
    const id = (await world.stateOf()).ledger.last(1);
    const requests = await requestsOf(world, async () => {
      expect(await world.lines("a.csv", {}, stranger)).toEqual([
        note(world),
        expect.stringMatching(/^Imported 1 row from a\.csv in .*: 1 created\.$/),
      ]);
    });
    expect(requests).toEqual([
      `GET /v1/products/${id} 404`,
      "GET /v1/products?limit=…&q=… 200",
      // The newest products, for one that looks the same.
      "GET /v1/products?limit=… 200",
      "POST /v1/imports?mode=…&on_image_error=… 202",
    ]);
    expect(await world.lines("a.csv", {}, stranger)).toEqual([
      "Nothing to do: the row of a.csv is unchanged.",
    ]);
    expect(world.mock.state().organizations.other.products).toHaveLength(1);
    // The account of the first organization is unchanged.
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("of another organization leaves the imports in progress to the first one", async () => {
    const world = await worldWith("A");
    await world.import("a.csv", { wait: false });
    expect((await world.import("a.csv", {}, stranger)).summary).toMatchObject({ created: 1 });
    expect((await world.import("a.csv")).summary).toMatchObject({ created: 1, updated: 0 });
    expect(await world.products()).toEqual(once("A"));
  });

  longTest("that is the first at its base URL gets no note", async () => {
    const world = await worldWith("A");
    expect((await world.lines("a.csv"))[0]).toMatch(/^Imported 1 row from a\.csv in /);
  });

  test.each([
    ["ak_mock_revoked", 401, "invalid_api_key"],
    ["ak_mock_user", 403, "user_key_not_allowed"],
  ])("that the service rejects is reported: %s", async (apiKey, status, code) => {
    const world = await worldWith("A");
    await world.import("a.csv");
    const { stopped } = await world.import("a.csv", {}, { key: apiKey });
    expect(stopped).toMatchObject({ status, code });
  });
});

describe("a new key that cannot determine its account", () => {
  test.each([
    ["lacks the scope products:read", false, withoutProducts],
    ["finds rows sent without a response", true, {}],
  ] as const)("is rejected until the user decides, because it %s", async (_, isLost, scopes) => {
    const world = await worldWith("A");
    if (isLost) await world.fault(responsesLost);
    await world.import("a.csv", {}, key("old"));
    await world.fault();
    const writes = world.writes();
    const by = { ...key("new"), ...scopes };
    for (const unknown of [undefined, "resend", "imported", "not-imported"] as const) {
      const { stopped } = await world.import("a.csv", { unknown }, by);
      expect(stopped).toMatchObject(anotherKey(world, oneCandidate));
    }
    expect([world.writes(), await accountOf(world, by)]).toEqual([writes, null]);
    // With the flag no import of the account is read, whatever the key can read.
    const requests = await requestsOf(world, () =>
      world.import("a.csv", { sameOrganization: true, photos: "all" }, by),
    );
    expect(requests.filter((request) => request.includes("/v1/imports/"))).toEqual([]);
    expect(await accountOf(world, by)).toBe(1);
    // The flag was set once, and is remembered.
    await world.import("a.csv", { photos: "all" }, by);
    expect(await accountOf(world, by)).toBe(1);
  });

  longTest("is also rejected for next week's file, because rows got no response", async () => {
    const world = await worldWith("A");
    await world.write("b.csv", `reference,name,images\nA,Silk dress,${cdn}/A.jpg\n`);
    await world.fault(responsesLost);
    await world.import("a.csv", {}, key("old"));
    await world.fault();
    const { stopped } = await world.import("b.csv", {}, key("new"));
    expect(stopped).toMatchObject({ code: "another_key" });
    const { summary } = await world.import("b.csv", { sameOrganization: true }, key("new"));
    expect(summary).toMatchObject({ submitted: 1, updated: 1 });
    expect(await world.products()).toEqual(["A Silk dress 1"]);
  });

  longTest("is rejected if there are two accounts, also with --same-organization", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    await world.import("a.csv", {}, stranger);
    const hint =
      "It may be one of 2 organizations. Use a key with the scopes products:read and imports:read, or use a separate profile (--profile NAME) or ledger (--ledger FILE); a new ledger does not know which photos are attached.";
    for (const sameOrganization of [false, true]) {
      const { stopped } = await world.import("a.csv", { sameOrganization }, { ...key("new"), ...blind });
      expect(stopped).toMatchObject(anotherKey(world, hint));
    }
    // With the scope, the key can see which one.
    const { summary } = await world.import("a.csv", {}, key("new"));
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await accountOf(world, key("new"))).toBe(1);
  });

  longTest(
    "is rejected if it sees neither of two accounts and the user says that it belongs to one of them",
    async () => {
      const world = await worldWith("A");
      await world.import("a.csv");
      await world.import("a.csv", {}, stranger);
      const { id } = world.mock.state().organizations.other.products[0]!;
      await world.cat(`products delete ${id} --yes`, { env: { CAT_API_KEY: stranger.key } });
      const third = { key: "ak_other_2" };
      const { stopped } = await world.import("a.csv", { sameOrganization: true }, third);
      expect(stopped).toMatchObject({ code: "another_key" });
      expect((await world.lines("a.csv", {}, third))[0]).toBe(note(world));
      expect(await accountOf(world, third)).toBe(3);
    },
  );
});

describe("--photos new with a ledger that is not empty", () => {
  const missing = (scopes: string, them: string) => ({
    ...{ type: "forbidden", code: "insufficient_scope", status: 403 },
    message: `cannot compare the rows with their products: --photos new needs a key with the ${scopes}. Use a key with ${them}, or add --photos all to send all photos, including those already attached.`,
  });

  test.each([
    ["products:read", withoutProducts],
    ["products:read and exports:read", blind],
  ])("needs products:read: the key lacks %s", async (_, by) => {
    const world = await worldWith("A");
    for (let time = 0; time < 3; time++) {
      expect((await world.import("a.csv", {}, by)).stopped).toMatchObject(
        missing("scope products:read", "it"),
      );
      world.clock.advance(hour);
    }
    expect(world.writes()).toEqual([]);
    const all = await world.import("a.csv", { photos: "all" }, by);
    expect([all.stopped, all.summary!.created]).toEqual([undefined, 1]);
    for (const mode of ["create", "skip_existing"] as const) {
      expect((await world.import("a.csv", { mode }, by)).stopped).toBeUndefined();
    }
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  longTest("needs exports:read as well for over 100 rows", async () => {
    const world = await importWorld();
    await world.write("a.csv", fileOf(...Array.from({ length: 101 }, (_, at) => `R${at}`)));
    await world.write("b.csv", fileOf("R1"));
    await world.import("a.csv");
    expect((await world.import("a.csv", {}, withoutExports)).stopped).toMatchObject(
      missing("scopes products:read and exports:read", "both scopes"),
    );
    expect((await world.import("b.csv", {}, withoutExports)).summary).toMatchObject({ unchanged: 1 });
    expect(world.writes()).toEqual(["POST /v1/imports 202"]);
  });
});

test("two keys share the account of their organization in one ledger", async () => {
  const world = await worldWith("A");
  const flags = { ledger: "ledger.db" };
  await world.import("a.csv", flags);
  const { summary } = await world.import("a.csv", flags, { ...key("new"), machine: "two" });
  expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
});

longTest(
  "a key with its own account is not joined to another one, because their ledgers are not merged",
  async () => {
    const world = await worldWith("A");
    await world.import("a.csv", {}, key("old"));
    expect((await world.lines("a.csv", {}, stranger))[0]).toBe(note(world));
    expect(await world.lines("a.csv", { sameOrganization: true }, stranger)).toEqual([
      "This API key has its own imports, so --same-organization has no effect. To share what another key imported, use that key.",
      "Nothing to do: the row of a.csv is unchanged.",
    ]);
    expect((await world.import("a.csv", {}, stranger)).summary).toMatchObject({ unchanged: 1 });
  },
);
