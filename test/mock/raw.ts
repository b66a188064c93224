import { connect } from "node:net";

/** One response from the wire. */
export interface RawAnswer {
  status: number;
  /** By lower-case name. */
  headers: Map<string, string>;
  body: string;
}

/** Idle time in real milliseconds after which a connection counts as hung: a test waits for `enough` or the close. */
const quietMs = 50_000;

/**
 * Writes to a new connection and returns everything received until it was closed, `enough` or idle. `closed`
 * is true if the server closed it. With `end`, the client ends its side after writing.
 */
export function talk(
  port: number,
  parts: readonly (string | Uint8Array)[],
  { enough = () => false, end = false }: { enough?: (text: string) => boolean; end?: boolean } = {},
): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    let text = "";
    let timer: NodeJS.Timeout | undefined;
    const socket = connect(port, "127.0.0.1", () => {
      for (const part of parts) socket.write(part);
      if (end) socket.end();
      wait();
    });
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), quietMs);
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (enough(text)) finish(false);
      else wait();
    });
    socket.on("close", () => finish(true));
    socket.on("error", () => {});
  });
}

/**
 * The responses in the received text, in order; throws if it is not HTTP. With `isHead`, the first is the
 * response to a HEAD request, which has no body.
 */
export function answersIn(text: string, isHead = false): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) throw new Error(`no end of headers: ${JSON.stringify(rest.slice(0, 200))}`);
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n");
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
    if (status === undefined) throw new Error(`no status line: ${JSON.stringify(first.slice(0, 200))}`);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`no header: ${JSON.stringify(line)}`);
      headers.set(name.toLowerCase(), value!);
    }
    rest = rest.slice(end + 4);
    const hasNone = isHead || status.startsWith("1") || status === "204" || status === "304";
    const length = hasNone ? 0 : Number(headers.get("content-length"));
    if (Number.isNaN(length) || rest.length < length)
      throw new Error(`cut off: ${first}, ${rest.length} of ${length}`);
    answers.push({ status: Number(status), headers, body: rest.slice(0, length) });
    rest = rest.slice(length);
  }
  return answers;
}

export const portOf = (baseUrl: string): number => Number(new URL(baseUrl).port);
