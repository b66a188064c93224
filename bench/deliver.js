// Sends signed deliveries of new events over so many connections, and prints how many were acknowledged per second. Raw
// sockets and requests made beforehand: a full HTTP client would take more processor time than the receivers.
import { createHmac } from "node:crypto";
import { connect } from "node:net";

const [url, count, connections, name] = process.argv.slice(2);
const { CAT_WEBHOOK_SECRET: secret } = process.env;
const { hostname, port, host } = new URL(url);

const requests = Array.from({ length: Number(count) }, (_, at) => {
  const time = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    id: `evt_${name}_${at}`,
    type: "import.completed",
    created_at: "2026-01-05T09:00:00.000Z",
    data: { import: { id: `imp_${name}_${at}`, status: "completed" } },
  });
  const v1 = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return Buffer.from(
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      `Service-Signature: t=${time},v1=${v1}\r\n\r\n${body}`,
  );
});

const began = performance.now();
let next = 0;
await Promise.all(Array.from({ length: Number(connections) }, sendInTurn));
console.log(JSON.stringify({ perSecond: requests.length / ((performance.now() - began) / 1000) }));

/** Sends requests over one connection, each after the response to the one before. */
function sendInTurn() {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let received = "";
    const send = () => (next < requests.length ? socket.write(requests[next++]) : socket.end(resolve));
    socket.on("connect", send).on("error", reject);
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      // Both receivers respond with one line of text.
      if (!/\r\n\r\n[^\n]*\n$/.test(received)) return;
      if (!received.startsWith("HTTP/1.1 200 ")) return reject(new Error(received));
      received = "";
      send();
    });
  });
}
