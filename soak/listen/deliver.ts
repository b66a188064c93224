import { Agent, request } from "undici";
import { signDelivery } from "../../src/contract/signature.ts";
import { secret } from "./listener.ts";

/** A signed event of that ID, as the service sends it. */
export function deliveryOf(id: string): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify({
    id,
    type: "import.completed",
    created_at: "2026-01-05T09:00:00.000Z",
    data: { import: { id: `imp_${id}`, status: "completed" } },
  });
  return {
    body,
    headers: {
      "content-type": "application/json",
      "service-signature": signDelivery(secret, body, Math.floor(Date.now() / 1000)),
    },
  };
}

/** Sends deliveries over connections that are kept open. */
export class Sender {
  readonly #agent: Agent;
  /** Where the next delivery goes. */
  url: string;

  constructor(url: string, connections: number) {
    this.url = url;
    this.#agent = new Agent({ connections });
  }

  /** Sends an event; returns the status, or null without a response. */
  async send(id: string): Promise<number | null> {
    try {
      const { statusCode, body } = await request(this.url, {
        method: "POST",
        ...deliveryOf(id),
        dispatcher: this.#agent,
      });
      await body.dump();
      return statusCode;
    } catch {
      return null;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
