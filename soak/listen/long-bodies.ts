// Sends bodies of 100 MB, half of them in chunks, over so many connections, one after the other.
import { connect } from "node:net";

const [port, count, seconds] = process.argv.slice(2).map(Number) as [number, number, number];
const size = 100_000_000;
const piece = Buffer.alloc(65_536, "x");
const chunk = Buffer.concat([Buffer.from("10000\r\n"), piece, Buffer.from("\r\n")]);
const end = performance.now() + seconds * 1000;
const found = { sent: 0, bytes: 0, statuses: {} as Record<string, number> };

const bodyOf = (isChunked: boolean) =>
  new Promise<void>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let left = size;
    let response = "";
    const pump = () => {
      while (left > 0 && socket.writable) {
        left -= piece.length;
        found.bytes += piece.length;
        if (!socket.write(isChunked ? chunk : piece)) return;
      }
      if (left <= 0 && socket.writable && isChunked) socket.write("0\r\n\r\n");
    };
    socket.on("connect", () => {
      const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${size}`;
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n`);
      pump();
    });
    socket.on("drain", pump).on("error", () => {});
    socket.on("data", (bytes) => {
      response += bytes.toString("latin1");
    });
    socket.on("close", () => {
      const status = /^HTTP\/1.1 (\d+)/.exec(response)?.[1] ?? "none";
      found.sent++;
      found.statuses[status] = (found.statuses[status] ?? 0) + 1;
      resolve();
    });
  });

await Promise.all(
  Array.from({ length: count }, async (_, at) => {
    while (performance.now() < end) await bodyOf(at % 2 === 0);
  }),
);
process.send!(found, () => process.exit());
