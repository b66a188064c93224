import { randomUUID } from "node:crypto";
import { ApiError } from "@catalogue-imaging/catalogue";
import type { Shop } from "./shop.js";

/** The webhook of this shop as stored: its key before the request, the rest from the response. */
interface Stored {
  key: string;
  started_at: number;
  id?: string;
  signing_secret?: string;
}

/**
 * The secret of the webhook of this shop. It is shown once, so the idempotency key is stored before the request:
 * after a crash, the same key gets the same response, with the secret.
 */
export async function webhookSecret({ client, database }: Shop, url: string): Promise<string> {
  const name = `webhook ${url}`;
  const found = database.prepare("SELECT value FROM settings WHERE name = ?").get(name);
  const store = (value: Stored) =>
    database
      .prepare("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)")
      .run(name, JSON.stringify(value));
  let stored: Stored | null = found === undefined ? null : JSON.parse((found as { value: string }).value);
  if (stored?.id !== undefined) {
    const isKnown = await client.webhooks.get({ webhook_id: stored.id }).then(
      () => true,
      (error) => {
        if (error instanceof ApiError && error.status === 404) return false;
        throw error;
      },
    );
    if (isKnown) return stored.signing_secret!;
    stored = null;
  }
  if (stored === null) {
    stored = { key: randomUUID(), started_at: Date.now() };
    store(stored);
  }
  const { key, started_at } = stored;
  const body = { url, events: ["import.completed" as const, "import.failed" as const] };
  try {
    const { id, signing_secret } = await client.webhooks.create(
      { body },
      { idempotencyKey: key, keyFrom: { here: started_at, service: null } },
    );
    store({ key, started_at, id, signing_secret });
    return signing_secret;
  } catch (error) {
    // No webhook was created, and this key would get the same rejection for a day.
    if (error instanceof ApiError && error.status === 400)
      database.prepare("DELETE FROM settings WHERE name = ?").run(name);
    throw error;
  }
}
