import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Client, createClient } from "../../../src/client/client.ts";
import type { SentBatch } from "../../../src/flows/run/batch.ts";
import { openState } from "../../../src/state/state.ts";
import { newAccount } from "../../support/new-account.ts";
import { cdn, fileOf, hour, once, responsesLost, worldWith } from "../import/import-fixtures.ts";
import { type ImportWorld, blind, importWorld, withoutExports, withoutProducts } from "../import/run-import.ts";

type World = ImportWorld;

const key = (fingerprint: string) => ({ machine: { fingerprint } });
const accountOf = (world: World, fingerprint: string) =>
  world.state.accounts.find(world.mock.baseUrl, fingerprint);

/** A key of another organization. */
function strangerIn(world: World, fingerprint = "stranger") {
  const { clock, mock } = world;
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: "ak_mock_other", clock, random: () => 0.5 });
  onTestFinished(() => client.close());
  return { machine: { fingerprint, client } };
}

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
  `This API key cannot see what other keys imported to ${world.mock.baseUrl}, so it is treated as another organization's key. If it belongs to the same one, press Ctrl-C and add --same-organization.`;
const anotherKey = (world: World, hint: string) => ({
  ...{ type: "conflict", code: "another_key", hint },
  message: `earlier imports to ${world.mock.baseUrl} used another API key; cannot determine whether both keys belong to one organization`,
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
    expect(accountOf(world, "fingerprint")).toBe(1);
  });

  test("sends no more requests than every import for its products", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    await world.import("a.csv");
    world.clock.advance(hour);
    const id = world.state.ledger.last(1);
    expect(await requestsOf(world, () => world.import("a.csv"))).toEqual([`GET /v1/products/${id} 200`]);
  });

  test("finds it on a service that was restarted", async () => {
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
    expect(world.state.accounts.at(world.mock.baseUrl)).toEqual([1]);
  });

  test("counts as new while nothing was imported with it", async () => {
    const world = await worldWith("A");
    await world.fault({ match: { method: "POST", path: "/v1/imports" }, status: 402 });
    expect((await world.import("a.csv", key("first"))).stopped).toMatchObject({ status: 402 });
    await world.fault();
    const second = await world.import("a.csv", key("second"));
    expect([second.summary!.created, second.notes]).toEqual([1, []]);
    expect([accountOf(world, "first"), accountOf(world, "second")]).toEqual([1, 2]);
    const third = await world.import("a.csv", key("first"));
    expect(third.summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(accountOf(world, "first")).toBe(2);
    expect(await world.products()).toEqual(once("A"));
  });

  test("gets one account if two processes first use it at the same time", async () => {
    const world = await worldWith("A");
    const { accounts } = world.state;
    const service = [world.mock.baseUrl, "fingerprint"] as const;
    let theirs = 0;
    // Between this process's check and its write, the other one has created its account.
    const find: typeof accounts.find = (...asked) => {
      const found = accounts.find(...asked);
      if (theirs === 0) {
        theirs = newAccount({ accounts }, world.mock.baseUrl);
        accounts.bind(...service, theirs);
      }
      return found;
    };
    await world.import("a.csv", { machine: { state: { ...world.state, accounts: { ...accounts, find } } } });
    expect(accounts.find(...service)).toBe(theirs);
    expect((await world.import("a.csv")).summary).toMatchObject({ unchanged: 1 });
  });
});

