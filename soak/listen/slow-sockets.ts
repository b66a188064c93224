// Holds 1,000 slow sockets open, each replaced when it is cut, and reports how long the listener kept them.
import { connect } from "node:net";

const [port, count, seconds] = process.argv.slice(2).map(Number) as [number, number, number];

const post = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

/** What a slow socket sends at first, and then each second. */
const kinds: Readonly<Record<string, readonly [first: string, then: string]>> = {
  silent: ["", ""],
  "slow headers": ["POST / HTTP/1.1\r\n", "X-A: b\r\n"],
  "slow body": [post("/", 1_000), "x"],
  "long slow body": [post("/", 1_000_000) + "x".repeat(30_000), "x"],
  "slow body to another path": [post("/other", 1_000), "x"],
  "idle after a response": [`${post("/", 2)}{}`, ""],
  "slow second request": [`${post("/", 2)}{}POST / HTTP/1.1\r\n`, "X-A: b\r\n"],
};

const names = Object.keys(kinds);
const longest: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
const cuts = { count: 0, open: 0, refused: 0 };
const end = performance.now() + seconds * 1000;
const began = new Map<object, readonly [name: string, at: number]>();

function open(name: string): void {
  const [first, then] = kinds[name]!;
  let timer: NodeJS.Timeout | undefined;
  const socket = connect({ port, host: "127.0.0.1" }, () => {
    began.set(socket, [name, performance.now()]);
    socket.resume();
    if (first !== "") socket.write(first);
    timer = setInterval(() => then !== "" && socket.writable && socket.write(then), 1_000);
  });
  socket.on("error", () => {});
  const over = () => {
    clearInterval(timer);
    const entry = began.get(socket);
    began.delete(socket);
    socket.destroy();
    if (entry === undefined) cuts.refused++;
    else {
      cuts.count++;
      longest[name] = Math.max(longest[name]!, performance.now() - entry[1]);
    }
    if (performance.now() < end) setTimeout(open, 20, name);
  };
  socket.once("close", over);
}

for (let at = 0; at < count; at++) setTimeout(open, at * 2, names[at % names.length]!);
setTimeout(
  () => {
    // Sockets that are still open count with their age so far.
    const now = performance.now();
    for (const [name, at] of began.values()) longest[name] = Math.max(longest[name]!, now - at);
    cuts.open = began.size;
    process.send!({ ...cuts, longestMs: longest }, () => process.exit());
  },
  seconds * 1000 + 1_000,
);
