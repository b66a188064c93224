import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@catalogue-imaging/catalogue";
import { openDatabase } from "./database.js";
import { createServer } from "./server.js";
import { Shop } from "./shop.js";
import { webhookSecret } from "./webhook.js";

const { CAT_BASE_URL: baseUrl = "", CAT_API_KEY: apiKey = "", PORT = "3000" } = process.env;
const { PUBLIC_URL = `http://127.0.0.1:${PORT}` } = process.env;

/** Imports two products, and prints the results: they come by an event, or are asked for every 5 seconds. */
async function once(shop: Shop): Promise<void> {
  for (const [reference, name] of [
    ["COAT-1", "Wool coat"],
    ["HAT-2", "Felt hat"],
  ] as const)
    shop.save({ reference, name, photo: `https://cdn.example.com/${reference}.jpg` });
  console.log(`${shop.products().filter(({ status }) => status === "new").length} to send`);
  await shop.catchUp();
  for (let tenths = 1; !shop.isSettled(); tenths++) {
    await sleep(100);
    if (tenths % 50 === 0) await shop.catchUp();
  }
  for (const { reference, status } of shop.products()) console.log(reference, status);
}

async function main(): Promise<void> {
  await using client = createClient({ baseUrl, apiKey });
  const shop = new Shop(client, openDatabase("shop.db"));
  const secret = await webhookSecret(shop, `${PUBLIC_URL}/events`);
  const app = createServer(shop, () => secret);
  await app.listen({ port: Number(PORT), host: "127.0.0.1" });
  if (process.argv.includes("--once")) return await once(shop).finally(() => app.close());
  for (;;) {
    await shop.catchUp().catch((error) => console.error(error.message));
    await sleep(60_000);
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
