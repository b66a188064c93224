// A bare node:http receiver that checks the HMAC of each delivery and keeps nothing, as the baseline of `listen`.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.CAT_WEBHOOK_SECRET;

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const [, time, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(request.headers["service-signature"]) ?? [];
    const right = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
    const isGenuine = v1 !== undefined && timingSafeEqual(Buffer.from(v1, "hex"), right);
    const isRecent = Math.abs(Date.now() / 1000 - time) <= 300;
    const text = isGenuine && isRecent ? "ok\n" : "rejected\n";
    response.writeHead(isGenuine && isRecent ? 200 : 400, {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": text.length,
    });
    response.end(text);
  });
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ listening: `http://127.0.0.1:${server.address().port}/` }));
});