describe("a new key", () => {
  test("joins the account whose newest product it sees", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    const newest = world.state.ledger.last(1);
    const first = await requestsOf(world, async () => {
      const { summary, notes } = await world.import("a.csv", key("new"));
      expect(summary).toMatchObject({ submitted: 0, unchanged: 2 });
      expect(notes).toEqual([]);
    });
    expect(first[0]).toBe(`GET /v1/products/${newest} 200`);
    expect(first).toHaveLength(1 + 2);
    expect(accountOf(world, "new")).toBe(1);
    expect(await world.products()).toEqual(once("A", "B"));
  });

  test("joins the account whose oldest product it sees", async () => {
    const world = await worldWith("A", "B");
    await world.import("a.csv");
    const [oldest, newest] = [world.state.ledger.first(1), world.state.ledger.last(1)];
    await world.client.products.delete({ product_id: newest! });
    const requests = await requestsOf(world, () => world.import("a.csv", key("new")));
    expect(requests.slice(0, 2)).toEqual([
      `GET /v1/products/${newest} 404`,
      `GET /v1/products/${oldest} 200`,
    ]);
    // The row of the deleted product was not edited.
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  test("joins the account with one of its last imports, of a run that it resumes", async () => {
    const world = await worldWith("A");
    const { sent } = await world.import("a.csv", { wait: false, ...key("old") });
    const [importId] = (sent[0] as Extract<SentBatch, { kind: "accepted" }>).jobs;
    const requests = await requestsOf(world, async () => {
      const { summary, notes } = await world.import("a.csv", key("new"));
      expect(notes[0]).toMatch(/^Resuming the import of /);
      expect(summary).toMatchObject({ created: 1, updated: 0 });
    });
    expect(requests[0]).toBe(`GET /v1/imports/${importId} 200`);
    expect(await world.products()).toEqual(once("A"));
  });

  test("that sees nothing of the account gets a new one, and one line reports that", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    await world.import("a.csv", key("second"));
    const stranger = strangerIn(world);
    const id = world.state.ledger.last(1);
    const requests = await requestsOf(world, async () => {
      const { summary, notes } = await world.import("a.csv", stranger);
      expect(summary).toMatchObject({ submitted: 1, created: 1 });
      expect(notes).toEqual([note(world)]);
    });
    expect(requests).toEqual([
      `GET /v1/products/${id} 404`,
      "GET /v1/products?limit=…&q=… 200",
      // The newest products, for one that looks the same.
      "GET /v1/products?limit=… 200",
      "POST /v1/imports?mode=…&on_image_error=… 202",
    ]);
    const again = await world.import("a.csv", stranger);
    expect([again.summary!.unchanged, again.notes]).toEqual([1, []]);
    expect((await stranger.machine.client.products.list()).data).toHaveLength(1);
    // The account of the first organization is unchanged.
    expect((await world.import("a.csv")).summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("of another organization leaves the imports in progress to the first one", async () => {
    const world = await worldWith("A");
    await world.import("a.csv", { wait: false });
    expect((await world.import("a.csv", strangerIn(world))).summary).toMatchObject({ created: 1 });
    expect((await world.import("a.csv")).summary).toMatchObject({ created: 1, updated: 0 });
    expect(await world.products()).toEqual(once("A"));
  });

  test("that is the first at its base URL gets no note", async () => {
    const world = await worldWith("A");
    expect((await world.import("a.csv")).notes).toEqual([]);
  });

  test.each([
    ["ak_mock_revoked", 401, "invalid_api_key"],
    ["ak_mock_user", 403, "user_key_not_allowed"],
  ])("that the service rejects is reported: %s", async (apiKey, status, code) => {
    const world = await worldWith("A");
    await world.import("a.csv");
    const { clock, mock } = world;
    const client = createClient({ baseUrl: mock.baseUrl, apiKey, clock, random: () => 0.5 });
    onTestFinished(() => client.close());
    const ran = world.import("a.csv", { machine: { fingerprint: apiKey, client } });
    await expect(ran).rejects.toMatchObject({ status, code });
  });
});

describe("a new key that cannot determine its account", () => {
  test.each([
    ["lacks the scope products:read", false, withoutProducts],
    ["finds rows sent without a response", true, (same: Client) => same],
  ] as const)("is rejected until the user decides, because it %s", async (_, isLost, through) => {
    const world = await worldWith("A");
    if (isLost) await world.fault(responsesLost);
    await world.import("a.csv", key("old"));
    await world.fault();
    const writes = world.writes();
    for (const unknown of [undefined, "resend", "imported", "not-imported"] as const) {
      const ran = world.import("a.csv", { ...key("new"), unknown }, through);
      await expect(ran).rejects.toMatchObject(anotherKey(world, oneCandidate));
    }
    expect([world.writes(), accountOf(world, "new")]).toEqual([writes, null]);
    // The flag sends no request, whatever the key can read.
    const before = world.mock.requests().length;
    const bound = world.import("a.csv", { ...key("new"), sameOrganization: true, photos: "all" }, through);
    await bound;
    expect(world.mock.requests()[before]!.method).toBe("POST");
    expect(accountOf(world, "new")).toBe(1);
    // The flag was set once, and is remembered.
    await world.import("a.csv", { ...key("new"), photos: "all" }, through);
    expect(accountOf(world, "new")).toBe(1);
  });

  test("is also rejected for next week's file, because rows got no response", async () => {
    const world = await worldWith("A");
    await world.write("b.csv", `reference,name,images\nA,Silk dress,${cdn}/A.jpg\n`);
    await world.fault(responsesLost);
    await world.import("a.csv", key("old"));
    await world.fault();
    const ran = world.import("b.csv", key("new"));
    await expect(ran).rejects.toMatchObject({ code: "another_key" });
    const { summary } = await world.import("b.csv", { ...key("new"), sameOrganization: true });
    expect(summary).toMatchObject({ submitted: 1, updated: 1 });
    expect(await world.products()).toEqual(["A Silk dress 1"]);
  });

  test("is rejected if there are two accounts, also with --same-organization", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    await world.import("a.csv", strangerIn(world));
    const hint =
      "It may be one of 2 organizations. Use a key with the scopes products:read and imports:read, or use a separate profile (--profile NAME) or ledger (--ledger FILE); a new ledger does not know which photos are attached.";
    for (const sameOrganization of [false, true]) {
      const ran = world.import("a.csv", { ...key("new"), sameOrganization }, blind);
      await expect(ran).rejects.toMatchObject(anotherKey(world, hint));
    }
    // With the scope, the key can see which one.
    const { summary } = await world.import("a.csv", key("new"));
    expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
    expect(accountOf(world, "new")).toBe(1);
  });

  test("is rejected if it sees neither of two accounts and the user says that it belongs to one of them", async () => {
    const world = await worldWith("A");
    await world.import("a.csv");
    const stranger = strangerIn(world);
    await world.import("a.csv", stranger);
    for (const { id } of (await stranger.machine.client.products.list()).data)
      await stranger.machine.client.products.delete({ product_id: id });
    const third = strangerIn(world, "third");
    const ran = world.import("a.csv", { ...third, sameOrganization: true });
    await expect(ran).rejects.toMatchObject({ code: "another_key" });
    expect((await world.import("a.csv", third)).notes).toEqual([note(world)]);
    expect(accountOf(world, "third")).toBe(3);
  });
});

describe("--photos new with a ledger that is not empty", () => {
  const missing = (scopes: string, them: string) => ({
    ...{ type: "forbidden", code: "insufficient_scope", status: 403 },
    message: `cannot compare the rows with their products: --photos new needs a key with the ${scopes}`,
    hint: `Use a key with ${them}, or add --photos all to send all photos, including those already attached.`,
  });

  test.each([
    ["products:read", withoutProducts],
    ["products:read and exports:read", blind],
  ] as const)("needs products:read: the key lacks %s", async (_, through) => {
    const world = await worldWith("A");
    for (let time = 0; time < 3; time++) {
      expect((await world.import("a.csv", {}, through)).stopped).toMatchObject(
        missing("scope products:read", "it"),
      );
      world.clock.advance(hour);
    }
    expect(world.writes()).toEqual([]);
    const all = await world.import("a.csv", { photos: "all" }, through);
    expect([all.stopped, all.summary!.created]).toEqual([undefined, 1]);
    for (const mode of ["create", "skip_existing"] as const) {
      expect((await world.import("a.csv", { mode }, through)).stopped).toBeUndefined();
    }
    expect(await world.products()).toEqual(["A Dress 1"]);
  });

  test("needs exports:read as well for over 100 rows", async () => {
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

test("two states in one file share the account of a key", async () => {
  const world = await worldWith("A");
  const path = join(world.folder, "state.db");
  const [one, other] = [
    await openState(path, { clock: world.clock }),
    await openState(path, { clock: world.clock }),
  ];
  await world.import("a.csv", { machine: { state: one } });
  const { summary } = await world.import("a.csv", { machine: { state: other, fingerprint: "new" } });
  expect(summary).toMatchObject({ submitted: 0, unchanged: 1 });
  for (const state of [one, other]) state.close();
});

test("a key with its own account is not joined to another one, because their ledgers are not merged", async () => {
  const world = await worldWith("A");
  await world.import("a.csv", key("old"));
  const { clock, mock } = world;
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: "ak_mock_other", clock, random: () => 0.5 });
  onTestFinished(() => client.close());
  const theirs = { machine: { fingerprint: "theirs", client } };
  expect((await world.import("a.csv", theirs)).notes).toEqual([note(world)]);
  const again = await world.import("a.csv", { ...theirs, sameOrganization: true });
  expect([again.notes, again.summary!.unchanged]).toEqual([
    [
      "This API key has its own imports, so --same-organization has no effect. To share what another key imported, use that key.",
    ],
    1,
  ]);
  expect((await world.import("a.csv", theirs)).summary).toMatchObject({ unchanged: 1 });
});
