// How images were made, by the live export: neither an image of the service nor the ZIP of an export says it.

import { extname } from "node:path";
import { ApiError } from "../../client/api-error.ts";
import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { ExportAsset } from "../../contract/resources/exports.ts";
import { CatError } from "../../errors.ts";
import { sourceOfAsset } from "../files/ai-label.ts";
import type { DigitalSource } from "../files/xmp.ts";
import type { Reader } from "../service.ts";
import { isServiceFailure } from "../service-errors.ts";

/** Products that are read: for more, the search would take longer than the download. */
const mostProducts = 1000;

/** The assets of the newest products; none where exports cannot be read. Throws if it may pass. */
async function* recentAssets({ client, signal }: Reader, since: number | null): AsyncGenerator<ExportAsset> {
  const input = {
    limit: limits.page.max,
    ...(since === null ? {} : { since: new Date(since).toISOString() }),
  };
  let products = 0;
  try {
    for await (const { assets } of client.paginate(operations.exports.list, input, { signal })) {
      if (Array.isArray(assets)) yield* assets;
      if (++products === mostProducts) return;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CatError)) throw error;
    if (error instanceof ApiError && !isServiceFailure(error)) return;
    const { type, code, status, requestId, hint = "Run the command again later." } = error;
    const way = "To save without a search in exports, add --no-label.";
    throw new CatError(error.message, {
      type,
      code,
      status,
      requestId,
      hint: `${hint} ${way}`,
      cause: error,
    });
  }
}

/** The service may set the times of an image and of its product by different clocks. */
const sinceMargin = 3_600_000;

/** How an image was made: null for the user's own photo, undefined if it was not found. */
export async function sourceOfImage(
  { id, created_at }: { readonly id: string; readonly created_at: string },
  service: Reader,
): Promise<DigitalSource | null | undefined> {
  const created = Date.parse(created_at);
  const since = Number.isNaN(created) ? null : Math.max(0, created - sinceMargin);
  for await (const asset of recentAssets(service, since)) if (asset.id === id) return sourceOfAsset(asset);
  return undefined;
}

/** How images with these names were made, in any format (Exports, Frozen), and how many names are unclear. */
export async function sourcesOfNames(
  names: readonly string[],
  service: Reader,
): Promise<{ sources: Map<string, DigitalSource>; unknown: number }> {
  const made = new Map<string, Set<DigitalSource | null>>();
  for await (const asset of recentAssets(service, null)) {
    const name = String(asset.suggested_filename);
    for (const key of new Set([name, withoutExtension(name)]))
      made.set(key, (made.get(key) ?? new Set()).add(sourceOfAsset(asset)));
  }
  const sources = new Map<string, DigitalSource>();
  let unknown = 0;
  for (const name of names) {
    const [source, ...others] = made.get(name) ?? made.get(withoutExtension(name)) ?? [];
    if (source === undefined || others.length > 0) unknown++;
    else if (source !== null) sources.set(name, source);
  }
  return { sources, unknown };
}

const withoutExtension = (name: string): string => name.slice(0, name.length - extname(name).length);
