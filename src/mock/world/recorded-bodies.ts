/** The body of a logged request or response, as text. */
export interface RecordedBody {
  /** The text, or base64 of bytes that are not UTF-8; cut after 64 kB. */
  content: string;
  encoding: "utf8" | "base64";
  /** The size as sent. */
  bytes: number;
  /** Why the content is not complete; missing if it is. */
  note?: string;
}

/** The most that is kept of a body, in bytes. */
export const keptBodyBytes = 64 * 1024;

/** A body, or the start of it, as it is kept until the log is read. */
export interface KeptBody {
  readonly start: Buffer | string;
  readonly bytes: number;
  /** Why it is not complete, if not for its size. */
  readonly note: string | null;
}

const nothing = Buffer.alloc(0);

/**
 * Keeps the start of a body. Bytes are copied: a slice would keep a body of 8 MB in memory. A short text is converted when it is
 * shown, because most are not.
 */
export function keepBody(body: string | Uint8Array, note: string | null = null): KeptBody {
  const isText = typeof body === "string";
  const bytes = isText ? Buffer.byteLength(body) : body.length;
  if (isText && bytes <= keptBodyBytes) return { start: body, bytes, note };
  const all = isText ? Buffer.from(body) : body;
  return { start: Buffer.from(all.subarray(0, keptBodyBytes)), bytes, note };
}

/** A body of which only the reason is kept why it is missing. */
export const missingBody = (note: string, bytes = 0): KeptBody => ({ start: nothing, bytes, note });

/** The kept body as the log shows it; null if there was none. */
export function shownBody(kept: KeptBody | null): RecordedBody | null {
  if (kept === null || (kept.bytes === 0 && kept.note === null)) return null;
  const { bytes } = kept;
  const start = typeof kept.start === "string" ? Buffer.from(kept.start) : kept.start;
  const isCut = start.length < bytes && start.length > 0;
  const note = kept.note ?? (isCut ? `cut after ${start.length} of ${bytes} bytes` : undefined);
  const text = asText(start, isCut);
  return {
    content: text ?? start.toString("base64"),
    encoding: text === null ? "base64" : "utf8",
    bytes,
    ...(note !== undefined && { note }),
  };
}

/** The text, or null for bytes that are not UTF-8. A character that the cut divides is left out. */
function asText(bytes: Buffer, isCut: boolean): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
}
