import type { Client } from "../../client/client.ts";
import { readPages as listPages, type Page } from "../../client/pages.ts";
import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { ExportRow } from "../../contract/resources/exports.ts";
import { CatError } from "../../errors.ts";

export interface LiveSelection {
  /** Asset roles; null for all. */
  readonly roles: readonly string[] | null;
  /** Only products changed at or after this time, in Unix milliseconds; null for all (Exports, `since`). */
  readonly since: number | null;
}

export interface ExportPage {
  readonly rows: readonly ExportRow[];
  /** Reads the page again, for new URLs: its rows may have changed meanwhile. */
  readonly again: () => Promise<readonly ExportRow[]>;
}

/**
 * The rows of the catalogue, newest first, in pages of 100. The next page is requested while the caller works
 * on one. A page that fails is requested again with its cursor, for minutes (`Client.poll`), so no row comes
 * twice. Throws a CatError if the list contradicts itself (`readPages` of the client), or if its cursor is
 * rejected.
 */
export async function* readExportPages(
  { roles, since }: LiveSelection,
  { client, signal }: { client: Client; signal: AbortSignal },
): AsyncGenerator<ExportPage, void, undefined> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const selection = {
    limit: limits.page.max,
    ...(roles === null ? {} : { role: roles.join(",") }),
    ...(since === null ? {} : { since: new Date(since).toISOString() }),
  };
  const read = (cursor: string | undefined, signal: AbortSignal): Promise<Page<ExportRow>> => {
    const input = cursor === undefined ? selection : { ...selection, cursor };
    return client.poll(operations.exports.list, input, { done: () => true, signal });
  };
  /** The cursors of the pages that were requested and not used, in order. */
  const cursors: (string | undefined)[] = [];
  const readNext = async ({ cursor }: { cursor?: string }): Promise<Page<ExportRow>> => {
    cursors.push(cursor);
    return read(cursor, either).catch((error: unknown) => {
      throw cursor !== undefined && isCursorRejected(error) ? cursorRejected(error) : error;
    });
  };
  try {
    for await (const rows of listPages(operations.exports.list.path, selection, readNext, true)) {
      const cursor = cursors.shift();
      // Also after the last page.
      yield { rows, again: async () => (await read(cursor, signal)).data };
    }
  } finally {
    stop.abort();
  }
}

const isCursorRejected = (error: unknown): error is CatError =>
  error instanceof CatError &&
  error.status === 400 &&
  (error.code === "invalid_cursor" || error.param === "cursor");

/** The cursor came from the service, so the input is not to blame: exit 7. */
const cursorRejected = (cause: CatError): CatError =>
  new CatError("the service no longer accepts the cursor of the next page", {
    type: "bad_response",
    code: "cursor_rejected",
    hint: "Run the command again; it reads all pages from the start.",
    requestId: cause.requestId,
    cause,
  });
