import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createClient } from "@catalogue-imaging/catalogue";
import { MovableClock, startMock } from "@catalogue-imaging/catalogue/mock";
import { openDatabase } from "../src/database.js";
import { createServer } from "../src/server.js";
import { Shop } from "../src/shop.js";
import { webhookSecret } from "../src/webhook.js";

const photo = "https://cdn.example.com/photo.jpg";
const minute = 60_000;

/** A shop with two products, its server, and a service whose clock is stopped. */
async function open() {
  const mock = await startMock({ clock: new MovableClock({ frozenAt: Date.now() }) });
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey });
  const shop = new Shop(client, openDatabase(":memory:"));
  let secret = "";
  const app = createServer(
    shop,
    () => secret,
    () => mock.clock.now(),
  );
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/events`;
  secret = await webhookSecret(shop, url);
  const webhook_id = (await client.webhooks.list()).data[0]!.id;
  shop.save({ reference: "COAT-1", name: "Wool coat", photo });
  shop.save({ reference: "HAT-2", name: "Felt hat", photo });
  return {
    ...{ mock, client, shop, url, webhook_id },
    statuses: () => shop.products().map(({ reference, status }) => `${reference} ${status}`),
    /** The products at the service, with the number of their photos. */
    photos: async () => {
      const { data } = await client.products.list();
      return Array.from(data, ({ name, images }) => `${name}: ${images.length}`).sort();
    },
    events: () => (shop.database.prepare("SELECT count(*) AS n FROM events").get() as { n: number }).n,
    // Arrays of this realm: jest runs tests in another one, and `assert.deepEqual` compares prototypes.
    attempts: () =>
      Array.from(mock.deliveries(), ({ attempts }) => Array.from(attempts, ({ status }) => status)),
    sent: () =>
      mock.requests().filter(({ method, path }) => `${method} ${path}` === "POST /v1/imports").length,
    close: async () => {
      await app.close();
      await client.close();
      await mock.stop();
    },
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** What each runner tests: functions that throw. */
export const scenarios: Readonly<Record<string, (opened: Opened) => Promise<void>>> = {
  "an event brings the results of an import": async ({ shop, mock, statuses, attempts }) => {
    await shop.catchUp();
    assert.deepEqual(statuses(), ["COAT-1 sent", "HAT-2 sent"]);
    await mock.clock.advance(minute);
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 imported"]);
    assert.deepEqual(attempts(), [[200]]);
    assert.equal(shop.isSettled(), true);
  },

  "a row that fails has a reason": async ({ shop, mock, statuses }) => {
    shop.save({ reference: "HAT-2", name: "Felt hat", photo: "https://cdn.example.com/fail-timeout.jpg" });
    shop.save({ reference: "TIE-3", name: " ", photo: "not a URL" });
    await shop.catchUp();
    assert.deepEqual(statuses(), ["COAT-1 new", "HAT-2 new", "TIE-3 failed"]);
    await shop.catchUp();
    await mock.clock.advance(minute);
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 failed", "TIE-3 failed"]);
    assert.ok(shop.products().every(({ status, reason }) => (status === "failed") === (reason !== null)));
  },

  "an event that is repeated is handled once": async ({ shop, mock, events, attempts }) => {
    await shop.catchUp();
    await mock.clock.advance(minute);
    shop.database.exec("UPDATE products SET status = 'as it was'; UPDATE imports SET settled = 0");
    await mock.deliveries.resend(mock.deliveries()[0]!.id);
    assert.deepEqual(attempts(), [[200, 200]]);
    assert.equal(events(), 1);
    assert.ok(shop.products().every(({ status }) => status === ("as it was" as string)));
  },

  "events in another order bring the latest version": async ({
    shop,
    mock,
    client,
    webhook_id,
    statuses,
  }) => {
    await client.webhooks.update({ webhook_id, body: { status: "paused" } });
    await shop.catchUp();
    const [first] = shop.database.prepare("SELECT id FROM imports").all() as { id: string }[];
    shop.save({ reference: "HAT-2", name: "Straw hat", photo: "https://cdn.example.com/fail-timeout.jpg" });
    await shop.catchUp();
    await mock.clock.advance(minute);
    const [, second] = shop.database.prepare("SELECT id FROM imports ORDER BY started_at, rowid").all() as {
      id: string;
    }[];
    for (const [at, { id }] of [second!, first!].entries()) {
      await shop.handle({
        ...{ id: `evt_${at}`, type: "import.completed", created_at: "2026-01-05T09:00:00Z" },
        data: { import: { id, status: "completed" } },
      });
    }
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 failed"]);
  },

  "an event that was missed is made up for by asking": async ({
    shop,
    mock,
    client,
    webhook_id,
    statuses,
  }) => {
    await client.webhooks.update({ webhook_id, body: { status: "paused" } });
    await shop.catchUp();
    await mock.clock.advance(minute);
    assert.deepEqual(statuses(), ["COAT-1 sent", "HAT-2 sent"]);
    await shop.catchUp();
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 imported"]);
  },

  "a handler that failed gets the event again": async ({ shop, mock, statuses, attempts }) => {
    await shop.catchUp();
    mock.faults.add({ match: { method: "GET", path: "/v1/imports" }, times: 1, status: 403 });
    await mock.clock.advance(10 * minute);
    assert.deepEqual(attempts(), [[500, 200]]);
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 imported"]);
  },

  "an import without a response is sent again, and runs once": async ({ shop, mock, photos, sent }) => {
    mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, times: 1, drop: "after" });
    const impatient = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, retry: { attempts: 1 } });
    await assert.rejects(new Shop(impatient, shop.database).catchUp());
    await impatient.close();
    // Without a response it may have run, so another kind of failure does not free its products.
    const revoked = createClient({ baseUrl: mock.baseUrl, apiKey: "ak_mock_revoked" });
    await assert.rejects(new Shop(revoked, shop.database).catchUp(), { status: 401 });
    await revoked.close();
    await shop.catchUp();
    await mock.clock.advance(minute);
    assert.equal(sent(), 3);
    assert.equal(Object.keys(mock.state().organizations.main.imports).length, 1);
    assert.deepEqual(await photos(), ["Felt hat: 1", "Wool coat: 1"]);
    assert.equal(shop.isSettled(), true);
  },

  "an import that fails again and again does not stop the next one": async ({ shop, mock, statuses }) => {
    mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, times: 2, status: 501 });
    await assert.rejects(shop.catchUp(), { status: 501 });
    shop.save({ reference: "TIE-3", name: "Tie", photo });
    await assert.rejects(shop.catchUp(), { status: 501 });
    await mock.clock.advance(minute);
    assert.deepEqual(statuses(), ["COAT-1 sent", "HAT-2 sent", "TIE-3 imported"]);
  },

  "a rejected import is sent again with another key": async ({ shop, mock, statuses }) => {
    mock.faults.add({ match: { method: "POST", path: "/v1/imports" }, times: 1, status: 402 });
    await assert.rejects(shop.catchUp(), { status: 402 });
    assert.deepEqual(statuses(), ["COAT-1 new", "HAT-2 new"]);
    await shop.catchUp();
    await mock.clock.advance(minute);
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 imported"]);
  },

  "a forged event changes nothing": async ({ shop, url, statuses, events }) => {
    await shop.catchUp();
    const headers = { "Service-Signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}` };
    const { status } = await fetch(url, { method: "POST", headers, body: '{"id":"evt_1"}' });
    assert.equal(status, 400);
    assert.equal((await fetch(url, { method: "POST" })).status, 400);
    assert.deepEqual([statuses(), events()], [["COAT-1 sent", "HAT-2 sent"], 0]);
  },

  "products that did not change are not sent again": async ({ shop, mock, sent, photos }) => {
    await shop.catchUp();
    await mock.clock.advance(minute);
    shop.save({ reference: "COAT-1", name: "Wool coat", photo });
    await shop.catchUp();
    assert.equal(sent(), 1);
    assert.ok(mock.requests().every(({ method }) => method !== "PATCH"));
    assert.deepEqual(await photos(), ["Felt hat: 1", "Wool coat: 1"]);
  },

  "a product that is renamed keeps one photo": async ({ shop, mock, sent, statuses, photos }) => {
    for (const name of ["Coat", "Warm coat", "Winter coat"]) {
      shop.save({ reference: "COAT-1", name, photo });
      await shop.catchUp();
      await mock.clock.advance(minute);
    }
    assert.deepEqual(await photos(), ["Felt hat: 1", "Winter coat: 1"]);
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 imported"]);
    assert.equal(sent(), 1);
  },

  "a name that changes during an import is sent after it": async ({ shop, mock, statuses, photos }) => {
    await shop.catchUp();
    shop.save({ reference: "COAT-1", name: "Warm coat", photo });
    await shop.catchUp();
    await mock.clock.advance(minute);
    assert.deepEqual(await photos(), ["Felt hat: 1", "Wool coat: 1"]);
    assert.deepEqual(statuses(), ["COAT-1 new", "HAT-2 imported"]);
    await shop.catchUp();
    assert.deepEqual(await photos(), ["Felt hat: 1", "Warm coat: 1"]);
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 imported"]);
  },

  "each photo is sent once, also one that comes back": async ({ shop, mock, photos }) => {
    for (const file of ["photo", "other", "photo", "other"]) {
      shop.save({ reference: "COAT-1", name: "Wool coat", photo: `https://cdn.example.com/${file}.jpg` });
      await shop.catchUp();
      await mock.clock.advance(minute);
    }
    assert.deepEqual(await photos(), ["Felt hat: 1", "Wool coat: 2"]);
  },

  "a photo that could not be fetched is sent again": async ({ shop, mock, statuses, sent, photos }) => {
    const broken = "https://cdn.example.com/fail-timeout.jpg";
    for (const name of ["Hat", "Old hat"]) {
      shop.save({ reference: "HAT-2", name, photo: broken });
      await shop.catchUp();
      await mock.clock.advance(minute);
      assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 failed"]);
    }
    assert.equal(sent(), 2);
    shop.save({ reference: "HAT-2", name: "Old hat", photo });
    await shop.catchUp();
    await mock.clock.advance(minute);
    assert.deepEqual(await photos(), ["Old hat: 1", "Wool coat: 1"]);
  },

  "a renamed product that the service has lost is imported again": async ({
    shop,
    mock,
    client,
    statuses,
    photos,
  }) => {
    await shop.catchUp();
    await mock.clock.advance(minute);
    await client.products.delete({ product_id: shop.products()[0]!.product_id! });
    shop.save({ reference: "COAT-1", name: "Warm coat", photo });
    await shop.catchUp();
    await mock.clock.advance(minute);
    assert.deepEqual(await photos(), ["Felt hat: 1", "Warm coat: 1"]);
    assert.deepEqual(statuses(), ["COAT-1 imported", "HAT-2 imported"]);
  },

  "a photo goes again to a product that was deleted and imported anew": async ({
    shop,
    mock,
    client,
    photos,
  }) => {
    const change = async (file: string) => {
      shop.save({ reference: "COAT-1", name: "Wool coat", photo: `https://cdn.example.com/${file}.jpg` });
      await shop.catchUp();
      await mock.clock.advance(minute);
    };
    await change("photo");
    await client.products.delete({ product_id: shop.products()[0]!.product_id! });
    await change("other");
    assert.deepEqual(await photos(), ["Felt hat: 1", "Wool coat: 1"]);
    await change("photo");
    assert.deepEqual(await photos(), ["Felt hat: 1", "Wool coat: 2"]);
  },

  "a reference with spaces around it is that without": async ({ shop, mock, photos }) => {
    for (const name of ["Scarf", "Long scarf", "Warm scarf"]) {
      shop.save({ reference: " SCARF ", name, photo });
      await shop.catchUp();
      await mock.clock.advance(minute);
    }
    assert.deepEqual(await photos(), ["Felt hat: 1", "Warm scarf: 1", "Wool coat: 1"]);
  },

  "a name that the service rejects has a reason": async ({ shop, mock, statuses, photos }) => {
    await shop.catchUp();
    await mock.clock.advance(minute);
    shop.save({ reference: "COAT-1", name: " ", photo });
    await shop.catchUp();
    assert.deepEqual(statuses(), ["COAT-1 failed", "HAT-2 imported"]);
    assert.notEqual(shop.products()[0]!.reason, null);
    shop.save({ reference: "COAT-1", name: "Warm coat", photo });
    await shop.catchUp();
    assert.deepEqual(await photos(), ["Felt hat: 1", "Warm coat: 1"]);
  },

  "the secret of a webhook is not lost in a crash": async ({ shop, mock, client }) => {
    const url = "https://shop.example.com/events";
    mock.faults.add({ match: { method: "POST", path: "/v1/webhooks" }, times: 1, drop: "after" });
    const impatient = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, retry: { attempts: 1 } });
    await assert.rejects(webhookSecret(new Shop(impatient, shop.database), url));
    await impatient.close();
    const secret = await webhookSecret(shop, url);
    assert.match(secret, /^whsec_/);
    assert.equal(await webhookSecret(shop, url), secret);
    const webhooks = (await client.webhooks.list()).data.filter((webhook) => webhook.url === url);
    assert.equal(webhooks.length, 1);
    await client.webhooks.delete({ webhook_id: webhooks[0]!.id });
    assert.notEqual(await webhookSecret(shop, url), secret);
  },

  "a webhook that was rejected is tried again": async ({ shop, mock }) => {
    const url = "https://shop.example.com/events";
    mock.faults.add({ match: { method: "POST", path: "/v1/webhooks" }, times: 1, status: 400 });
    await assert.rejects(webhookSecret(shop, url), { status: 400 });
    assert.match(await webhookSecret(shop, url), /^whsec_/);
  },
};

/** Runs a scenario in a shop of its own. */
export async function run(scenario: (opened: Opened) => Promise<void>): Promise<void> {
  const opened = await open();
  try {
    await scenario(opened);
  } finally {
    await opened.close();
  }
}
