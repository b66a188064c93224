import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import type { Connection } from "../../settings/settings.ts";

/** What one request reveals about a key: whether it has the scope `products:read`. */
export interface KeyAccess {
  readonly products_read: boolean;
}

/**
 * Checks a key with one read. A key without the scope is valid too. Throws the error of the service for a key that is
 * not, and a network error if nothing is known about it.
 */
export async function checkKey(
  { context, globals, io, lastFailure }: App,
  connection: Connection,
): Promise<KeyAccess> {
  const { openClient } = await import("../../app/open-client.ts");
  const client = openClient(context, connection, {
    trace: globals.verbose ? (line) => void io.line(io.visible(line)) : undefined,
    note: (text) => io.note(text),
    onExchange: (line) => lastFailure.record(line),
  });
  try {
    await client.products.list({ limit: 1 }, { signal: context.interrupt });
    return { products_read: true };
  } catch (error) {
    if (error instanceof CatError && error.code === "insufficient_scope") return { products_read: false };
    throw error;
  } finally {
    await client.close();
  }
}
