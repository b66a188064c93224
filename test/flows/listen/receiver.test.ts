import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openReceiver, type Receiver } from "../../../src/flows/listen/receiver.ts";
import { until } from "../../support/until.ts";

const request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";

/** A receiver whose responses `answer` decides, and a socket to it. */
async function receiverWith(
  answer: () => Promise<{ status: number; text: string }>,
  { readMs = 10_000 } = {},
) {
  const problems: string[] = [];
  let answered = 0;
  const receiver: Receiver = await openReceiver({
    host: "127.0.0.1",
    port: 0,
    path: "/",
    answer: () => {
      answered++;
      return answer();
    },
    onProblem: (sentence) => problems.push(sentence),
    readMs,
  });
  onTestFinished(() => receiver.close());
  const open = (text: string) =>
    new Promise<Socket>((resolve) => {
      const socket = connect(receiver.port, "127.0.0.1", () => socket.write(text, () => resolve(socket)));
      socket.on("error", () => {});
      onTestFinished(() => void socket.destroy());
    });
  return { receiver, problems, open, answered: () => answered };
}

const ended = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()));

test("a sender that does not wait for its response is cut, and the receiver can close", async () => {
  const decide: (() => void)[] = [];
  const { receiver, problems, open, answered } = await receiverWith(
    () => new Promise((resolve) => decide.push(() => resolve({ status: 200, text: "ok" }))),
  );
  const socket = await open(request.repeat(20));
  await ended(socket.resume());
  expect(problems).toEqual(["a sender did not wait for the response to its request"]);
  await until(() => answered() === 1);
  const other = await open(request);
  await until(() => answered() === 2);
  other.write(request);
  await ended(other.resume());
  for (const one of decide) one();
  await receiver.close();
  expect([problems.length, answered()]).toEqual([2, 2]);
});

test("an unknown expectation is a request like any other, so that its sender cannot pipeline", async () => {
  const { open, problems, answered } = await receiverWith(async () => ({ status: 200, text: "ok" }));
  const expecting = request.replace("Host", "Expect: more\r\nHost");
  const socket = await open(expecting);
  let received = "";
  socket.on("data", (bytes: Buffer) => (received += bytes.toString()));
  await until(() => received.endsWith("ok\n"));
  expect([received.split("\r\n", 1)[0], answered(), problems]).toEqual(["HTTP/1.1 200 OK", 1, []]);
  const other = await open(expecting.repeat(20));
  await ended(other.resume());
  expect(problems).toEqual(["a sender did not wait for the response to its request"]);
});

test("one request after the other uses the same connection", async () => {
  const { open, answered } = await receiverWith(async () => ({ status: 200, text: "ok" }));
  const socket = await open(request);
  let received = "";
  socket.on("data", (bytes: Buffer) => (received += bytes.toString()));
  await until(() => received.endsWith("ok\n"));
  socket.write(request);
  await until(() => received.split("200 OK").length === 3);
  expect(answered()).toBe(2);
});

test("a sender that does not read its response is cut", async () => {
  const { open, answered } = await receiverWith(async () => ({ status: 200, text: "x".repeat(32_000_000) }), {
    readMs: 20,
  });
  const socket = await open(request);
  await until(() => answered() === 1);
  let isCut = false;
  socket.on("error", () => (isCut = true));
  // Nothing but a write shows a sender that does not read that its connection has ended.
  await until(() => {
    socket.write("\r\n");
    return isCut;
  });
});

test("closing cuts senders that do not read, and CONNECT leaves no socket", async () => {
  const { receiver, open, answered } = await receiverWith(
    async () => ({ status: 200, text: "x".repeat(32_000_000) }),
    { readMs: 50 },
  );
  const tunnel = await open("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
  await ended(tunnel.resume());
  await open(request);
  await until(() => answered() === 1);
  await receiver.close();
});

test("a body that does not fit into the memory for all bodies gets a 503", async () => {
  const { open, problems } = await receiverWith(async () => ({ status: 200, text: "ok" }));
  const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n";
  for (let at = 0; at < 34; at++) await open(head + "x".repeat(1_000_000));
  await until(() => problems.length > 0);
  expect(problems).toEqual(["too many long requests at once (POST /)"]);
});
