import type { MockOptions } from "../../src/mock/index.ts";
import { monday, row, startWorld } from "./world.ts";

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Time of the first event: the duration of the import. */
export const firstAt = monday + 1_010;

/** A timestamp as the service writes it. */
export const iso = (time: number) => new Date(time).toISOString();

/** A mock with a webhook at `url` for finished imports. */
export async function worldWithHook(url: string, options: MockOptions = {}) {
  const world = await startWorld(options);
  const { mock, send, importRows } = world;
  const register = async (more: Record<string, unknown> = {}, key = "ak_mock") =>
    (await send("/v1/webhooks", { json: { url, events: ["import.completed"], ...more }, key })).body;
  const webhook = await register();
  const path = `/v1/webhooks/${webhook.id}`;
  const patch = (json: unknown) => send(path, { method: "PATCH", json });
  const advance = (ms: number) => send("/_mock/clock", { json: { advance_ms: ms }, key: null });
  let references = 0;
  /** Runs an import, which takes 1,010 ms; returns its ID. */
  const runImport = async (key = "ak_mock"): Promise<string> => {
    const { body } = await importRows([row(`R${references++}`)], {}, { key });
    await advance(1_010);
    return body.id;
  };
  /** The deliveries to the webhook at `time`, in milliseconds after the first delivery. */
  const deliveries = async () => (await send("/_mock/deliveries", { key: null })).body;
  const status = async () => (await send(path)).body.status;
  return { ...world, mock, register, webhook, path, patch, advance, runImport, deliveries, status };
}
