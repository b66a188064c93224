import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A row as the service sends it; fields that a newer service could add included. */
export interface ServedRow {
  readonly product: {
    readonly id: string;
    readonly deleted_at: string | null;
    readonly [field: string]: unknown;
  };
  readonly assets: readonly unknown[];
}

export const idOf = (number: number): string => `01ARZ3NDEKTSV4RRFF${String(number).padStart(8, "0")}`;

export const rowOf = (number: number, assets: readonly unknown[] = []): ServedRow => ({
  product: {
    id: idOf(number),
    reference: `R-${number}`,
    name: `Name ${number}`,
    sex: null,
    deleted_at: null,
  },
  assets,
});

export interface CatalogueServerOptions {
  /** Rows of a page, at most. */
  pageSize?: number | (() => number);
  /** Called before each response; a result replaces the response, cuts it, or keeps the client waiting. */
  respond?: (url: URL, request: IncomingMessage) => Trouble | undefined;
  /** Whether responses have a `Date` (default: yes). */
  hasDate?: boolean;
  /** The position of a cursor in the rows (default: after the row with the ID that the cursor is). */
  startOf?: (cursor: string, rows: readonly ServedRow[]) => number;
  /** The cursor after the row at an index (default: the row's number). */
  cursorAt?: (index: number, rows: readonly ServedRow[]) => string;
}

export type Trouble =
  | { readonly status: number; readonly body: object; readonly headers?: Readonly<Record<string, string>> }
  | { readonly cutAt: number }
  | { readonly hangs: true };

/**
 * A service with nothing but GET /v1/exports, for what the mock cannot do: odd pages, rows and cursors. Rows are listed
 * in their order, which must be by falling ID; the array may change between requests.
 */
export async function catalogueServer(rows: readonly ServedRow[], options: CatalogueServerOptions = {}) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, "http://127.0.0.1");
    response.sendDate = options.hasDate ?? true;
    requests.push(url.pathname + url.search);
    const trouble = options.respond?.(url, request);
    if (trouble !== undefined && "status" in trouble)
      return send(response, trouble.status, trouble.body, trouble.headers);
    if (trouble !== undefined && "hangs" in trouble) return;
    const page = JSON.stringify(pageOf(url));
    if (trouble === undefined) return send(response, 200, page);
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(page),
    });
    response.write(page.slice(0, trouble.cutAt), () => response.destroy());
  });
  const pageOf = (url: URL) => {
    const cursor = url.searchParams.get("cursor");
    const { startOf = afterId, cursorAt = (index, all) => all[index]!.product.id } = options;
    const from = cursor === null ? 0 : startOf(cursor, rows);
    const size = typeof options.pageSize === "function" ? options.pageSize() : (options.pageSize ?? 100);
    const to = Math.min(rows.length, from + size);
    const has_more = to < rows.length;
    return { data: rows.slice(from, to), has_more, next_cursor: has_more ? cursorAt(to - 1, rows) : null };
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, stop };
}

/** Keyset: the first row after the one with that ID, whether or not that one still exists. */
function afterId(cursor: string, rows: readonly ServedRow[]): number {
  const index = rows.findIndex(({ product }) => product.id < cursor);
  return index < 0 ? rows.length : index;
}

function send(response: ServerResponse, status: number, body: object | string, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
